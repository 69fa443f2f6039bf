"""Leaves and held-out log-likelihood per row by the paper's prior and the calibrated one, on every table that is here.

``BENCH_FOLDS`` sets the number of folds and ``BENCH_ROWS`` the most rows: of a longer table so many are drawn. Trees
are leaf-sparse with 8 expected leaves, at most 100, by greedy search; every column is a category.
"""

import os
from statistics import mean
from typing import Literal

import polars as pl
from sklearn.model_selection import KFold

from benchmarks.paper_data import binary_tables, paper_tables
from sparsedensity import Domain, LeafSparseTree

Prior = Literal["paper", "calibrated"]
PRIORS: tuple[Prior, ...] = ("paper", "calibrated")


def main() -> None:
    folds, rows = int(os.environ.get("BENCH_FOLDS", "5")), int(os.environ.get("BENCH_ROWS", "20000"))
    tables = [*paper_tables(), *binary_tables("train")]
    print(f"{folds} folds, at most {rows:,} rows; leaves in the mean, log-likelihood per held-out row")
    print("| table | rows | columns | leaves, paper | leaves, calibrated | held out, paper | held out, calibrated |")
    print("| --- | --: | --: | --: | --: | --: | --: |")
    for name, table in tables:
        frame = table.sample(min(rows, table.height), seed=0)
        leaves, scores = zip(*(measured(frame, prior, folds) for prior in PRIORS), strict=True)
        sizes = " | ".join(f"{size:.1f}" for size in leaves)
        held_out = " | ".join(f"{score:.3f}" for score in scores)
        print(f"| {name} | {frame.height:,} | {frame.width} | {sizes} | {held_out} |", flush=True)


def measured(frame: pl.DataFrame, prior: Prior, folds: int) -> tuple[float, float]:
    """The mean over folds of the leaves, and of the log-likelihood per row that was held out."""
    domain = Domain.infer(frame, kinds=dict.fromkeys(frame.columns, "nominal"))
    leaves, scores = [], []
    for train, test in KFold(folds, shuffle=True, random_state=0).split(frame):
        tree = LeafSparseTree(8, prior=prior, search="greedy", domain=domain).fit(frame[train])
        leaves.append(tree.n_leaves_)
        scores.append(tree.score(frame[test]) / len(test))
    return mean(leaves), mean(scores)
