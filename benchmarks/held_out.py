"""Held out: what a few leaves say, at most 5 to 100 of them or as many as the posterior chooses, beside other models.

Log-likelihood per row that was not learned from, on every table that is here. One search for at most 100 leaves
gives a tree of every size; at most 20 leaves means the one of up to 20 with the highest log posterior. ``BENCH_FOLDS``
sets the number of folds (5) and ``BENCH_SEARCH`` how trees are searched (``greedy`` or ``auto``).
Greedy takes about 7 minutes of processor time.
"""

import os
import time
import warnings
from typing import Any, NamedTuple

import numpy as np

from benchmarks.dividing import Divided, Fold, divided_tables
from benchmarks.printing import header, with_error
from sparsedensity import Histogram, LeafSparseTree
from sparsedensity.errors import SearchWarning
from sparsedensity.evaluation import ChowLiuTree, IndependentColumns, standard_error

LIMITS = (5, 10, 20, 100)
TREES: dict[str, dict[str, Any]] = {
    "uniform": {"leaf": "uniform"},
    "profile": {"leaf": "profile"},
    "profile, paper": {"leaf": "profile", "prior": "paper"},
}
OTHERS = {"Chow-Liu": ChowLiuTree, "independent": IndependentColumns, "histogram": Histogram}
SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 30, 40, 50, 70, 100)
"""The best of all sizes is the best of these."""
FEW = 20
"""So many profile leaves are set against Chow and Liu's tree."""


class Path(NamedTuple):
    """The trees of one search, by their leaves."""

    log_posteriors: dict[int, float]
    scores: dict[int, list[float]]
    """Per held-out row, for every part that was held out; of some sizes only."""

    def chosen(self, limit: int) -> int:
        """The leaves that the posterior chooses under a limit."""
        return max((size for size in self.log_posteriors if size <= limit), key=self.log_posteriors.__getitem__)


class Held(NamedTuple):
    """What was measured on one table."""

    title: str
    """The table in the first columns of a line: its name, rows and columns."""
    paths: dict[str, list[Path]]
    """One per fold."""
    others: dict[str, list[float]]
    """The log-likelihood per row of every part that was held out."""

    def at_most(self, tree: str, limit: int) -> list[float]:
        """The same for a tree under a limit."""
        return [score for path in self.paths[tree] for score in path.scores[path.chosen(limit)]]

    @property
    def gains(self) -> list[float]:
        """What few profiles have above Chow and Liu's tree."""
        gains: list[float] = np.subtract(self.at_most("profile", FEW), self.others["Chow-Liu"]).tolist()
        return gains

    def leaves(self, tree: str) -> float:
        """The leaves that the posterior chooses, in the mean."""
        return float(np.mean([path.chosen(max(LIMITS)) for path in self.paths[tree]]))

    def best_size(self, tree: str) -> tuple[int, list[float]]:
        """The leaves that predict best in the mean, with the log-likelihoods per row."""
        common = set.intersection(*({size for size in SIZES if size in path.scores} for path in self.paths[tree]))
        scores = {size: [s for path in self.paths[tree] for s in path.scores[size]] for size in sorted(common)}
        return max(scores.items(), key=lambda item: np.mean(item[1]))


def main() -> None:
    warnings.simplefilter("ignore", SearchWarning)
    folds, search = int(os.environ.get("BENCH_FOLDS", "5")), os.environ.get("BENCH_SEARCH", "greedy")
    tables = divided_tables(folds)
    print(
        f"Log-likelihood per held-out row, {folds} folds, {search} search. Standard errors are those over the folds; of"
    )
    print("nltcs and plants, which have a split of their own, those over five parts of the test rows.")
    measured = print_limits(tables, search)
    print_standing([held.gains for held in measured])
    print(
        "\nThe number of profile leaves that the posterior chooses, at most 100, in the mean over the folds, by prior"
    )
    print_sizes(measured)
    print(f"\n{time.process_time():.0f} s of processor time")


def held_out(table: Divided, search: Any) -> Held:
    """Learn from every fold and score what it did not see."""
    paths, others = {}, {}
    for name, given in TREES.items():
        tree = LeafSparseTree(search=search, domain=table.domain, **given)
        paths[name] = [path_of(tree, fold, SIZES if name == "profile" else ()) for fold in table.folds()]
    for name, kind in OTHERS.items():
        model = kind(domain=table.domain)
        others[name] = [score for fold in table.folds() for score in per_row(model.fit(fold.train), fold)]
    return Held(f"| {table.name} | {table.frame.height:,} | {table.frame.width}", paths, others)


def path_of(tree: LeafSparseTree, fold: Fold, sizes: tuple[int, ...]) -> Path:
    """Search once, and score the trees of some sizes beside those that each limit chooses."""
    points = tree.fit(fold.train).sparsity_path(fold.train, cv=None)
    path = Path({point.size: point.log_posterior for point in points}, {})
    for size in {path.chosen(limit) for limit in LIMITS} | ({*sizes} & {*points.sizes}):
        path.scores[size] = per_row(tree.cut(size), fold)
    return path


def per_row(model: Any, fold: Fold) -> list[float]:
    """The log-likelihood per row of every part that was held out."""
    return [model.score(test) / test.height for test in fold.tests]


def print_limits(tables: list[Divided], search: str) -> list[Held]:
    """Measure every table, and print every model beside the others."""
    trees = [(tree, limit) for tree in ("profile", "uniform") for limit in LIMITS]
    titles = [*(f"{tree}, {limit}" for tree, limit in trees), *OTHERS, f"profile, {FEW}, less Chow-Liu"]
    print(header("table", "rows", "columns", *titles))
    measured = []
    for table in tables:
        held = held_out(table, search)
        cells = [*(held.at_most(*tree) for tree in trees), *held.others.values(), held.gains]
        print(f"{held.title} | {' | '.join(map(with_error, cells))} |", flush=True)
        measured.append(held)
    return measured


def print_standing(gains: list[list[float]]) -> None:
    """On how many tables few profiles hold against Chow and Liu's tree."""
    not_worse = sum(np.mean(gain) >= -standard_error(gain) for gain in gains)
    better = sum(np.mean(gain) > standard_error(gain) for gain in gains)
    print(f"\nAt most {FEW} profile leaves are at least as good as Chow and Liu's tree, within one standard error of")
    print(f"the difference, on {not_worse} of {len(gains)} tables, and better by more than that on {better}.")


def print_sizes(measured: list[Held]) -> None:
    """The size that each prior chooses, and the one that would have predicted best."""
    print(
        "| table | rows | columns | leaves, paper | held out | leaves, calibrated | held out | best leaves | held out |"
    )
    print("| --- " + "| --: " * 8 + "|")
    for held in measured:
        chosen = [
            f"{held.leaves(tree):.1f} | {with_error(held.at_most(tree, max(LIMITS)))}"
            for tree in ("profile, paper", "profile")
        ]
        size, best = held.best_size("profile")
        print(f"{held.title} | {' | '.join(chosen)} | {size} | {with_error(best)} |")
