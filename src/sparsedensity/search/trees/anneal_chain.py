"""One restart of the annealing search."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsedensity.engines import MemoryEngine
from sparsedensity.kernels import anneal_moves as moves
from sparsedensity.kernels import anneal_regions as regions
from sparsedensity.kernels import anneal_trees as trees
from sparsedensity.kernels import anneal_work
from sparsedensity.problem import AnyProblem, Problem
from sparsedensity.search.base import tie_of
from sparsedensity.search.trees.anneal_memory import (
    Shared,
    copy_tree,
    limit_of,
    plant,
    planted_tree,
    room_for,
    written,
)
from sparsedensity.search.trees.anneal_pool import Splits
from sparsedensity.structures import Tree
from sparsedensity.structures.tree import Split
from sparsedensity.table import Table

Cooling = Literal["geometric", "linear"]
COOLINGS: tuple[Cooling, ...] = ("geometric", "linear")
ARCHIVED = 300
"""Up to this many leaves the best tree of each size is kept."""
FEW_REGIONS = 1e5
"""A problem with so few regions is explored without a tree as well; a chain stops when it found nothing for long."""
EXPLORED = 5
"""How many walks through regions go with every move then,"""
DEEPEST = 16
"""and how many divisions each goes down at most."""
MANY_COLUMNS = 1000
"""With more columns a single rebuilding takes long enough to look at the budget after each."""
STEPS = 40
"""Moves between two looks at the temperature."""
PATIENCE = 0.25
SHORT_SHARE = 0.5
"""The share of a budget for the short searches at every size together."""
BLOCK = 3e7
"""Work between two looks at the clock: some tens of milliseconds."""
WORK_PER_PROPOSAL = 5e4
"""Far more than a proposal takes: where nothing can be proposed, a budget of proposals ends by this."""
KINDS = ("grow", "raise", "lift", "change", "insert")
HOT, COOLEST, COLD = 0.3, 0.002, 1e-9
"""The first and the last temperature, as shares of the price of a leaf; and one, in nats, at which nothing worse is
kept."""
WALKS = regions.Walks(trials=1, blind=0.5, shake=1.0, studies=4)
SETTINGS = moves.Settings(
    steps=1,
    most_work=100_000_000,
    hot=1.0,
    limit=1,
    noise=0.5,
    wild=0.25,
    strange=0.5,
    hasty=False,
    slack=0.7,
    trust=0.9,
    trusting=0.5,
    drawn=0.7,
    blind=0.2,
    at_leaf=0.25,
    upward=0.3,
    outward=0.7,
    taught=300,
    shares=(0.15, 0.15, 0.15, 0.15),
)
SETTINGS_OF_PROFILES = SETTINGS._replace(upward=0.0, hasty=True, shares=(0.05, 0.35, 0.1, 0.1))
"""To count parts takes longest, which large subtrees need most, and splits that are lifted least."""
JOB = anneal_work.Job(False, -1, 0.0, WALKS._replace(trials=0), SETTINGS)


class Stored(NamedTuple):
    """A tree apart from the memory of the chain that found it."""

    score: float
    nodes: NDArray[np.int64]
    """The feature, the first child and the next sibling of every node."""
    labels: NDArray[np.int16]

    @classmethod
    def of(cls, grown: trees.Growing) -> Stored:
        """A copy of a tree."""
        used = int(grown.state["high"][0])
        nodes = np.stack([grown.nodes[name][:used] for name in ("feature", "first", "next")], axis=1)
        return cls(float(grown.state["score"][0]), nodes, grown.labels[:used].copy())

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


class AnnealChain:
    """One restart, which knows what it saw itself; others may count the same regions."""

    def __init__(
        self,
        problem: AnyProblem,
        table: Table,
        rng: np.random.Generator,
        cooling: Cooling = "geometric",
        shared: Shared | None = None,
    ) -> None:
        self.problem = Problem(MemoryEngine(table), problem.posterior, problem.max_leaves)
        self.shared = Shared(self.problem, table) if shared is None else shared
        self.table, self.rng, self.cooling = table, rng, cooling
        self.settings = SETTINGS if problem.posterior.even else SETTINGS_OF_PROFILES
        self.limit = limit_of(problem)
        self.walks = EXPLORED if region_count(problem) <= FEW_REGIONS else 0
        self.moves = np.zeros(len(KINDS), moves.KIND)
        self.kept: dict[int, Stored] = {}
        self.budget, self.share, self.spent, self.spent_at_best = 0.0, 1.0, 0.0, 0.0
        self.hot, self.moved, self.number = HOT, 0, 0
        self.forgotten: list[Splits] = []
        self.proposals: int | None = None
        self.start: Tree | None = None
        self.started = self.done = self.retired = self.wanted_more = False
        self.memory: regions.Memory
        self.trees: tuple[trees.Growing, trees.Growing, trees.Growing]
        self.one_leaf = self.score = self.problem.score(Tree.leaf(table.domain))
        self.leaves = 1
        self.found = Stored(self.score, np.array([[-1, -1, -1]]), np.zeros((1, 1), np.int16))

    def block(self, share: float) -> None:
        """Some tens of milliseconds of search."""
        if not self.started:
            self.begin()
        elif not self.shared.is_of(self.memory):
            self._rejoin()
        end = self.spent + BLOCK
        while self.spent < end and not self.done:
            x = max(self._progress(), share)
            self.done = x >= 1.0
            if not self.done:
                self._move(x)
        self._keep()

    def tree(self, problem: AnyProblem) -> Tree:
        """The best tree."""
        return self.found.tree(problem)

    def resume(self, start: Tree) -> None:
        """Go on from another tree."""
        self.spent, self.spent_at_best, self.done, self.moved = 0.0, 0.0, False, self.proposed
        if not self.shared.is_of(self.memory):
            self._rejoin()
        if self.memory.used["regions"][0] + start.n_nodes > len(self.memory.regions):
            self._begin_anew()
        plant(self.trees[0], self.one_leaf)
        self._begin_with(start)
        self._keep()

    def known_splits(self) -> Splits:
        """The splits that the chain remembers, or did before its memory was full."""
        known = Splits.together([*self.forgotten, Splits.known(self.memory, self.number)])
        self.forgotten = []
        return known

    def retire(self) -> None:
        """Keep what was found only."""
        self.wanted_more, self.retired = self.wants_more, True
        self.forgotten = []
        if self.started:
            del self.memory, self.trees, self.shared

    def recount(self, searched: AnyProblem) -> None:
        """Keep the best tree only, with its log posterior on other rows."""
        self.kept = {}
        self.score = searched.score(self.tree(searched))
        self.found = self.found._replace(score=self.score)

    @property
    def wants_more(self) -> bool:
        """Whether one more leaf than the limit allows would pay, even with a new feature."""
        if self.retired or not self.started:
            return self.wanted_more
        return self.leaves >= self.limit and self._would_grow(self.trees[2])

    def begin(self) -> None:
        """Memory, and the first tree: given, or grown."""
        self.started = True
        nodes = room_for(self.limit)
        one, two, three = (planted_tree(self.problem, nodes, self.one_leaf) for _ in range(3))
        self.trees = one, two, three
        self.memory = self.shared.of_one()
        self.path = np.zeros((DEEPEST, self.memory.allowed.shape[1] + 2), np.int64)
        if self.start is not None:
            self._begin_with(self.start)
        else:
            self._rebuild(1, COLD, trust=0.0)
            self._remember()
        self._keep()

    def _begin_with(self, start: Tree) -> None:
        """Grow the planted tree into a given one, down to the limit."""
        self._grow(self.trees[0], written(start))
        self._rebuild(0, 1.0)
        self._remember()

    def _remember(self) -> None:
        """Take the tree as the best one if it is."""
        tree, _, best = self.trees
        if score_of(tree) > score_of(best):
            copy_tree(tree, best)

    def _progress(self) -> float:
        """How much of its share of the budget is used: of proposals, or of work."""
        if self.proposals is not None:
            proposals = self.share * self.proposals
            return max((self.proposed - self.moved) / proposals, self.spent / (WORK_PER_PROPOSAL * proposals))
        if self.walks and self.spent > self.budget * PATIENCE + 4 * self.spent_at_best:
            return 1.0
        return self.spent / (self.share * self.budget)

    def _move(self, x: float) -> None:
        """Some moves at the temperature that belongs to the share x of the budget."""
        steps = STEPS if len(self.problem.domain) <= MANY_COLUMNS else 1
        self._explore(steps * self.walks)
        self._rebuild(steps, self._cooled(x))

    def _cooled(self, x: float) -> float:
        """The temperature after a share x of the budget, by what a leaf is worth: from 2 nats at least to 0.1."""
        best = self.trees[2]
        price = max(weakest_of(best), self.price_of(leaves_of(best)))
        hot, cold = max(self.hot * price, 2.0), max(COOLEST * price, 0.1)
        return hot * (cold / hot) ** x if self.cooling == "geometric" else hot + (cold - hot) * x

    @property
    def proposed(self) -> int:
        """How many moves were proposed."""
        return int(self.moves["proposed"].sum())

    def _rebuild(self, steps: int, hot: float, trust: float | None = None) -> None:
        settings = self.settings._replace(steps=steps, hot=float(hot), limit=self.limit)
        if trust is not None:
            settings = settings._replace(trust=trust)
        self._work(self.trees[0], JOB._replace(settings=settings))
        self._account()

    def _explore(self, trials: int) -> None:
        """Explore regions at the price of a leaf of the current tree."""
        if trials:
            price = self.price_of(leaves_of(self.trees[0]))
            self._work(self.trees[0], JOB._replace(price=price, walks=WALKS._replace(trials=trials)))

    def _grow(self, tree: trees.Growing, like: trees.Growing) -> None:
        """Grow a planted tree into one that is like another."""
        self._work(tree, JOB._replace(like=True), like)

    def _work(self, tree: trees.Growing, job: anneal_work.Job, spare: trees.Growing | None = None) -> None:
        _, usual, best = self.trees
        anneal_work.work(self.memory, tree, spare or usual, best, self.moves, job, self.path, self.rng)

    def price_of(self, leaves: int) -> float:
        """What one more leaf must gain."""
        by_leaves = self.memory.belief.by_leaves
        return float(by_leaves[leaves] - by_leaves[leaves + 1])

    def _account(self) -> None:
        """Take over the counters of the memory; when it is full, begin a new one."""
        used = self.memory.used
        self.spent += float(used["work"][0])
        used["work"] = 0
        if used["full"][0]:
            self._begin_anew()

    def _begin_anew(self) -> None:
        """Count regions anew, all that share them, and go on with the same trees."""
        if self.shared.is_of(self.memory):
            self.shared.renew()
        self._rejoin()

    def _rejoin(self) -> None:
        """Count regions with the others again; what was known of the old ones is kept for all."""
        self.forgotten.append(Splits.known(self.memory, self.number))
        self.memory = self.shared.of_one()
        tree, _, best = self.trees
        for grown in (tree, best):
            like = trees.Growing(*(part.copy() for part in grown))
            plant(grown, self.one_leaf)
            self._grow(grown, like)

    def _keep(self) -> None:
        """Note the best tree, and the current one if it is the best of its size."""
        tree, _, best = self.trees
        for grown in (best, tree):
            leaves, score = leaves_of(grown), score_of(grown)
            if leaves <= min(ARCHIVED, self.limit) and (leaves not in self.kept or score > self.kept[leaves].score):
                self.kept[leaves] = Stored.of(grown)
        if score_of(best) > self.score + 1e-9 or len(self.found.nodes) == 1:
            self.found, self.spent_at_best = Stored.of(best), self.spent
            self.score, self.leaves = self.found.score, leaves_of(best)

    def walk_down(self, steps: int) -> dict[int, Stored]:
        """A short search at every size, from that of the first tree down to a single leaf."""
        self.begin()
        tree, _, best = self.trees
        found: dict[int, Stored] = {}
        for size in range(min(leaves_of(best), ARCHIVED), 0, -1):
            self.limit = size
            copy_tree(best, tree)
            best.state["score"] = -np.inf
            enough = self.spent >= SHORT_SHARE * self.budget
            self._rebuild(0 if enough else steps, 0.1)
            self._remember()
            leaves = leaves_of(best)
            if leaves not in found or score_of(best) > found[leaves].score:
                found[leaves] = Stored.of(best)
        return found

    def _would_grow(self, tree: trees.Growing) -> bool:
        """Whether one of the leaves has a split that pays; those that might are looked at."""
        by_features, used = self.memory.belief.by_features, int((tree.uses > 0).sum())
        feature = np.max(by_features[used : used + 1] - by_features[used + 1 : used + 2], initial=0.0)
        least = self.price_of(leaves_of(tree)) + feature + tie_of(self.score)
        for leaf in tree.nodes["leaf_at"][: leaves_of(tree)].tolist():
            region = self.memory.regions[tree.nodes["region"][leaf]]
            if region["best"] < 0 and region["best_gain"] > least:
                self._work(tree, JOB._replace(node=leaf))
            if region["best_gain"] > least:
                return True
        return False


def leaves_of(tree: trees.Growing) -> int:
    """How many leaves a tree has."""
    return int(tree.state["leaves"][0])


def score_of(tree: trees.Growing) -> float:
    """The log posterior of a tree."""
    return float(tree.state["score"][0])


def weakest_of(tree: trees.Growing) -> float:
    """What the subtree that gains least per leaf gains per leaf."""
    inner = tree.nodes[tree.nodes["inner_at"][: int(tree.state["inner"][0])]]
    return float(np.min(inner["worth"] / (inner["below"] - 1), initial=np.inf)) if len(inner) else 0.0


def region_count(problem: AnyProblem) -> float:
    """How many regions there are, as if any values could be grouped."""
    return math.prod(2.0 ** min(size, 60) - 1 for size in problem.domain.sizes)
