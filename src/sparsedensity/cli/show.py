"""``sparsedensity show``: read a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sparsedensity.cli.data import load_model, model_as_json, write_json

EXAMPLES = "Examples: sparsedensity show model.json · sparsedensity show model.json --json"

ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="A model saved with `sparsedensity fit -o`.")]


def command(
    model: ModelFile,
    width: Annotated[int | None, typer.Option("--width", help="Columns of text; the terminal's by default.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Show a saved model: its leaves with probability, density, volume and count."""
    fitted = load_model(model)
    if json:
        write_json(model_as_json(fitted))
    else:
        typer.echo(fitted.to_text(width))
