"""``sparsedensity report``: everything about a table and its density on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sparsedensity.cli.data import check_outputs, was_interrupted, working, write_text
from sparsedensity.cli.options import DataName, ModelOptions, taking_model_options

EXAMPLES = (
    "Examples: sparsedensity report titanic -o titanic.html · "
    "sparsedensity report people.csv --weight count --max-leaves 12 --cv 0 -o report.html"
)


@taking_model_options
def command(
    data: DataName,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page; - for standard output.")] = Path(
        "report.html"
    ),
    folds: Annotated[int, typer.Option("--cv", help="Folds of cross-validation; 0 for none.", min=0)] = 5,
    *,
    options: ModelOptions,
) -> None:
    """Fit a density to a table and write the report: one page that opens anywhere, without a network."""
    check_outputs(data, output)
    model, table = options.fit(data)
    with working("gathering the report"):
        cv = None if was_interrupted(model) else folds or None
        page = model.to_html(None, table.frame, sample_weight=table.weights, cv=cv, source=table.name)
    write_text(page, output, quiet=options.quiet)
