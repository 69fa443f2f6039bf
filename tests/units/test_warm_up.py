"""``sparsedensity warm-up``, in an empty cache: the only test that compiles everything, so it takes a minute."""

from __future__ import annotations

import os
import subprocess
import sys

FITS = """
import warnings
import polars as pl
from sparsedensity import BranchSparseTree, GreedyTree, Histogram, LeafSparseTree, SparseRuleList, datasets
from sparsedensity.kernels import before_compiling

warnings.simplefilter("ignore")
before_compiling.append(lambda: print("compiled:", type(model).__name__, table.columns))
titanic, houses = datasets.load("titanic"), datasets.load("housebreaks", rows=300)
numbers = pl.DataFrame({"a": [i % 5 for i in range(300)], "b": [i * 0.37 % 3 for i in range(300)]})
trees = [kind(leaf=leaf) for kind in (LeafSparseTree, BranchSparseTree) for leaf in ("uniform", "profile")]
for model in [*trees, LeafSparseTree(search="anneal", iterations=50), SparseRuleList(), GreedyTree(), Histogram()]:
    for table in (titanic, numbers) if isinstance(model, Histogram) else (titanic, houses, numbers):
        model.fit(table).score_samples(table)
print("done")
"""


def said(*arguments, cache):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_after_a_warm_up_no_default_fit_compiles_anything(tmp_path):
    first = said("-m", "sparsedensity", "warm-up", cache=tmp_path)
    assert first.startswith(f"Everything is compiled, and kept in {tmp_path}")
    assert said("-c", FITS, cache=tmp_path) == "done\n"
    again = said("-m", "sparsedensity", "warm-up", cache=tmp_path)
    assert again.startswith(f"Everything had been compiled already; it is kept in {tmp_path}")
