"""``sparsedensity show``: read a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from sparsedensity.cli.data import load_model, model_as_json, model_as_text, model_file, write_json, write_text

if TYPE_CHECKING:
    from sparsedensity.report.model import Report

EXAMPLES = (
    "Examples: sparsedensity show model.json · sparsedensity show model.json --json · "
    "sparsedensity show model.json --as svg -o model.svg"
)

ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A model saved with `sparsedensity fit -o`; - for standard input.")
]

Form = Literal["text", "svg", "html", "mermaid", "graphviz", "latex"]


def command(
    model: ModelFile,
    form: Annotated[Form, typer.Option("--as", help="Text, a picture, a page, or source for other programs.")] = "text",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write to this file.")] = None,
    width: Annotated[int | None, typer.Option("--width", help="Columns of text; the terminal's by default.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Show a saved model: its leaves with probability, density, volume and weight."""
    from sparsedensity.report import from_file

    with model_file(model) as file:
        saved = from_file.read(file) or load_model(file)
    if json:
        write_json(model_as_json(saved))
    else:
        write_text(_render(saved.report(), form, width), output)


def _render(report: Report, form: Form, width: int | None) -> str:
    import importlib

    from sparsedensity.report.made import signed

    if form == "text":
        return model_as_text(report, width)
    rendered: str = importlib.import_module(f"sparsedensity.report.{form}").render(report)
    return signed(rendered, report.seed) if form == "svg" else rendered
