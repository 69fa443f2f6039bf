"""Top-down greedy search: the density estimation tree (DET), made valid for categories.

Leaves are split best-first, each on the best division of one feature's values in two: nominal values are sorted by
density and cut (for equal measures no other division is better), ordered ones keep their order. The grown tree is
then pruned exactly: a table over the number of leaves gives, for every size, the best of all its prunings. A table of
very many rows is grown on a sample of them; what its leaves hold is then counted on all rows, and that decides how it
is pruned.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sparsedensity.domain import Domain
from sparsedensity.engines import Engine, RememberingEngine, Searched
from sparsedensity.kernels import belief as beliefs
from sparsedensity.kernels import count, divisions
from sparsedensity.kernels.row_bits import Rows
from sparsedensity.posterior.trees import TreePosterior, belief_of, prepared_terms, space_of
from sparsedensity.problem import AnyProblem
from sparsedensity.search.base import Best, tie_of
from sparsedensity.search.bounds import may_bind
from sparsedensity.search.trees.anneal_memory import make_desk, rows_within
from sparsedensity.search.trees.counted_regions import CountedRegions, regions_of, splits_of
from sparsedensity.search.trees.pruning import SAME, best_sums, pruned, size_of_best
from sparsedensity.search.trees.screening import telling_features
from sparsedensity.structures import Tree, canonical
from sparsedensity.structures.tree import Split
from sparsedensity.table import Floats, Table

Criterion = Literal["posterior", "ise"]
PATIENCE = 64
LARGEST_ARCHIVE = 300
GROW_BEYOND = 2
"""A tree grows to so many times the limit before it is pruned back: a hard limit to optimise under, no cut-off."""
MOST_ROWS = 200_000
"""What an engine is asked to draw if it cannot bring all distinct rows home."""
MOST_PAIRS = 5e8
"""A table with more pairs of values to count before the first split is grown on a sample."""
MOST_WORK = 2e8
"""Values that are looked at in one step, some tenths of a second."""


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

    def init(self, problem: AnyProblem, rng: np.random.Generator) -> Growth:
        """One leaf."""
        most = rows_within(problem, MOST_PAIRS)
        table, sampled = Searched.of(problem.engine, min(MOST_ROWS, most), rng, most)
        growth = Growth.on(problem, table.on_grid(), sampled)
        rows = np.arange(len(growth.table), dtype=np.uint32)
        everything = np.ones(int(problem.domain.starts[-1]), np.uint8)
        self._add_leaf(growth, OpenLeaf(rows, everything, problem.domain.log_volume))
        growth.log_posterior, growth.finished = growth.score(0.0), not growth.unseen
        return growth

    def step(self, problem: AnyProblem, state: Growth, rng: np.random.Generator) -> Growth:
        """Split the leaf that gains most, and look for the best splits of its parts."""
        if not state.unseen:
            self._split_best(problem, state)
        work = 0.0
        while state.unseen and work < MOST_WORK:
            work += self._look(state, work)
        state.finished = not state.unseen and self._is_done(problem, state)
        return state

    def _split_best(self, problem: AnyProblem, state: Growth) -> None:
        gain, number, feature, first = heapq.heappop(state.queue)
        leaf, span = state.leaves.pop(number), problem.domain.span(feature)
        groups = []
        for part in leaf.divided(state.table, feature, first):
            groups.append((np.flatnonzero(part.allowed[span]).tolist(), len(state.splits)))
            self._add_leaf(state, part)
        state.splits[number] = (feature, groups)
        state.gains[number] = -gain
        state.moves += 1
        state.gained -= gain
        score = state.score(state.gained)
        state.idle = 0 if self.criterion == "ise" or score > state.log_posterior + SAME else state.idle + 1
        state.log_posterior = max(state.log_posterior, score)

    def best(self, problem: AnyProblem, state: Growth) -> Best:
        """The best pruning of what has grown, and that with each number of leaves."""
        if state.sampled is not None:
            problem = replace(problem, engine=state.recount(problem))
        gains = leave_one_out(state) if self.criterion == "ise" else np.array(state.gains)
        sums = best_sums(state.splits, gains)
        grown = len(state.leaves)
        limit = min(grown, problem.max_leaves or grown)
        archive = {k: pruned(state.domain, state.splits, sums, k) for k in range(1, min(limit, LARGEST_ARCHIVE) + 1)}
        best = size_of_best(sums[0], self._by_leaves(problem, limit))
        tree = archive[best] if best in archive else pruned(state.domain, state.splits, sums, best)
        totals = sums[0] + self._by_leaves(problem, grown)
        if self.criterion == "ise":
            binds = bool(totals[limit + 1 :].max(initial=-np.inf) > totals[best] + tie_of(totals[best]))
            return Best(canonical(tree), archive, limit_binds=binds or may_bind(problem), sampled=state.sampled)
        only_leaves = problem.posterior.only_leaves
        drawing = canonical(tree) if only_leaves else self._best_drawing(problem, [tree, *archive.values()])
        binds = False
        if grown > limit:
            larger = pruned(state.domain, state.splits, sums, limit + 1 + int(totals[limit + 1 :].argmax()))
            score = problem.score(drawing)
            binds = problem.score(larger) > score + tie_of(score)
        scores = self._scores(problem, state, totals, archive)
        return Best(drawing, archive, scores, binds or may_bind(problem), sampled=state.sampled)

    def _scores(self, problem: AnyProblem, state: Growth, totals: Floats, archive: dict[int, Tree]) -> dict[int, float]:
        """The log posterior of every pruning, from what splits and leaves add."""
        columns = len(state.domain)
        used = problem.posterior.by_features(np.arange(columns + 1), columns)
        features = np.zeros(columns + 1) if used is None else used - used[0]
        scores = totals + (state.one_leaf - totals[1])
        return {k: float(scores[k] + features[tree.n_features_used]) for k, tree in archive.items()}

    def _best_drawing(self, problem: AnyProblem, trees: list[Tree]) -> Tree:
        """Splits in two are one drawing; chains of them on one feature may be better as one split, or fewer leaves."""
        few = [tree for tree in trees if tree is trees[0] or tree.n_leaves.bit_count() == 1]
        return max([drawing for tree in few for drawing in (tree, tree.merged())], key=problem.score)

    def _by_leaves(self, problem: AnyProblem, most: int) -> Floats:
        """What each number of leaves adds; nothing where the integrated squared error decides."""
        if self.criterion == "ise":
            return np.zeros(most + 1)
        return np.concatenate([[-np.inf], problem.posterior.by_leaves(np.arange(1, most + 1), problem.engine.n)])

    def _is_done(self, problem: AnyProblem, state: Growth) -> bool:
        """Nothing left to split, well beyond the limit, or (without a limit) long without any gain."""
        leaves = len(state.leaves)
        if not state.queue:
            return True
        if problem.max_leaves is not None:
            return leaves >= GROW_BEYOND * problem.max_leaves
        return state.idle > max(PATIENCE, leaves // 2)

    def _add_leaf(self, state: Growth, leaf: OpenLeaf) -> None:
        """Count a new leaf; its best split is not known yet."""
        number = len(state.splits)
        region = state.count(leaf)
        state.splits.append(None)
        state.gains.append(0.0)
        state.weights.append(region.weight)
        state.log_volumes.append(leaf.log_volume)
        state.leaves[number] = leaf
        if region.weight > (self.max_leaf or 0.0):
            first, features = np.zeros(len(leaf.allowed), bool), state.features_of(leaf)
            state.unseen.append(Unseen(number, self._belief(state, leaf), region, features, first))

    def _look(self, state: Growth, done: float) -> float:
        """Look for the best split of the last leaf that has not been seen, as far as there is time: the work done."""
        leaf = state.unseen[-1]
        columns = len(leaf.features)
        by_feature = state.work_per_feature(leaf.region)
        end = min(columns, leaf.seen + max(1, int((MOST_WORK - done) / by_feature)))
        look = divisions.Look(leaf.features[leaf.seen : end], leaf.gain, float(self.min_leaf))
        leaf.gain, feature = divisions.best_split(
            leaf.belief, state.space, state.desk, leaf.region, look, leaf.first, state.rng
        )
        leaf.feature = int(feature) if feature >= 0 else leaf.feature
        if end == columns:
            state.unseen.pop()
            if leaf.feature >= 0:
                heapq.heappush(state.queue, (-leaf.gain, leaf.number, leaf.feature, leaf.first))
        seen, leaf.seen = leaf.seen, end
        return (end - seen) * by_feature

    def _belief(self, state: Growth, leaf: OpenLeaf) -> beliefs.Belief:
        """What splits of a leaf are scored by."""
        if self.criterion == "posterior":
            return state.belief
        scale = math.exp(state.domain.log_volume - leaf.log_volume) / state.n**2
        return state.belief._replace(leaf=beliefs.SquaredError(scale))


@dataclass
class OpenLeaf:
    """A leaf that may still be split."""

    rows: NDArray[np.uint32]
    allowed: NDArray[np.uint8]
    log_volume: float

    def divided(self, table: Table, feature: int, first: NDArray[np.bool_]) -> list[OpenLeaf]:
        """The leaf's two parts: what `first` marks among the values of a feature, and the others."""
        span, measures = table.domain.span(feature), table.domain.measures
        codes, whole = table.codes[self.rows, feature], measures[span] @ self.allowed[span]
        parts = []
        for inside in (first[span], ~first[span]):
            allowed = self.allowed.copy()
            allowed[span] *= inside
            rows = self.rows[inside[codes]]
            parts.append(OpenLeaf(rows, allowed, self.log_volume + math.log(measures[span] @ allowed[span] / whole)))
        return parts


@dataclass
class Unseen:
    """A leaf whose best split is being looked for."""

    number: int
    belief: beliefs.Belief
    region: divisions.CountedRegion
    features: NDArray[np.int64]
    """The features it may be divided by."""
    first: NDArray[np.bool_]
    """The values of the first part of the best split so far."""
    gain: float = beliefs.NOTHING
    feature: int = -1
    seen: int = 0
    """How many of them have been looked at."""


@dataclass
class Growth:
    """A tree as it grows. The lists have one entry per node."""

    domain: Domain
    posterior: TreePosterior
    table: Table
    belief: beliefs.Belief
    space: beliefs.Space
    desk: divisions.Desk
    n: float
    one_leaf: float
    """The log posterior of a single leaf."""
    engine: Engine
    """Where all rows are, beside those that the tree is grown on."""
    sampled: int | None
    """How many rows were drawn to grow the tree on, if not all."""
    rng: np.random.Generator
    splits: list[Split] = field(default_factory=list)
    gains: list[float] = field(default_factory=list)
    """What each split adds to the log posterior beside its number of leaves; 0 for leaves."""
    weights: list[float] = field(default_factory=list)
    log_volumes: list[float] = field(default_factory=list)
    leaves: dict[int, OpenLeaf] = field(default_factory=dict)
    unseen: list[Unseen] = field(default_factory=list)
    queue: list[tuple[float, int, int, NDArray[np.bool_]]] = field(default_factory=list)
    gained: float = 0.0
    log_posterior: float = -math.inf
    moves: int = 0
    idle: int = 0
    """How many splits in a row did not pay."""
    finished: bool = False

    @classmethod
    def on(cls, problem: AnyProblem, table: Table, sampled: int | None) -> Growth:
        """No tree yet."""
        domain, n = problem.domain, problem.engine.n
        even = beliefs.is_even(problem.posterior.leaf)
        desk = make_desk(int(domain.starts[-1]), max(domain.sizes), even)
        belief = belief_of(problem.posterior, domain, n, 1, 2)
        one_leaf, rng, engine = problem.score_of_one_leaf(), np.random.default_rng(0), problem.engine
        space = space_of(domain)
        return cls(domain, problem.posterior, table, belief, space, desk, n, one_leaf, engine, sampled, rng)

    @property
    def stage(self) -> str:
        """The pass over all rows that comes next, if one does."""
        return "pass 1 over all rows" if self.sampled is not None and self.finished else ""

    @cached_property
    def shares(self) -> Floats:
        """The share of every value in the whole table."""
        return self.engine.value_weights() / self.n

    def score(self, gained: float) -> float:
        """The log posterior of the tree as it is, after splits that gained so much."""
        numbers = np.array([max(len(self.leaves), 1), 1])
        now, one = self.posterior.by_leaves(numbers, self.n).tolist()
        return float(self.one_leaf + gained + now - one)

    def count(self, leaf: OpenLeaf) -> divisions.CountedRegion:
        """A leaf as divisions read it."""
        codes, weights, counts = self.table.codes, self.table.weights, np.zeros(len(leaf.allowed))
        count.value_weights(codes, weights, leaf.rows, self.domain.starts, counts)
        weight = float(counts[self.domain.span(0)].sum())
        if beliefs.is_even(self.posterior.leaf):
            return divisions.CountedRegion(leaf.allowed, counts, weight, 0.0, None)
        (term,) = prepared_terms(self.belief.leaf, self.space, counts[None], leaf.allowed[None])
        rows = Rows(self.table.columns, *self.table.units, self.table.uncommon, leaf.rows, len(self.splits))
        return divisions.CountedRegion(leaf.allowed, counts, weight, float(term), rows)

    def recount(self, problem: AnyProblem) -> RememberingEngine:
        """Take the weights and gains from all rows, in one pass, and remember what was counted."""
        tree = Tree.of_splits(self.domain, self.splits)
        by_value, regions = problem.engine.leaf_value_weights(tree), regions_of(tree)
        counted = CountedRegions.of(problem, tree, by_value, splits_of(tree))
        self.weights = [counted.weights[region] for region in regions]
        for node, split in enumerate(self.splits):
            if split is not None:
                self.gains[node] = counted.gain([regions[child] for _, child in split[1]])
        return RememberingEngine(problem.engine, counted.held)

    def features_of(self, leaf: OpenLeaf) -> NDArray[np.int64]:
        """The features to divide a leaf by: all, unless every child is counted and they are very many."""
        if beliefs.is_even(self.posterior.leaf):
            return np.arange(len(self.domain))
        return telling_features(self.table, leaf.rows, leaf.allowed, self.shares)

    def work_per_feature(self, region: divisions.CountedRegion) -> float:
        """About how many values are looked at to find the best division of a region along one feature."""
        if region.rows is None:
            return max(self.domain.sizes)
        return float(len(region.rows.which) * len(self.domain) + 8 * self.desk.parts.pairs.size)


def leave_one_out(state: Growth) -> Floats:
    """What each split adds to the leave-one-out estimate of the integrated squared error, with its sign changed.

    For a piecewise constant density the estimate adds up over leaves:
    n_l^2 / (n^2 V_l) - 2 n_l (n_l - 1) / (n (n - 1) V_l). So DET's cross-validated choice needs no refits.
    """
    n, held = state.n, np.array(state.weights)
    volumes = np.exp(np.array(state.log_volumes) - state.domain.log_volume)
    others = held * np.maximum(held - 1, 0) / (n * max(n - 1, 1.0))
    worths: Floats = (2 * others - (held / n) ** 2) / volumes
    gains = np.zeros(len(worths))
    for node, split in enumerate(state.splits):
        if split is not None:
            gains[node] = sum(worths[child] for _, child in split[1]) - worths[node]
    return gains
