"""Exact passes: a tree is refined by what all rows say, wherever they are.

One pass counts the weight in every leaf of a tree at every value. So it is known what every region of the tree holds:
what each split gains, and (for even leaf models) what any other division of any region gains. Of all divisions that
are known the best tree is put together, and the next pass counts that one, until nothing new pays. So one pass makes
all splits, prunes, regroupings and exchanges that pay at once, and the score never falls. For other leaf models, the
parts of a new division are counted on a sample; what it gains on all rows is known after the next pass, which keeps it
or not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from sparsedensity.problem import AnyProblem
from sparsedensity.search.base import tie_of
from sparsedensity.search.trees.anneal_memory import limit_of
from sparsedensity.search.trees.assembly import Assembly, BestTrees, Known
from sparsedensity.search.trees.counted_regions import CountedRegions, joined, splits_of
from sparsedensity.search.trees.looks import Looks
from sparsedensity.search.trees.pruning import size_of_best
from sparsedensity.structures import Tree
from sparsedensity.structures.tree import LEAF
from sparsedensity.table import Floats, Table

MOST_PASSES = 20
"""After the candidates; most trees need three to five."""


class CountedTree(NamedTuple):
    """A tree with its log posterior on all rows."""

    tree: Tree
    log_posterior: float


class Passes:
    """Counts candidates, then the best trees that can be made of what they taught, one in every pass."""

    def __init__(self, problem: AnyProblem, sample: Table, candidates: Sequence[Tree]) -> None:
        posterior, domain, n = problem.posterior, problem.domain, problem.engine.n
        self.problem, self.limit = problem, limit_of(problem)
        self.waiting, self.left = list({identity(tree): tree for tree in candidates}.values()), MOST_PASSES
        self.best: CountedTree | None = None
        self.known = Assembly(domain, self.limit + 1)
        self.looks = Looks(problem, sample)
        self.seen: set[tuple[bytes, bytes]] = set()
        used = posterior.by_features(np.arange(len(domain) + 1), len(domain))
        self.by_features: Floats = np.zeros(len(domain) + 1) if used is None else used - used[0]
        self.by_leaves = np.concatenate([[-np.inf], posterior.by_leaves(np.arange(1, self.limit + 2), n)])
        self.one_leaf = problem.score_of_one_leaf()

    @property
    def finished(self) -> bool:
        """Whether nothing is left to count."""
        return not self.waiting

    @property
    def stage(self) -> str:
        """Which pass comes next."""
        return f"pass {len(self.seen) + 1} over all rows"

    def step(self) -> None:
        """Count one tree on all rows; when the candidates are through, the next is the best that can be made."""
        tree = self.waiting.pop(0)
        by_value = self.problem.engine.leaf_value_weights(tree)
        weights = by_value[:, self.problem.domain.span(0)].sum(axis=1)
        score = self.problem.posterior.log_posterior(tree, weights, by_value)
        if self.best is None or score > self.best.log_posterior:
            self.best = CountedTree(tree, score)
        self.seen.add(identity(tree))
        self._learn(tree, by_value)
        if not self.waiting and self.left > 0:
            self.left -= 1
            self.waiting = list(self._next(self.best))

    def trees(self, most: int) -> dict[int, CountedTree]:
        """The best tree of each size up to so many leaves that the counts tell of."""
        best = self._exact_trees()
        sizes = np.flatnonzero(best.sums[: most + 1] > -np.inf).tolist()
        trees = {leaves: best.tree(leaves) for leaves in sizes}
        return {k: CountedTree(tree, self._score(best, k, tree.n_features_used)) for k, tree in trees.items()}

    def one_more_leaf_pays(self) -> bool:
        """Whether the counts tell of a tree one leaf above the limit that is better than the best below."""
        best, beyond = self._exact_trees(), self.limit + 1
        if self.best is None or len(best.sums) <= beyond:
            return False
        score = self._score(best, beyond, best.tree(beyond).n_features_used)
        return score > self.best.log_posterior + tie_of(score)

    def _exact_trees(self) -> BestTrees:
        return self.known.best(np.zeros(len(self.problem.domain)), exact=True)

    def _next(self, counted: CountedTree) -> Iterator[Tree]:
        """The best tree that can be made of what is known, if it is better than the best that was counted."""
        used = counted.tree.n_features_used
        best = self.known.best(self._fees(counted.tree))
        leaves = size_of_best(best.sums, self.by_leaves[: min(self.limit + 1, len(best.sums))])
        if self._score(best, leaves, used) > counted.log_posterior + tie_of(counted.log_posterior):
            tree = best.tree(leaves)
            if identity(tree) not in self.seen:
                yield tree

    def _fees(self, tree: Tree) -> Floats:
        """What a division along each feature costs, if a tree does not use it yet."""
        used, columns = tree.n_features_used, len(self.problem.domain)
        fee = float(self.by_features[used] - self.by_features[min(used + 1, columns)])
        fees = np.full(columns, max(fee, 0.0))
        fees[tree.feature[tree.feature != LEAF]] = 0.0
        return fees

    def _score(self, best: BestTrees, leaves: int, used: int) -> float:
        """The log posterior of the best tree with so many leaves, if it uses so many features."""
        sizes = self.by_leaves[leaves] - self.by_leaves[1]
        return float(self.one_leaf + best.sums[leaves] + sizes + self.by_features[used])

    def _learn(self, tree: Tree, by_value: Floats) -> None:
        """Note what the splits of a counted tree gain, and what others of its regions would."""
        splits = [*splits_of(tree), *splits_of(tree.merged())]
        counted = CountedRegions.of(self.problem, tree, by_value, splits)
        for feature, parts in splits:
            self.known.add(joined(parts), Known(feature, parts, counted.gain(parts)))
        leaves = {bytes(mask) for mask in tree.masks}
        above = {joined(parts) for _, parts in splits if leaves.issuperset(parts)}
        for region in sorted(counted.held if self.problem.posterior.even else leaves | above):
            for division in self.looks.at(region, counted.held[region]):
                self.known.add(region, division)


def identity(tree: Tree) -> tuple[bytes, bytes]:
    """What tells one tree from another."""
    return tree.feature.tobytes(), tree.child.tobytes()
