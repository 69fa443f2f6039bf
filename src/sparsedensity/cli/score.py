"""``sparsedensity score``: how likely the rows of a table are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sparsedensity.cli.data import check_outputs, load_model, note, read_rows, working, write_json, write_table
from sparsedensity.cli.options import DataName
from sparsedensity.cli.show import ModelFile

EXAMPLES = (
    "Examples: sparsedensity score model.json people.csv -o scores.csv · sparsedensity score model.json titanic --json"
)


def command(
    model: ModelFile,
    data: DataName,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write CSV or Parquet here instead.")] = None,
    keep: Annotated[bool, typer.Option("--keep-columns", help="Write the columns of the table too.")] = False,
    jobs: Annotated[int | None, typer.Option("--jobs", help="Threads; -1 for all cores.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print only the totals, as JSON.")] = False,
) -> None:
    """Score every row: its leaf, its log density, and how unusual it is (0 the most common, 1 the rarest)."""
    import numpy as np
    import polars as pl

    check_outputs(data, output, model)
    fitted = load_model(model)
    if jobs is not None:
        fitted.set_params(n_jobs=jobs)
    rows = read_rows(data, fitted.domain_)
    with working("scoring"):
        leaves = fitted.apply(rows)
    outside = leaves < 0
    by_leaf = fitted.density_
    logs = np.where(outside, -np.inf, by_leaf.log_densities[leaves])
    total = float(logs.sum())
    if json:
        write_json(
            {
                "rows": len(logs),
                "outside": int(outside.sum()),
                "log_likelihood": total,
                "log_likelihood_per_row": total / len(logs),
            }
        )
        return
    unusual = np.where(outside, 1.0, by_leaf.unusualness[leaves])
    scores = pl.DataFrame({"leaf": leaves, "log_density": logs, "unusualness": unusual})
    write_table(pl.concat([rows, scores], how="horizontal") if keep else scores, output)
    note(f"{len(logs):,} rows, log-likelihood {total:,.2f}, {total / len(logs):.4f} a row")
