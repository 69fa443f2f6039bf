"""``sparsedensity warm-up``: afterwards no default fit compiles anything.

Compiling everything takes a minute, and whoever runs the tests has it compiled already; so what a warm-up uses of each
kernel is compared with what fits use, and only one kind of model is compiled in an empty cache.
"""

from __future__ import annotations

import os
import subprocess
import sys

FITS = """
import warnings
import polars as pl
from sparsedensity import BranchSparseTree, GreedyTree, Histogram, LeafSparseTree, SparseRuleList, datasets
from sparsedensity.cli import warm_up
from sparsedensity.kernels.cache import KernelCache

asked = []
load = KernelCache.load_overload
KernelCache.load_overload = lambda self, *about: asked.append(self._impl.filename_base) or load(self, *about)

warm_up.command()
assert len(asked) > 20, asked
asked.clear()
titanic, houses = datasets.load("titanic"), datasets.load("housebreaks", rows=300).drop("premise", "means of entry")
numbers = pl.DataFrame({"a": [i % 5 for i in range(300)], "b": [i * 0.37 % 3 for i in range(300)]})
warnings.simplefilter("ignore")
kinds = [(kind, leaf) for kind in (LeafSparseTree, BranchSparseTree) for leaf in ("uniform", "profile")]
proven = [kind(leaf=leaf, max_leaves=most) for kind, leaf in kinds for most in (20, 100)]
annealed = [kind(leaf=leaf, search="anneal", iterations=100) for kind, leaf in kinds]
lists = [SparseRuleList(iterations=100), SparseRuleList(search="anneal", iterations=100)]
for model in [*proven, *annealed, *lists, GreedyTree(), Histogram()]:
    for table in (titanic, numbers) if isinstance(model, Histogram) else (titanic, houses, numbers):
        model.fit(table).score_samples(table)
        assert not asked, (model, table.columns, asked)
"""
ONE_KIND = """
from sparsedensity import datasets
from sparsedensity.cli import warm_up
from sparsedensity.models import Histogram

warm_up.every_kind = lambda: [(Histogram(), datasets.load("titanic"))]
warm_up.command()
"""


def said(code, **environment):
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_after_a_warm_up_default_fits_use_no_kernel_in_another_form():
    said(FITS)


def test_a_second_warm_up_finds_everything_compiled(tmp_path):
    first, again = (said(ONE_KIND, NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(2))
    assert first.startswith(f"Everything is compiled, and kept in {tmp_path}")
    assert again.startswith(f"Everything had been compiled already; it is kept in {tmp_path}")
