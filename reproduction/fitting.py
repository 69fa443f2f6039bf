"""What studies need around a fit: compiled searches, and the leaves of a tree to compare."""

from __future__ import annotations

from functools import cache
from typing import Any

from sparsedensity import BranchSparseTree, LeafSparseTree, SparseRuleList, datasets
from sparsedensity.evaluation import timed_fit


@cache
def warm_up(jobs: int = 1) -> None:
    """Compile every search: that is done once for a machine, and is not what is measured."""
    people = datasets.load("titanic")
    for kind in (LeafSparseTree, BranchSparseTree, SparseRuleList):
        for search in ("auto", "anneal"):
            timed_fit(kind(search=search, time_limit=0.5, n_jobs=jobs), people)


Divided = frozenset[frozenset[tuple[str, frozenset[Any]]]]
"""The leaves of a model, whatever their order: for each the features it restricts, with their values."""


def leaves_of(model: Any) -> Divided:
    """How a tree divides the domain."""
    return frozenset(
        frozenset((condition.feature, frozenset(condition.values)) for condition in leaf.conditions)
        for leaf in model.leaves_
    )
