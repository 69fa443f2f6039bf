"""Searches for rule lists: Markov chains with annealed phases, and exact."""

from sparsedensity.search.lists.anneal import AnnealLists
from sparsedensity.search.lists.exact import ExactLists
from sparsedensity.search.lists.exact_estimate import ListEstimate, estimate_list
from sparsedensity.search.lists.near_optimal import near_optimal_lists

__all__ = ["AnnealLists", "ExactLists", "ListEstimate", "estimate_list", "near_optimal_lists"]
