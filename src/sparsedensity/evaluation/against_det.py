"""Our tree beside DET's, fold by fold: at the same size, and at the same likelihood.

>>> from sparsedensity import datasets
>>> for row in against_det(datasets.load("simulated"), folds=2, inner=2):
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
from sklearn.base import clone

from sparsedensity.domain import Domain
from sparsedensity.errors import SearchWarning
from sparsedensity.estimators.evidence import standard_error
from sparsedensity.estimators.folds import Split, folds_of
from sparsedensity.experiments.evaluation import choose, fitted, held_out, readied
from sparsedensity.experiments.methods import Method, paper_methods
from sparsedensity.experiments.names import DET, LEAF
from sparsedensity.experiments.tables import Rows, rows_of
from sparsedensity.experiments.workers import in_any_order

TIE = 1e-9
"""Log-likelihoods per row that differ by no more are equal: the same tree, summed in another order."""


@dataclass(frozen=True)
class SideBySide:
    """DET's tree and ours on one held-out fold. Log-likelihoods are sums over the rows of the fold."""

    fold: int
    rows: float
    det_leaves: int
    det_log_likelihood: float
    leaves: int
    """Ours, with no more leaves than DET's."""
    log_likelihood: float
    leaves_to_match: int | None
    """The fewest leaves of ours that reach DET's log-likelihood; None where no tree up to DET's size does."""


def against_det(
    X: Any,
    *,
    sample_weight: Any = None,
    det: Method | None = None,
    ours: Method | None = None,
    folds: int = 5,
    inner: int = 5,
    seed: int = 0,
    jobs: int = 1,
    domain: Domain | None = None,
) -> tuple[SideBySide, ...]:
    """Compare leaf-sparse trees with DET's at DET's size, and say how many leaves DET's likelihood takes.

    Both choose their parameters on inner folds from the paper's grids, unless other methods are given; ours must take
    ``max_leaves`` and have a path of sizes.
    """
    rows = rows_of(X, sample_weight, domain)
    splits = folds_of(rows.weights, folds, seed, "folds")
    paper = paper_methods()
    pair = (
        readied("det", det or paper[DET], rows.domain),
        readied("ours", ours or paper[LEAF], rows.domain),
    )
    work = partial(_side_by_side, rows, splits, pair, inner, seed)
    return tuple(sorted(in_any_order(work, range(len(splits)), jobs), key=lambda found: found.fold))


def mean_gain(found: Sequence[SideBySide]) -> tuple[float, float]:
    """By how much our log-likelihood per row is above DET's at its size: the mean over the folds and its error."""
    gains = [(row.log_likelihood - row.det_log_likelihood) / row.rows for row in found]
    return float(np.mean(gains)), standard_error(gains)


def _side_by_side(
    rows: Rows, splits: Sequence[Split], pair: tuple[Method, Method], inner: int, seed: int, fold: int
) -> SideBySide:
    train, test = splits[fold]
    det, ours = pair
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SearchWarning)
        theirs = fitted(rows, det.estimator, choose(rows, det, train, inner, seed), train)
        limited = Method(clone(ours.estimator).set_params(max_leaves=theirs.n_leaves_), ours.grid)
        model = fitted(rows, limited.estimator, choose(rows, limited, train, inner, seed), train)
        target, own = held_out(rows, theirs, test), held_out(rows, model, test)
        weight = float(test.sum())
        enough = target - TIE * weight
        matching = (size for size in _sizes(rows, model, train) if held_out(rows, model.cut(size), test) >= enough)
        return SideBySide(fold, weight, theirs.n_leaves_, target, model.n_leaves_, own, next(matching, None))


def _sizes(rows: Rows, model: Any, train: Any) -> list[int]:
    """The sizes for which a fitted tree has a best tree, the smallest first."""
    used = train > 0
    return sorted(model.sparsity_path(rows.take(used), cv=None, sample_weight=train[used]).sizes)
