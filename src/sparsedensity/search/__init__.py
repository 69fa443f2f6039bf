"""Searches: how to look for the structure that a posterior likes best."""

from sparsedensity.search.base import Budget, Found, Search, run
from sparsedensity.search.lists import AnnealLists, ExactLists, ListEstimate, estimate_list, near_optimal_lists
from sparsedensity.search.near_optimal import NearOptimal
from sparsedensity.search.trees import Anneal, Estimate, Exact, Greedy, estimate, near_optimal

__all__ = [
    "Anneal",
    "AnnealLists",
    "Budget",
    "Estimate",
    "Exact",
    "ExactLists",
    "Found",
    "Greedy",
    "ListEstimate",
    "NearOptimal",
    "Search",
    "estimate",
    "estimate_list",
    "near_optimal",
    "near_optimal_lists",
    "run",
]
