"""``sparsedensity report``: everything about a table and its density on one page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sparsedensity.cli.data import was_interrupted, write_text
from sparsedensity.cli.options import DataNames, ReadableOptions, taking_model_options
from sparsedensity.cli.tables import Data, at_hand, check_outputs

if TYPE_CHECKING:
    from sparsedensity.models import DensityModel

EXAMPLES = (
    "Examples: sparsedensity report titanic -o titanic.html · "
    "sparsedensity report people.csv --weight count --max-leaves 24 --cv 0 -o report.html"
)

ReportFolds = Annotated[int, typer.Option("--cv", help="Folds of the report's cross-validation; 0 for none.", min=0)]


@taking_model_options
def command(
    data: DataNames,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page; - for standard output.")] = Path(
        "report.html"
    ),
    folds: ReportFolds = 5,
    *,
    options: ReadableOptions,
) -> None:
    """Fit a density to a table and write the report: one page that opens anywhere, without a network."""
    check_outputs(data, output)
    model, table = options.fit(data)
    write_report(model, table, output, folds, quiet=options.quiet)


def write_report(model: DensityModel, table: Data, output: Path, folds: int, *, quiet: bool = False) -> None:
    """Write the report of a model and the table it was fitted to; of a large one it shows some rows."""
    table = at_hand(table, "records, leaf contents and held-out scores are from")
    cv = None if was_interrupted(model) else folds or None
    page = model.to_html(None, table.frame, sample_weight=table.weights, cv=cv, source=table.name)
    write_text(page, output, quiet=quiet)
