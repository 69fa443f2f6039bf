"""The scikit-learn face of the models."""

from sparsedensity.estimators.face import DensityEstimator, Estimator
from sparsedensity.estimators.kinds import (
    ESTIMATORS,
    BranchSparseTree,
    GreedyTree,
    Histogram,
    LeafSparseTree,
    SparseRuleList,
    load,
)
from sparsedensity.models import compare
from sparsedensity.report.explanation import Explanation

__all__ = [
    "ESTIMATORS",
    "BranchSparseTree",
    "DensityEstimator",
    "Estimator",
    "Explanation",
    "GreedyTree",
    "Histogram",
    "LeafSparseTree",
    "SparseRuleList",
    "compare",
    "load",
]
