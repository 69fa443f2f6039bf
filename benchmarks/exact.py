"""Exact search: the time, memory and outcome of proofs, and what the greedy tree misses.

``PAPER_DATA`` names the folder of the paper's tables, and ``BENCH_PLOT`` a file for the plot of time against regions.
Every proof has a process of its own.
"""

import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.paper_data import paper_table
from benchmarks.timing import measured
from reproduction import charts
from reproduction.datasets.random_trees import random_tree
from reproduction.study import Chart, Panel, Series
from sparsedensity import datasets
from sparsedensity.engines import MemoryEngine
from sparsedensity.ingest import Reading, open_source, read_table
from sparsedensity.posterior import BranchSparse, LeafSparse
from sparsedensity.problem import Problem
from sparsedensity.search import Exact, Greedy, estimate, run
from sparsedensity.table import Table
from sparsedensity.writing import write_text

CRIME = (4, 5, 2, 2, 2, 9)
GROWING = [(4, 2), (6, 2), (8, 2), (10, 2), (12, 2), (14, 2), (3, 3), (5, 3), (7, 3), (8, 3), (3, 5), (4, 5), (2, 9)]
"""Numbers of features and of values: random trees over more and more regions."""
METHODS = {"I": LeafSparse(8, 2), "II": BranchSparse(2, 2)}
FILES = ("compas", "balance", "car", "nursery", "chess_krkp", "telco_churn")


class ProofLine(NamedTuple):
    """One proof."""

    name: str
    method: str
    depth: int | None
    regions: int
    seconds: float
    peak: int
    proven: bool
    visited: bool
    """Whether regions were visited: some tables are proven by the bound that costs nothing."""
    leaves: int
    missed: float | None
    """How far the greedy tree is below the optimum, in nats."""

    def __str__(self) -> str:
        missed = "" if self.missed is None else f"{self.missed:.2f}"
        name = self.name if self.depth is None else f"{self.name}, {self.depth} levels"
        proven = "yes" if self.proven else "no"
        return (
            f"| {name} | {self.method} | {self.regions:,} | {self.seconds:.2f} | {self.peak / 1e6:,.0f} | {proven} "
            f"| {self.leaves} | {missed} |"
        )


def main() -> None:
    print("| table | method | regions | seconds | MB | proven | leaves | greedy misses by |")
    print("| --- | --- | --: | --: | --: | --- | --: | --: |")
    lines = []
    for name, depth in jobs():
        for method in METHODS:
            with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
                line = pool.submit(prove, name, method, depth).result()
            if line is not None:
                lines.append(line)
                print(line, flush=True)
    if plot := os.environ.get("BENCH_PLOT"):
        draw([line for line in lines if line.depth is None and line.visited], Path(plot))


def jobs() -> Iterator[tuple[str, int | None]]:
    """The tables by name, and the limit on levels."""
    yield from (("titanic", None), ("simulated", None), ("crime-like", None))
    yield from ((f"{features} of {values}", None) for features, values in GROWING)
    for name in FILES:
        if paper_table(name) is not None:
            yield name, None
            yield from ((name, depth) for depth in (1, 2, 3))


def prove(name: str, method: str, depth: int | None) -> ProofLine | None:
    """Prove one table, warm; nothing if it is out of reach."""
    posterior: Any = METHODS[method]
    run(Exact(depth=depth), Problem(engine_of("titanic"), posterior, 100))
    problem = Problem(engine_of(name), posterior, 100)
    ahead = estimate(problem, depth)
    if ahead.hopeless:
        return None
    found, seconds, peak = measured(lambda: run(Exact(depth=depth), problem))
    missed = None
    if method == "I" and depth is None:
        missed = max(0.0, found.log_posterior - run(Greedy(), problem).log_posterior)
    return ProofLine(
        name,
        method,
        depth,
        ahead.regions,
        seconds,
        peak,
        found.proven,
        found.moves > 0,
        found.structure.n_leaves,
        missed,
    )


def engine_of(name: str) -> MemoryEngine:
    if name in ("titanic", "simulated"):
        return MemoryEngine(read_table(open_source(datasets.load(name)), Reading()))
    if name in FILES:
        return MemoryEngine(read_table(open_source(paper_table(name)), Reading()))
    features, values = (0, 0) if name == "crime-like" else map(int, name.split(" of "))
    truth = random_tree(rows=3739, sizes=(values,) * features or CRIME, leaves=20)
    return MemoryEngine(Table.of(truth.domain, truth.codes))


def draw(lines: list[ProofLine], path: Path) -> None:
    """Seconds against regions, on logarithmic axes."""
    series = []
    for method in METHODS:
        proofs = [line for line in lines if line.method == method]
        x, y = tuple(float(line.regions) for line in proofs), tuple(line.seconds for line in proofs)
        series.append(Series(f"method {method}", x, y))
    panel = Panel("", "regions", "seconds to a proof", tuple(series), log_x=True, log_y=True)
    write_text(charts.svg(Chart("exact", "Seconds to a proof against regions", (panel,))), path)
