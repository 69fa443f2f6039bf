"""Exact search for trees: an estimate in advance, the proof, and all trees near the optimum."""

from sparsedensity.search.trees.exact.estimate import Estimate, estimate, gives_every_size, sizes_kept
from sparsedensity.search.trees.exact.near_optimal import NearOptimal, near_optimal
from sparsedensity.search.trees.exact.search import Exact

__all__ = ["Estimate", "Exact", "NearOptimal", "estimate", "gives_every_size", "near_optimal", "sizes_kept"]
