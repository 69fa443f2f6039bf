"""Searches: how to look for the structure with the highest posterior probability.

>>> from sparsedensity.datasets import housebreaks
>>> from sparsedensity.engines import MemoryEngine
>>> from sparsedensity.posterior import LeafSparse
>>> from sparsedensity.problem import Problem
>>> from sparsedensity.search import Budget, Greedy, run
>>> from sparsedensity.table import Table
>>> truth = housebreaks(rows=1000)
>>> problem = Problem(MemoryEngine(Table.of(truth.domain, truth.codes)), LeafSparse(expected_leaves=8), max_leaves=5)
>>> found = run(Greedy(), problem, budget=Budget(seconds=60))
>>> found.structure.n_leaves, found.reason
(5, 'finished')
"""

from sparsedensity.search.base import Budget, Found, Search, run
from sparsedensity.search.lists.anneal import AnnealLists
from sparsedensity.search.lists.exact import ExactLists
from sparsedensity.search.lists.exact_estimate import ListEstimate, estimate_list
from sparsedensity.search.lists.near_optimal import near_optimal_lists
from sparsedensity.search.near import NearOptimal
from sparsedensity.search.trees.anneal import Anneal
from sparsedensity.search.trees.exact.estimate import Estimate, estimate
from sparsedensity.search.trees.exact.near_optimal import near_optimal
from sparsedensity.search.trees.exact.search import Exact
from sparsedensity.search.trees.greedy import Greedy

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
