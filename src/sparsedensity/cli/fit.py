"""``sparsedensity fit``: learn a density and show it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sparsedensity.cli.data import check_outputs, model_as_json, note, save_model, write_json
from sparsedensity.cli.options import DataName, ModelOptions, taking_model_options

EXAMPLES = (
    "Examples: sparsedensity fit titanic · sparsedensity fit people.csv --weight count --max-leaves 12 -o model.json"
)


@taking_model_options
def command(
    data: DataName,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Save the model as JSON.")] = None,
    report: Annotated[Path | None, typer.Option("--report", help="Write the report as one HTML page.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Print what became of each column.")] = False,
    *,
    options: ModelOptions,
) -> None:
    """Fit a density to a table and print it."""
    check_outputs(data, output, report)
    model, table = options.fit(data)
    if verbose:
        from sparsedensity.report.columns import columns_in_words

        note(columns_in_words(model.domain_))
    save_model(model, output, report, table)
    if json:
        write_json(model_as_json(model))
    elif not options.quiet and str(output) != "-":
        typer.echo(model.to_text())
