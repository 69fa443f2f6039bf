"""Searches: how to look for the structure that a posterior likes best."""

from sparsedensity.search.anneal import Anneal
from sparsedensity.search.base import Budget, Found, Search, run
from sparsedensity.search.estimate import Estimate, estimate
from sparsedensity.search.exact import Exact
from sparsedensity.search.exact_lists import ExactLists, ListEstimate, estimate_list
from sparsedensity.search.greedy import Greedy
from sparsedensity.search.lists import Lists
from sparsedensity.search.near import NearOptimal, near_optimal
from sparsedensity.search.near_lists import NearOptimalLists, near_optimal_lists

__all__ = [
    "Anneal",
    "Budget",
    "Estimate",
    "Exact",
    "ExactLists",
    "Found",
    "Greedy",
    "ListEstimate",
    "Lists",
    "NearOptimal",
    "NearOptimalLists",
    "Search",
    "estimate",
    "estimate_list",
    "near_optimal",
    "near_optimal_lists",
    "run",
]
