"""DATA on the command line: files, folders, patterns, databases and bundled names, as one table."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from sparsedensity.cli.data import is_model, note, working
from sparsedensity.errors import ColumnsError, DataError, OutputError, SparseDensityError, in_short, without_secrets

if TYPE_CHECKING:
    import polars as pl

    from sparsedensity.domain import Domain

MOST_AT_HAND = 200_000
"""Rows of a large table that are drawn for what needs rows in memory."""
Engine = Literal["polars", "duckdb", "spark"]
ENGINE_HELP = "Who reads the files, and counts their rows without loading them: polars, duckdb or spark."
ENGINE_DEFAULT = "polars for files that do not fit in memory"
EngineOption = Annotated[Engine | None, typer.Option("--engine", help=f"{ENGINE_HELP}  [default: {ENGINE_DEFAULT}]")]


class Data(NamedTuple):
    """A table, and the weight of each row if a column was named for it."""

    frame: Any
    """A Polars frame, or the lazy frame of an engine,"""
    weights: Any
    """for which the name of the column stands, which it still has."""
    name: str

    @property
    def lazy(self) -> bool:
        """Whether its rows are left where they are."""
        from sparsedensity.ingest.batches import is_lazy

        return is_lazy(self.frame)

    @property
    def engine(self) -> Engine | None:
        """The engine that reads files for such a table; ``None`` if none does."""
        from sparsedensity.ingest.batches import library_of

        engines: dict[str, Engine] = {"polars": "polars", "duckdb": "duckdb", "pyspark": "spark"}
        return engines.get(library_of(self.frame))

    @property
    def columns(self) -> list[str]:
        """The columns without that of the weights."""
        return [column for column in _types(self.frame) if column != self.weight_column]

    @property
    def weight_column(self) -> str | None:
        """The column of the weights, if the table has it."""
        return self.weights if isinstance(self.weights, str) else None

    def only(self, columns: Sequence[str]) -> Data:
        """Some columns of the table, and its weights."""
        return self._replace(frame=_select(self.frame, columns, self.weight_column))

    def holds_whole_numbers(self, column: str) -> bool:
        """Whether a column is of a type of whole numbers."""
        return bool(_types(self.frame)[column].is_integer())


def read_data(
    names: Sequence[str], *, weight: str | None = None, drop: Sequence[str] = (), engine: Engine | None = None
) -> Data:
    """The table that some names stand for."""
    table = _open(names, None, engine)
    for column in drop:
        check_column(_types(table), column, in_words(names))
    weights = None if weight is None else _weights(table, weight, in_words(names))
    unused = {*drop, weight} - {weights if isinstance(weights, str) else None}
    data = Data(table, weights, _short(names))
    return data.only([column for column in data.columns if column not in unused])


def read_rows(names: Sequence[str], domain: Domain, weight: str | None = None, *, engine: Engine | None = None) -> Data:
    """The columns of a table that a model was fitted to, identifiers first; others are left out with a note."""
    table = _open(names, domain, engine)
    weights = None if weight is None else _weights(table, weight, in_words(names))
    data = Data(table, weights, _short(names))
    given = data.columns
    lacking = [column for column in domain.names if column not in given]
    if lacking:
        raise ColumnsError(f"{in_words(names)} has no column {lacking[0]!r}, which the model needs.")
    known = {*domain.names, *domain.left_out, weight}
    extra = [column for column in given if column not in known]
    if extra:
        note(f"columns that the model does not know are left out: {', '.join(extra)}")
    return data.only([*(name for name in domain.left_out if name in given), *domain.names])


def at_hand(table: Data, what: str | None = None) -> Data:
    """The rows of a table in memory: all of them, or so many of a large one, drawn at random; a note says for what."""
    from sparsedensity.ingest.batches import sample_rows

    if not table.lazy:
        return table
    with working(f"drawing rows of {table.name}"):
        rows, total = sample_rows(table.frame, MOST_AT_HAND)
    weights = None if table.weights is None else _weights(rows, table.weights, table.name)
    drawn, name = f"{rows.height:,} of {total:,} rows, drawn at random", table.name
    if what is not None and rows.height < total:
        note(f"{what} {drawn}")
        name = f"{table.name}; {what} {drawn}"
    return Data(rows.select(table.columns), weights, name)


def first_of(table: Data, rows: int | None) -> tuple[pl.DataFrame, int]:
    """The first rows of a table, or all, and how many it has; nobody reads all rows of a large one."""
    from sparsedensity.ingest.batches import count_rows, first_rows

    total = count_rows(table.frame)
    if rows is None and table.lazy and total > MOST_AT_HAND:
        raise DataError(
            f"{table.name} has {total:,} rows, too many to explain all. Use --rows, or `sparsedensity score --top 20`, "
            "which explains the most unusual."
        )
    return first_rows(table.frame, total if rows is None else rows), total


def complete_data(incomplete: str) -> list[str]:
    """What a shell offers for DATA: bundled names and files."""
    from sparsedensity import datasets

    folder = Path(incomplete) if incomplete.endswith(("/", "\\")) else Path(incomplete).parent
    files = [f"{path}/" if path.is_dir() else str(path) for path in sorted(folder.glob("*"))]
    return [name for name in (*datasets.NAMES, *files) if name.startswith(incomplete)]


def row_names(names: Sequence[str], numbers: Sequence[int], total: int) -> list[str]:
    """What to call rows of a table of so many: with their line in the file, if every row is a line of text."""
    from sparsedensity.ingest.files import one_line_per_row

    lines = len(names) == 1 and one_line_per_row(names[0], total)
    return [f"Row {number} (line {number + 2} in the file)" if lines else f"Row {number}" for number in numbers]


def check_table(names: Sequence[str]) -> None:
    """Refuse a saved model where a table is expected."""
    for name in names:
        if is_model(name):
            raise DataError(f"{name} is a saved model, not a table. Give a CSV or Parquet file, or a bundled name.")


def check_column(columns: Sequence[str] | dict[str, Any], column: str, name: str) -> None:
    """Refuse a column that a table does not have."""
    if column not in columns:
        raise ColumnsError(f"There is no column {column!r} in {name}. Columns: {', '.join(columns)}.")


def check_outputs(names: Sequence[str], *outputs: Path | None) -> None:
    """Refuse to write over the data, into a folder that is not there, or two answers into one file."""
    taken = {path.resolve(): f"{path} is the table that is read" for name in names for path in _places(name)}
    for output in filter(None, outputs):
        if str(output) == "-":
            continue
        if output.resolve() in taken:
            raise SparseDensityError(f"{taken[output.resolve()]}. Write to another file.")
        if not output.resolve().parent.exists():
            raise OutputError(output, f"there is no folder {output.parent}")
        taken[output.resolve()] = f"{output} is already written to"


def in_words(names: Sequence[str]) -> str:
    """What a sentence calls a table.

    >>> in_words(["a.csv"]), in_words(["a.csv", "b.csv"]), in_words(["a.csv", "b.csv", "c.csv"])
    ('a.csv', 'a.csv and b.csv', 'a.csv and 2 more')
    """
    first, *others = map(without_secrets, names)
    return f"{first} and {len(others)} more" if others[1:] else " and ".join([first, *others])


def _short(names: Sequence[str]) -> str:
    """The same without folders; a table of a database by its own name."""
    from sparsedensity.ingest.databases import address_of

    address = address_of(names[0])
    return in_words([Path(name).name for name in names]) if address is None else address.table or address.name


def _places(name: str) -> list[Path]:
    """The files that a name may stand for, without a word about those that are not there."""
    from sparsedensity.ingest.databases import address_of
    from sparsedensity.ingest.paths import files_named

    address = address_of(name)
    if address is not None:
        return [Path(address.place)]
    many = Path(name).is_dir() or (glob.has_magic(name) and not Path(name).exists())
    return files_named([name]).paths if many else [Path(name)]


def _open(names: Sequence[str], domain: Domain | None, engine: Engine | None) -> Any:
    from sparsedensity import datasets
    from sparsedensity.ingest.databases import address_of
    from sparsedensity.ingest.opening import check_engine, open_table

    first = names[0]
    if len(names) == 1 and first in datasets.NAMES and not Path(first).exists():
        check_engine(engine, f"the bundled {first}")
        return datasets.load(first) if engine is None else datasets.load(first).lazy()
    check_table(names)
    a_place = first == "-" or Path(first).suffix or address_of(first) is not None or _places(first)[0].exists()
    if len(names) == 1 and not a_place:
        raise DataError(
            f"{first!r} is neither a file nor a folder, nor a bundled data set ({', '.join(datasets.NAMES)})."
        )
    with working(f"reading {in_words(names)}"):
        return open_table(names, domain, engine)


def _types(table: Any) -> dict[str, Any]:
    """The columns of any table with their types."""
    import narwhals as nw

    return dict(nw.from_native(table).collect_schema())


def _select(table: Any, columns: Sequence[str], weight: str | None) -> Any:
    import narwhals as nw

    return nw.from_native(table).select(*columns, *([] if weight is None else [weight])).to_native()


def _weights(table: Any, column: str, name: str) -> Any:
    """The weights of the rows; of rows that are elsewhere the name of the column."""
    from sparsedensity.ingest.batches import first_rows, is_lazy

    check_column(_types(table), column, name)
    if not _types(table)[column].is_numeric():
        frame: pl.DataFrame = first_rows(table, 100)
        first = next(iter(frame[column].drop_nulls()), None)
        raise DataError(f"The weight column {column!r} holds {in_short(first)}, not numbers.")
    if is_lazy(table):
        return column
    if table[column].null_count():
        raise DataError(f"The weight column {column!r} has missing values. Fill them in.")
    return table[column].to_numpy()
