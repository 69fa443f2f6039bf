"""``sparsedensity datasets``: the bundled data sets by name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sparsedensity.cli.data import write_json, write_table
from sparsedensity.errors import ParameterError

if TYPE_CHECKING:
    from sparsedensity.datasets import BundledSet

EXAMPLES = (
    "Examples: sparsedensity datasets · sparsedensity datasets titanic -o titanic.csv · "
    "sparsedensity datasets random-tree --set rows=5000 --set sizes=4,3,2 -o made.csv"
)


def command(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Write this one out.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="An option of a generator, NAME=VALUE. May be repeated.")
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write CSV or Parquet here instead.")] = None,
    json: Annotated[bool, typer.Option("--json", help="List as JSON.")] = False,
) -> None:
    """List the bundled data sets, or write one out."""
    from sparsedensity import datasets

    if name is not None:
        write_table(datasets.load(name, **dict(map(_setting, settings or []))), output)
        return
    if json:
        facts = ("rows", "columns", "description")
        bundled = datasets.BUNDLED.items()
        write_json([{"name": name, **{fact: getattr(known, fact) for fact in facts}} for name, known in bundled])
    else:
        typer.echo("\n".join(_line(name, known) for name, known in datasets.BUNDLED.items()))


def _line(name: str, known: BundledSet) -> str:
    size = "" if known.rows is None else f"{known.rows:,} x {known.columns}"
    return f"{name:<12} {size:>9}  {known.description}"


def _setting(option: str) -> tuple[str, Any]:
    """NAME=5 is a whole number, NAME=4,3,2 a list of them."""
    name, _, text = option.partition("=")
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        raise ParameterError("--set", option, "of the form NAME=NUMBER or NAME=NUMBER,NUMBER,..") from None
    return name, numbers if "," in text else numbers[0]
