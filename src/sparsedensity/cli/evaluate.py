"""``sparsedensity evaluate``: how well a model predicts rows it has not seen."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer

from sparsedensity.cli.data import working, write_json
from sparsedensity.cli.options import DataName, ModelOptions, taking

if TYPE_CHECKING:
    from sparsedensity.report.evidence import Score

EXAMPLES = (
    "Examples: sparsedensity evaluate titanic · sparsedensity evaluate people.csv --weight count --max-leaves 12 --json"
)


@taking(ModelOptions)
def command(
    data: DataName,
    folds: Annotated[int, typer.Option("--cv", help="Folds of the cross-validation.", min=2)] = 5,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
    *,
    options: ModelOptions,
) -> None:
    """Cross-validate a model against a full histogram and against independent columns."""
    from sparsedensity.estimators.evidence import encoded_rows, held_out_scores

    model, table = options.fit(data)
    with working("cross-validating"):
        scores = held_out_scores(model, *encoded_rows(model, table.frame, table.weights), folds)
    if json:
        write_json([{"model": s.name, "held_out_per_row": s.held_out, "standard_error": s.error} for s in scores])
    elif not options.quiet:
        typer.echo(_table(scores, folds))


def _table(scores: tuple[Score, ...], folds: int) -> str:
    space = max(len(score.name) for score in scores)
    head = f"Held-out log-likelihood per row, {folds} folds; higher is better"
    lines = [f"{score.name:<{space}}  {_number(score.held_out)}  +- {_number(score.error).strip()}" for score in scores]
    return "\n".join([head, "", *lines])


def _number(value: float) -> str:
    return f"{value:9.4f}" if math.isfinite(value) else "     -inf"
