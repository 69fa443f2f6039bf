"""Posteriors: what is believed. Each scores a structure together with the weight in its leaves; none searches.

All are frozen objects with one face (:class:`Posterior`): the log posterior of a structure, the posterior mean of
every leaf's probability, and an interval for it.

>>> import numpy as np
>>> from sparsedensity import GreedyTree, datasets
>>> from sparsedensity.posterior import LeafSparse
>>> fitted = GreedyTree().fit(datasets.load("titanic"))
>>> weights = np.array([leaf.weight for leaf in fitted.leaves_])
>>> round(LeafSparse(expected_leaves=8).log_posterior(fitted.structure_, weights), 2)
-4144.58
"""

from sparsedensity.kernels.belief import Uniform, leaf_model
from sparsedensity.posterior.base import Posterior
from sparsedensity.posterior.branch_sparse import BranchSparse
from sparsedensity.posterior.histogram import FullHistogram
from sparsedensity.posterior.leaf_sparse import LeafSparse
from sparsedensity.posterior.profiles import Profiles, profile_leaf
from sparsedensity.posterior.rule_list import SparseRules, antecedents_by_size
from sparsedensity.posterior.trees import TreePosterior

__all__ = [
    "BranchSparse",
    "FullHistogram",
    "LeafSparse",
    "Posterior",
    "Profiles",
    "SparseRules",
    "TreePosterior",
    "Uniform",
    "antecedents_by_size",
    "leaf_model",
    "profile_leaf",
]
