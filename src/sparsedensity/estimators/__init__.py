"""The scikit-learn face: a class is its parameters, a posterior and a search."""

from sparsedensity.estimators.base import DensityEstimator
from sparsedensity.estimators.branch_sparse import BranchSparseTree
from sparsedensity.estimators.comparing import compare
from sparsedensity.estimators.greedy import GreedyTree
from sparsedensity.estimators.histogram import Histogram
from sparsedensity.estimators.leaf_sparse import LeafSparseTree
from sparsedensity.estimators.rule_list import SparseRuleList
from sparsedensity.estimators.saving import ESTIMATORS, load
from sparsedensity.report.explanation import Explanation

__all__ = [
    "ESTIMATORS",
    "BranchSparseTree",
    "DensityEstimator",
    "Explanation",
    "GreedyTree",
    "Histogram",
    "LeafSparseTree",
    "SparseRuleList",
    "compare",
    "load",
]
