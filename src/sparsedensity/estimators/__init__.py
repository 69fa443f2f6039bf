"""The scikit-learn face: a class is its defaults, a posterior and a search."""

from sparsedensity.estimators.base import DensityEstimator
from sparsedensity.estimators.greedy import GreedyTree
from sparsedensity.estimators.histogram import Histogram
from sparsedensity.estimators.saving import ESTIMATORS, load
from sparsedensity.report.explanation import Explanation

__all__ = ["ESTIMATORS", "DensityEstimator", "Explanation", "GreedyTree", "Histogram", "load"]
