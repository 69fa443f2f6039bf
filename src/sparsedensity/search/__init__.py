"""Searches: how to look for the structure that a posterior likes best."""

from sparsedensity.search.anneal import Anneal
from sparsedensity.search.base import Budget, Found, Search, run
from sparsedensity.search.greedy import Greedy

__all__ = ["Anneal", "Budget", "Found", "Greedy", "Search", "run"]
