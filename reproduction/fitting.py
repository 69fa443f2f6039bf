"""Fits for a study: timed, quiet about what the study reports itself, and never half done."""

from __future__ import annotations

import time
import warnings
from functools import cache
from typing import Any, NamedTuple

from sparsedensity import BranchSparseTree, LeafSparseTree, SparseRuleList, datasets
from sparsedensity.errors import SearchWarning


class Fit(NamedTuple):
    """A fitted model and the seconds it took."""

    model: Any
    seconds: float


def fit(model: Any, X: Any, sample_weight: Any = None) -> Fit:
    """Fit a model. An estimator answers Ctrl-C with its best so far; a study stops instead."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SearchWarning)
        begin = time.perf_counter()
        model.fit(X, sample_weight=sample_weight)
        seconds = time.perf_counter() - begin
    if getattr(getattr(model, "search_", None), "reason", "") == "interrupted":
        raise KeyboardInterrupt
    return Fit(model, seconds)


@cache
def warm_up(jobs: int = 1) -> None:
    """Compile every search: that is done once for a machine, and is not what is measured."""
    people = datasets.load("titanic")
    for kind in (LeafSparseTree, BranchSparseTree, SparseRuleList):
        for search in ("auto", "anneal"):
            fit(kind(search=search, time_limit=0.5, n_jobs=jobs), people)


Divided = frozenset[frozenset[tuple[str, frozenset[Any]]]]
"""The leaves of a model, whatever their order: for each the features it restricts, with their values."""


def leaves_of(model: Any) -> Divided:
    """How a tree divides the domain."""
    return frozenset(
        frozenset((condition.feature, frozenset(condition.values)) for condition in leaf.conditions)
        for leaf in model.leaves_
    )
