"""How often a calibrated tree finds nothing in noise, and whether it still finds what is there.

``BENCH_DRAWS`` sets the number of draws. In noise all values are equally likely, whatever the other columns say; a
planted tree is a known density of 8 leaves. It takes some minutes of processor time.
"""

import os
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, Literal

import numpy as np
import polars as pl

from reproduction.datasets.random_trees import random_tree
from sparsedensity import BranchSparseTree, LeafSparseTree

COLUMNS, VALUES, ROWS = (5, 100), (2, 5), (200, 5000)
"""The least and the most columns, values per column and rows of noise."""
MODELS: dict[str, Callable[..., Any]] = {
    "leaf-sparse, expected leaves 2": lambda prior: LeafSparseTree(2, prior=prior, search="greedy"),
    "leaf-sparse, expected leaves 8": lambda prior: LeafSparseTree(8, prior=prior, search="greedy"),
    "branch-sparse, expected branches 2": lambda prior: BranchSparseTree(2, prior=prior, search="greedy"),
    "leaf-sparse profiles, expected leaves 8": lambda prior: LeafSparseTree(
        8, leaf="profile", prior=prior, search="greedy"
    ),
}
COINS, TOSSES = (10, 20), 500
PLANTED = (500, 1000, 2000, 5000)
PRIORS: tuple[Literal["paper", "calibrated"], ...] = ("paper", "calibrated")


def main() -> None:
    draws = int(os.environ.get("BENCH_DRAWS", "100"))
    print(f"{draws} tables of noise: 5 to 100 columns of 2 to 5 values, 200 to 5,000 rows; greedy search")
    print("| model | prior | one leaf | most leaves |")
    print("| --- | --- | --: | --: |")
    for name, model in MODELS.items():
        for prior in PRIORS:
            leaves = [model(prior).fit(table).n_leaves_ for table in noise(draws)]
            print(f"| {name} | {prior} | {one_leaf(leaves)} |", flush=True)
    print(f"\n{draws} tables of fair coins, {TOSSES} rows; leaf-sparse profiles, expected leaves 8, greedy search")
    print("| coins | prior | one leaf | most leaves |")
    print("| --: | --- | --: | --: |")
    for number, prior in product(COINS, PRIORS):
        model = LeafSparseTree(8, leaf="profile", prior=prior, search="greedy")
        leaves = [model.fit(table).n_leaves_ for table in coins(number, draws)]
        print(f"| {number} | {prior} | {one_leaf(leaves)} |", flush=True)
    print("\nA planted tree of 8 leaves in 6 columns of 3 values; leaf-sparse, expected leaves 8, greedy search")
    print("| rows | leaves, paper | leaves, calibrated |")
    print("| --: | --: | --: |")
    for rows in PLANTED:
        table = planted(rows)
        sizes = [LeafSparseTree(8, prior=prior, search="greedy").fit(table).n_leaves_ for prior in PRIORS]
        print(f"| {rows:,} | {sizes[0]} | {sizes[1]} |", flush=True)


def one_leaf(leaves: list[int]) -> str:
    """How often there is one leaf, and the most leaves."""
    return f"{leaves.count(1)} of {len(leaves)} | {max(leaves)}"


def noise(draws: int, seed: int = 0) -> Iterator[pl.DataFrame]:
    """Tables in which there is nothing to find."""
    for rng in np.random.default_rng(seed).spawn(draws):
        columns, rows = (int(np.exp(rng.uniform(*np.log(ends)))) for ends in (COLUMNS, ROWS))
        sizes = rng.integers(VALUES[0], VALUES[1] + 1, columns)
        codes = {f"x{i}": rng.integers(0, size, rows) for i, size in enumerate(sizes)}
        yield pl.DataFrame(codes).cast(pl.String)


def coins(number: int, draws: int, seed: int = 0) -> Iterator[pl.DataFrame]:
    """Tables of fair coins."""
    for rng in np.random.default_rng(seed).spawn(draws):
        yield pl.DataFrame({f"x{i}": rng.integers(0, 2, TOSSES) for i in range(number)}).cast(pl.String)


def planted(rows: int, seed: int = 0) -> pl.DataFrame:
    """Rows of a known tree."""
    return random_tree(rows=rows, sizes=(3,) * 6, leaves=8, seed=seed).frame.cast(pl.String)
