"""Five million rows by 20 features: what the default search of a leaf-sparse tree finds, and how long that takes.

Rows are drawn from a known tree of 80 leaves, and from a mixture of twelve products, which is no tree. Given is the log
posterior above that of one leaf; for the known tree also how far it is from the true tree's. Every fit has a process of
its own. ``BENCH_BESIDE`` may name the root of another checkout, which is then measured beside this one.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.printing import header
from reproduction.datasets.random_trees import random_tree
from sparsedensity import Domain, Feature
from sparsedensity.engines import MemoryEngine
from sparsedensity.posterior import LeafSparse
from sparsedensity.problem import Problem
from sparsedensity.search import Anneal, run
from sparsedensity.structures import Tree
from sparsedensity.table import Table

ROWS = int(os.environ.get("BENCH_ROWS", "5000000"))
SEEDS = range(5)
HERE = Path(__file__).parents[1]
BESIDE = os.environ.get("BENCH_BESIDE")
SIZES = [2] * 4 + [3] * 4 + [4] * 3 + [5, 5, 6, 6, 7, 8, 8, 9, 10]
LEAVES, PRODUCTS, MOST_LEAVES = 80, 12, 100


class Drawn(NamedTuple):
    """A table, and the tree that made it if there is one."""

    table: Table
    tree: Tree | None


class Outcome(NamedTuple):
    """Of one fit, in nats and seconds."""

    gain: float
    above_truth: float | None
    leaves: int
    seconds: float


def main() -> None:
    roots = {"here": HERE} if BESIDE is None else {"beside": Path(BESIDE), "here": HERE}
    print(f"{ROWS:,} rows, {len(SIZES)} features of {sum(SIZES)} values, at most {MOST_LEAVES} leaves\n")
    print(header("rows from", "checkout", "seed", "gain over one leaf", "above the truth", "leaves", "seconds"))
    for kind in DRAWING:
        for name, root in roots.items():
            outcomes = [alone(root, kind, seed) for seed in SEEDS]
            for seed, one in zip(SEEDS, outcomes, strict=True):
                print(line(kind, name, str(seed), one))
            print(line(kind, name, "median", median(outcomes)))


def line(kind: str, name: str, seed: str, one: Outcome) -> str:
    truth = "" if one.above_truth is None else f"{one.above_truth:,.0f}"
    return f"| {kind} | {name} | {seed} | {one.gain:,.0f} | {truth} | {one.leaves} | {one.seconds:.0f} |"


def median(outcomes: list[Outcome]) -> Outcome:
    """The medians of several fits."""
    gains, truths, leaves, seconds = zip(*outcomes, strict=True)
    truth = None if truths[0] is None else float(np.median(truths))
    return Outcome(float(np.median(gains)), truth, int(np.median(leaves)), float(np.median(seconds)))


def alone(root: Path, kind: str, seed: int) -> Outcome:
    """One fit by the package of a checkout, in a process of its own."""
    command = [sys.executable, str(Path(__file__)), kind, str(ROWS), str(seed)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root / "src"), str(HERE)])}
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return Outcome(**json.loads(done.stdout))


def fit(kind: str, rows: int, seed: int) -> Outcome:
    """Draw the rows of a seed and search them by default."""
    drawn = DRAWING[kind](rows, seed)
    problem = Problem(MemoryEngine(drawn.table), LeafSparse(), MOST_LEAVES)
    begin = time.perf_counter()
    found = run(Anneal(), problem, rng=np.random.default_rng(seed))
    seconds = time.perf_counter() - begin
    above = None if drawn.tree is None else found.log_posterior - problem.score(drawn.tree)
    one_leaf = problem.score(Tree.leaf(problem.domain))
    return Outcome(found.log_posterior - one_leaf, above, found.structure.n_leaves, seconds)


def known_tree(rows: int, seed: int) -> Drawn:
    """Rows drawn from a random tree."""
    truth = random_tree(rows=rows, sizes=SIZES, leaves=LEAVES, seed=seed)
    return Drawn(Table.of(truth.domain, truth.codes), truth.tree)


def mixture(rows: int, seed: int) -> Drawn:
    """Rows drawn from a mixture of products: which part a row is from is not told."""
    rng = np.random.default_rng(seed)
    domain = Domain(tuple(Feature.nominal(f"x{i + 1}", range(size)) for i, size in enumerate(SIZES)))
    part = rng.choice(PRODUCTS, rows, p=rng.dirichlet(np.ones(PRODUCTS)))
    codes: NDArray[np.uint8] = np.empty((rows, len(SIZES)), np.uint8)
    for feature, size in enumerate(SIZES):
        ends = np.cumsum(rng.dirichlet(np.ones(size), PRODUCTS), axis=1)
        codes[:, feature] = np.minimum((rng.random(rows)[:, None] > ends[part]).sum(axis=1), size - 1)
    return Drawn(Table.of(domain, codes), None)


DRAWING = {"a known tree": known_tree, "a mixture of products": mixture}

if __name__ == "__main__":
    print(json.dumps(fit(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))._asdict()))
