"""Nested cross-validation: how well methods predict rows they have not seen, and how large their models are.

Every fold is held out once. If a method has a grid, inner folds of the other rows choose its parameters by their
log-likelihood, so that no held-out row has a say in what is measured on it. The domain is fixed once, from the whole
table, so that every fold measures volumes alike.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from os import PathLike
from typing import Any

import numpy as np

from sparsedensity.domain import Domain
from sparsedensity.errors import DataError, ParameterError
from sparsedensity.evaluation.estimators import parameters_of, size, unfitted
from sparsedensity.evaluation.finished import ResultFile
from sparsedensity.evaluation.given_splits import digest_of, given_splits
from sparsedensity.evaluation.methods import Method
from sparsedensity.evaluation.rows import WeightedRows
from sparsedensity.evaluation.scores import Evaluation, FoldScore
from sparsedensity.evaluation.workers import in_any_order
from sparsedensity.models.folds import Split, folds_of
from sparsedensity.table import Floats

TIE = 1e-9
HANDED_OUT = ("domain", "n_jobs", "progress")
"""Parameters that every fold gets from the evaluation."""
MADE_BY = "made by"


@dataclass(frozen=True)
class CrossValidation:
    """How a table is divided, and by how many processes the folds are worked through.

    Parameters
    ----------
    folds
        How many folds are held out in turn; or a scikit-learn splitter; or pairs of row numbers, those to learn from
        and those to hold out.
    inner
        How many folds divide what is not held out, to choose parameters.
    seed
        The same seed gives the same folds.
    jobs
        Processes; -1 for all cores. The numbers are the same for any number of them.

    Examples
    --------
    >>> from sparsedensity import GreedyTree, datasets
    >>> from sparsedensity.evaluation import CrossValidation, Method, evaluate
    >>> ten_folds = CrossValidation(folds=10, seed=1)
    >>> found = evaluate(datasets.load("titanic"), {"greedy": Method(GreedyTree())}, ten_folds)
    >>> len(found.folds)
    10
    """

    folds: Any = 5
    inner: int = 5
    seed: int = 0
    jobs: int = 1

    def split(self, rows: WeightedRows) -> list[Split]:
        """What every fold learns from and what it holds out."""
        if self.given:
            return given_splits(self.folds, rows.weights, rows.numbers, rows.n_rows)
        splits = folds_of(rows.weights, self.folds, self.seed, "folds")
        self.split_inner(splits[0].train)  # refuses what cannot be divided before anything is fitted
        return splits

    @property
    def given(self) -> bool:
        """Whether the folds are given, not drawn."""
        return not isinstance(self.folds, str) and (hasattr(self.folds, "split") or isinstance(self.folds, Sequence))

    def split_inner(self, train: Floats) -> list[Split]:
        """What a fold learns from, divided again."""
        return folds_of(train, self.inner, self.seed, "inner")

    def choose(self, rows: WeightedRows, method: Method, train: Floats) -> dict[str, Any]:
        """The parameters of the grid with the highest log-likelihood on inner folds; of equals the first."""
        choices = method.choices(float(train.sum()))
        if len(choices) == 1:
            return choices[0]
        totals = np.sum([_scores(rows, method, split) for split in self.split_inner(train)], axis=0)
        return choices[int(np.flatnonzero(totals >= totals.max() - TIE)[0])]


def _scores(rows: WeightedRows, method: Method, split: Split) -> list[float]:
    """The validation log-likelihood of every choice."""
    choices = method.choices(float(split.train.sum()))
    return [rows.score(rows.fit(method.estimator, choice, split.train).model, split.test) for choice in choices]


def evaluate(
    X: Any,
    methods: Mapping[str, Method],
    cv: CrossValidation | None = None,
    *,
    sample_weight: Any = None,
    domain: Domain | None = None,
    keep: str | PathLike[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Evaluation:
    """Cross-validate methods on a table.

    Parameters
    ----------
    X
        A pandas, Polars or PyArrow table, a NumPy array, a list of records or a list of rows.
    methods
        What to compare, by name.
    cv
        The folds: 5, and 5 inner ones, by default.
    sample_weight
        One weight per row. Whole numbers count rows: a table of counts is divided like the table it counts.
    domain
        Inferred from the whole table by default.
    keep
        A file for the folds that are finished. The same call goes on where an earlier one stopped.
    progress
        Is told after every fold how many are finished and how many there are.

    Examples
    --------
    >>> from sparsedensity import GreedyTree, datasets
    >>> grid = {"expected_leaves": (5, 8, 10)}
    >>> done = evaluate(datasets.load("titanic"), {"tree": Method(GreedyTree(), grid)}, CrossValidation(3, inner=3))
    >>> [fold.leaves for fold in done.folds]
    [9, 9, 9]
    """
    cv = cv or CrossValidation()
    rows = WeightedRows.of(X, sample_weight, domain)
    splits = cv.split(rows)
    ready = {name: prepared(name, method, rows.domain) for name, method in methods.items()}
    tasks = [(name, fold) for name in ready for fold in range(len(splits))]
    folds = f"{len(splits)} given ones {digest_of(splits)}" if cv.given else len(splits)
    belongs = {"table": rows.fingerprint, "folds": folds, "inner": int(cv.inner), "seed": cv.seed}
    results, made_by = ResultFile(keep, belongs), {name: _fingerprint(method) for name, method in methods.items()}
    found = {task: kept for task in tasks if (kept := _kept(results, *task, made_by[task[0]]))}
    tell = progress or (lambda _done, _total: None)
    tell(len(found), len(tasks))
    left = [task for task in tasks if task not in found]
    for score in in_any_order(partial(_held_out, rows, splits, cv, ready), left, cv.jobs):
        found[score.method, score.fold] = score
        results.add(f"{score.fold} of {score.method}", {**asdict(score), MADE_BY: made_by[score.method]})
        tell(len(found), len(tasks))
    return Evaluation(tuple(found[task] for task in tasks))


def prepared(name: str, method: Method, domain: Domain) -> Method:
    """The method with the domain of the whole table, and with one thread: folds run side by side instead."""
    if not isinstance(method, Method):
        raise ParameterError(f"methods[{name!r}]", method, "a Method")
    known = parameters_of(method.estimator)
    strange = sorted(set(method.grid) - set(known))
    if strange:
        raise ParameterError(f"The grid of {name!r}", strange[0], f"parameters of {type(method.estimator).__name__}")
    fixed = dict(zip(HANDED_OUT, (domain, 1, False), strict=True))
    handed = {key: value for key, value in fixed.items() if key in known}
    return Method(unfitted(method.estimator, **handed), method.grid)


def _kept(results: ResultFile, name: str, fold: int, made_by: str) -> FoldScore | None:
    """A fold that is finished; a method of the same name with other parameters is refused."""
    kept = dict(results.get(f"{fold} of {name}") or {})
    if not kept:
        return None
    if kept.pop(MADE_BY, None) != made_by:
        raise DataError(
            f"{results.path} holds folds of {name!r} with other parameters. Name another file, or another method."
        )
    return FoldScore(**kept)


def _fingerprint(method: Method) -> str:
    """A word for what a method does: its kind, its parameters and its grid."""
    given = parameters_of(method.estimator).items()
    what = sorted((name, repr(value)) for name, value in given if name not in HANDED_OUT)
    things = type(method.estimator).__name__, what, {name: list(of) for name, of in method.grid.items()}
    return hashlib.sha256("\n".join(map(repr, things)).encode()).hexdigest()[:16]


def _held_out(
    rows: WeightedRows, splits: list[Split], cv: CrossValidation, ready: Mapping[str, Method], task: tuple[str, int]
) -> FoldScore:
    """Choose the parameters, fit, and score what was held out."""
    name, fold = task
    method, (train, test) = ready[name], splits[fold]
    begin = time.perf_counter()
    chosen = cv.choose(rows, method, train)
    choosing = time.perf_counter() - begin
    model, seconds = rows.fit(method.estimator, chosen, train)
    return FoldScore(name, fold, chosen, size(model), rows.score(model, test), float(test.sum()), seconds, choosing)
