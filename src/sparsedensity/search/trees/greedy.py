"""Top-down greedy search: the density estimation tree (DET), made valid for categories.

Leaves are split best-first, each on the best division of one feature's values in two: nominal values are sorted by
density and cut (for equal measures no other division is better), ordered ones keep their order. The grown tree is
then pruned exactly: a table over the number of leaves gives, for every size, the best of all its prunings.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sparsedensity.domain import Domain
from sparsedensity.engines.memory import Rows
from sparsedensity.kernels import split as kernels
from sparsedensity.posterior import LeafSparse
from sparsedensity.problem import Problem
from sparsedensity.structures import Structure, Tree, canonical
from sparsedensity.structures.tree import Split
from sparsedensity.table import Floats

Criterion = Literal["posterior", "ise"]
TIE = 1e-9
PATIENCE = 64
LARGEST_ARCHIVE = 300
GROW_BEYOND = 2
"""A tree grows to so many times the limit before it is pruned back: a hard limit to optimise under, no cut-off."""


@dataclass(frozen=True)
class Greedy:
    """Best-first growth under the limits, then pruning."""

    criterion: Criterion = "posterior"
    min_leaf: float = 1.0
    """The least weight of a leaf that is not empty. Empty leaves are always allowed: among categories they say
    where nothing is, which a tree without them cannot say."""
    max_leaf: float | None = None
    """A leaf of at most this weight is not split; ``None`` splits whatever can be."""
    name: str = "greedy"

    def init(self, problem: Problem[LeafSparse], rng: np.random.Generator) -> Growth:
        """One leaf, and the best split of it."""
        domain = problem.domain
        codes = {"posterior": kernels.POSTERIOR, "ise": kernels.ISE}
        scale = kernels.Scale(
            codes[self.criterion], float(problem.posterior.pseudocount), problem.engine.n, domain.log_volume
        )
        growth = Growth(domain, scale, values_of(domain))
        everything = np.ones(int(domain.starts[-1]), bool)
        self._add_leaf(problem, growth, problem.engine.all_rows(), everything, domain.log_volume)
        growth.log_posterior = problem.posterior.log_head(1, problem.engine.n) + growth.leaf_sum
        return growth

    def step(self, problem: Problem[LeafSparse], state: Growth, rng: np.random.Generator) -> Growth:
        """Split the leaf that gains most."""
        gain, number, feature, first = heapq.heappop(state.queue)
        leaf, domain = state.leaves.pop(number), problem.domain
        span = domain.span(feature)
        parts = problem.engine.divide(leaf.rows, feature, 1 - first[span].astype(np.int64), 2)
        measures = domain.measures[span]
        whole = measures[leaf.allowed[span]].sum()
        groups = []
        for part, rows in zip((first[span], leaf.allowed[span] & ~first[span]), parts, strict=True):
            allowed = leaf.allowed.copy()
            allowed[span] = part
            log_volume = leaf.log_volume + math.log(measures[part].sum() / whole)
            groups.append((np.flatnonzero(part).tolist(), len(state.splits)))
            self._add_leaf(problem, state, rows, allowed, log_volume)
        state.splits[number] = (feature, groups)
        state.moves += 1
        state.leaf_sum -= gain
        score = problem.posterior.log_head(len(state.leaves), problem.engine.n) + state.leaf_sum
        state.idle = 0 if self.criterion == "ise" or score > state.log_posterior + TIE else state.idle + 1
        state.log_posterior = max(state.log_posterior, score)
        state.finished = self._is_done(problem, state)
        return state

    def best(self, problem: Problem[LeafSparse], state: Growth) -> Tree:
        """The best pruning of what has grown, as its canonical tree."""
        return canonical(self._prune(problem, state, problem.max_leaves))

    def archive(self, problem: Problem[LeafSparse], state: Growth) -> dict[int, Structure]:
        """The best pruning with each number of leaves."""
        most = min(len(state.leaves), problem.max_leaves or len(state.leaves), LARGEST_ARCHIVE)
        worths = leave_one_out(state) if self.criterion == "ise" else np.array(state.scores)
        tables = best_sums(state, worths)
        return {k: pruned(state, tables, k) for k in range(1, most + 1)}

    def limited(self, problem: Problem[LeafSparse], state: Growth, best: Structure) -> bool:
        """Whether the limit was reached and one more leaf would have paid."""
        if problem.max_leaves is None or best.n_leaves < problem.max_leaves:
            return False
        return self._prune(problem, state, None).n_leaves > problem.max_leaves

    def _prune(self, problem: Problem[LeafSparse], state: Growth, most: int | None) -> Tree:
        """The best pruning of what has grown with at most so many leaves."""
        leaves = min(len(state.leaves), most or len(state.leaves))
        if self.criterion == "ise":
            return prune(state, leave_one_out(state), np.zeros(leaves + 1))
        return prune(state, np.array(state.scores), np.array([-np.inf, *self._heads(problem, leaves)]))

    def _heads(self, problem: Problem[LeafSparse], leaves: int) -> list[float]:
        return [problem.posterior.log_head(k, problem.engine.n) for k in range(1, leaves + 1)]

    def _is_done(self, problem: Problem[LeafSparse], state: Growth) -> bool:
        """Nothing left to split, well beyond the limit, or (without a limit) long without any gain."""
        leaves = len(state.leaves)
        if not state.queue:
            return True
        if problem.max_leaves is not None:
            return leaves >= GROW_BEYOND * problem.max_leaves
        return state.idle > max(PATIENCE, leaves // 2)

    def _add_leaf(
        self,
        problem: Problem[LeafSparse],
        state: Growth,
        rows: Rows,
        allowed: NDArray[np.bool_],
        log_volume: float,
    ) -> None:
        """Count a new leaf and queue its best split."""
        number = len(state.splits)
        weights = problem.engine.value_weights(rows)
        weight = float(weights[problem.domain.span(0)].sum())
        score = kernels.leaf_score(weight, log_volume, state.scale)
        if number == 0:
            state.leaf_sum = score
        state.splits.append(None)
        state.scores.append(score)
        state.weights.append(weight)
        state.log_volumes.append(log_volume)
        state.leaves[number] = OpenLeaf(rows, allowed, log_volume)
        if weight > (self.max_leaf or 0.0):
            first = np.zeros_like(allowed)
            gain, feature = kernels.best_split(
                weights, allowed, state.values, log_volume, state.scale, float(self.min_leaf), first
            )
            if feature >= 0:
                heapq.heappush(state.queue, (-gain, number, int(feature), first))
        state.finished = self._is_done(problem, state)


@dataclass
class OpenLeaf:
    """A leaf that may still be split."""

    rows: Rows
    allowed: NDArray[np.bool_]
    log_volume: float


@dataclass
class Growth:
    """A tree as it grows. The lists have one entry a node."""

    domain: Domain
    scale: kernels.Scale
    values: kernels.Values
    splits: list[Split] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    log_volumes: list[float] = field(default_factory=list)
    leaves: dict[int, OpenLeaf] = field(default_factory=dict)
    queue: list[tuple[float, int, int, NDArray[np.bool_]]] = field(default_factory=list)
    leaf_sum: float = 0.0
    log_posterior: float = -math.inf
    moves: int = 0
    idle: int = 0
    """How many splits in a row did not pay."""
    finished: bool = False


def values_of(domain: Domain) -> kernels.Values:
    """The values of a domain as the kernels read them."""
    missing = [-1 if feature.missing is None else feature.missing for feature in domain]
    ordered = [feature.ordered for feature in domain]
    return kernels.Values(domain.starts, domain.measures, np.array(ordered), np.array(missing, np.int64))


def leave_one_out(state: Growth) -> Floats:
    """What each node as a leaf takes off the leave-one-out estimate of the integrated squared error.

    For a piecewise constant density the estimate adds up over leaves:
    n_l^2 / (n^2 V_l) - 2 n_l (n_l - 1) / (n (n - 1) V_l). So DET's cross-validated choice needs no refits.
    """
    n, held = state.scale.n, np.array(state.weights)
    volumes = np.exp(np.array(state.log_volumes) - state.scale.log_whole)
    others = held * np.maximum(held - 1, 0) / (n * max(n - 1, 1.0))
    worths: Floats = (2 * others - (held / n) ** 2) / volumes
    return worths


def prune(state: Growth, worths: Floats, heads: Floats) -> Tree:
    """The best pruning: the sum of its leaves' worths plus the head for their number is largest."""
    tables = best_sums(state, worths)
    totals = tables[0][: len(heads)] + heads
    return pruned(state, tables, int(np.flatnonzero(totals >= totals[1:].max() - TIE)[0]))


def pruned(state: Growth, tables: list[Floats], leaves: int) -> Tree:
    """The best pruning with so many leaves."""
    splits: list[Split] = [None]
    stack = [(0, 0, leaves)]
    while stack:
        old, new, k = stack.pop()
        split = state.splits[old]
        if k == 1 or split is None:
            continue
        feature, [(first, left), (second, right)] = split
        share = _share(tables[left], tables[right], k)
        splits[new] = (feature, [(first, len(splits)), (second, len(splits) + 1)])
        stack += [(left, len(splits), share), (right, len(splits) + 1, k - share)]
        splits += [None, None]
    return Tree.of_splits(state.domain, splits)


def best_sums(state: Growth, worths: Floats) -> list[Floats]:
    """For every node and every number of leaves k, the largest sum of worths of a pruning with k leaves below it."""
    tables: list[Floats] = [np.array([-np.inf, worth]) for worth in worths]
    for node in range(len(state.splits) - 1, -1, -1):
        split = state.splits[node]
        if split is None:
            continue
        left, right = (tables[child] for _, child in split[1])
        table = np.full(len(left) + len(right) - 1, -np.inf)
        short, long = sorted((left, right), key=len)
        for k in range(1, len(short)):
            table[k : k + len(long)] = np.maximum(table[k : k + len(long)], short[k] + long)
        table[1] = worths[node]
        tables[node] = table
    return tables


def _share(left: Floats, right: Floats, k: int) -> int:
    """How many of k leaves the left child gets in the best pruning."""
    low, high = max(1, k - len(right) + 1), min(len(left) - 1, k - 1)
    sums = left[low : high + 1] + right[k - high : k - low + 1][::-1]
    return low + int(np.argmax(sums))
