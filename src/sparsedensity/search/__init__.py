"""Searches: how to look for the structure that a posterior likes best."""

from sparsedensity.search.base import Budget, Found, Search, run
from sparsedensity.search.exact import Exact, estimate
from sparsedensity.search.greedy import Greedy

__all__ = ["Budget", "Exact", "Found", "Greedy", "Search", "estimate", "run"]
