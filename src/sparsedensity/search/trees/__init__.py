"""Searches for trees: greedy, annealing, exact."""

from sparsedensity.search.trees.anneal import Anneal
from sparsedensity.search.trees.exact import Estimate, Exact, estimate, near_optimal
from sparsedensity.search.trees.greedy import Greedy

__all__ = ["Anneal", "Estimate", "Exact", "Greedy", "estimate", "near_optimal"]
