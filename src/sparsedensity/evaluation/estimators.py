"""Any estimator as an evaluation needs it: fitted to weighted rows, scored on them, and its size."""

from __future__ import annotations

import inspect
import math
from copy import deepcopy
from typing import Any

import numpy as np

from sparsedensity.errors import DataError
from sparsedensity.models import plain
from sparsedensity.models.answers import log_likelihood
from sparsedensity.table import Floats


def parameters_of(estimator: Any) -> dict[str, Any]:
    """The parameters of an estimator or a plain model; none if it does not tell them."""
    if hasattr(estimator, "get_params"):
        return dict(estimator.get_params(deep=False))
    return plain.parameters_of(estimator) if isinstance(estimator, plain.Model) else {}


def unfitted(estimator: Any, **changes: Any) -> Any:
    """A copy of an estimator or a plain model that is not fitted, with some parameters changed."""
    if hasattr(estimator, "get_params"):
        from sklearn.base import clone

        copy = clone(estimator, safe=False)
        return copy.set_params(**changes) if changes else copy
    return plain.unfitted(estimator, **changes) if isinstance(estimator, plain.Model) else deepcopy(estimator)


def fit(model: Any, X: Any, weights: Any) -> None:
    """Fit to weighted rows; if an estimator takes no weights, a row stands as often as its weight says."""
    if "sample_weight" in inspect.signature(model.fit).parameters:
        model.fit(X, sample_weight=weights)
    elif weights is None or np.all(np.asarray(weights) == 1):
        model.fit(X)
    else:
        model.fit(_repeated(model, X, np.asarray(weights, np.float64)))


def score(model: Any, X: Any, weights: Floats) -> float:
    """The log-likelihood of weighted rows: the sum of ``score_samples``, unless ``score`` takes weights itself."""
    own = getattr(model, "score", None)
    if own is not None and "sample_weight" in inspect.signature(own).parameters:
        return float(own(X, sample_weight=weights))
    if not hasattr(model, "score_samples"):
        raise DataError(
            f"{type(model).__name__} has neither score_samples, the log density of every row, nor a score that takes "
            "sample_weight. Give it one of them."
        )
    return log_likelihood(np.asarray(model.score_samples(X), np.float64), weights)


def size(model: Any) -> float:
    """The number of leaves; not a number if a model does not count any."""
    leaves = float(getattr(model, "n_leaves_", math.nan))
    return int(leaves) if leaves < 2**53 else leaves


def _repeated(model: Any, X: Any, weights: Floats) -> Any:
    from sparsedensity.evaluation.rows import take

    if not np.all(weights == np.floor(weights)):
        raise DataError(f"{type(model).__name__} takes no sample_weight, so weights must be whole numbers.")
    return take(X, np.repeat(np.arange(len(weights)), weights.astype(np.int64)))
