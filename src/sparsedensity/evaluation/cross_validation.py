"""Nested cross-validation: how well methods predict rows they have not seen, and how large their models are.

Every fold is held out once. Where a method has a grid, inner folds of the other rows choose its parameters by their
log-likelihood, so that no held-out row has a say in what is measured on it. The domain is fixed once, from the whole
table, so that every fold measures volumes alike.

>>> from sparsedensity import GreedyTree, datasets
>>> from sparsedensity.experiments.peers import IndependentColumns
>>> methods = {
...     "Greedy tree": Method(GreedyTree(), {"expected_leaves": (5, 8, 10)}),
...     "Independent columns": Method(IndependentColumns()),
... }
>>> done = evaluate(datasets.load("titanic"), methods, folds=3, inner=3)
>>> [(fold.method, fold.fold, fold.leaves) for fold in done.folds][:3]
[('Greedy tree', 0, 9), ('Greedy tree', 1, 9), ('Greedy tree', 2, 9)]
>>> [round(summary.per_row, 2) for summary in done.summaries()]
[-1.87, -2.0]
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from sparsedensity.domain import Domain
from sparsedensity.errors import ParameterError
from sparsedensity.estimators.evidence import standard_error
from sparsedensity.estimators.folds import Split, folds_of
from sparsedensity.experiments.fitting import fit
from sparsedensity.experiments.fold_file import FoldFile, fingerprint
from sparsedensity.experiments.methods import Method, Share, paper_methods
from sparsedensity.experiments.tables import Rows, rows_of
from sparsedensity.experiments.workers import in_any_order
from sparsedensity.table import Floats

__all__ = ["Evaluation", "Fold", "Method", "Share", "Summary", "evaluate", "paper_methods"]

TIE = 1e-9
HANDED_OUT = ("domain", "n_jobs", "progress")
"""Parameters that every fold gets from the evaluation."""


@dataclass(frozen=True)
class Fold:
    """One method on one held-out fold."""

    method: str
    fold: int
    parameters: Mapping[str, Any]
    """What the inner folds chose."""
    leaves: float
    """The size of the model; infinite for a histogram with more points than a float can count."""
    log_likelihood: float
    """The sum over the rows of the fold."""
    rows: float
    """The weight of the fold."""
    seconds: float
    """How long the model took to fit, its parameters known."""
    choosing_seconds: float = 0.0
    """How long it took to choose the parameters."""

    @property
    def per_row(self) -> float:
        """The log-likelihood per row."""
        return self.log_likelihood / self.rows


@dataclass(frozen=True)
class Summary:
    """One method over all folds: means, each with its standard error over the folds."""

    method: str
    leaves: float
    per_row: float
    error: float
    difference: float
    """How far the log-likelihood per row is below that of the best method, fold by fold."""
    difference_error: float
    seconds: float


@dataclass(frozen=True)
class Evaluation:
    """Every method on every fold: methods in the order they were given, folds in theirs."""

    folds: tuple[Fold, ...]

    @property
    def methods(self) -> tuple[str, ...]:
        """The names of the methods."""
        return tuple(dict.fromkeys(fold.method for fold in self.folds))

    def of(self, method: str) -> tuple[Fold, ...]:
        """The folds of one method."""
        return tuple(fold for fold in self.folds if fold.method == method)

    def summaries(self) -> tuple[Summary, ...]:
        """One line a method."""
        scores = {method: np.array([fold.per_row for fold in self.of(method)]) for method in self.methods}
        best = max(scores.values(), key=np.mean)
        return tuple(self._summary(method, own, best) for method, own in scores.items())

    def to_text(self) -> str:
        """The summaries as a table."""
        from sparsedensity.experiments.showing import table

        return table(self)

    def to_svg(self) -> str:
        """Log-likelihood per row against the number of leaves, a point for every method and fold."""
        from sparsedensity.experiments.showing import scatter

        return scatter(self)

    def to_frame(self) -> Any:
        """One row a method and fold, as a Polars table; the parameters as JSON."""
        from sparsedensity.experiments.showing import frame

        return frame(self)

    def _summary(self, method: str, own: Floats, best: Floats) -> Summary:
        folds = self.of(method)
        with np.errstate(invalid="ignore"):
            behind = np.zeros(len(own)) if own is best else own - best
        return Summary(
            method,
            float(np.mean([fold.leaves for fold in folds])),
            float(own.mean()),
            standard_error(own.tolist()),
            float(behind.mean()),
            standard_error(behind.tolist()),
            float(np.mean([fold.seconds for fold in folds])),
        )


Progress = Callable[[int, int], None]
"""Is told how many folds are finished, and how many there are."""


def evaluate(
    X: Any,
    methods: Mapping[str, Method],
    *,
    sample_weight: Any = None,
    folds: int = 5,
    inner: int = 5,
    seed: int = 0,
    jobs: int = 1,
    keep: str | PathLike[str] | None = None,
    progress: Progress | None = None,
    domain: Domain | None = None,
) -> Evaluation:
    """Cross-validate methods on a table.

    Parameters
    ----------
    X
        A pandas, Polars or PyArrow table, a NumPy array, a list of records or a list of rows.
    methods
        What to compare, by name.
    sample_weight
        One weight a row. Whole numbers count rows: a table of counts is divided like the table it counts.
    folds, inner
        How many folds are held out in turn, and how many divide the rest to choose parameters.
    seed
        The same seed gives the same folds.
    jobs
        Processes; -1 for all cores. The numbers are the same for any number of them.
    keep
        A file for the folds that are finished. The same call goes on where an earlier one stopped.
    progress
        Is told after every fold how many are finished and how many there are.
    domain
        Inferred from the whole table by default.
    """
    rows = rows_of(X, sample_weight, domain)
    splits = folds_of(rows.weights, folds, seed, "folds")
    folds_of(splits[0].train, inner, seed, "inner")
    ready = {name: readied(name, method, rows.domain) for name, method in methods.items()}
    belongs = {"table": rows.fingerprint, "folds": len(splits), "inner": int(inner), "seed": seed}
    file = FoldFile(keep, belongs, [field.name for field in fields(Fold)])
    made_by = {name: _made_by(method) for name, method in methods.items()}
    tasks = [Task(name, method, fold) for name, method in ready.items() for fold in range(len(splits))]
    found = {task[::2]: Fold(**kept) for task in tasks if (kept := file.get(task.name, task.fold, made_by[task.name]))}
    left = [task for task in tasks if task[::2] not in found]
    tell = progress or _silent
    tell(len(found), len(tasks))
    for fold in in_any_order(partial(_held_out, rows, splits, inner, seed), left, jobs):
        found[fold.method, fold.fold] = fold
        file.add(asdict(fold), made_by[fold.method])
        tell(len(found), len(tasks))
    return Evaluation(tuple(found[task[::2]] for task in tasks))


class Task(NamedTuple):
    """One fold of one method."""

    name: str
    method: Method
    fold: int


def readied(name: str, method: Method, domain: Domain) -> Method:
    """The method with the domain of the whole table, and with one thread: folds run side by side instead."""
    if not isinstance(method, Method):
        raise ParameterError(f"methods[{name!r}]", method, "a Method")
    estimator = clone(method.estimator)
    known = estimator.get_params(deep=False)
    strange = sorted(set(method.grid) - set(known))
    if strange:
        raise ParameterError(f"The grid of {name!r}", strange[0], f"parameters of {type(estimator).__name__}")
    fixed = dict(zip(HANDED_OUT, (domain, 1, False), strict=True))
    return Method(estimator.set_params(**{key: value for key, value in fixed.items() if key in known}), method.grid)


def _made_by(method: Method) -> str:
    """A word for what a method does: its kind, its parameters and its grid."""
    given = method.estimator.get_params(deep=False)
    what = sorted((name, repr(value)) for name, value in given.items() if name not in HANDED_OUT)
    return fingerprint(type(method.estimator).__name__, what, {name: list(of) for name, of in method.grid.items()})


def _held_out(rows: Rows, splits: Sequence[Split], inner: int, seed: int, task: Task) -> Fold:
    """Choose the parameters, fit, and score what was held out."""
    train, test = splits[task.fold]
    chosen, choosing = _timed(lambda: choose(rows, task.method, train, inner, seed))
    model, seconds = _timed(lambda: fitted(rows, task.method.estimator, chosen, train))
    score = held_out(rows, model, test)
    return Fold(task.name, task.fold, chosen, _size(model), score, float(test.sum()), seconds, choosing)


def choose(rows: Rows, method: Method, train: Floats, inner: int, seed: int) -> dict[str, Any]:
    """The parameters of the grid with the highest log-likelihood on inner folds; of equals the first."""
    choices = method.choices(float(train.sum()))
    if len(choices) == 1:
        return choices[0]
    splits = folds_of(train, inner, seed, "inner")
    by_fold = [_scores(rows, method, split) for split in splits]
    totals = np.sum(by_fold, axis=0)
    return choices[int(np.flatnonzero(totals >= totals.max() - TIE)[0])]


def _scores(rows: Rows, method: Method, split: Split) -> list[float]:
    """The validation log-likelihood of every choice."""
    own = method.choices(float(split.train.sum()))
    return [held_out(rows, fitted(rows, method.estimator, choice, split.train), split.test) for choice in own]


def fitted(rows: Rows, estimator: Any, parameters: Mapping[str, Any], weights: Floats) -> Any:
    """A copy of an estimator with some parameters, fitted to the rows that have weight."""
    used = weights > 0
    return fit(clone(estimator).set_params(**parameters), rows.take(used), weights[used]).model


def held_out(rows: Rows, model: Any, weights: Floats) -> float:
    """The log-likelihood of the rows that have weight."""
    used = weights > 0
    return float(model.score(rows.take(used), sample_weight=weights[used]))


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    begin = time.perf_counter()
    return work(), time.perf_counter() - begin


def _size(model: Any) -> float:
    leaves = float(model.n_leaves_)
    return int(leaves) if leaves < 2**53 else leaves


def _silent(done: int, total: int) -> None:
    """Nobody asked for progress."""
