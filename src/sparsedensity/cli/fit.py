"""``sparsedensity fit``: learn a density and show it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sparsedensity.cli.data import (
    model_as_json,
    model_as_text,
    note,
    save_model,
    say,
    working,
    write_json,
)
from sparsedensity.cli.options import DataNames, ReadableOptions, models, taking_model_options
from sparsedensity.cli.report import ReportFolds, write_report
from sparsedensity.cli.tables import check_outputs
from sparsedensity.errors import SparseDensityError

if TYPE_CHECKING:
    from sparsedensity.report.near_optimal import Agreement

EXAMPLES = (
    "Examples: sparsedensity fit titanic · sparsedensity fit people.csv --weight count --max-leaves 24 -o model.json · "
    'sparsedensity fit "logs/*.parquet" --engine duckdb · sparsedensity fit "shop.duckdb?table=orders"'
)

NEAR_HELP = "Also say what all trees or lists share whose log posterior is within so many nats of the best."


@taking_model_options
def command(
    data: DataNames,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Save the model as JSON.")] = None,
    report: Annotated[Path | None, typer.Option("--report", help="Write the report as one HTML page.")] = None,
    folds: ReportFolds = 5,
    near_optimal: Annotated[float | None, typer.Option("--near-optimal", help=NEAR_HELP, metavar="NATS")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Print what became of each column.")] = False,
    *,
    options: ReadableOptions,
) -> None:
    """Fit a density to a table and print it."""
    check_outputs(data, output, report)
    if near_optimal is not None and not hasattr(models()[options.method], "near_optimal"):
        raise SparseDensityError(f"--near-optimal is not an option of --method {options.method}.")
    model, table = options.fit(data)
    if verbose:
        from sparsedensity.report.columns import columns_in_words

        note(columns_in_words(model.domain_))
    save_model(model, output, quiet=options.quiet)
    if report is not None:
        write_report(model, table, report, folds, quiet=options.quiet)
    near = None if near_optimal is None else _near_optimal(model, near_optimal)
    if json:
        write_json(model_as_json(model) | ({} if near is None else {"near_optimal": near.as_dict()}))
    elif not options.quiet and str(output) != "-":
        say(model_as_text(model.report()))
        if near is not None:
            say(f"\n{near}")


def _near_optimal(model: Any, within: float) -> Agreement:
    """What the models within so many nats of the best share."""
    with working("listing near-optimal models"):
        found: Agreement = model.near_optimal(within).agreement
    return found
