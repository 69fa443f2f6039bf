"""MODEL on the command line, and the answers: files, tables, JSON."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from sparsedensity import writing
from sparsedensity.errors import ModelFileError

if TYPE_CHECKING:
    import polars as pl

    from sparsedensity.models import DensityModel
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
SEARCH_FIELDS = (
    "method",
    "reason",
    "moves",
    "seconds",
    "sampled",
    "limit_binds",
    "upper_bound",
    "proven",
    "calibrated_leaves",
)


def is_model(name: str | Path) -> bool:
    """Whether a file is JSON, as saved models are."""
    if not Path(name).is_file():
        return False
    with Path(name).open("rb") as file:
        return file.read(64).lstrip()[:1] == b"{"


def load_model(path: Path) -> DensityModel:
    """A saved model, from a file or from standard input (``-``)."""
    from sparsedensity.models import load

    with model_file(path) as file:
        return load(file)


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


def was_interrupted(model: DensityModel) -> bool:
    """Whether Ctrl-C ended the search: who wants to come to an end does not wait for another search."""
    return model.search_.reason == "interrupted"


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show on a terminal what is going on if it takes longer than a second."""
    from sparsedensity.models.progress import telling

    with telling(True, what):
        yield


def save_model(model: DensityModel, output: Path | None, *, quiet: bool = False) -> None:
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
    write_parts([frame], output, spreadsheet, quiet=quiet)


def write_parts(
    parts: Iterable[pl.DataFrame], output: Path | None, spreadsheet: bool = False, *, quiet: bool = False
) -> None:
    """The same of a table that comes part by part, and is never in memory as a whole."""
    if output is not None and str(output) != "-" and output.suffix.lower() in (".parquet", ".pq"):
        with writing.replacing(output) as part:
            _write_parquet(iter(parts), part)
    else:
        texts = (_as_csv(frame, spreadsheet, header=i == 0) for i, frame in enumerate(parts))
        if output is None or str(output) == "-":
            for text in texts:
                sys.stdout.write(for_terminal(text))
            return
        with writing.replacing(output) as part, part.open("w", encoding="utf-8", newline="") as file:
            file.writelines(texts)
    if not quiet:
        note(f"wrote {output}")


def _as_csv(frame: pl.DataFrame, spreadsheet: bool, *, header: bool) -> str:
    return (_without_formulas(frame) if spreadsheet else frame).write_csv(include_header=header)


def _write_parquet(parts: Iterator[pl.DataFrame], path: Path) -> None:
    """Write a file from parts as they come."""
    from polars.exceptions import ComputeError
    from polars.io.plugins import register_io_source

    first = next(parts)

    def source(*_wishes: Any) -> Iterator[pl.DataFrame]:
        return chain([first], parts)

    try:
        register_io_source(source, schema=first.schema).sink_parquet(path)
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


def model_as_json(model: DensityModel | SavedModel) -> dict[str, Any]:
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


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
