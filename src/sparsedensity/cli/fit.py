"""``sparsedensity fit``: learn a density and show it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sparsedensity.cli.data import Data, model_as_json, note, read_data, write_json
from sparsedensity.errors import ColumnsError, ParameterError, SparseDensityError

if TYPE_CHECKING:
    from sparsedensity.estimators import DensityEstimator

EXAMPLES = (
    "Examples: sparsedensity fit titanic · sparsedensity fit people.csv --weight count --max-leaves 12 -o model.json"
)


class Method(StrEnum):
    """The models there are."""

    greedy = "greedy"
    histogram = "histogram"


DataName = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A CSV or Parquet file, - for CSV on standard input, or a bundled name (see `sparsedensity datasets`).",
    ),
]
Choice = typer.Option


def command(
    data: DataName,
    method: Annotated[Method, Choice("--method", "-m", help="The kind of model.")] = Method.greedy,
    output: Annotated[Path | None, Choice("--output", "-o", help="Save the model as JSON.")] = None,
    report: Annotated[Path | None, Choice("--report", help="Write the report as one HTML page.")] = None,
    weight: Annotated[str | None, Choice("--weight", help="The column with the weight (count) of each row.")] = None,
    drop: Annotated[list[str] | None, Choice("--drop", help="Leave a column out. May be repeated.")] = None,
    kind: Annotated[
        list[str] | None,
        Choice(
            "--kind",
            help="COLUMN=nominal, ordinal or continuous, or COLUMN=low,mid,high for values in order. May be repeated.",
        ),
    ] = None,
    bins: Annotated[
        list[str] | None,
        Choice(
            "--bins",
            help="Bins of continuous columns: N, quantile, quantile:N, or COLUMN=one of these or edges 0,10,50.",
        ),
    ] = None,
    missing: Annotated[str, Choice("--missing", help="Missing values: category, drop or error.")] = "category",
    pseudocount: Annotated[float | None, Choice("--pseudocount", help="Added to every leaf (alpha).")] = None,
    density: Annotated[str, Choice("--density", help="mean (never 0) or empirical.")] = "mean",
    expected_leaves: Annotated[
        float | None, Choice("--expected-leaves", help="Leaves you would like to read (lambda).")
    ] = None,
    max_leaves: Annotated[str | None, Choice("--max-leaves", help="The most leaves, or none for no limit.")] = None,
    criterion: Annotated[str | None, Choice("--criterion", help="Greedy: posterior or ise.")] = None,
    min_leaf: Annotated[
        float | None, Choice("--min-leaf", help="Greedy: the least weight of a leaf that is not empty.")
    ] = None,
    max_leaf: Annotated[
        float | None, Choice("--max-leaf", help="Greedy: leaves of at most this weight are not split.")
    ] = None,
    time_limit: Annotated[
        float | None, Choice("--time-limit", help="Seconds after which the best so far is taken.")
    ] = None,
    jobs: Annotated[int | None, Choice("--jobs", help="Threads; -1 for all cores.")] = None,
    json: Annotated[bool, Choice("--json", help="Print JSON instead of text.")] = False,
    quiet: Annotated[bool, Choice("--quiet", "-q", help="Print no tree, show no progress.")] = False,
) -> None:
    """Fit a density to a table and print it."""
    table = read_data(data, weight=weight, drop=drop)
    own = {
        "expected_leaves": expected_leaves,
        "pseudocount": pseudocount,
        "max_leaves": max_leaves,
        "criterion": criterion,
        "min_leaf": min_leaf,
        "max_leaf": max_leaf,
        "time_limit": time_limit,
    }
    shared = {"kinds": _kinds(kind or [], table), "missing": missing, "density": density, "n_jobs": jobs}
    model = _make(method, {**own, **shared, "bins": _bins(bins or []), "progress": not quiet})
    model.fit(table.frame, sample_weight=table.weights)
    _write(model, output, report)
    if json:
        write_json(model_as_json(model))
    elif not quiet:
        typer.echo(model.to_text())


def _make(method: Method, parameters: dict[str, Any]) -> DensityEstimator:
    """An estimator from the options that were given; one it does not take is an error."""
    from sparsedensity.estimators import GreedyTree, Histogram

    kinds: dict[Method, type[DensityEstimator]] = {Method.greedy: GreedyTree, Method.histogram: Histogram}
    model = kinds[method]()
    given = {name: value for name, value in parameters.items() if value is not None}
    if "max_leaves" in given:
        given["max_leaves"] = _limit("--max-leaves", given["max_leaves"])
    strange = sorted(set(given) - set(model.get_params()))
    if strange:
        raise SparseDensityError(f"--{strange[0].replace('_', '-')} is not an option of --method {method}.")
    model.set_params(**given)
    return model


def _write(model: DensityEstimator, output: Path | None, report: Path | None) -> None:
    if output is not None:
        model.save(output)
        note(f"saved {output}")
    if report is not None:
        try:
            model.to_html(report)
        except OSError as error:
            raise SparseDensityError(f"{report} cannot be written: {error.strerror or error}.") from None
        note(f"wrote {report}")


def _limit(option: str, text: str) -> int | None:
    if text.lower() == "none":
        return None
    try:
        return int(text)
    except ValueError:
        raise ParameterError(option, text, "a whole number of 1 or more, or none") from None


def _kinds(options: list[str], table: Data) -> dict[str, Any] | None:
    """COLUMN=KIND or COLUMN=value,value,.. in order."""
    kinds: dict[str, Any] = {}
    for option in options:
        column, what = _column_option("--kind", option, table)
        values: list[Any] = what.split(",")
        if len(values) > 1 and table.frame[column].dtype.is_integer():
            values = [_whole(column, value) for value in values]
        kinds[column] = values if len(values) > 1 else what
    return kinds or None


def _bins(options: list[str]) -> Any:
    """One setting for all columns, or one a column."""
    found: dict[str, Any] = {}
    for option in options:
        column, equals, what = option.rpartition("=")
        setting: Any = int(what) if what.isdecimal() else what
        if "," in what:
            setting = [_number("--bins", option, edge) for edge in what.split(",")]
        if not equals and len(options) == 1:
            return setting
        found[column] = setting
    return found or 10


def _column_option(name: str, option: str, table: Data) -> tuple[str, str]:
    column, equals, what = option.rpartition("=")
    if not equals:
        raise ParameterError(name, option, "of the form COLUMN=...")
    if column not in table.frame.columns:
        raise ColumnsError(f"{name} names the column {column!r}, which is not in {table.name}.")
    return column, what


def _whole(column: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ParameterError("--kind", text, f"one of the whole numbers in the column {column!r}") from None


def _number(name: Literal["--bins"], option: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ParameterError(name, option, "a list of numbers such as fare=0,10,50") from None
