"""One restart of the annealing search, with a memory of its own."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsedensity.kernels import moves, regions
from sparsedensity.problem import AnyProblem
from sparsedensity.search.trees.anneal_memory import (
    copy_tree,
    empty_tree,
    limit_of,
    make_space,
    plant,
    single_leaf_score,
)
from sparsedensity.structures import Tree
from sparsedensity.structures.tree import Split
from sparsedensity.table import Codes, Floats

Cooling = Literal["geometric", "linear"]
COOLINGS: tuple[Cooling, ...] = ("geometric", "linear")
ARCHIVED = 300
"""Up to this many leaves the best tree of each size is kept."""
FEW_REGIONS = 1e5
"""A problem with so few regions is explored in dreams as well, and a chain stops when it found nothing for long."""
DREAMS = 5
PATIENCE = 0.25
SHORT_SHARE = 0.25
"""The share of a budget for the short searches at every size together."""
BLOCK = 3e7
"""Work between two looks at the clock: some tens of milliseconds."""
WORK_PER_PROPOSAL = 5e4
"""Far more than a proposal takes: where nothing can be proposed, a budget of proposals ends by this."""
KINDS = ("expand", "shrink", "regroup", "merge", "structure", "exchange", "rebuild")


class Recipe(NamedTuple):
    """How one chain looks: temperatures are shares of the total weight n."""

    annealed: float
    """The share of the budget for annealing from the root; 0 starts from the grown tree."""
    anneal_hot: float
    rebuild_hot: float
    noise: float
    wild: float
    trust: float = 0.9
    slack: float = 0.7
    blind: float = 0.2


class Stored(NamedTuple):
    """A tree apart from the memory of the chain that found it."""

    score: float
    nodes: NDArray[np.int64]
    labels: NDArray[np.int16]

    @classmethod
    def of(cls, grown: moves.Grown) -> Stored:
        """A copy of a tree."""
        used = int(grown.meta[moves.HIGH])
        columns = [moves.FEATURE, moves.FIRST, moves.NEXT]
        return cls(float(grown.gains[0, moves.SCORE]), grown.nodes[:used, columns].copy(), grown.labels[:used].copy())

    def splits(self) -> Iterator[Split]:
        """The splits, parents before children, numbered in that order."""
        order = [0]
        for node in order:
            feature, child, _ = self.nodes[node].tolist()
            if feature < 0:
                yield None
                continue
            branches: list[tuple[list[int], int]] = []
            while child >= 0:
                branches.append((np.flatnonzero(self.labels[node] == len(branches)).tolist(), len(order)))
                order.append(child)
                child = int(self.nodes[child, 2])
            yield feature, branches

    def tree(self, problem: AnyProblem) -> Tree:
        """As a structure."""
        return Tree.of_splits(problem.domain, list(self.splits()))


class Chain:
    """One restart with a memory of its own."""

    def __init__(
        self,
        problem: AnyProblem,
        rows: Codes,
        weights: Floats,
        recipe: Recipe,
        rng: np.random.Generator,
        epsilon: float,
        cooling: Cooling = "geometric",
    ) -> None:
        self.problem, self.recipe, self.rng, self.cooling, self.epsilon = problem, recipe, rng, cooling, epsilon
        self.rows, self.weights = rows, weights
        self.limit = limit_of(problem)
        self.dreams = DREAMS if region_count(problem) <= FEW_REGIONS else 0
        self.n = float(weights.sum())
        self.moves = np.zeros((len(KINDS), 3), np.int64)
        self.kept: dict[int, Stored] = {}
        self.budget, self.spent, self.read, self.spent_at_best = 0.0, 0.0, 0.0, 0.0
        self.moved = 0.0
        self.proposals: int | None = None
        self.reads: int | None = None
        self.start: Tree | None = None
        self.started = self.done = self.wants_more = False
        self.space: regions.Space
        self.trees: tuple[moves.Grown, moves.Grown, moves.Grown]
        self.score = single_leaf_score(problem, weights)
        self.leaves = 1
        self.found = Stored(self.score, np.array([[-1, -1, -1]]), np.zeros((1, 1), np.int16))

    def block(self, share: float) -> None:
        """Some tens of milliseconds of search."""
        if not self.started:
            self._begin()
        end = self.spent + (BLOCK if self.reads is None else 1.0)
        while self.spent < end and not self.done:
            x = max(self._progress(), share)
            self.done = x >= 1.0
            if not self.done:
                self._move(x)
        self._keep()

    def tree(self, problem: AnyProblem) -> Tree:
        """The best tree."""
        return self.found.tree(problem)

    def resume(self, recipe: Recipe, start: Tree) -> None:
        """Go on from another tree by another recipe, with all that was learned."""
        self.recipe, self.spent, self.spent_at_best, self.done = recipe, 0.0, 0.0, False
        self.moved = float(self.moves[:, moves.PROPOSED].sum())
        plant(self.trees[0], single_leaf_score(self.problem, self.weights))
        self._replay(self.trees[0], start.splits())

    def retire(self) -> None:
        """Keep what was found only."""
        if self.started:
            del self.space, self.trees

    def _begin(self) -> None:
        """Memory, and the first tree: given, or grown; annealing from the root needs none."""
        self.started = True
        nodes = 2 * (int(1.3 * self.limit) + 60) + 64
        self.trees = (empty_tree(self.problem, nodes), empty_tree(self.problem, nodes), empty_tree(self.problem, nodes))
        self.space = make_space(self.problem, self.rows, self.weights, nodes)
        for tree in self.trees:
            plant(tree, self.score)
        tree, _, best = self.trees
        if self.start is not None:
            self._replay(tree, self.start.splits())
            self._rebuild(0, 1.0, self.recipe)
        elif self.recipe.annealed == 0.0:
            self._rebuild(1, 1e-9, self.recipe._replace(noise=0.0, wild=0.0, trust=0.0))
        if tree.gains[0, moves.SCORE] > best.gains[0, moves.SCORE]:
            copy_tree(tree, best)

    def _progress(self) -> float:
        """How much of the budget is used: of values read, of proposals, or of work."""
        if self.reads is not None:
            return self.read / self.reads
        if self.proposals is not None:
            proposed = float(self.moves[:, moves.PROPOSED].sum()) - self.moved
            return max(proposed / self.proposals, self.spent / (WORK_PER_PROPOSAL * self.proposals))
        if self.dreams and self.recipe.annealed == 0.0 and self.spent > self.budget * PATIENCE + 4 * self.spent_at_best:
            return 1.0
        return self.spent / self.budget

    def _move(self, x: float) -> None:
        """Some moves at the temperature that belongs to the share x of the budget."""
        annealed = self.recipe.annealed
        if x < annealed:
            self._anneal(1000, self._cooled(self.recipe.anneal_hot, 1e-4, x / annealed))
        else:
            steps = 10 if self.reads is None else 1
            hot = self._cooled(self.recipe.rebuild_hot, 1e-5, (x - annealed) / (1.0 - annealed))
            self._dream(steps * self.dreams)
            self._rebuild(steps, hot, self.recipe)

    def _cooled(self, hot: float, cold: float, x: float) -> float:
        """The temperature after a share x of the budget: from at least 4 nats down to at least 0.1."""
        hot, cold = max(hot * self.n, 4.0), max(cold * self.n, 0.1)
        return hot * (cold / hot) ** x if self.cooling == "geometric" else hot + (cold - hot) * x

    def _anneal(self, steps: int, hot: float) -> None:
        tree, _, best = self.trees
        moves.anneal(self.space, tree, best, self.moves, self._knobs(steps, hot, self.recipe), self.rng)
        self._account()

    def _rebuild(self, steps: int, hot: float, recipe: Recipe) -> None:
        moves.rebuild(self.space, *self.trees, self.moves, self._knobs(steps, hot, recipe), self.rng)
        self._account()

    def _dream(self, trials: int) -> None:
        """Explore regions at the price of a leaf of the current tree."""
        if trials:
            leaves, sizes = int(self.trees[0].meta[moves.LEAVES]), self.space.sizes
            regions.dream(self.space, float(sizes[leaves] - sizes[leaves + 1]), trials, self.rng)

    def _knobs(self, steps: int, hot: float, recipe: Recipe) -> Floats:
        shape = [recipe.noise, recipe.wild, recipe.slack, recipe.trust, recipe.blind]
        return np.array([steps, hot, self.epsilon, self.limit, *shape], np.float64)

    def _account(self) -> None:
        """Take over the counters of the memory; when it is full, begin a new one with the same trees."""
        used = self.space.ints[regions.USED]
        self.spent += float(used[regions.WORK])
        self.read += float(used[regions.READ])
        used[regions.WORK] = used[regions.READ] = 0
        if used[regions.FULL]:
            old = [list(Stored.of(tree).splits()) for tree in self.trees]
            self.space = make_space(self.problem, self.rows, self.weights, len(self.trees[0].nodes))
            for tree, splits in zip(self.trees, old, strict=True):
                plant(tree, single_leaf_score(self.problem, self.weights))
                self._replay(tree, splits)

    def _replay(self, tree: moves.Grown, splits: list[Split]) -> None:
        """Grow a planted tree into a given one."""
        nodes, order = {0: 0}, [0]
        for number in order:
            if (split := splits[number]) is None:
                continue
            feature, branches = split
            order += [child for _, child in branches]
            labels = np.zeros(self.problem.domain.sizes[feature], np.int64)
            for name, (codes, _) in enumerate(branches):
                labels[list(codes)] = name
            node = nodes[number]
            moves.graft(self.space, tree, np.int64(node), np.int64(feature), labels, self.rng)
            names = tree.labels[node]
            children = [int(tree.nodes[node, moves.FIRST])]
            while (after := int(tree.nodes[children[-1], moves.NEXT])) >= 0:
                children.append(after)
            for codes, child in branches:
                nodes[child] = children[int(names[list(codes)].max())]  # -1 at values that cannot occur here

    def _keep(self) -> None:
        """Note the best tree, and the current one if it is the best of its size."""
        tree, _, best = self.trees
        for grown in (best, tree):
            leaves, score = int(grown.meta[moves.LEAVES]), float(grown.gains[0, moves.SCORE])
            if leaves <= min(ARCHIVED, self.limit) and (leaves not in self.kept or score > self.kept[leaves].score):
                self.kept[leaves] = Stored.of(grown)
        if best.gains[0, moves.SCORE] > self.score + 1e-9 or len(self.found.nodes) == 1:
            self.found, self.spent_at_best = Stored.of(best), self.spent
            self.score, self.leaves = self.found.score, int(best.meta[moves.LEAVES])
        self.wants_more = self.leaves >= self.limit and self._would_grow(best)

    def walk_down(self, steps: int) -> dict[int, Stored]:
        """A short search at every size, from that of the first tree down to a single leaf."""
        self._begin()
        tree, _, best = self.trees
        found: dict[int, Stored] = {}
        for size in range(min(int(best.meta[moves.LEAVES]), ARCHIVED), 0, -1):
            self.limit = size
            copy_tree(best, tree)
            best.gains[0, moves.SCORE] = -np.inf
            self._rebuild(steps if self.spent < SHORT_SHARE * self.budget else 0, 0.1, self.recipe)
            if tree.gains[0, moves.SCORE] > best.gains[0, moves.SCORE]:
                copy_tree(tree, best)
            leaves = int(best.meta[moves.LEAVES])
            if leaves not in found or best.gains[0, moves.SCORE] > found[leaves].score:
                found[leaves] = Stored.of(best)
        return found

    def _would_grow(self, tree: moves.Grown) -> bool:
        """Whether one more leaf would pay, as far as the leaves have been looked at."""
        leaves = int(tree.meta[moves.LEAVES])
        held = tree.nodes[tree.nodes[:leaves, moves.LEAF_LIST], moves.REGION]
        held = held[self.space.regions[held, regions.BEST] >= 0]
        price = self.space.sizes[leaves] - self.space.sizes[leaves + 1]
        return bool((self.space.worths[held, regions.BEST_GAIN] > price).any())


def region_count(problem: AnyProblem) -> float:
    """How many regions there are, as if any values could be grouped."""
    return math.prod(2.0 ** min(size, 60) - 1 for size in problem.domain.sizes)
