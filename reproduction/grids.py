"""The paper's parameter search on its data sets: every method, every parameter, timed and scored on validation rows."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from reproduction.datasets.fetching import FetchError
from reproduction.fitting import warm_up
from reproduction.methods import BRANCH, LEAF, LIST, MOST_LEAVES, paper_methods
from reproduction.paper import BEST, DATA_SETS
from reproduction.sets import TrainingCut, check_public, paper_cut
from sparsedensity import BranchSparseTree, Domain, LeafSparseTree, SparseRuleList
from sparsedensity.evaluation import timed_fit

if TYPE_CHECKING:
    from reproduction.study import Setting

METHODS = {"leaf": LEAF, "branch": BRANCH, "list": LIST}
QUICK = ("balance", "titanic")
QUICK_SECONDS = 0.2
SECONDS = 4.0
"""The time limit of one search. Small tables end before, with a proof."""
NEARLY = 0.99
"""The share of what a search gains that is nearly all of it."""
MOST_RULES = max(row.rules for row in BEST.values())
"""The longest list of the paper: ours may be no longer."""


class Tried(NamedTuple):
    """One fit of a parameter search."""

    parameters: dict[str, int]
    seconds: float
    nearly: float
    """Seconds after which nearly all of what the search gained was there."""
    validation: float
    """Log-likelihood per validation row."""
    size: int
    """Leaves of a tree, rules of a list."""
    log_posterior: float
    proven: bool
    reason: str


class Grid(NamedTuple):
    """A parameter search of one method on one set."""

    name: str
    method: str
    tried: tuple[Tried, ...]
    stands_in: str

    @property
    def best(self) -> Tried:
        """The fit with the highest validation log-likelihood; of equals the first."""
        return max(self.tried, key=lambda one: one.validation)

    @property
    def seconds(self) -> float:
        """What all fits took together."""
        return sum(one.seconds for one in self.tried)


class Absent(NamedTuple):
    """A set that is not available."""

    name: str
    why: str


def grids(setting: Setting) -> Iterator[Grid | Absent]:
    """Every method on every set, the paper's order; sets that are not available with the reason."""
    for name in QUICK if setting.quick else DATA_SETS:
        try:
            yield from _grids_of(name, setting)
        except FetchError as error:
            yield Absent(name, str(error))


def estimator(method: str, domain: Domain, parameters: dict[str, int], seconds: float, jobs: int) -> Any:
    """A model as the paper fits it: pseudocount 2 for trees, 1 for lists."""
    options: dict[str, Any] = {
        **parameters,
        "pseudocount": 1 if method == "list" else 2,
        "max_rules" if method == "list" else "max_leaves": MOST_RULES if method == "list" else MOST_LEAVES,
        "domain": domain,
        "time_limit": seconds,
        "n_jobs": jobs,
        "random_state": 0,
    }
    return {"leaf": LeafSparseTree, "branch": BranchSparseTree, "list": SparseRuleList}[method](**options)


def combinations(method: str) -> list[dict[str, int]]:
    """Every choice of the paper's parameters.

    >>> combinations("branch")
    [{'expected_branches': 2}, {'expected_branches': 3}]
    """
    grid = paper_methods()[METHODS[method]].grid
    return [dict(zip(grid, chosen, strict=True)) for chosen in itertools.product(*grid.values())]


def _grids_of(name: str, setting: Setting) -> Iterator[Grid]:
    """All parameter searches of one set; the table is read only if one of them is not finished."""
    table: list[TrainingCut] = []

    def read() -> TrainingCut:
        if not table:
            setting.say("compiling")
            warm_up(setting.jobs)
            table.append(paper_cut(name, setting.data))
        return table[0]

    check_public(name)
    for method, title in METHODS.items():
        found = setting.part(f"{name}, {title}", lambda method=method: _search(read(), method, setting))  # type: ignore[misc]
        yield Grid(name, method, tuple(Tried(**one) for one in found["tried"]), found["stands_in"])


def _search(table: TrainingCut, method: str, setting: Setting) -> dict[str, Any]:
    seconds = QUICK_SECONDS if setting.quick else SECONDS
    tried = []
    for parameters in combinations(method):
        model = estimator(method, table.domain, parameters, seconds, setting.jobs)
        setting.say(f"{table.name}, {METHODS[method]}, {_said(parameters)}")
        fitted = timed_fit(model, table.train)
        tried.append(_tried(parameters, fitted.model, fitted.seconds, table)._asdict())
    return {"tried": tried, "stands_in": table.stands_in}


def _tried(parameters: dict[str, int], model: Any, seconds: float, table: TrainingCut) -> Tried:
    found = model.search_
    return Tried(
        parameters,
        seconds,
        _nearly(found.trace) if found.trace else seconds,
        model.score(table.validation) / table.validation.height,
        model.n_rules_ if isinstance(model, SparseRuleList) else model.n_leaves_,
        found.log_posterior,
        found.proven,
        found.reason,
    )


def _nearly(trace: tuple[tuple[float, float], ...]) -> float:
    """The seconds until nearly all of what was gained over the first look was there."""
    first, last = trace[0][1], trace[-1][1]
    return next(seconds for seconds, score in trace if score >= first + NEARLY * (last - first))


def _said(parameters: dict[str, int]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in parameters.items())
