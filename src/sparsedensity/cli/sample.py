"""``sparsedensity sample``: new rows from a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sparsedensity.cli.data import SpreadsheetOption, load_model, write_table
from sparsedensity.cli.show import ModelFile

EXAMPLES = (
    "Examples: sparsedensity sample model.json -n 5 · sparsedensity sample model.json -n 100000 --seed 1 -o new.parquet"
)


def command(
    model: ModelFile,
    rows: Annotated[int, typer.Option("--rows", "-n", help="How many rows.", min=0)] = 10,
    seed: Annotated[int | None, typer.Option("--seed", help="The same seed gives the same rows.", min=0)] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write to this CSV or Parquet file.")] = None,
    spreadsheet: SpreadsheetOption = False,
) -> None:
    """Draw new rows from a model."""
    fitted = load_model(model)
    fitted.frame_ = "polars"
    write_table(fitted.sample(rows, random_state=seed), output, spreadsheet)
