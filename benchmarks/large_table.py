"""2.4 million rows by 68 features of 396 values: to a table, and scored.

Beside it Polars groups the same rows, which is the least that anyone must do to find the distinct ones. Each
measurement has a process of its own, so that memory freed by one does not hide what the next one needs.
"""

import multiprocessing
import os
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.timing import Measured, best_of, measured
from reproduction.datasets.random_trees import random_tree
from sparsedensity import GreedyTree
from sparsedensity.ingest import Reading, open_source, read_table
from sparsedensity.ingest.files import read_file

ROWS = int(os.environ.get("BENCH_ROWS", "2400000"))
SIZES = [2] * 12 + [3] * 10 + [4] * 8 + [5] * 10 + [6] * 8 + [8] * 8 + [10] * 6 + [13] * 4 + [17, 19]


def main() -> None:
    truth = random_tree(rows=ROWS, sizes=SIZES, leaves=100, seed=1)
    codes = truth.codes.nbytes
    print(f"{ROWS:,} rows, {len(SIZES)} features, {sum(SIZES)} values; codes take {codes / 1e6:,.0f} MB")
    with tempfile.TemporaryDirectory() as folder:
        array, parquet = Path(folder) / "rows.npy", Path(folder) / "rows.parquet"
        np.save(array, truth.codes.astype(np.int64))
        truth.frame.write_parquet(parquet)
        compare("NumPy int64 array", table_of_array, group_of_array, array, codes)
        compare("Parquet file", table_of_parquet, group_of_parquet, parquet, codes)
        seconds = alone(scoring, array)
        print(f"scoring the int64 array, one core: {seconds:.2f} s, {ROWS / seconds / 1e6:.1f} million rows per second")


def compare(
    name: str, ours: Callable[[Path], Measured], theirs: Callable[[Path], Measured], path: Path, codes: int
) -> None:
    own, peer = alone(ours, path), alone(theirs, path)
    assert own.value == peer.value, "both must find the same distinct rows"
    print(
        f"{name} to table: {own.seconds:.2f} s, Polars group-by {peer.seconds:.2f} s, "
        f"ratio {own.seconds / peer.seconds:.2f}; peak above the input {own.peak / 1e6:,.0f} MB = "
        f"{own.peak / codes:.1f} x codes (Polars {peer.peak / 1e6:,.0f} MB)"
    )


def alone(job: Callable[[Any], Any], about: Any) -> Any:
    """Run a job in a new process."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(job, about).result()


def table_of_array(path: Path) -> Measured:
    numbers = np.load(path)
    rows_in_table(numbers[:1000])
    return measured(lambda: rows_in_table(numbers))


def table_of_parquet(path: Path) -> Measured:
    rows_in_table(pl.read_parquet(path, n_rows=1000))
    return measured(lambda: rows_in_table(read_file(path)))


def group_of_array(path: Path) -> Measured:
    frame = pl.from_numpy(np.load(path))
    return measured(lambda: distinct_rows(frame))


def group_of_parquet(path: Path) -> Measured:
    return measured(lambda: distinct_rows(pl.read_parquet(path)))


def scoring(path: Path) -> float:
    numbers = np.load(path)
    model = GreedyTree(max_leaves=20, kinds="nominal").fit(numbers[:20_000])
    model.score_samples(numbers[:1000])
    return best_of(3, lambda: model.score_samples(numbers))


def rows_in_table(data: object) -> int:
    return len(read_table(open_source(data), Reading(kinds="nominal")))


def distinct_rows(frame: pl.DataFrame) -> int:
    return frame.group_by(pl.all()).len().height
