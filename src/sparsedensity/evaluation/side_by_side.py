"""Our tree beside DET's, fold by fold: at the same size, and at the same likelihood.

>>> from sparsedensity import datasets
>>> from sparsedensity.evaluation import CrossValidation, against_det
>>> for row in against_det(datasets.load("simulated"), CrossValidation(folds=2, inner=2)):
...     row.det_leaves, row.leaves <= row.det_leaves, row.log_likelihood >= row.det_log_likelihood
(8, True, True)
(6, True, True)
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from sparsedensity.domain import Domain
from sparsedensity.errors import SearchWarning
from sparsedensity.evaluation.cross_validation import CrossValidation, prepared
from sparsedensity.evaluation.estimators import unfitted
from sparsedensity.evaluation.methods import Method
from sparsedensity.evaluation.rows import WeightedRows
from sparsedensity.evaluation.workers import in_any_order
from sparsedensity.models import GreedyTree, LeafSparseTree
from sparsedensity.models.folds import standard_error
from sparsedensity.table import Floats

TIE = 1e-9
"""Log-likelihoods per row that differ by no more are equal: the same tree, summed in another order."""


@dataclass(frozen=True)
class SideBySide:
    """DET's tree and ours on one held-out fold. Log-likelihoods are sums over the rows of the fold.

    >>> fold = SideBySide(0, 734, 12, det_log_likelihood=-1384.9, leaves=9, log_likelihood=-1383.4, leaves_to_match=9)
    >>> round(fold.log_likelihood - fold.det_log_likelihood, 1)
    1.5
    """

    fold: int
    rows: float
    det_leaves: int
    det_log_likelihood: float
    leaves: int
    """Ours, with no more leaves than DET's."""
    log_likelihood: float
    leaves_to_match: int | None
    """The fewest leaves of ours that reach DET's log-likelihood; None if no tree up to DET's size does."""


def against_det(
    X: Any,
    cv: CrossValidation | None = None,
    *,
    sample_weight: Any = None,
    domain: Domain | None = None,
    det: Method | None = None,
    ours: Method | None = None,
) -> tuple[SideBySide, ...]:
    """Compare leaf-sparse trees with DET's at DET's size, and say how many leaves DET's likelihood takes.

    Either may be another method, with a grid to choose its parameters on inner folds; ours must take ``max_leaves`` and
    have a path of sizes. The other parameters are those of :func:`evaluate`.

    >>> from sparsedensity import datasets
    >>> from sparsedensity.evaluation import CrossValidation, Method
    >>> greedy = Method(LeafSparseTree(search="greedy"))
    >>> folds = against_det(datasets.load("titanic"), CrossValidation(folds=3), ours=greedy)
    >>> [(fold.det_leaves, fold.leaves) for fold in folds]
    [(12, 9), (11, 9), (12, 9)]
    """
    cv = cv or CrossValidation()
    rows = WeightedRows.of(X, sample_weight, domain)
    splits = cv.split(rows)
    theirs = prepared("det", det or Method(GreedyTree("ise")), rows.domain)
    limited = prepared("ours", ours or Method(LeafSparseTree()), rows.domain)
    tasks = [(fold, *split) for fold, split in enumerate(splits)]
    found = in_any_order(partial(_side_by_side, rows, cv, theirs, limited), tasks, cv.jobs)
    return tuple(sorted(found, key=lambda row: row.fold))


def mean_gain(found: Sequence[SideBySide]) -> tuple[float, float]:
    """By how much our log-likelihood per row is above DET's at its size: the mean over the folds and its error.

    >>> first = SideBySide(0, 100, 9, det_log_likelihood=-190.0, leaves=9, log_likelihood=-187.0, leaves_to_match=7)
    >>> other = SideBySide(1, 100, 8, det_log_likelihood=-189.0, leaves=8, log_likelihood=-188.0, leaves_to_match=8)
    >>> gain, error = mean_gain([first, other])
    >>> round(gain, 3), round(error, 3)
    (0.02, 0.01)
    """
    gains = [(row.log_likelihood - row.det_log_likelihood) / row.rows for row in found]
    return float(np.mean(gains)), standard_error(gains)


def _side_by_side(
    rows: WeightedRows, cv: CrossValidation, det: Method, ours: Method, task: tuple[int, Floats, Floats]
) -> SideBySide:
    fold, train, test = task
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SearchWarning)
        theirs = rows.fit(det.estimator, cv.choose(rows, det, train), train).model
        limited = Method(unfitted(ours.estimator, max_leaves=theirs.n_leaves_), ours.grid)
        model = rows.fit(limited.estimator, cv.choose(rows, limited, train), train).model
        target, reached = rows.score(theirs, test), rows.score(model, test)
        weight, (table, weights) = float(test.sum()), rows.weighing(train)
        sizes = sorted(model.sparsity_path(table, cv=None, sample_weight=weights).sizes)
        enough = target - TIE * weight
        matching = (size for size in sizes if rows.score(model.cut(size), test) >= enough)
        return SideBySide(fold, weight, theirs.n_leaves_, target, model.n_leaves_, reached, next(matching, None))
