"""How far default fits agree from seed to seed, and what they take: best, median and worst log posterior.

``BENCH_SEEDS`` sets the number of seeds, ``BENCH_TABLES`` names some tables, ``BENCH_MODELS`` leaf models,
``BENCH_LEAVES`` the limits. The spread is the best minus the worst log posterior, as a share of what the best gains
over a single leaf.
"""

import os
import time
import warnings
from statistics import mean, median
from typing import Literal

import polars as pl

from benchmarks.paper_data import binary_tables, paper_table
from sparsedensity import LeafSparseTree

NAMES = ("compas", "chess_krkp", "mushroom", "telco_churn", "bank_full", "heloc", "connect4", "coco_thing")
Leaf = Literal["uniform", "profile"]
LEAVES: tuple[Leaf, ...] = ("uniform", "profile")


def main() -> None:
    warnings.simplefilter("ignore")
    seeds = range(int(os.environ.get("BENCH_SEEDS", "10")))
    limits = [int(limit) for limit in os.environ.get("BENCH_LEAVES", "20,100").split(",")]
    models = [leaf for leaf in LEAVES if leaf in os.environ.get("BENCH_MODELS", "uniform,profile").split(",")]
    print(f"{len(seeds)} seeds for each table, default settings, every column nominal; processor seconds per fit")
    print("| table | leaf | limit | best | median | worst | spread | seconds |")
    print("| --- | --- | --: | --: | --: | --: | --: | --: |")
    for name, frame in tables():
        for leaf in models:
            one = LeafSparseTree(leaf=leaf, max_leaves=1, search="greedy", kinds="nominal").fit(frame).log_posterior_
            for limit in limits:
                found = [fit(frame, leaf, limit, seed) for seed in seeds]
                scores = [score for score, _ in found]
                best, worst = max(scores), min(scores)
                print(
                    f"| {name} | {leaf} | {limit} | {best:,.0f} | {median(scores):,.0f} | {worst:,.0f} "
                    f"| {(best - worst) / (best - one):.2%} | {mean(seconds for _, seconds in found):.1f} |",
                    flush=True,
                )


def tables() -> list[tuple[str, pl.DataFrame]]:
    """The tables that are here, or those that are asked for."""
    wanted = os.environ.get("BENCH_TABLES")
    every = [(name, frame) for name in NAMES if (frame := paper_table(name)) is not None] + binary_tables("train")
    return [one for one in every if wanted is None or one[0] in wanted.split(",")]


def fit(frame: pl.DataFrame, leaf: Leaf, limit: int, seed: int) -> tuple[float, float]:
    """The log posterior of a default fit, and its processor seconds."""
    begin = time.process_time()
    model = LeafSparseTree(leaf=leaf, max_leaves=limit, kinds="nominal", random_state=seed).fit(frame)
    return model.log_posterior_, time.process_time() - begin
