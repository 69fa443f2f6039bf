"""``sparsedensity compare``: where a second table differs from a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sparsedensity.cli.data import check_outputs, load_model, read_rows, working, write_json, write_text
from sparsedensity.cli.options import DataName
from sparsedensity.cli.show import ModelFile

EXAMPLES = (
    "Examples: sparsedensity compare model.json this_year.csv · "
    "sparsedensity compare model.json synthetic.parquet --html differences.html --svg differences.svg"
)


def command(
    model: ModelFile,
    data: DataName,
    weight: Annotated[str | None, typer.Option("--weight", help="The column with the weight of each row.")] = None,
    svg: Annotated[Path | None, typer.Option("--svg", help="Draw the differences as an SVG picture.")] = None,
    html: Annotated[Path | None, typer.Option("--html", help="Write them as one HTML page.")] = None,
    width: Annotated[int | None, typer.Option("--width", help="Columns of text; the terminal's by default.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Compare a table with the one a model was fitted to: last year with this year, training with test data."""
    from sparsedensity.report.made import signed

    check_outputs(data, svg, html, model)
    fitted = load_model(model)
    rows = read_rows(data, fitted.domain_, weight)
    with working("comparing"):
        compared = fitted.compare(rows.frame, rows.weights, rows.name)
    if svg is not None:
        write_text(signed(compared.to_svg(), compared.report.seed), svg)
    if html is not None:
        write_text(compared.to_html(), html)
    if json:
        write_json(compared.as_dict())
    elif "-" not in (str(svg), str(html)):
        typer.echo(compared.to_text(width))
