"""Plain models: parameters, a fit, and the answers of what was fitted. Estimators add the face of scikit-learn."""

from sparsedensity.models.base import DensityModel
from sparsedensity.models.branch_sparse import BranchSparseTree
from sparsedensity.models.comparing import compare
from sparsedensity.models.greedy import GreedyTree
from sparsedensity.models.histogram import Histogram
from sparsedensity.models.leaf_sparse import LeafSparseTree
from sparsedensity.models.rule_list import SparseRuleList
from sparsedensity.models.saving import MODELS, load

__all__ = [
    "MODELS",
    "BranchSparseTree",
    "DensityModel",
    "GreedyTree",
    "Histogram",
    "LeafSparseTree",
    "SparseRuleList",
    "compare",
    "load",
]
