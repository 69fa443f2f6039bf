"""DATA and MODEL on the command line: files, bundled names, weights, JSON."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from sparsedensity.errors import ColumnsError, DataError, SparseDensityError, using_file

if TYPE_CHECKING:
    import polars as pl

    from sparsedensity.domain import Domain
    from sparsedensity.estimators import DensityEstimator
    from sparsedensity.report.from_file import SavedModel
    from sparsedensity.report.model import Report

SEARCH_FIELDS = ("method", "reason", "moves", "seconds", "limit_binds", "upper_bound", "proven")


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
    """The columns that a model knows, in its order; others are left out with a note."""
    frame = _read(name, domain)
    weights = None if weight is None else _weights(frame, weight, name)
    return Data(known_columns(frame, name, domain, weight), weights, Path(name).name)


def known_columns(frame: pl.DataFrame, name: str, domain: Domain, weight: str | None = None) -> pl.DataFrame:
    """The part of a table that a model knows."""
    given = set(frame.columns)
    lacking = [column for column in domain.names if column not in given]
    if lacking:
        raise ColumnsError(f"{name} has no column {lacking[0]!r}, which the model needs.")
    known = {*domain.names, *domain.left_out, weight}
    extra = [column for column in frame.columns if column not in known]
    if extra:
        note(f"columns that the model does not know are left out: {', '.join(extra)}")
    return frame.select(domain.names)


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
        yield path
        return
    from sparsedensity.structures.files import read_like_json

    with TemporaryDirectory() as folder:
        file = Path(folder) / "standard-input.json"
        file.write_bytes(read_like_json(sys.stdin.buffer))
        yield file


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show on a terminal what is going on if it takes longer than a second."""
    from sparsedensity.estimators.progress import telling

    with telling(True, what):
        yield


def check_outputs(data: str, *outputs: Path | None) -> None:
    """Refuse to write over the data, or two answers into one file."""
    taken = {Path(data).resolve(): f"{data} is the table that is read"}
    for output in filter(None, outputs):
        if str(output) == "-":
            continue
        if output.resolve() in taken:
            raise SparseDensityError(f"{taken[output.resolve()]}. Write to another file.")
        taken[output.resolve()] = f"{output} is already written to"


def save_model(model: DensityEstimator, output: Path | None) -> None:
    """Write a model if that was asked for."""
    if output is not None and str(output) == "-":
        with TemporaryDirectory() as folder:
            model.save(Path(folder) / "model.json")
            typer.echo((Path(folder) / "model.json").read_text(encoding="utf-8"), nl=False)
    elif output is not None:
        model.save(output)
        note(f"saved {output}")


def write_text(text: str, output: Path | None, *, quiet: bool = False) -> None:
    """Write an answer to a file, and say so, or to standard output without one."""
    if output is None or str(output) == "-":
        typer.echo(text)
        return
    with using_file(output, "written"):
        output.write_text(text.rstrip("\n") + "\n", encoding="utf-8", newline="\n")
    if not quiet:
        note(f"wrote {output}")


def note(text: str) -> None:
    """Say something beside the answer."""
    typer.echo(text, err=True)


def write_json(answer: Any) -> None:
    """The answer for machines; numbers that JSON does not have become null."""
    typer.echo(json.dumps(_finite(answer), indent=1, ensure_ascii=False, default=str))


def write_table(frame: pl.DataFrame, output: Path | None) -> None:
    """A table as CSV, or as Parquet if the file name says so."""
    if output is None or str(output) == "-":
        sys.stdout.write(frame.write_csv())
        return
    with using_file(output, "written"):
        if output.suffix.lower() in (".parquet", ".pq"):
            frame.write_parquet(output)
        else:
            frame.write_csv(output)
    note(f"wrote {output}")


def model_as_text(report: Report, width: int | None = None) -> str:
    """A fitted or saved model for people, and which of its columns matter."""
    from sparsedensity.report import text
    from sparsedensity.report.importance import importance_of

    return "\n\n".join(filter(None, [text.render(report, width=width), importance_of(report).sentence()]))


def model_as_json(model: DensityEstimator | SavedModel) -> dict[str, Any]:
    """A fitted or saved model as plain data."""
    from sparsedensity.report.importance import importance_of

    leaves = [
        leaf.as_dict()
        | {"conditions": [{"feature": c.feature, "values": list(c.values)} for c in leaf.conditions], "text": str(leaf)}
        for leaf in model.leaves_
    ]
    return {
        "model": getattr(model, "kind", type(model).__name__),
        "log_posterior": model.log_posterior_,
        "n_leaves": model.n_leaves_,
        "search": {name: getattr(model.search_, name) for name in SEARCH_FIELDS},
        "importance": dict(importance_of(model.report())),
        "leaves": leaves,
    }


def _weights(frame: pl.DataFrame, column: str, name: str) -> Any:
    check_column(frame, column, name)
    if not frame[column].dtype.is_numeric():
        raise DataError(f"The weight column {column!r} holds {frame[column].dtype}, not numbers.")
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
