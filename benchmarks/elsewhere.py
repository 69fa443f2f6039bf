"""Five million rows by 20 columns in a Parquet file: what the default search finds if DuckDB counts, beside memory.

Rows are drawn as in `large`, from a known tree and from a mixture of products. Both searches have the same posterior
and the same seed; either log posterior is exact on all rows. Given is how far DuckDB's is above that in memory, in nats
and in percent of the gain over one leaf; the processor seconds of both searches, and how often DuckDB's counted all
rows. ``BENCH_SEEDS`` may name how many seeds.
"""

import os
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import duckdb
import narwhals as nw
import numpy as np

from benchmarks.large import DRAWING, MOST_LEAVES, ROWS, SIZES
from benchmarks.large_table import alone
from benchmarks.printing import header
from benchmarks.text_files import write_text
from sparsedensity.engines import Engine, MemoryEngine, RememberingEngine
from sparsedensity.ingest import Reading
from sparsedensity.ingest.lazy import LazyTable
from sparsedensity.posterior import LeafSparse
from sparsedensity.problem import Problem
from sparsedensity.search import Anneal, run
from sparsedensity.structures import Structure, Tree
from sparsedensity.table import Floats

SEEDS = range(int(os.environ.get("BENCH_SEEDS", "5")))


class Job(NamedTuple):
    """Rows to draw."""

    kind: str
    rows: int
    seed: int


class Found(NamedTuple):
    """The gain over one leaf in nats; the processor seconds of the search, and how often it counted all rows."""

    gain: float
    seconds: float
    passes: float


@dataclass(frozen=True)
class CountedPasses(RememberingEngine):
    """An engine that remembers only how often it was asked to count."""

    asked: list[Structure] = field(default_factory=list)

    def leaf_weights(self, structure: Structure) -> Floats:
        self.asked.append(structure)
        return super().leaf_weights(structure)

    def leaf_value_weights(self, structure: Structure) -> Floats:
        self.asked.append(structure)
        return super().leaf_value_weights(structure)


class Outcome(NamedTuple):
    """What was found in the same rows."""

    memory: Found
    duckdb: Found

    @property
    def above(self) -> float:
        """How much more DuckDB gains, in nats."""
        return self.duckdb.gain - self.memory.gain


def main() -> None:
    print(f"{ROWS:,} rows, {len(SIZES)} columns of {sum(SIZES)} values, at most {MOST_LEAVES} leaves\n")
    print(header("rows from", "seed", "gain in memory", "DuckDB above", "in percent", "seconds", "DuckDB", "passes"))
    for kind in DRAWING:
        outcomes = []
        for seed in SEEDS:
            outcomes.append(alone(fit, Job(kind, ROWS, seed)))
            print(line(kind, str(seed), outcomes[-1]), flush=True)
        print(line(kind, "median", median(outcomes)), flush=True)


def line(kind: str, seed: str, one: Outcome) -> str:
    share = 100 * one.above / one.memory.gain
    return (
        f"| {kind} | {seed} | {one.memory.gain:,.0f} | {one.above:,.0f} | {share:.3f} | {one.memory.seconds:.0f} | "
        f"{one.duckdb.seconds:.0f} | {one.duckdb.passes:.0f} |"
    )


def median(outcomes: list[Outcome]) -> Outcome:
    """The medians of both, apart."""
    memory, duckdb = (np.median(each, axis=0).tolist() for each in zip(*outcomes, strict=True))
    return Outcome(Found(*memory), Found(*duckdb))


def fit(job: Job) -> Outcome:
    """Draw the rows of a seed, and search them in memory and in DuckDB."""
    table = DRAWING[job.kind](job.rows, job.seed).table
    rows = np.repeat(table.codes, table.weights.astype(np.int64), axis=0)
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as connection:
        path = Path(folder) / "rows.parquet"
        write_text(path, table.domain, iter(np.array_split(rows, max(1, len(rows) >> 20))))
        del rows
        there = LazyTable(nw.from_native(connection.read_parquet(str(path))))
        elsewhere = there.open(Reading(), np.random.default_rng(job.seed), 1, lambda _: None)
        return Outcome(found_by(MemoryEngine(table), job.seed), found_by(elsewhere, job.seed))


def found_by(engine: Engine, seed: int) -> Found:
    counted = CountedPasses(engine, {})
    problem = Problem(counted, LeafSparse(), MOST_LEAVES)
    begin = time.process_time()
    found = run(Anneal(), problem, rng=np.random.default_rng(seed))
    seconds, passes = time.process_time() - begin, len(counted.asked)
    return Found(found.log_posterior - problem.score(Tree.leaf(problem.domain)), seconds, passes)
