"""Searches: how to look for the structure that a posterior likes best."""

from sparsedensity.search.anneal import Anneal
from sparsedensity.search.base import Budget, Found, Search, run
from sparsedensity.search.estimate import Estimate, estimate
from sparsedensity.search.exact import Exact
from sparsedensity.search.exact_lists import ExactLists, ListEstimate, estimate_list
from sparsedensity.search.greedy import Greedy
from sparsedensity.search.lists import Lists
from sparsedensity.search.near import NearOptimal, near_optimal

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
    "Search",
    "estimate",
    "estimate_list",
    "near_optimal",
    "run",
]
