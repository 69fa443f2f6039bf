"""Searches: how to look for the structure that a posterior likes best."""

from sparsedensity.search.base import Budget, Found, Search, run
from sparsedensity.search.greedy import Greedy
from sparsedensity.search.lists import Lists

__all__ = ["Budget", "Found", "Greedy", "Lists", "Search", "run"]
