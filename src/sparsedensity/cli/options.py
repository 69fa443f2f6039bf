"""The options that say which data to read and which model to fit, shared by the verbs that fit one."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

from sparsedensity.cli.data import Data, complete_data, read_data
from sparsedensity.errors import ColumnsError, ParameterError, SparseDensityError

if TYPE_CHECKING:
    from sparsedensity.estimators import DensityEstimator

Option = typer.Option

DataName = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A CSV or Parquet file, - for CSV on standard input, or a bundled name (see `sparsedensity datasets`).",
        autocompletion=complete_data,
    ),
]


class Method(StrEnum):
    """The models there are."""

    leaf = "leaf"
    branch = "branch"
    list = "list"
    greedy = "greedy"
    histogram = "histogram"


KIND_HELP = "COLUMN=nominal, ordinal or continuous, or COLUMN=low,mid,high for values in order. Repeatable."
BINS_HELP = "Bins of continuous columns: N, quantile, quantile:N, or COLUMN=one of these or edges 0,10,50. Repeatable."


@dataclass
class ModelOptions:
    """Every option of a model, named after the parameter it sets. What is not given is left to the estimator."""

    method: Annotated[Method, Option("--method", "-m", help="The kind of model.")] = Method.leaf
    weight: Annotated[str | None, Option("--weight", help="The column with the weight (count) of each row.")] = None
    drop: Annotated[list[str] | None, Option("--drop", help="Leave a column out. Repeatable.")] = None
    kinds: Annotated[list[str] | None, Option("--kind", help=KIND_HELP)] = None
    bins: Annotated[list[str] | None, Option("--bins", help=BINS_HELP)] = None
    missing: Annotated[
        Literal["category", "drop", "error"] | None, Option("--missing", help="How to treat missing values.")
    ] = None
    unknown: Annotated[
        Literal["zero", "nearest", "error"] | None,
        Option("--unknown", help="A value outside the domain: density 0, the outermost bin, or an error."),
    ] = None
    density: Annotated[
        Literal["mean", "empirical"] | None,
        Option("--density", help="Probability of a leaf: posterior mean (never 0) or share of the rows."),
    ] = None
    expected_leaves: Annotated[
        float | None, Option("--expected-leaves", help="Leaf, greedy: leaves you would like to read (lambda).")
    ] = None
    expected_branches: Annotated[
        float | None, Option("--expected-branches", help="Branch: branches you would like at each split (lambda).")
    ] = None
    feature_probability: Annotated[
        float | None, Option("--feature-probability", help="Branch: the chance that a column is used at all (gamma).")
    ] = None
    pseudocount: Annotated[float | None, Option("--pseudocount", help="Added to every leaf (alpha).")] = None
    max_leaves: Annotated[str | None, Option("--max-leaves", help="The most leaves, or none for no limit.")] = None
    search: Annotated[
        Literal["auto", "anneal", "exact", "greedy"] | None,
        Option("--search", help="Search strategy: auto proves the optimum if that takes seconds, else it anneals."),
    ] = None
    depth: Annotated[
        int | None, Option("--depth", help="Leaf, branch: the best tree of at most this many levels, proven.")
    ] = None
    iterations: Annotated[int | None, Option("--iterations", help="The most proposals per restart or chain.")] = None
    restarts: Annotated[int | None, Option("--restarts", help="Restarts, or chains of a list.")] = None
    cooling: Annotated[
        Literal["geometric", "linear"] | None, Option("--cooling", help="Leaf, branch: how the temperature falls.")
    ] = None
    r_hat: Annotated[
        float | None, Option("--r-hat", help="List: chains agree if their Gelman-Rubin statistic is below this.")
    ] = None
    warm_start_from: Annotated[
        str | None, Option("--warm-start-from", help="A saved model to start from; for leaf and branch also: greedy.")
    ] = None
    random_state: Annotated[int | None, Option("--seed", help="The same seed gives the same model.")] = None
    criterion: Annotated[
        Literal["posterior", "ise"] | None, Option("--criterion", help="Greedy: what splits are scored by.")
    ] = None
    min_leaf: Annotated[
        float | None, Option("--min-leaf", help="Greedy: the least weight of a leaf that is not empty.")
    ] = None
    max_leaf: Annotated[
        float | None, Option("--most-rows-in-leaf", help="Greedy: leaves of at most this weight are not split.")
    ] = None
    expected_rules: Annotated[
        float | None, Option("--expected-rules", help="List: rules you would like to read (lambda).")
    ] = None
    expected_conditions: Annotated[
        float | None, Option("--expected-conditions", help="List: conditions you would like per rule (eta).")
    ] = None
    max_conditions: Annotated[int | None, Option("--max-conditions", help="List: the most conditions per rule.")] = None
    min_support: Annotated[
        float | None, Option("--min-support", help="List: the least weight of the rows that obey a rule, or a share.")
    ] = None
    max_rules: Annotated[str | None, Option("--max-rules", help="List: the most rules, or none for no limit.")] = None
    ordinal_conditions: Annotated[
        Literal["value", "interval"] | None,
        Option("--ordinal-conditions", help="List: conditions on ordered columns allow one value, or any run."),
    ] = None
    time_limit: Annotated[
        float | None, Option("--time-limit", help="Seconds after which the search stops with its best so far.")
    ] = None
    n_jobs: Annotated[int | None, Option("--jobs", help="Threads; -1 for all cores.")] = -1
    quiet: Annotated[bool, Option("--quiet", "-q", help="Print nothing but errors and warnings.")] = False

    def fit(self, name: str) -> tuple[DensityEstimator, Data]:
        """Read the data and fit the model that was asked for."""
        table = self.read(name)
        model = self.model(table)
        model.fit(table.frame, sample_weight=table.weights)
        return model, table

    def read(self, name: str) -> Data:
        """Read the data."""
        return read_data(name, weight=self.weight, drop=self.drop)

    def model(self, table: Data) -> DensityEstimator:
        """An estimator from the options that were given; one that it does not take is an error."""
        model = estimators()[self.method]()
        given = {name: getattr(self, name) for name in parameters()}
        given |= {"kinds": _kinds(self.kinds or [], table), "bins": _bins(self.bins or []), "progress": not self.quiet}
        given = {name: value for name, value in given.items() if value is not None} | self.limits()
        strange = sorted(set(given) - set(model.get_params()))
        if strange:
            raise SparseDensityError(f"{flag(strange[0])} is not an option of --method {self.method}.")
        model.set_params(**given)
        return model

    def limits(self) -> dict[str, Any]:
        """The limits that were given, as parameters of an estimator."""
        sizes = {"max_leaves": self.max_leaves, "max_rules": self.max_rules}
        limits: dict[str, Any] = {name: _limit(flag(name), text) for name, text in sizes.items() if text is not None}
        return limits if self.time_limit is None else {**limits, "time_limit": self.time_limit}


NOT_PARAMETERS = ("method", "weight", "drop", "quiet")
"""Options that choose the estimator, read the table, or silence the answer."""
RENAMED = {"kinds": "kind", "random_state": "seed", "n_jobs": "jobs", "max_leaf": "most-rows-in-leaf"}
"""Parameters whose option has another name."""


def parameters() -> list[str]:
    """The parameters that have an option."""
    return [field.name for field in fields(ModelOptions) if field.name not in NOT_PARAMETERS]


def flag(parameter: str) -> str:
    """The option that sets a parameter."""
    return "--" + RENAMED.get(parameter, parameter).replace("_", "-")


def estimators() -> dict[Method, type[DensityEstimator]]:
    """The estimator of each method."""
    from sparsedensity.estimators import BranchSparseTree, GreedyTree, Histogram, LeafSparseTree, SparseRuleList

    kinds = (LeafSparseTree, BranchSparseTree, SparseRuleList, GreedyTree, Histogram)
    return dict(zip(Method, kinds, strict=True))


def taking(options: type) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command every option of a dataclass, handed over as one object called `options`."""
    hints = get_type_hints(options, include_extras=True)

    def wrap(command: Callable[..., None]) -> Callable[..., None]:
        annotations = get_type_hints(command, include_extras=True)
        first, *others = [
            parameter.replace(annotation=annotations[parameter.name], kind=inspect.Parameter.KEYWORD_ONLY)
            for parameter in inspect.signature(command).parameters.values()
            if parameter.name != "options"
        ]
        added = [
            inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hint)
            for field, hint in ((field, hints[field.name]) for field in fields(options))
        ]

        @functools.wraps(command)
        def flat(**given: Any) -> None:
            command(options=options(**{field.name: given.pop(field.name) for field in fields(options)}), **given)

        signature = inspect.Signature([first, *added, *others])
        flat.__signature__ = signature  # type: ignore[attr-defined]
        flat.__annotations__ = {parameter.name: parameter.annotation for parameter in signature.parameters.values()}
        del flat.__wrapped__
        return flat

    return wrap


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
    """One setting for all columns, or one per column."""
    found: dict[str, Any] = {}
    for option in options:
        column, equals, what = option.rpartition("=")
        setting: Any = int(what) if what.isdecimal() else what
        if "," in what:
            setting = [_edge(option, edge) for edge in what.split(",")]
        if not equals and len(options) == 1:
            return setting
        found[column] = setting
    return found or None


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


def _edge(option: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ParameterError("--bins", option, "a list of numbers such as fare=0,10,50") from None
