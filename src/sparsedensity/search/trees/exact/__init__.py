"""Exact search for trees: an estimate in advance, the proof, and all trees near the optimum."""

from sparsedensity.search.trees.exact.estimate import Estimate, estimate
from sparsedensity.search.trees.exact.near_optimal import near_optimal
from sparsedensity.search.trees.exact.search import Exact

__all__ = ["Estimate", "Exact", "estimate", "near_optimal"]
