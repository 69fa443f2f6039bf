"""``sparsedensity score``: how likely the rows of a table are."""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from sparsedensity.cli.data import (
    SpreadsheetOption,
    check_model,
    load_model,
    note,
    working,
    write_json,
    write_parts,
    write_table,
)
from sparsedensity.cli.explain import show_cards
from sparsedensity.cli.options import DataNames
from sparsedensity.cli.scoring import ScoredTable
from sparsedensity.cli.show import ModelFile
from sparsedensity.cli.tables import Data, EngineOption, check_outputs, check_table, read_rows, row_names
from sparsedensity.cli.top import most_unusual
from sparsedensity.report.words import counted

if TYPE_CHECKING:
    import polars as pl

    from sparsedensity.models import DensityModel
    from sparsedensity.report.explanation import Explanation

EXAMPLES = (
    "Examples: sparsedensity score model.json people.csv -o scores.csv · sparsedensity score model.json titanic --json "
    '· sparsedensity score model.json "logs/*.parquet" -o scores.parquet · sparsedensity score model.json huge.csv '
    "--top 20"
)


def command(
    model: ModelFile,
    data: DataNames,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write to this CSV or Parquet file.")] = None,
    spreadsheet: SpreadsheetOption = False,
    keep_columns: Annotated[bool, typer.Option("--keep-columns", help="Write the columns of the table too.")] = False,
    engine: EngineOption = None,
    jobs: Annotated[int | None, typer.Option("--jobs", help="Threads; -1 for all cores.")] = None,
    top: Annotated[int | None, typer.Option("--top", help="Only the N most unusual rows, with reasons.", min=1)] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the totals, or the top rows, as JSON.")] = False,
) -> None:
    """Score every row: its leaf, its log density, and how unusual it is (0 the most common, 1 the rarest).

    Rows are read and written part by part: the table need not fit in memory.
    """
    check_model(model)
    check_table(data)
    check_outputs(data, output, model)
    fitted = load_model(model)
    if jobs is not None:
        fitted.n_jobs = jobs
    table = read_rows(data, fitted.domain_, engine=engine)
    if top is not None:
        _show_top(fitted, table, top, _Answer(output, json, spreadsheet), data)
        return
    scored = ScoredTable(fitted, table)
    if json:
        with working("scoring"):
            write_json(scored.totals())
        return
    with nullcontext() if output is None else working("scoring"):
        write_parts(scored.parts(keep_columns=keep_columns), output, spreadsheet)
    rows = counted(scored.rows, "row", "rows")
    note(f"{rows}, log-likelihood {scored.total:,.2f}, {scored.total / scored.rows:.4f} per row")


class _Answer(NamedTuple):
    """Where the answer goes, and in which form."""

    output: Path | None
    json: bool
    spreadsheet: bool


def _show_top(fitted: DensityModel, table: Data, top: int, answer: _Answer, data: list[str]) -> None:
    """The most unusual rows of a table of any size, with reasons."""
    with working(f"reading {table.name}"):
        rows, numbers, total, outside, tied = most_unusual(fitted, table, top)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        explained = [
            replace(e, row=number, name=name)
            for e, number, name in zip(fitted.explain(rows), numbers, row_names(data, numbers, total), strict=True)
        ]
    if answer.output is None:
        show_cards(explained, rows, None, answer.json)
    else:
        write_table(_with_reasons(rows, explained), answer.output, answer.spreadsheet)
    note(
        f"the {len(numbers):,} most unusual of {total:,} rows"
        + (f"; {outside:,} lie outside the domain" * bool(outside))
        + (f"; {tied:,} rows tie; these are the rarest within their leaf" * bool(tied))
    )


def _with_reasons(rows: pl.DataFrame, explained: list[Explanation]) -> pl.DataFrame:
    """Rows with where they are, how unusual, why, and what would change it."""
    import polars as pl

    names = ("row", "leaf", "log_density", "unusualness", "reason")
    columns = {name: [getattr(e, name) for e in explained] for name in names}
    changes = [None if e.change is None else str(e.change) for e in explained]
    return pl.concat([rows, pl.DataFrame({**columns, "change": changes})], how="horizontal")
