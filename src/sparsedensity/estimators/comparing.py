"""A second table counted by the leaves of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sparsedensity.density.comparison import LeafComparison
from sparsedensity.estimators.answers import read_rows
from sparsedensity.estimators.parameters import jobs_of
from sparsedensity.ingest import open_source
from sparsedensity.report import comparison
from sparsedensity.report.comparison import Comparison

if TYPE_CHECKING:
    from sparsedensity.estimators.base import DensityEstimator


def compare(model: DensityEstimator, X: Any, sample_weight: Any = None, source: str = "") -> Comparison:
    """Where a table differs from the one a model was fitted to. Rows outside the domain are a difference too."""
    rows, density = read_rows(model, open_source(X), sample_weight, strict=model.unknown == "error"), model.density_
    leaves = density.leaf_numbers(rows.codes, jobs=jobs_of(model.n_jobs))
    observed = np.bincount(leaves, rows.weights, density.structure.n_leaves).astype(np.float64)
    by_leaf = LeafComparison.of(density.probabilities, density.weights, observed, rows.outside)
    return comparison.compare(model.report(), by_leaf, source)
