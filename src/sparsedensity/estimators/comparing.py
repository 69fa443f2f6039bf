"""A second table counted by the leaves of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sparsedensity.density.comparison import LeafComparison
from sparsedensity.ingest import check_weights, encode, open_source
from sparsedensity.report import comparison
from sparsedensity.report.comparison import Comparison

if TYPE_CHECKING:
    from sparsedensity.estimators.base import DensityEstimator


def compare(model: DensityEstimator, X: Any, sample_weight: Any = None, source: str = "") -> Comparison:
    """Where a table differs from the one a model was fitted to. Rows outside the domain are a difference too."""
    check_is_fitted(model)
    table = open_source(X)
    model._check_columns(table)
    given = check_weights(sample_weight, table.n_rows)
    weights = np.ones(table.n_rows) if given is None else given
    encoded = encode(table, model.domain_, nearest=model.unknown == "nearest", strict=model.unknown == "error")
    inside = ~encoded.outside
    leaves = model.density_.leaf_numbers(encoded.codes[inside], jobs=model._jobs())
    observed = np.bincount(leaves, weights[inside], model.density_.structure.n_leaves).astype(np.float64)
    outside = float(weights[encoded.outside].sum())
    density = model.density_
    by_leaf = LeafComparison.of(density.probabilities, density.weights, observed, outside)
    return comparison.compare(model.report(), by_leaf, source)
