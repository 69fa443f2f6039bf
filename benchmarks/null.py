"""What p-values and intervals are worth: how often equal tables seem to differ, how often intervals hold the truth.

Every repetition draws a random density tree (10 leaves over 5 columns of 2 to 4 values) and two tables of it, so that
every difference is chance. Trees have at most 12 leaves. ``BENCH_REPETITIONS`` says how often, 1,000 by default.
"""

import os
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import NamedTuple

import numpy as np

from reproduction.datasets.random_trees import random_tree
from sparsedensity import LeafSparseTree, compare
from sparsedensity.datasets import Truth

SIZES = (4, 3, 2, 2, 2)
LEAVES = 10
READABLE = 12
ROWS = (100, 500, 2000)
LEVEL = 0.05
ENOUGH = 4
"""A test of fewer leaves can be too coarse to use its whole level."""


class Alarm(NamedTuple):
    """One comparison of two tables from one source."""

    p_value: float
    leaves: int


class Repetition(NamedTuple):
    """Two tables of the same source, looked at in every way."""

    pooled: Alarm
    """By leaves of both tables."""
    honest: Alarm
    """By an honest model of the first."""
    honest_hits: list[bool]
    """For every leaf of the honest model, whether its interval holds the truth."""
    hits: list[bool]
    """The same for a model that is not honest."""


def main() -> None:
    seeds = range(int(os.environ.get("BENCH_REPETITIONS", "1000")))
    with ProcessPoolExecutor() as workers:
        done = {rows: list(workers.map(partial(repetition, rows), seeds, chunksize=10)) for rows in ROWS}
    print(f"Share of p-values below {LEVEL} if both tables have the same source, {len(seeds):,} repetitions")
    print("| comparison | rows of each table | below 0.05 | with 4 leaves or more | leaves in the mean |")
    print("| --- | --: | --: | --: | --: |")
    for name, field in (("`compare(A, B)`", "pooled"), ("`LeafSparseTree(honest=0.5).fit(A).compare(B)`", "honest")):
        for rows, repetitions in done.items():
            print(f"| {name} | {rows:,} | {shares_of_alarms([getattr(one, field) for one in repetitions])} |")
    print("\nShare of 95 % intervals that hold the true probability of their leaf")
    print("| rows | `honest=0.5` | all rows choose and weigh the leaves |")
    print("| --: | --: | --: |")
    for rows, repetitions in done.items():
        honest = np.mean(np.concatenate([one.honest_hits for one in repetitions]))
        plain = np.mean(np.concatenate([one.hits for one in repetitions]))
        print(f"| {rows:,} | {honest:.3f} | {plain:.3f} |")


def repetition(rows: int, seed: int) -> Repetition:
    """Draw two tables and look at them."""
    truth = random_tree(rows=2 * rows, sizes=SIZES, leaves=LEAVES, seed=seed)
    first, second = truth.codes[:rows], truth.codes[rows:]
    plain, honest = (LeafSparseTree(max_leaves=READABLE, domain=truth.domain, honest=half) for half in (None, 0.5))
    pooled = compare(first, second, model=plain, random_state=seed)
    honest.fit(first)
    compared = honest.compare(second)
    assert pooled.p_value is not None
    assert compared.p_value is not None
    return Repetition(
        Alarm(pooled.p_value, len(pooled.differences)),
        Alarm(compared.p_value, len(compared.differences)),
        hits(truth, honest),
        hits(truth, plain.fit(first)),
    )


def hits(truth: Truth, model: LeafSparseTree) -> list[bool]:
    """Whether the interval of each leaf holds its true probability; a single leaf is no question."""
    if model.n_leaves_ == 1:
        return []
    points = np.indices(truth.domain.sizes).reshape(len(truth.domain), -1).T.astype(truth.codes.dtype)
    shares = np.bincount(model.structure_.leaf_numbers(points), np.exp(truth.log_density(points)))
    return [leaf.interval[0] <= share <= leaf.interval[1] for leaf, share in zip(model.leaves_, shares, strict=True)]


def shares_of_alarms(alarms: list[Alarm]) -> str:
    """How often there was an alarm, for trees of any size and for those that can use the whole level."""
    enough = [alarm for alarm in alarms if alarm.leaves >= ENOUGH]
    every, some = (f"{np.mean([a.p_value < LEVEL for a in of]):.3f}" if of else "none" for of in (alarms, enough))
    return f"{every} | {some} | {np.mean([alarm.leaves for alarm in alarms]):.1f}"
