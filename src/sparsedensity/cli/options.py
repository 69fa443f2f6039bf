"""The options that say which data to read and which model to fit, shared by the verbs that fit one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import Field, dataclass, field, fields
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_type_hints

import typer

from sparsedensity.cli.advice import advise
from sparsedensity.cli.data import was_interrupted
from sparsedensity.cli.tables import (
    ENGINE_DEFAULT,
    ENGINE_HELP,
    Data,
    Engine,
    at_hand,
    check_column,
    complete_data,
    read_data,
)
from sparsedensity.errors import ParameterError, SparseDensityError

if TYPE_CHECKING:
    from sparsedensity.domain import Domain
    from sparsedensity.models import DensityModel

DATA_HELP = (
    'CSV or Parquet files, folders of them, or patterns in quotes ("logs/*.parquet"): together one table. Or a table '
    'of a database ("shop.duckdb?table=orders", or any Ibis URL), - for CSV on standard input, or a bundled name (see '
    "`sparsedensity datasets`)."
)
DataNames = Annotated[list[str], typer.Argument(metavar="DATA...", help=DATA_HELP, autocompletion=complete_data)]


KINDS = ("nominal", "ordinal", "continuous")
READABLE = 12
"""The most leaves or rules of a first look."""
LIMITS = ("max_leaves", "max_rules")
OF_PROFILES = ("profile_pseudocount", "profile_probability")
DATA, MODEL, PRIOR, SEARCH = "Data", "Model", "Prior", "Search"
"""The groups of options in the help."""


def given(
    help: str, panel: str | None = None, shown: str = "", *, default: Any = None, short: str | None = None
) -> Any:
    """An option of the command line; what is not given is left to the model, whose default is shown.

    The defaults are written here, because a model takes a second to import; a test holds them together.
    """
    return field(default=default, metadata={"help": help, "panel": panel, "shown": shown, "short": short})


@dataclass
class ModelOptions:
    """Every option of a model, named after the parameter it sets."""

    limit: ClassVar[int | None] = None
    """The most leaves or rules unless told otherwise; if there is none, the model's own limit holds."""

    weight: str | None = given("The column with the weight (count) of each row.", DATA)
    drop: list[str] | None = given("Leave a column out. Repeatable.", DATA)
    kinds: list[str] | None = given(
        "COLUMN=nominal, ordinal or continuous, or COLUMN=low,mid,high for values in order. Repeatable. One word alone "
        "is for all columns: nominal is what the paper does.",
        DATA,
    )
    bins: list[str] | None = given(
        "Bins of continuous columns: N, quantile, quantile:N, or COLUMN=one of these or edges 0,10,50. Repeatable.",
        DATA,
        "10",
    )
    domain: list[str] | None = given(
        "A table whose values and ranges make up the domain, instead of those of DATA. Repeatable: all together.",
        DATA,
    )
    engine: Engine | None = given(ENGINE_HELP, DATA, ENGINE_DEFAULT)
    missing: Literal["category", "drop", "error"] | None = given("How to treat missing values.", DATA, "category")
    unknown: Literal["zero", "nearest", "error"] | None = given(
        "A value outside the domain: density 0, the outermost bin, or an error.", DATA, "zero"
    )
    method: Literal["leaf", "branch", "list", "greedy", "histogram"] = given(
        "The kind of model.", MODEL, default="leaf", short="-m"
    )
    density: Literal["mean", "empirical"] | None = given(
        "Probability of a leaf: posterior mean (never 0) or share of the rows.", MODEL, "mean"
    )
    honest: float | None = given(
        "Keep this share of the rows from the search and weigh the leaves with them alone: intervals and tests hold.",
        MODEL,
    )
    expected_leaves: float | None = given("Leaf, greedy: leaves you would like to read (lambda).", PRIOR, "8")
    expected_branches: float | None = given("Branch: branches you would like at each split (lambda).", PRIOR, "2")
    feature_probability: float | None = given(
        "Branch: the prior probability that a column is used at all (gamma).", PRIOR
    )
    pseudocount: float | None = given("Added to every leaf (alpha).", PRIOR, "2; list and histogram: 1")
    prior: Literal["paper", "calibrated"] | None = given(
        "Leaf, branch: calibrated charges for the choice among splits, so that noise has one leaf.",
        PRIOR,
        "paper; profile leaves: calibrated",
    )
    leaf: Literal["uniform", "profile"] | None = given(
        "Leaf, branch: what a leaf says of its records: all alike (uniform), or which columns differ from the whole "
        "table, and how (profile).",
        MODEL,
        "uniform",
    )
    profile_pseudocount: float | None = given(
        "Profile leaves: how strongly a profile is drawn to the whole table.", PRIOR, "2"
    )
    profile_probability: float | None = given(
        "Profile leaves: the prior probability that a column has a profile of its own in a leaf; below 1.",
        PRIOR,
        "0.5",
    )
    max_leaves: str | None = given("The most leaves, or none for no limit.", MODEL, "100")
    search: Literal["auto", "anneal", "exact", "greedy"] | None = given(
        "Search strategy: auto proves the optimum if that takes seconds, else it anneals.", SEARCH, "auto"
    )
    depth: int | None = given("Leaf, branch: the best tree of at most this many levels, proven.", MODEL)
    iterations: int | None = given(
        "The most proposals per restart or chain.", SEARCH, "by the size of the table; list: 400000"
    )
    restarts: int | None = given(
        "How many searches, or ladders of chains of a list, run side by side.",
        SEARCH,
        "24, or 6 with profiles; list: 2",
    )
    cooling: Literal["geometric", "linear"] | None = given(
        "Leaf, branch: how the temperature falls.", SEARCH, "geometric"
    )
    r_hat: float | None = given("List: chains agree if their Gelman-Rubin statistic is below this.", SEARCH, "1.05")
    warm_start_from: str | None = given(
        "A saved model to start from; leaf and branch also take the word greedy.", SEARCH
    )
    random_state: int | None = given("The same seed gives the same model.", SEARCH, "0")
    criterion: Literal["posterior", "ise"] | None = given(
        "Greedy: score splits by the log posterior, or by DET's integrated squared error (ise).", MODEL, "posterior"
    )
    min_leaf: float | None = given("Greedy: the least weight of a leaf that is not empty.", MODEL, "1")
    max_leaf: float | None = given("Greedy: leaves of at most this weight are not split.", MODEL)
    expected_rules: float | None = given("List: rules you would like to read (lambda).", PRIOR, "7")
    expected_conditions: float | None = given("List: conditions you would like per rule (eta).", PRIOR, "1")
    max_conditions: int | None = given("List: the most conditions per rule.", MODEL, "2")
    min_support: float | None = given(
        "List: the least weight of the rows that meet a rule's conditions, or a share of all.", MODEL, "0"
    )
    max_rules: str | None = given("List: the most rules, or none for no limit.", MODEL, "none")
    ordinal_conditions: Literal["value", "interval"] | None = given(
        "List: conditions on ordered columns allow one value, or any run.", MODEL, "value"
    )
    time_limit: float | None = given("Seconds after which the search stops with its best so far.", SEARCH)
    n_jobs: int | None = given("Threads; -1 for all cores.", SEARCH, default=-1)
    quiet: bool = given("Print nothing but errors and warnings.", default=False, short="-q")

    def fit(self, names: Sequence[str]) -> tuple[DensityModel, Data]:
        """Read the data and fit the model that was asked for."""
        table = self.read(names)
        model = self.model(table)
        model.fit(table.frame, sample_weight=table.weights)
        if not self.quiet and self.limit is not None and not was_interrupted(model):
            more = bool(self._own_limit(model)) and not table.lazy  # which takes all rows
            advise(model, at_hand(table) if self.leaf is None else table, more=more, profiles=self.leaf is None)
        return model, table

    def read(self, names: Sequence[str]) -> Data:
        """Read the data."""
        return read_data(names, weight=self.weight, drop=self.drop or (), engine=self.engine)

    def model(self, table: Data) -> DensityModel:
        """A model from the options that were given; one that it does not take is an error."""
        kind = models()[self.method]
        given = {name: getattr(self, name) for name in parameters()}
        given |= {"kinds": _kinds(self.kinds or [], table), "bins": _bins(self.bins or []), "progress": not self.quiet}
        given["domain"] = self.shared_domain(given["kinds"], given["bins"])
        given = {name: value for name, value in given.items() if value is not None}
        given |= {name: _limit(flag(name), given[name]) for name in LIMITS if name in given}
        given |= self._own_limit(kind)
        self._check_taken(kind, given)
        return kind(**given)

    def _check_taken(self, kind: type[DensityModel], given: dict[str, Any]) -> None:
        """Refuse an option that a model does not take, or that would change nothing."""
        from sparsedensity.models.plain import parameter_names
        from sparsedensity.report.words import enumerated

        strange = sorted(set(given) - set(parameter_names(kind)))
        if strange:
            takers = [method for method, other in models().items() if strange[0] in parameter_names(other)]
            raise SparseDensityError(
                f"{flag(strange[0])} is not an option of --method {self.method}, only of {enumerated(takers)}."
            )
        if given.get("leaf") != "profile" and (idle := [name for name in OF_PROFILES if name in given]):
            raise SparseDensityError(f"{flag(idle[0])} needs --leaf profile: other leaves have no profiles.")

    def _own_limit(self, kind: DensityModel | type[DensityModel]) -> dict[str, int]:
        """The limit of these options by the parameter it sets, unless another was given or the model has none."""
        from sparsedensity.models.plain import parameter_names

        if self.limit is None:
            return {}
        return {name: self.limit for name in LIMITS if name in parameter_names(kind) and getattr(self, name) is None}

    def shared_domain(self, kinds: Any, bins: Any) -> Domain | None:
        """The domain of the files that were named for it, all rows together."""
        if not self.domain:
            return None
        from sparsedensity.domain import Domain

        table = self.read(self.domain)
        reading: dict[str, Any] = {"bins": 10 if bins is None else bins, "missing": self.missing or "category"}
        return Domain.infer(table.frame, kinds=kinds, **reading, sample_weight=table.weights)


class ReadableOptions(ModelOptions):
    """The same options for verbs that show one model: no more than can be read, unless told otherwise."""

    limit: ClassVar[int | None] = READABLE


NOT_PARAMETERS = ("method", "weight", "drop", "engine", "quiet")
"""Options that choose the kind of model, read the table, or silence the answer."""
RENAMED = {"kinds": "kind", "random_state": "seed", "n_jobs": "jobs", "max_leaf": "most-rows-in-leaf"}
"""Parameters whose option has another name."""


def parameters() -> list[str]:
    """The parameters that have an option."""
    return [field.name for field in fields(ModelOptions) if field.name not in NOT_PARAMETERS]


def flag(parameter: str) -> str:
    """The option that sets a parameter."""
    return "--" + RENAMED.get(parameter, parameter).replace("_", "-")


def models() -> dict[str, type[DensityModel]]:
    """The kind of model of each method."""
    from sparsedensity.models import BranchSparseTree, GreedyTree, Histogram, LeafSparseTree, SparseRuleList

    trees: dict[str, type[DensityModel]] = {"leaf": LeafSparseTree, "branch": BranchSparseTree}
    return trees | {"list": SparseRuleList, "greedy": GreedyTree, "histogram": Histogram}


def taking_model_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command every option of a model, handed over as one object called `options`."""
    hints = get_type_hints(command, include_extras=True)
    taken: type[ModelOptions] = hints["options"]
    first, *others = [
        parameter.replace(annotation=hints[parameter.name], kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in inspect.signature(command).parameters.values()
        if parameter.name != "options"
    ]
    model_hints = get_type_hints(taken)
    added = [_parameter(field, model_hints[field.name], taken.limit) for field in fields(taken)]

    def flat(**given: Any) -> None:
        command(options=taken(**{field.name: given.pop(field.name) for field in fields(taken)}), **given)

    flat.__doc__, signature = command.__doc__, inspect.Signature([first, *added, *others])
    flat.__signature__ = signature  # type: ignore[attr-defined]
    flat.__annotations__ = {parameter.name: parameter.annotation for parameter in signature.parameters.values()}
    return flat


def _parameter(option: Field[Any], hint: Any, limit: int | None) -> inspect.Parameter:
    """An option as typer reads it from the signature of a command."""
    about = option.metadata
    names = filter(None, (flag(option.name), about["short"]))
    shown = str(limit) if limit is not None and option.name in LIMITS else about["shown"]
    help = about["help"] + (f"  [default: {shown}]" if shown else "")
    declared = Annotated[hint, typer.Option(*names, help=help, rich_help_panel=about["panel"])]
    return inspect.Parameter(option.name, inspect.Parameter.KEYWORD_ONLY, default=option.default, annotation=declared)


def _number(of: type[int] | type[float], text: str, option: str, shown: str, allowed: str) -> Any:
    try:
        return of(text)
    except ValueError:
        raise ParameterError(option, shown, allowed) from None


def _limit(option: str, text: str) -> int | None:
    none = text.lower() == "none"
    return None if none else _number(int, text, option, text, "a whole number of 1 or more, or none")


def _kinds(options: list[str], table: Data) -> dict[str, Any] | str | None:
    """COLUMN=KIND or COLUMN=value,value,.. in order, or one kind for all columns."""
    if len(options) == 1 and options[0] in KINDS:
        return options[0]
    kinds: dict[str, Any] = {}
    for option in options:
        column, equals, what = option.rpartition("=")
        if not equals:
            raise ParameterError("--kind", option, f"of the form COLUMN=..., or {', '.join(KINDS)} for all columns")
        check_column(table.columns, column, table.name)
        values: list[Any] = what.split(",")
        if len(values) > 1 and table.holds_whole_numbers(column):
            allowed = f"one of the whole numbers in the column {column!r}"
            values = [_number(int, value, "--kind", value, allowed) for value in values]
        kinds[column] = values if len(values) > 1 else what
    return kinds or None


def _bins(options: list[str]) -> Any:
    """One setting for all columns, or one per column."""
    found: dict[str, Any] = {}
    for option in options:
        column, equals, what = option.rpartition("=")
        setting: Any = int(what) if what.isdecimal() else what
        if "," in what:
            allowed = "a list of numbers such as fare=0,10,50"
            setting = [_number(float, edge, "--bins", option, allowed) for edge in what.split(",")]
        if not equals and len(options) == 1:
            return setting
        found[column] = setting
    return found or None
