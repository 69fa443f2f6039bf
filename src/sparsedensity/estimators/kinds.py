"""The estimators: each a plain model of the same name, with scikit-learn's manners."""

from __future__ import annotations

import os
from typing import Any

from sparsedensity import models
from sparsedensity.estimators.face import DensityEstimator


class LeafSparseTree(DensityEstimator, models.LeafSparseTree):
    __doc__ = models.LeafSparseTree.__doc__


class BranchSparseTree(DensityEstimator, models.BranchSparseTree):
    __doc__ = models.BranchSparseTree.__doc__


class SparseRuleList(DensityEstimator, models.SparseRuleList):
    __doc__ = models.SparseRuleList.__doc__


class GreedyTree(DensityEstimator, models.GreedyTree):
    __doc__ = models.GreedyTree.__doc__


class Histogram(DensityEstimator, models.Histogram):
    __doc__ = models.Histogram.__doc__


ESTIMATORS: dict[str, type[DensityEstimator]] = {
    kind.__name__: kind for kind in (LeafSparseTree, BranchSparseTree, SparseRuleList, GreedyTree, Histogram)
}


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that was saved with ``save``.

    >>> import tempfile, os
    >>> from sparsedensity import GreedyTree, datasets, load
    >>> file = os.path.join(tempfile.mkdtemp(), "titanic.json")
    >>> GreedyTree().fit(datasets.load("titanic")).save(file)
    >>> load(file).n_leaves_
    9
    """
    return models.load(path, ESTIMATORS)
