"""``sparsedensity datasets``: what there is by name, where it comes from, and whether it is the paper's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sparsedensity.cli.data import working, write_json, write_table
from sparsedensity.errors import DataError, ParameterError

if TYPE_CHECKING:
    from sparsedensity.datasets import PaperSet

EXAMPLES = (
    "Examples: sparsedensity datasets · sparsedensity datasets mushroom -o mushroom.csv · "
    "sparsedensity datasets random-tree --set rows=5000 --set sizes=4,3,2 -o made.csv"
)


def command(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Write this one out.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="An option of a generator, NAME=VALUE. May be repeated.")
    ] = None,
    folder: Annotated[
        Path | None, typer.Option("--folder", help="Look for published sets here first, and keep fetched ones here.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Count what is here of the paper's sets, beside what the paper prints.")
    ] = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write CSV or Parquet here instead.")] = None,
    json: Annotated[bool, typer.Option("--json", help="List as JSON.")] = False,
) -> None:
    """List the data sets, or write one out: bundled, generated, or as it was published (fetched if need be)."""
    from sparsedensity import datasets

    if name is not None:
        options = dict(map(_setting, settings or []))
        datasets.check_options(name, options)
        datasets.fetch(name, folder)
        with working(f"reading {name}"):
            frame = datasets.load(name, folder, **options)
        write_table(frame, output)
        return
    rows = (
        [_counted(line, folder) for line in datasets.PAPER] if check else [_listed(n, folder) for n in datasets.NAMES]
    )
    if json:
        write_json(rows)
    else:
        typer.echo("\n".join(_lines(rows)))


def _listed(name: str, folder: Path | None) -> dict[str, Any]:
    """One line of the list: a name and what can be said without loading it."""
    from sparsedensity import datasets

    known = datasets.about(name)
    where = "made" if isinstance(known, datasets.Made) else "here" if datasets.here(name, folder) else "to fetch"
    return {
        "name": name,
        "rows": known.rows,
        "columns": known.columns,
        "comes": where,
        "description": known.description,
    }


def _counted(line: PaperSet, folder: Path | None) -> dict[str, Any]:
    """One line of the check: what the paper prints, and what is here of it."""
    return {
        "name": line.name,
        "rows": line.rows,
        "features": line.features,
        "pairs": line.pairs,
        "title": line.title,
        "here": _outcome(line, folder),
    }


def _outcome(line: PaperSet, folder: Path | None) -> str:
    """How the table that is here compares with what the paper prints, in words."""
    from sparsedensity import datasets
    from sparsedensity.datasets.digest import digest

    instead = f"; {line.stand_in} is like it" if line.stand_in else ""
    if line.name is None:
        return f"no loader{instead}"
    if not datasets.here(line.name, folder):
        return f"not on this machine{instead}"
    with working(f"reading {line.name}"):
        try:
            frame = datasets.load(line.name, folder, **line.options)
        except DataError as error:
            return str(error)
        counts = (frame.height, frame.width, sum(column.n_unique() for column in frame))
        digested = f"sha256 {digest(frame)[:16]}"
    if counts == (line.rows, line.features, line.pairs):
        return f"agrees, {digested}"
    return f"{counts[0]:,} rows, {counts[1]} features, {counts[2]} pairs, {digested}"


def _lines(rows: list[dict[str, Any]]) -> Iterator[str]:
    """A table for a person: numbers to the right, words to the left, the last column as long as it is."""
    texts = [list(rows[0]), *([_text(value) for value in row.values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    right = [isinstance(value, int) for value in rows[0].values()]
    for line in texts:
        cells = zip(line, widths, right, strict=True)
        yield "  ".join(text.rjust(width) if number else text.ljust(width) for text, width, number in cells).rstrip()


def _text(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else "-" if value is None else str(value)


def _setting(option: str) -> tuple[str, Any]:
    """NAME=5 is a whole number, NAME=4,3,2 a list of them."""
    name, _, text = option.partition("=")
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        raise ParameterError("--set", option, "of the form NAME=NUMBER or NAME=NUMBER,NUMBER,..") from None
    return name, numbers if "," in text else numbers[0]
