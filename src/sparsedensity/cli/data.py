"""DATA and MODEL on the command line: files, bundled names, weights, JSON."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TextIO

import typer

from sparsedensity import writing
from sparsedensity.errors import ColumnsError, DataError, ModelFileError, OutputError, SparseDensityError, in_short

if TYPE_CHECKING:
    import polars as pl

    from sparsedensity.domain import Domain
    from sparsedensity.estimators import DensityEstimator
    from sparsedensity.report.from_file import SavedModel
    from sparsedensity.report.model import Report

CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Characters that steer a terminal, but for tabs and new lines."""
FORMULA = re.compile(r"^[=+\-@\t\r]")
"""How a text begins that a spreadsheet would compute."""
SpreadsheetOption = Annotated[
    bool,
    typer.Option(
        "--spreadsheet", help="For a spreadsheet: an apostrophe before texts that it would take for formulas."
    ),
]
SEARCH_FIELDS = ("method", "reason", "moves", "seconds", "limit_binds", "upper_bound", "proven", "calibrated_leaves")


class Data(NamedTuple):
    """A table, and the weight of each row if a column was named for it."""

    frame: pl.DataFrame
    weights: Any
    name: str


def read_data(name: str, *, weight: str | None = None, drop: list[str] | None = None) -> Data:
    """A file, standard input (``-``) or a bundled data set by name."""
    frame = _read(name, None)
    for column in drop or []:
        check_column(frame, column, name)
    weights = None if weight is None else _weights(frame, weight, name)
    unused = {*(drop or []), *([] if weight is None else [weight])}
    return Data(frame.drop(unused), weights, Path(name).name)


def complete_data(incomplete: str) -> list[str]:
    """What a shell offers for DATA: bundled names and files."""
    from sparsedensity import datasets

    folder = Path(incomplete) if incomplete.endswith(("/", "\\")) else Path(incomplete).parent
    files = [f"{path}/" if path.is_dir() else str(path) for path in sorted(folder.glob("*"))]
    return [name for name in (*datasets.NAMES, *files) if name.startswith(incomplete)]


def read_rows(name: str, domain: Domain, weight: str | None = None) -> Data:
    """The columns of the table that a model was fitted to, identifiers first; others are left out with a note."""
    frame = _read(name, domain)
    weights = None if weight is None else _weights(frame, weight, name)
    return Data(known_columns(frame, name, domain, weight), weights, Path(name).name)


def known_columns(frame: pl.DataFrame, name: str, domain: Domain, weight: str | None = None) -> pl.DataFrame:
    """The part of a table that a model knows: identifiers, which it leaves out, and then its columns in order."""
    given = set(frame.columns)
    lacking = [column for column in domain.names if column not in given]
    if lacking:
        raise ColumnsError(f"{name} has no column {lacking[0]!r}, which the model needs.")
    known = {*domain.names, *domain.left_out, weight}
    extra = [column for column in frame.columns if column not in known]
    if extra:
        note(f"columns that the model does not know are left out: {', '.join(extra)}")
    return frame.select(*(name for name in domain.left_out if name in given), *domain.names)


def row_names(data: str, numbers: Sequence[int], total: int) -> list[str]:
    """What to call rows of a table of so many: with their line in the file, if every row is a line of text."""
    from sparsedensity.ingest.files import one_line_per_row

    lines = one_line_per_row(data, total)
    return [f"Row {number} (line {number + 2} in the file)" if lines else f"Row {number}" for number in numbers]


def is_model(name: str | Path) -> bool:
    """Whether a file is JSON, as saved models are."""
    if not Path(name).is_file():
        return False
    with Path(name).open("rb") as file:
        return file.read(64).lstrip()[:1] == b"{"


def check_table(name: str) -> None:
    """Refuse a saved model where a table is expected."""
    if is_model(name):
        raise DataError(f"{name} is a saved model, not a table. Give a CSV or Parquet file, or a bundled name.")


def load_model(path: Path) -> DensityEstimator:
    """A saved model, from a file or from standard input (``-``)."""
    from sparsedensity.estimators import load

    with model_file(path) as file:
        model: DensityEstimator = load(file)
    return model


@contextmanager
def model_file(path: Path) -> Iterator[Path]:
    """The file of a model; what comes from standard input is put into one for as long as it is read."""
    if str(path) != "-":
        check_model(path)
        yield path
        return
    from sparsedensity.structures.files import read_like_json

    with TemporaryDirectory() as folder:
        file = Path(folder) / "standard-input.json"
        file.write_bytes(read_like_json(sys.stdin.buffer))
        yield file


def check_model(path: Path) -> None:
    """Refuse a table where a saved model is expected; whoever reads a damaged model says so."""
    a_file = path.is_file() and path.suffix.lower() != ".json" and not is_model(path)
    if a_file or (not path.exists() and _is_bundled(path)):
        raise ModelFileError(
            path, f"is a table. Name a saved model first: `sparsedensity fit {path} -o model.json` makes one."
        )


def _is_bundled(path: Path) -> bool:
    from sparsedensity import datasets

    return str(path) in datasets.NAMES


def was_interrupted(model: DensityEstimator) -> bool:
    """Whether Ctrl-C ended the search: who wants to come to an end does not wait for another search."""
    return model.search_.reason == "interrupted"


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show on a terminal what is going on if it takes longer than a second."""
    from sparsedensity.estimators.progress import telling

    with telling(True, what):
        yield


def check_outputs(data: str, *outputs: Path | None) -> None:
    """Refuse to write over the data, into a folder that is not there, or two answers into one file."""
    taken = {Path(data).resolve(): f"{data} is the table that is read"}
    for output in filter(None, outputs):
        if str(output) == "-":
            continue
        if output.resolve() in taken:
            raise SparseDensityError(f"{taken[output.resolve()]}. Write to another file.")
        if not output.resolve().parent.exists():
            raise OutputError(output, f"there is no folder {output.parent}")
        taken[output.resolve()] = f"{output} is already written to"


def save_model(model: DensityEstimator, output: Path | None, *, quiet: bool = False) -> None:
    """Write a model if that was asked for, and say so."""
    if output is not None and str(output) == "-":
        with TemporaryDirectory() as folder:
            model.save(Path(folder) / "model.json")
            say((Path(folder) / "model.json").read_text(encoding="utf-8").rstrip("\n"))
    elif output is not None:
        model.save(output)
        if not quiet:
            note(f"saved {output}")


def write_text(text: str, output: Path | None, *, quiet: bool = False) -> None:
    """Write an answer to a file, and say so, or to standard output without one."""
    if output is None or str(output) == "-":
        say(text)
        return
    writing.write_text(text.rstrip("\n") + "\n", output)
    if not quiet:
        note(f"wrote {output}")


def say(text: str) -> None:
    """Give an answer in text."""
    typer.echo(for_terminal(text))


def note(text: str) -> None:
    """Say something beside the answer."""
    typer.echo(for_terminal(text, sys.stderr), err=True)


def write_json(answer: Any) -> None:
    """The answer for machines; numbers that JSON does not have become null."""
    say(json.dumps(_finite(answer), indent=1, ensure_ascii=False, default=str))


def write_table(frame: pl.DataFrame, output: Path | None, spreadsheet: bool = False, *, quiet: bool = False) -> None:
    """A table as CSV, or as Parquet if the file name says so."""
    as_csv = _without_formulas(frame) if spreadsheet else frame
    if output is None or str(output) == "-":
        sys.stdout.write(for_terminal(as_csv.write_csv()))
        return
    with writing.replacing(output) as part:
        if output.suffix.lower() in (".parquet", ".pq"):
            _write_parquet(frame, part)
        else:
            as_csv.write_csv(part)
    if not quiet:
        note(f"wrote {output}")


def _write_parquet(frame: pl.DataFrame, path: Path) -> None:
    from polars.exceptions import ComputeError

    try:
        frame.write_parquet(path)
    except ComputeError as error:  # so Polars says that a disk is full
        raise OSError(str(error).rpartition(": ")[2]) from None


def for_terminal(text: str, stream: TextIO | None = None) -> str:
    """What a terminal may be given: characters that steer it are spelt out. Files and pipes get the text as it is."""
    if not (stream or sys.stdout).isatty():
        return text
    return CONTROLS.sub(lambda control: f"\\u{ord(control[0]):04x}", text)


def _without_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """The table with an apostrophe before every text and name that a spreadsheet would take for a formula."""
    import polars as pl
    import polars.selectors as cs

    texts = cs.by_dtype(pl.String, pl.Categorical, pl.Enum)
    frame = frame.with_columns(texts.cast(pl.String).str.replace(FORMULA.pattern, "'$0"))
    return frame.rename({name: FORMULA.sub(r"'\g<0>", name) for name in frame.columns})


def model_as_text(report: Report, width: int | None = None) -> str:
    """A fitted or saved model for people, and which of its columns matter."""
    from sparsedensity.report import text, words
    from sparsedensity.report.importance import importance_of

    important = text.wrapped(importance_of(report).sentence(), words.room(width))
    return "\n\n".join(filter(None, [text.render(report, width=width), "\n".join(important)]))


def model_as_json(model: DensityEstimator | SavedModel) -> dict[str, Any]:
    """A fitted or saved model as plain data."""
    from sparsedensity.report.importance import importance_of

    leaves = [
        leaf.as_dict()
        | {"conditions": [{"feature": c.feature, "values": list(c.values)} for c in leaf.conditions], "text": str(leaf)}
        | {"traits": [trait.as_dict() for trait in leaf.traits]}
        for leaf in model.leaves_
    ]
    return {
        "model": getattr(model, "kind", type(model).__name__),
        "log_posterior": model.log_posterior_,
        "n_leaves": model.n_leaves_,
        "search": {name: getattr(model.search_, name, None) for name in SEARCH_FIELDS},
        "importance": dict(importance_of(model.report())),
        "leaves": leaves,
    }


def _weights(frame: pl.DataFrame, column: str, name: str) -> Any:
    check_column(frame, column, name)
    if not frame[column].dtype.is_numeric():
        first = next(iter(frame[column].drop_nulls()), None)
        raise DataError(f"The weight column {column!r} holds {in_short(first)}, not numbers.")
    if frame[column].null_count():
        raise DataError(f"The weight column {column!r} has missing values. Fill them in.")
    return frame[column].to_numpy()


def check_column(frame: pl.DataFrame, column: str, name: str) -> None:
    """Refuse a column that a table does not have."""
    if column not in frame.columns:
        raise ColumnsError(f"There is no column {column!r} in {name}. Columns: {', '.join(frame.columns)}.")


def _read(name: str, domain: Domain | None) -> pl.DataFrame:
    from sparsedensity import datasets
    from sparsedensity.ingest.files import read_file

    if name in datasets.NAMES and not Path(name).exists():
        return datasets.load(name)
    check_table(name)
    if name != "-" and not Path(name).suffix and not Path(name).exists():
        raise DataError(f"{name!r} is neither a file nor a bundled data set ({', '.join(datasets.NAMES)}).")
    with working(f"reading {name}"):
        return read_file(name, domain)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
