"""Searches for rule lists: Markov chains with annealed phases, and exact."""

from sparsedensity.search.lists.anneal import Lists
from sparsedensity.search.lists.exact import ExactLists, ListEstimate, estimate_list
from sparsedensity.search.lists.near_optimal import NearOptimalLists, near_optimal_lists

__all__ = ["ExactLists", "ListEstimate", "Lists", "NearOptimalLists", "estimate_list", "near_optimal_lists"]
