"""Five million rows by 20 columns of text: what one exact counting pass costs on each engine, beside one in memory.

A pass counts the weight in every leaf of a tree of 80 leaves at every value of every column. Processor seconds are
those of all processes that take part, so that other programs on the machine disturb little. Opening is what comes
before the first pass: the domain is found, and rows are read into memory, or onto the workers of Dask.
"""

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import polars as pl
import psutil

from benchmarks.printing import header
from benchmarks.text_files import LEAVES, SIZES, write_known_tree
from sparsedensity.engines import Engine, MemoryEngine
from sparsedensity.ingest import Reading, open_source, read_table
from sparsedensity.ingest.lazy import LazyTable
from sparsedensity.structures import Tree

ROWS = int(os.environ.get("BENCH_ROWS", "5000000"))
PASSES = 3
ASKED = {"Polars": 10, "DuckDB": 6, "Dask": 20, "Spark": 60}


class Cost(NamedTuple):
    """Processor seconds of opening a table, and of a pass over it."""

    opening: float
    counting: float


def main() -> None:
    print(
        f"{ROWS:,} rows, {len(SIZES)} columns of {sum(SIZES)} values, {LEAVES} leaves; the cheapest of {PASSES} passes"
    )
    print(f"load of the last minute: {psutil.getloadavg()[0]:.1f}\n")
    print(header("engine", "opening, processor s", "a pass, processor s", "a pass in memory = 1", "at most"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        tree = write_known_tree(path, ROWS)
        base = None
        for name, opened in OPENED.items():
            cost = measured(opened, path, tree)
            base = base or cost.counting
            print(line(name, cost, base))


def line(name: str, cost: Cost, base: float) -> str:
    return f"| {name} | {cost.opening:.1f} | {cost.counting:.2f} | {cost.counting / base:.1f} | {ASKED.get(name, '')} |"


def measured(opened: Callable[[Path], AbstractContextManager[Engine]], path: Path, tree: Tree) -> Cost:
    """What one engine costs. The first count of all values belongs to opening: it waits until all rows are there."""
    begin = processor_seconds()
    with opened(path) as engine:
        engine.value_weights()
        opening = processor_seconds() - begin
        known = replace(tree, domain=engine.domain)
        return Cost(opening, min(of_a_pass(engine, known) for _ in range(PASSES)))


def of_a_pass(engine: Engine, tree: Tree) -> float:
    begin = processor_seconds()
    counts = engine.leaf_value_weights(tree)
    seconds = processor_seconds() - begin
    assert counts.sum() == ROWS * len(SIZES), "every value of every row is counted once"
    return seconds


def processor_seconds() -> float:
    """Of this process and those it started, as long as they live."""
    times = [child.cpu_times() for child in psutil.Process().children(recursive=True)]
    return time.process_time() + float(sum(each.user + each.system for each in times))


@contextmanager
def memory(path: Path) -> Iterator[Engine]:
    yield MemoryEngine(read_table(open_source(pl.read_parquet(path)), Reading()))


@contextmanager
def polars(path: Path) -> Iterator[Engine]:
    yield lazily(pl.scan_parquet(path))


@contextmanager
def duckdb(path: Path) -> Iterator[Engine]:
    import duckdb

    with duckdb.connect() as connection:
        yield lazily(connection.read_parquet(str(path)))


@contextmanager
def dask(path: Path) -> Iterator[Engine]:
    import dask.dataframe
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
    ):
        yield lazily(dask.dataframe.read_parquet(path, split_row_groups=1))


@contextmanager
def spark(path: Path) -> Iterator[Engine]:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "2g")
    session = (
        builder.config("spark.log.level", "ERROR")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    yield lazily(session.read.parquet(str(path)))
    session.stop()


def lazily(native: Any) -> Engine:
    """What counts the rows of a lazy frame, as a fit opens it."""
    return LazyTable(nw.from_native(native)).open(Reading(), np.random.default_rng(0), 1, lambda _: None)


OPENED = {"memory": memory, "Polars": polars, "DuckDB": duckdb, "Dask": dask, "Spark": spark}
