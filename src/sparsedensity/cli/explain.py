"""``sparsedensity explain``: why rows are as common or as rare as they are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sparsedensity.cli.data import load_model, say, write_json
from sparsedensity.cli.options import DataNames
from sparsedensity.cli.show import ModelFile
from sparsedensity.cli.tables import first_of, read_rows, row_names

if TYPE_CHECKING:
    import polars as pl

    from sparsedensity.report.explanation import Explanation

EXAMPLES = (
    "Examples: sparsedensity explain model.json rows.csv · sparsedensity explain model.json titanic --rows 3 · "
    "tail -n 1 log.csv | sparsedensity explain model.json - --json"
)


def command(
    model: ModelFile,
    data: DataNames,
    rows: Annotated[int | None, typer.Option("--rows", "-n", help="Only the first N rows.", min=1)] = None,
    width: Annotated[int | None, typer.Option("--width", help="Columns of text; the terminal's by default.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of cards.")] = False,
) -> None:
    """Explain every row: its path in words, how unusual it is, and the one change that would make it most ordinary."""
    fitted = load_model(model)
    table, total = first_of(read_rows(data, fitted.domain_), rows)
    names = row_names(data, range(table.height), total)
    explained = [replace(e, name=name) for e, name in zip(fitted.explain(table), names, strict=True)]
    show_cards(explained, table, width, json)


def show_cards(explained: list[Explanation], table: pl.DataFrame, width: int | None, json: bool) -> None:
    """Print explanations with the records they belong to."""
    from sparsedensity.report import words

    records: list[dict[str, Any]] = table.to_dicts()
    if json:
        both = zip(explained, records, strict=True)
        write_json([{**explanation.as_dict(), "record": record} for explanation, record in both])
        return
    printed = [
        explanation.card(
            [(words.printable(column), words.plain_value(value)) for column, value in record.items()], width
        )
        for explanation, record in zip(explained, records, strict=True)
    ]
    say("\n\n".join(printed))
