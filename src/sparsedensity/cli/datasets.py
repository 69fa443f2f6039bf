"""``sparsedensity datasets``: the bundled data sets by name."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sparsedensity.cli.data import SpreadsheetOption, say, write_json, write_table

EXAMPLES = (
    "Examples: sparsedensity datasets · sparsedensity datasets titanic -o titanic.csv · "
    "sparsedensity datasets housebreaks --rows 5000 -o made.csv"
)


def command(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="The data set to write out; without it, all are listed.")
    ] = None,
    rows: Annotated[int | None, typer.Option("--rows", "-n", help="housebreaks: how many rows to draw.")] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="housebreaks: the same seed draws the same rows.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write to this CSV or Parquet file.")] = None,
    spreadsheet: SpreadsheetOption = False,
    json: Annotated[bool, typer.Option("--json", help="List as JSON.")] = False,
) -> None:
    """List the bundled data sets, or write one out."""
    from sparsedensity import datasets

    if name is not None:
        given = {option: value for option, value in (("rows", rows), ("seed", seed)) if value is not None}
        write_table(datasets.load(name, **given), output, spreadsheet)
    elif json:
        facts = ("rows", "columns", "description")
        bundled = datasets.BUNDLED.items()
        write_json([{"name": name, **{fact: getattr(known, fact) for fact in facts}} for name, known in bundled])
    else:
        for called, known in datasets.BUNDLED.items():
            say(f"{called:<12} {f'{known.rows:,} x {known.columns}':>9}  {known.description}")
