"""Profile leaves beside uniform ones: quality by size, time and memory of large and wide tables, and compiling.

``BENCH_PARTS=quality,large,compiling`` names the parts to run, all of them by default. Every large table and every cold
start has a process of its own.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.large_table import alone
from benchmarks.paper_data import paper_table
from benchmarks.timing import Measured, measured
from reproduction.datasets.random_trees import random_tree
from sparsedensity import LeafSparseTree

TABLES = ("mushroom", "chess_krkp", "telco_churn", "heloc", "bank_full", "compas")
SIZES = (5, 10, 20, 100)
LEAVES = ("uniform", "profile")
COMPILED = """
from time import perf_counter
from sparsedensity import LeafSparseTree, datasets
table, begin = datasets.load("titanic"), perf_counter()
LeafSparseTree(leaf={leaf!r}, search={search!r}, iterations=10, restarts=1, progress=False).fit(table)
print(perf_counter() - begin)
"""


class Job(NamedTuple):
    """A fit that has a process of its own."""

    table: str
    leaf: str
    search: str


def main() -> None:
    parts: dict[str, Callable[[], None]] = {"quality": quality, "large": large, "compiling": compiling}
    for name in os.environ.get("BENCH_PARTS", ",".join(parts)).split(","):
        print(f"\n### {name}")
        parts[name]()


def model_of(leaf: str, search: str, most_leaves: int = 100) -> LeafSparseTree:
    return LeafSparseTree(
        leaf=leaf,  # type: ignore[arg-type]
        search=search,  # type: ignore[arg-type]
        prior="paper",
        kinds="nominal",
        max_leaves=most_leaves,
        n_jobs=2,
        progress=False,
    )


def quality() -> None:
    """Default fits of the paper's tables on two threads, all columns nominal, with the paper's prior."""
    print("| table | most leaves | uniform | s | profile, greedy | s | profile | leaves | s |")
    print("| --- | --: | --: | --: | --: | --: | --: | --: | --: |")
    for name in TABLES:
        frame = paper_table(name)
        for size in SIZES if frame is not None else ():
            cells = [f"| {name} | {size}"]
            for leaf, search in (("uniform", "anneal"), ("profile", "greedy"), ("profile", "anneal")):
                model = model_of(leaf, search, size).fit(frame)
                leaves = f"| {model.n_leaves_} " if search == "anneal" and leaf == "profile" else ""
                cells.append(f"| {model.log_posterior_:,.0f} {leaves}| {model.search_.seconds:.1f}")
            print(" ".join(cells) + " |", flush=True)


def random_rows(rows: int) -> NDArray[Any]:
    return random_tree(rows=rows, sizes=[5] * 20, leaves=100, seed=1).codes


def many_values(rows: int, values: int) -> NDArray[Any]:
    """Ten columns that depend on the kind of a row, and one whose values each belong to a kind."""
    rng = np.random.default_rng(1)
    kind = rng.integers(0, 4, rows)
    others = [np.where(rng.random(rows) < 0.7, kind, rng.integers(0, 5, rows)) for _ in range(10)]
    return np.stack([rng.integers(0, values // 4, rows) * 4 + kind, *others], axis=1)


def many_columns(rows: int, columns: int) -> NDArray[Any]:
    """Columns of two values, a quarter of which depend on the kind of a row."""
    rng = np.random.default_rng(1)
    kind = rng.integers(0, 4, rows)[:, None]
    ones: NDArray[Any] = (rng.random((rows, columns)) < 0.3) | (np.arange(columns) % 16 == kind)
    return ones.astype(np.uint8)


LARGE: dict[str, Callable[[], NDArray[Any]]] = {
    "100,000 x 20": lambda: random_rows(100_000),
    "1,000,000 x 20": lambda: random_rows(1_000_000),
    "a column of 2,000 values": lambda: many_values(20_000, 2_000),
    "a column of 60,000 values": lambda: many_values(100_000, 60_000),
    "200 x 500": lambda: many_columns(200, 500),
    "200 x 2,000": lambda: many_columns(200, 2_000),
}


def large() -> None:
    """Greedy and default fits of large and wide tables."""
    print("| table | search | uniform, s | profile, s | ratio | peak over codes, uniform | profile |")
    print("| --- | --- | --: | --: | --: | --: | --: |")
    for name in LARGE:
        for search in ("greedy", "anneal"):
            one, other = (alone(fit_large, Job(name, leaf, search)) for leaf in LEAVES)
            codes = one.value
            print(
                f"| {name} | {search} | {one.seconds:.1f} | {other.seconds:.1f} | {other.seconds / one.seconds:.1f} "
                f"| {one.peak / codes:.1f} | {other.peak / codes:.1f} |",
                flush=True,
            )


def fit_large(job: Job) -> Measured:
    """Fit a large table after everything is compiled; the value is the bytes of its codes."""
    rows = LARGE[job.table]()
    model_of(job.leaf, job.search).set_params(iterations=10, restarts=1).fit(rows[:200, -3:])
    fit = measured(lambda: model_of(job.leaf, job.search).fit(rows))
    return fit._replace(value=rows.size * (1 if rows.max() < 256 else 2))


def compiling() -> None:
    """The first fit on a machine, with an empty cache, and the first one of a process after that."""
    print("| search | uniform: first, s | then, s | profile: first, s | then, s |")
    print("| --- | --: | --: | --: | --: |")
    for search in ("greedy", "anneal"):
        cells = [f"{cold:.1f} | {warm:.1f}" for cold, warm in (cold_and_warm(leaf, search) for leaf in LEAVES)]
        print(f"| {search} | " + " | ".join(cells) + " |", flush=True)


def cold_and_warm(leaf: str, search: str) -> tuple[float, float]:
    """The seconds of the first fit in two processes, one after the other, that share an empty cache."""
    program = COMPILED.format(leaf=leaf, search=search)
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        first, then = (
            subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
            for _ in range(2)
        )
    return float(first.stdout), float(then.stdout)
