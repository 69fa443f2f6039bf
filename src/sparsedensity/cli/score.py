"""``sparsedensity score``: how likely the rows of a table are."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sparsedensity.cli.data import (
    SpreadsheetOption,
    check_model,
    check_outputs,
    check_table,
    load_model,
    note,
    read_rows,
    row_names,
    working,
    write_json,
    write_table,
)
from sparsedensity.cli.explain import show_cards
from sparsedensity.cli.options import DataName
from sparsedensity.cli.show import ModelFile
from sparsedensity.cli.top import most_unusual, scores_of

if TYPE_CHECKING:
    from sparsedensity.estimators import DensityEstimator

EXAMPLES = (
    "Examples: sparsedensity score model.json people.csv -o scores.csv · sparsedensity score model.json titanic --json "
    "· sparsedensity score model.json huge.csv --top 20"
)


def command(
    model: ModelFile,
    data: DataName,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write to this CSV or Parquet file.")] = None,
    spreadsheet: SpreadsheetOption = False,
    keep_columns: Annotated[bool, typer.Option("--keep-columns", help="Write the columns of the table too.")] = False,
    jobs: Annotated[int | None, typer.Option("--jobs", help="Threads; -1 for all cores.")] = None,
    top: Annotated[
        int | None,
        typer.Option(
            "--top", help="Only the N most unusual rows, with reasons; the table need not fit in memory.", min=1
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the totals, or the top rows, as JSON.")] = False,
) -> None:
    """Score every row: its leaf, its log density, and how unusual it is (0 the most common, 1 the rarest)."""
    import polars as pl

    check_model(model)
    check_table(data)
    check_outputs(data, output, model)
    fitted = load_model(model)
    if jobs is not None:
        fitted.set_params(n_jobs=jobs)
    if top is not None:
        _show_top(fitted, data, top, output, json, spreadsheet)
        return
    rows = read_rows(data, fitted.domain_).frame
    with working("scoring"):
        scores = scores_of(fitted, rows)
    total = float(scores["log_density"].to_numpy().sum())
    per_row = total / rows.height
    if json:
        outside = int((scores["leaf"] < 0).sum())
        counts = {"rows": rows.height, "outside": outside}
        write_json({**counts, "log_likelihood": total, "log_likelihood_per_row": per_row})
        return
    write_table(pl.concat([rows, scores], how="horizontal") if keep_columns else scores, output, spreadsheet)
    note(f"{rows.height:,} rows, log-likelihood {total:,.2f}, {per_row:.4f} per row")


def _show_top(
    fitted: DensityEstimator, data: str, top: int, output: Path | None, json: bool, spreadsheet: bool
) -> None:
    """The most unusual rows of a table of any size, with reasons."""
    import polars as pl

    with working(f"reading {data}"):
        rows, numbers, total, outside, tied = most_unusual(fitted, data, top)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        explained = [
            replace(e, row=number, name=name)
            for e, number, name in zip(fitted.explain(rows), numbers, row_names(data, numbers, total), strict=True)
        ]
    if output is None:
        show_cards(explained, rows, None, json)
    else:
        names = ("row", "leaf", "log_density", "unusualness", "reason")
        columns = {name: [getattr(e, name) for e in explained] for name in names}
        changes = [None if e.change is None else str(e.change) for e in explained]
        reasons = pl.DataFrame({**columns, "change": changes})
        write_table(pl.concat([rows, reasons], how="horizontal"), output, spreadsheet)
    note(
        f"the {len(numbers):,} most unusual of {total:,} rows"
        + (f"; {outside:,} lie outside the domain" * bool(outside))
        + (f"; {tied:,} rows tie; these are the rarest within their leaf" * bool(tied))
    )
