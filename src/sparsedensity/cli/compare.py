"""``sparsedensity compare``: where two tables differ, or a table and a model."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sparsedensity.cli.data import is_model, load_model, note, say, working, write_json, write_text
from sparsedensity.cli.options import ModelOptions, flag, taking_model_options
from sparsedensity.cli.tables import Data, check_outputs, complete_data, read_rows
from sparsedensity.errors import ColumnsError, SparseDensityError

if TYPE_CHECKING:
    from sparsedensity.report.comparison import Comparison

EXAMPLES = (
    "Examples: sparsedensity compare last_year.csv this_year.csv --html differences.html · "
    "sparsedensity compare model.json synthetic.parquet --svg differences.svg · "
    'sparsedensity compare "logs/2024-*.parquet" "logs/2025-*.parquet" --engine duckdb'
)
FOR_ANY_MODEL = ("weight", "engine", "n_jobs", "quiet")
"""Options that fit nothing."""


@taking_model_options
def command(
    first: Annotated[
        str,
        typer.Argument(
            metavar="FIRST",
            help="A table (a file, folder, pattern in quotes, database or bundled name), or a saved model; - for a "
            "model on standard input.",
            autocompletion=complete_data,
        ),
    ],
    second: Annotated[
        str, typer.Argument(metavar="SECOND", help="The table to compare with it.", autocompletion=complete_data)
    ],
    permutations: Annotated[
        int | None,
        typer.Option(
            "--permutations", help="Random divisions of the rows to compare two tables with; as needed by default."
        ),
    ] = None,
    svg: Annotated[Path | None, typer.Option("--svg", help="Draw the differences as an SVG picture.")] = None,
    html: Annotated[Path | None, typer.Option("--html", help="Write them as one HTML page.")] = None,
    width: Annotated[int | None, typer.Option("--width", help="Columns of text; the terminal's by default.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
    *,
    options: ModelOptions,
) -> None:
    """Compare two tables: last year with this year, training with test data.

    A saved model can stand for the first table; a test needs an honest one (fit --honest).
    """
    from sparsedensity.report.made import signed

    for data in (first, second):
        check_outputs([data], svg, html)
    if first == "-" or is_model(first):
        compared = _with_model(Path(first), second, permutations, options)
    else:
        compared = _of_tables(first, second, permutations, options)
    if svg is not None:
        write_text(signed(compared.to_svg(), compared.report.seed), svg, quiet=options.quiet)
    if html is not None:
        write_text(compared.to_html(), html, quiet=options.quiet)
    if json:
        write_json(compared.as_dict())
    elif "-" not in (str(svg), str(html)) and not options.quiet:
        say(compared.to_text(width))


def _with_model(path: Path, second: str, permutations: int | None, options: ModelOptions) -> Comparison:
    default = ModelOptions()
    given = [flag(o.name) for o in fields(options) if getattr(options, o.name) != getattr(default, o.name)]
    of_tables = [name for name in given if name not in map(flag, FOR_ANY_MODEL)]
    if of_tables or permutations is not None:
        option = of_tables[0] if of_tables else "--permutations"
        raise SparseDensityError(f"{option} is for two tables, but {path} is a model. Leave it out.")
    fitted = load_model(path)
    rows = read_rows([second], fitted.domain_, options.weight, engine=options.engine)
    with working("comparing"):
        return fitted.compare(rows.frame, rows.weights, rows.name)


def _of_tables(first: str, second: str, permutations: int | None, options: ModelOptions) -> Comparison:
    from sparsedensity.models.comparing import READABLE_LEAVES, compare
    from sparsedensity.models.plain import parameter_names, unfitted

    one, other = _with_shared_columns(*_tables(first, second, options))
    model = options.model(one)
    if options.max_leaves is None and "max_leaves" in parameter_names(model):
        model = unfitted(model, max_leaves=READABLE_LEAVES)
    return compare(
        one.frame,
        other.frame,
        model=model,
        weights_before=one.weights,
        weights_after=other.weights,
        permutations=permutations,
        random_state=options.random_state or 0,
        names=(one.name, other.name),
    )


def _tables(first: str, second: str, options: ModelOptions) -> tuple[Data, Data]:
    """Both tables, in memory or on one engine: if one is too large, the other is left where it is too."""
    one, other = options.read([first]), options.read([second])
    if one.lazy and not other.lazy:
        other = replace(options, engine=one.engine).read([second])
    elif other.lazy and not one.lazy:
        one = replace(options, engine=other.engine).read([first])
    return one, other


def _with_shared_columns(one: Data, other: Data) -> tuple[Data, Data]:
    """Two tables with the columns that both have; others are left out with a note."""
    shared = [column for column in one.columns if column in other.columns]
    if not shared:
        raise ColumnsError(f"{one.name} and {other.name} have no column in common.")
    lone = [column for column in (*one.columns, *other.columns) if column not in shared]
    if lone:
        note(f"columns that only one of the tables has are left out: {', '.join(lone)}")
    return one.only(shared), other.only(shared)
