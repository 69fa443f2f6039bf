"""``python -m reproduction datasets``: what there is by name, where it comes from, and whether it is the paper's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from reproduction import datasets
from reproduction.datasets.digest import digest
from reproduction.paper import DATA_SETS, PaperSet
from sparsedensity.errors import DataError
from sparsedensity.writing import replacing

LISTED = ("name", "rows", "columns", "comes", "description")
COUNTED = ("name", "rows", "features", "pairs", "title", "here")


def command(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Write this one out.")] = None,
    folder: Annotated[
        Path | None, typer.Option("--folder", help="Look for published sets here first, and keep fetched ones here.")
    ] = None,
    rows: Annotated[int | None, typer.Option("--rows", help="Only the first rows, or so many drawn.", min=1)] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Count what is here of the paper's sets, beside what the paper prints.")
    ] = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write CSV or Parquet here instead.")] = None,
) -> None:
    """List the paper's data sets, or write one out: generated, or as it was published (fetched if need be)."""
    if name is None:
        typer.echo("\n".join(checked(folder) if check else listed(folder)))
        return
    frame = datasets.load(name, folder, rows)
    if output is None:
        typer.echo(frame.write_csv(), nl=False)
        return
    with replacing(output) as part:
        frame.write_parquet(part) if output.suffix == ".parquet" else frame.write_csv(part)


def listed(folder: Path | None = None) -> Iterator[str]:
    """Every set: what can be said without loading it."""
    rows = []
    for name in datasets.NAMES:
        known = datasets.about(name)
        made = isinstance(known, datasets.MadeSet)
        where = "made" if made else "here" if datasets.here(name, folder) else "to fetch"
        rows.append((name, known.rows, known.columns, where, known.description))
    return lines(LISTED, rows)


def checked(folder: Path | None = None) -> Iterator[str]:
    """Every set of the paper: what the paper prints, and what is here of it."""
    rows = [
        (line.loaded, line.rows, line.features, line.pairs, line.title, outcome(line, folder))
        for line in DATA_SETS.values()
    ]
    return lines(COUNTED, rows)


def outcome(line: PaperSet, folder: Path | None = None) -> str:
    """How the table that is here compares with what the paper prints, in words."""
    instead = f"; {line.stand_in} is like it" if line.stand_in else ""
    if line.loaded is None:
        return f"no loader{instead}"
    if not datasets.here(line.loaded, folder):
        return f"not on this machine{instead}"
    try:
        frame = datasets.load(line.loaded, folder, line.first_rows)
    except DataError as error:
        return str(error)
    counts = (frame.height, frame.width, sum(column.n_unique() for column in frame))
    digested = f"sha256 {digest(frame)[:16]}"
    if counts == (line.rows, line.features, line.pairs):
        return f"agrees, {digested}"
    return f"{counts[0]:,} rows, {counts[1]} features, {counts[2]} pairs, {digested}"


def lines(heads: Sequence[str], rows: Sequence[Sequence[str | int | None]]) -> Iterator[str]:
    """A table for a person: numbers to the right, words to the left."""
    texts = [list(heads), *([_text(value) for value in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    right = [isinstance(value, int) for value in rows[0]]
    for line in texts:
        cells = zip(line, widths, right, strict=True)
        yield "  ".join(text.rjust(width) if number else text.ljust(width) for text, width, number in cells).rstrip()


def _text(value: str | int | None) -> str:
    return f"{value:,}" if isinstance(value, int) else value or "-"
