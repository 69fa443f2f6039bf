"""``sparsedensity warm-up``: compile everything once."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from sparsedensity.cli.data import note, say

if TYPE_CHECKING:
    from sparsedensity.models import DensityModel

EXAMPLES = "Examples: sparsedensity warm-up · in a Dockerfile: RUN sparsedensity warm-up"
SHORT: dict[str, Any] = {"iterations": 20, "restarts": 2, "random_state": 0}
"""A search of each kind is compiled by its first moves."""


def command() -> None:
    """Compile every search once, so that no later fit has to: for images and pipelines."""
    from sparsedensity.kernels import before_compiling, cache_folder

    note("compiling every search that is not compiled yet: about a minute, if none is")
    compiled: list[None] = []
    before_compiling.append(lambda: compiled.append(None))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model, table in every_kind():
            model.fit(table).score_samples(table)
    folder = cache_folder()
    if folder is None:
        say("Everything was compiled, but there is no folder to keep it in: NUMBA_CACHE_DIR names one to write to.")
    elif compiled:
        say(f"Everything is compiled, and kept in {folder}.")
    else:
        say(f"Everything had been compiled already; it is kept in {folder}.")


def every_kind() -> Iterator[tuple[DensityModel, Any]]:
    """A short fit of every kind, and of every kind of column."""
    import polars as pl

    from sparsedensity import datasets
    from sparsedensity.models import BranchSparseTree, GreedyTree, Histogram, LeafSparseTree, SparseRuleList

    titanic, houses = datasets.load("titanic"), datasets.load("housebreaks", rows=200)
    for leaf in ("uniform", "profile"):
        for search in ("greedy", "anneal", "exact"):
            yield LeafSparseTree(leaf=leaf, search=search, **SHORT), titanic
            yield BranchSparseTree(leaf=leaf, search=search, **SHORT), titanic
    yield SparseRuleList(search="anneal", iterations=SHORT["iterations"], random_state=0), titanic
    yield SparseRuleList(search="exact"), titanic
    yield SparseRuleList(iterations=SHORT["iterations"], random_state=0), houses  # looks how long a proof would take
    yield GreedyTree(criterion="ise"), titanic
    yield Histogram(), titanic
    whole, real = [i % 7 for i in range(60)], [i / 9 for i in range(60)]
    yield GreedyTree(), pl.DataFrame({"whole": whole, "real": real, "some": [None, *whole[1:]]})
