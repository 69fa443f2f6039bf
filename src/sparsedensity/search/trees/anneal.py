"""Simulated annealing for leaf-sparse and branch-sparse trees.

Several chains look for a tree, most from trees of their own. They count regions together, in a few groups, but each
knows only the subtrees that it saw itself, or they would soon all look in one place. Then the better ones go on, round
after round, each from the best tree that can be made of all splits which it and some of the others know (see
``anneal_pool``). What is good about one tree thus comes to all. Chains that meet at one score go on as one; the search
ends when all have met, or rounds bring next to nothing. Last, the best subtree is put at every node that has few
regions below it.

Where rows are many, restarts and the first rounds look at few of them: what is found there is nearly as good, in a
fraction of the time, and the later rounds mend it. A table of very many rows is searched on a sample altogether; the
best trees are then counted on all rows, and refined by exact passes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sparsedensity.engines import MemoryEngine, Searched
from sparsedensity.kernels import anneal_work, is_compiled
from sparsedensity.problem import AnyProblem, Problem
from sparsedensity.search.base import Best, Budget, each, run, spread_of
from sparsedensity.search.bounds import may_bind
from sparsedensity.search.interrupts import asked_to_stop
from sparsedensity.search.trees.anneal_chain import (
    ARCHIVED,
    FEW_REGIONS,
    KINDS,
    AnnealChain,
    Cooling,
    Stored,
    region_count,
)
from sparsedensity.search.trees.anneal_memory import (
    FEW_ROWS,
    Shared,
    is_whole,
    limit_of,
    pairs_per_row,
    rows_within,
)
from sparsedensity.search.trees.anneal_pool import EVERYONE, GIVERS, MOST_POOLED, Graph, Splits, one_of, some_of
from sparsedensity.search.trees.greedy import Greedy
from sparsedensity.search.trees.passes import CountedTree, Passes
from sparsedensity.search.trees.subtrees import can_prove, with_best_subtrees
from sparsedensity.structures import Tree, canonical
from sparsedensity.table import Table

MOST_ROWS = 200_000
"""Tables with more distinct rows are searched on a sample."""
SAMPLE = 60_000
SOME_ROWS, ROWS_PER_LEAF = 8_000, 80
"""Of twice as many rows or more, chains look at so many in the beginning; and at no fewer for each leaf allowed."""
MOST_PAIRS = 5e7
"""The same for tables with more pairs of values to count before the first split: some tens of milliseconds."""
LONGEST_LOOK, WORK_PER_PAIR = 1e8, 12.0
"""The most work to score all splits of a few rows, and what the terms of two children take beside every value."""
GREEDY_SHARE, RESTARTS_SHARE, SAMPLE_SHARE = 0.3, 0.6, 0.8
"""The share of a time limit for the greedy tree, for the restarts alone, and for all before passes over all rows."""
RESTARTS, RESTARTS_OF_PROFILES = 24, 12
"""Where a proposal takes longer, fewer chains go further."""
FROM_GREEDY = 1
"""So many chains begin with the greedy tree, if leaves are even; the others grow one of their own."""
GROUPS = 4
"""So many groups of chains count the regions they meet together; groups run side by side."""
ROUND_SHARE, ROUND_CHAINS, MOST_ROUNDS, ROUNDS_OF_SOME = 0.5, 1 / 3, 8, 2
"""What a chain may spend in a round, as a share of what it spent alone; more if fewer than this share of the chains go
on. How many rounds there are at most, and how many look at some rows only."""
GO_ON, FEWEST = 0.8, 2
"""The share of chains that go on to the next round, the better ones; and how many do in any case."""
ENOUGH, PATIENCE = 2e-4, 2
"""Two rounds that add less than this share of all that was gained over a single leaf are the last."""
MET = 6
"""Chains whose log posteriors are the same to so many digits behind the point have met."""
BETTER = 1e-9
"""What a tree of the path must add to take the place of the best tree."""
SHORT = 10
"""Moves at each size of the path."""
TURNS = (0.1, 0.3)
"""In the rounds chains take turns: cool, and hot (the first temperature, as a share of the price of a leaf)."""
KNOW_ALL, HEARD = 1, 0.2
"""So many chains begin a round with what all chains know together; the others hear of this share of them, lest all soon
look in one place."""
SOME_REGIONS = 1e7
"""A problem with so few regions is small enough to be looked at thoroughly."""
MANY_LEAVES = 100
"""Trees that may have fewer leaves take less time."""
WORK_PER_ROW = 4e7
"""A handful of rows has little to tell, however many columns they have."""


@dataclass(frozen=True)
class Anneal:
    """Simulated annealing in several restarts, then rounds in which they learn from each other."""

    restarts: int | None = None
    """``None`` for as many as suit the leaves: 24, or twelve that go twice as far if leaves have profiles."""
    iterations: int | None = None
    """Proposals per restart; ``None`` derives a budget from the size of the problem."""
    cooling: Cooling = "geometric"
    starts: tuple[Tree, ...] = ()
    """Trees to start from, instead of the greedy one and those that chains grow."""
    effort: float = 1.0
    """A factor to the proposals and rounds: a search at a quarter of the effort takes about a quarter of the time."""
    jobs: int = 1
    seconds: float | None = None
    """A time budget that the cooling is fitted into."""
    name: str = "anneal"

    def init(self, problem: AnyProblem, rng: np.random.Generator) -> Annealing:
        """The chains before their first block."""
        most = min(MOST_ROWS, rows_within(problem, MOST_PAIRS))
        drawn, sampled = Searched.of(problem.engine, min(SAMPLE, most), rng, most)
        restarts = self.restarts or (RESTARTS if problem.posterior.even else RESTARTS_OF_PROFILES)
        generators = rng.spawn(2 * restarts + 3)[::-1]
        table = drawn.on_grid()
        searched = Problem(MemoryEngine(table), problem.posterior, problem.max_leaves)
        state = Annealing(table, searched, sampled, restarts, generators[0], generators[1:])
        state.grown = None if self.starts else grown_tree(searched, self.seconds)
        state.some = some_rows(table, limit_of(problem), rng)
        rows = table if state.some is None else state.some
        state.chains = self._chains(problem, state, rows, self._first_trees(problem, state, restarts))
        state.bottom = searched.score_of_one_leaf()
        state.update()
        return state

    def step(self, problem: AnyProblem, state: Annealing, rng: np.random.Generator) -> Annealing:
        """One block of every chain that is not done; when all are, the next stage. On all rows, one pass."""
        if state.passes is not None:
            state.passes.step()
            state.finished = state.passes.finished
            state.update()
            return state
        live: dict[Shared, list[AnnealChain]] = {}
        for chain in state.chains:
            if not chain.done:
                live.setdefault(chain.shared, []).append(chain)
        share = state.share(self.seconds)
        # What must be compiled first is compiled in the main thread, where Ctrl-C can end it.
        jobs = self.jobs if is_compiled(anneal_work.work) else 1
        each(list(live.values()), lambda group: one_block_each(group, share), jobs)
        state.update()
        if all(chain.done for chain in state.chains) or state.must_count(self.seconds):
            self._next_stage(problem, state)
        return state

    def best(self, problem: AnyProblem, state: Annealing) -> Best:
        """The best tree of chains, of a short search at each size, or of growing; if only leaves matter, canonical."""
        if state.passes is not None and state.passes.best is not None:
            return self._refined(problem, state, state.passes, state.passes.best)
        leader = state.leader()
        kept = self._archive(problem, state, leader.tree(problem))
        better = max(kept.values(), key=lambda stored: stored.score)
        leads = state.is_sample or (state.some is None and better.score <= leader.score + BETTER)
        tree = (leader.found if leads else better).tree(problem)
        archive = {leaves: stored.tree(problem) for leaves, stored in kept.items()}
        scores = {} if state.is_sample else {leaves: stored.score for leaves, stored in kept.items()}
        chosen = max([tree, *self._given(problem, state)], key=lambda one: round(problem.score(one), MET))
        if (mended := self._with_best_subtrees(problem, state, chosen)) is not tree:
            tree, leads = mended, False
            archive[tree.n_leaves], scores[tree.n_leaves] = tree, problem.score(tree)
        reached = problem.max_leaves is not None and tree.n_leaves >= problem.max_leaves
        return Best(
            canonical(tree) if problem.posterior.only_leaves else tree,
            archive=archive,
            scores=scores,
            limit_binds=(leads and not state.is_sample and reached and leader.wants_more) or may_bind(problem),
            by_kind=state.by_kind,
            restarts=state.restarts,
            spread=state.spread if state.restarts > 1 else None,
            converged=state.settled,
            sampled=state.sampled,
        )

    def _with_best_subtrees(self, problem: AnyProblem, state: Annealing, tree: Tree) -> Tree:
        """The tree with the best subtrees wherever they can be proven in a moment, if all rows were searched."""
        if state.is_sample or not can_prove(problem):
            return tree
        return with_best_subtrees(state.searched, tree, lambda: self._has_time(state) and not asked_to_stop())

    def _first_trees(self, problem: AnyProblem, state: Annealing, restarts: int) -> list[Tree | None]:
        """What the restarts begin with: given trees in turn, the greedy one, or ``None`` to grow one of their own.

        Chains from one tree end in trees with the same upper splits, so most grow their own if leaves are even. With
        profiles, where chains are few, that bought nothing.
        """
        if self.starts:
            return [self.starts[i % len(self.starts)] for i in range(restarts)]
        greedy = min(FROM_GREEDY, restarts) if problem.posterior.even else restarts
        return [state.grown if problem.posterior.only_leaves else None] * greedy + [None] * (restarts - greedy)

    def _given(self, problem: AnyProblem, state: Annealing) -> list[Tree]:
        """The trees that chains start from, if they are allowed: nothing worse on all rows is handed over."""
        starts = self.starts if state.grown is None else (state.grown,)
        return [tree for tree in starts if tree.n_leaves <= limit_of(problem)]

    def _has_time(self, state: Annealing) -> bool:
        """Whether the time limit, if there is one, has not come."""
        return self.seconds is None or time.perf_counter() - state.begin < self.seconds

    def _refined(self, problem: AnyProblem, state: Annealing, passes: Passes, best: CountedTree) -> Best:
        """The best tree by exact counts.

        Of each size the tree that is better on the sample: one that the sample found, or one that the counts tell of,
        whose log posterior is known.
        """
        kept, tree = self._archive(problem, state, best.tree), best.tree
        counted = {
            size: one
            for size, one in passes.trees(ARCHIVED).items()
            if size <= passes.limit and (size not in kept or state.searched.score(one.tree) >= kept[size].score)
        }
        counted = dict(sorted({**counted, tree.n_leaves: best}.items()))
        found = {size: stored.tree(problem) for size, stored in kept.items()}
        archive = found | {size: one.tree for size, one in counted.items()}
        return Best(
            canonical(tree) if problem.posterior.only_leaves else tree,
            archive=dict(sorted(archive.items())),
            scores={size: one.log_posterior for size, one in counted.items()},
            limit_binds=passes.one_more_leaf_pays() or may_bind(problem),
            by_kind=state.by_kind,
            restarts=state.restarts,
            spread=state.spread if state.restarts > 1 else None,
            converged=state.settled,
            sampled=state.sampled,
        )

    def _archive(self, problem: AnyProblem, state: Annealing, tree: Tree) -> dict[int, Stored]:
        """The best tree found for each number of leaves, after a short search at each if there is time."""
        steps = SHORT if self._has_time(state) else 0
        (chain,) = self._chains(problem, state, state.table, [tree])
        found = chain.walk_down(steps)
        for other in state.everyone() if state.some is None else []:
            for leaves, kept in other.kept.items():
                if leaves not in found or kept.score > found[leaves].score:
                    found[leaves] = kept
        return dict(sorted(found.items()))

    def _chains(
        self, problem: AnyProblem, state: Annealing, rows: Table, starts: Sequence[Tree | None]
    ) -> list[AnnealChain]:
        """A chain from every tree, in groups that count the rows together."""
        searched = Problem(MemoryEngine(rows), problem.posterior, problem.max_leaves)
        groups = min(GROUPS, len(starts))
        shared = [Shared(searched, rows, math.ceil(len(starts) / groups)) for _ in range(groups)]
        chains = []
        for i, start in enumerate(starts):
            chain = AnnealChain(problem, rows, state.generators.pop(), self.cooling, shared[i % groups])
            chain.budget = self.effort * budget_of(problem, len(rows))
            chain.proposals = None if self.iterations is None else max(1, round(self.effort * self.iterations))
            chain.start, chain.number = start, len(state.generators)
            chains.append(chain)
        return chains

    def _next_stage(self, problem: AnyProblem, state: Annealing) -> None:
        """After the restarts rounds in which they learn; after them (for a sample) all rows; then the end."""
        rounds = max(1, round(self.effort * MOST_ROUNDS))
        if state.rounds == 0:
            state.spread = spread_of([state.score_of(chain) for chain in state.chains])
        go_on = state.rounds < rounds and state.gains()
        look_at_all = state.some is not None and (not go_on or state.rounds >= min(ROUNDS_OF_SOME, rounds // 2))
        if (go_on or look_at_all) and not state.must_count(self.seconds):
            state.before_rounds.append(state.log_posterior)
            going = better(apart(state.chains))
            starts = state.put_together(going, limit_of(problem))
            share = ROUND_SHARE * max(1.0, ROUND_CHAINS * state.restarts / len(going))
            if look_at_all:
                self._look_at_all(problem, state, starts)
            else:
                state.keep_only(going)
                for chain, start in zip(going, starts, strict=True):
                    chain.resume(start)
            for i, chain in enumerate(state.chains):
                chain.hot, chain.share = TURNS[(i + state.rounds) % len(TURNS)], share
            state.rounds += 1
            return
        state.settled = not state.gains()
        if state.is_sample:
            ranked = sorted(state.everyone(), key=lambda chain: -chain.score)
            state.keep_only([])
            found = [chain.tree(problem) for chain in ranked]
            state.passes = Passes(problem, state.table, found + self._given(problem, state))
        else:
            state.finished = True

    def _look_at_all(self, problem: AnyProblem, state: Annealing, starts: list[Tree]) -> None:
        """In place of the chains, which looked at some rows, others begin with given trees and all rows."""
        for chain in state.everyone():
            chain.recount(state.searched)
        state.keep_only([])
        state.some = state.pool = None
        state.chains = self._chains(problem, state, state.table, starts)


@dataclass
class Annealing:
    """Where an annealing search stands."""

    table: Table
    """The rows that are searched: all of them, or a sample."""
    searched: AnyProblem
    """What is asked, of these rows."""
    sampled: int | None
    """How many rows were drawn, if these are not all."""
    restarts: int
    rng: np.random.Generator
    generators: list[np.random.Generator]
    pool: Splits | None = None
    """What chains that look at these rows knew after the last round, and before."""
    price: float = -math.inf
    """What a leaf had to gain in the best tree of that."""
    grown: Tree | None = None
    """The greedy tree of these rows."""
    some: Table | None = None
    """The rows that chains look at in the beginning, if these are not all that are searched."""
    chains: list[AnnealChain] = field(default_factory=list)
    retired: list[AnnealChain] = field(default_factory=list)
    passes: Passes | None = None
    """The exact passes over all rows, once a sample has been searched."""
    rounds: int = 0
    spread: float | None = None
    """How far apart the best log posteriors of the restarts are, before they learn from each other."""
    before_rounds: list[float] = field(default_factory=lambda: [-math.inf] * PATIENCE)
    """The log posterior before each round."""
    settled: bool | None = None
    """Whether the last rounds brought next to nothing, once they are through."""
    bottom: float = -math.inf
    """The log posterior of a single leaf."""
    begin: float = field(default_factory=time.perf_counter)
    log_posterior: float = -math.inf
    leaves: int = 1
    moves: int = 0
    finished: bool = False
    by_kind: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    """Moves proposed, accepted and leading to a new best tree, by kind."""

    @property
    def is_sample(self) -> bool:
        """Whether the rows that are searched are not all."""
        return self.sampled is not None

    @property
    def stage(self) -> str:
        """The pass over all rows that comes next, if one does."""
        return "" if self.passes is None or self.finished else self.passes.stage

    def share(self, seconds: float | None) -> float:
        """How much of the time for the restarts has passed; 0 without a time limit."""
        if seconds is None or self.rounds > 0:
            return 0.0
        return (time.perf_counter() - self.begin) / max(seconds * RESTARTS_SHARE, 1e-9)

    def gains(self) -> bool:
        """Whether chains have not all met, and one of the last two rounds brought enough for another."""
        before, gained = self.before_rounds[-PATIENCE], self.log_posterior - self.bottom
        met = len(apart(self.chains)) == 1 < len(self.everyone())
        return not met and self.log_posterior - before > ENOUGH * gained

    def must_count(self, seconds: float | None) -> bool:
        """Whether a sample has been searched for so long that the time left is needed to count all rows."""
        if seconds is None or not self.is_sample:
            return False
        return time.perf_counter() - self.begin > seconds * SAMPLE_SHARE

    def put_together(self, going: list[AnnealChain], limit: int) -> list[Tree]:
        """For each chain that goes on the best tree of what all chains know; or of what it and drawn ones do."""
        known = [chain.known_splits() for chain in self.chains]
        self.pool = Splits.together(known if self.pool is None else [self.pool, *known])
        graph = Graph(self.pool, self.searched.domain)
        if self.pool.bytes > MOST_POOLED:
            self.pool = graph.splits
        price = self.price = graph.price(self.chains[0].price_of(min(self.leaves, limit)), limit, self.price)
        givers = [one_of(chain.number) | some_of(self.rng.random(GIVERS) < HEARD) for chain in going]
        givers[:KNOW_ALL] = [EVERYONE] * min(KNOW_ALL, len(going))
        return [graph.tree(price, limit, heard) for heard in givers]

    def score_of(self, chain: AnnealChain) -> float:
        """The log posterior of a chain's best tree, on all rows that are searched."""
        return chain.score if self.some is None else self.searched.score(chain.found.tree(self.searched))

    def leader(self) -> AnnealChain:
        """The chain with the best tree; of those that have met, the first that still goes on."""
        return max(self.chains + self.retired, key=lambda chain: round(chain.score, MET))

    def everyone(self) -> list[AnnealChain]:
        """Every chain of this stage and of those before, the first first."""
        return self.retired + self.chains

    def keep_only(self, chains: list[AnnealChain]) -> None:
        """Retire the other chains, which gives back their memory."""
        for chain in self.chains:
            if chain not in chains:
                chain.retire()
                self.retired.append(chain)
        self.chains = chains

    def update(self) -> None:
        """Sum up what the chains did."""
        chains = self.everyone()
        names = ("proposed", "accepted", "better")
        total = [np.sum([chain.moves[name] for chain in chains], axis=0).tolist() for name in names]
        self.by_kind = {kind: (a, b, c) for kind, a, b, c in zip(KINDS, *total, strict=True)}
        self.moves = sum(total[0])
        if self.passes is not None and self.passes.best is not None:
            self.log_posterior, self.leaves = self.passes.best.log_posterior, self.passes.best.tree.n_leaves
        else:
            best = self.leader()
            if (score := self.score_of(best)) > self.log_posterior:
                self.log_posterior, self.leaves = score, best.leaves


def one_block_each(chains: list[AnnealChain], share: float) -> None:
    """Let the chains of a group search for a moment, one after the other."""
    for chain in chains:
        chain.block(share)


def apart(chains: list[AnnealChain]) -> list[AnnealChain]:
    """The first chain at each score, in their order."""
    first: dict[float, AnnealChain] = {}
    for chain in chains:
        first.setdefault(round(chain.score, MET), chain)
    return list(first.values())


def better(chains: list[AnnealChain]) -> list[AnnealChain]:
    """The chains that go on, in their order."""
    ranked = sorted(chains, key=lambda chain: -chain.score)
    going = ranked[: max(FEWEST, math.ceil(GO_ON * len(ranked)))]
    return [chain for chain in chains if chain in going]


def budget_of(problem: AnyProblem, rows: int) -> float:
    """Work for one chain, in units of about a nanosecond: by how many ways there are to divide each column.

    The largest trees take longest, but those of a hundred leaves and more are given no more time than that.
    """
    regions, times = region_count(problem), 1.0
    if not problem.posterior.even:  # fewer chains; and the wider a table, the more there is to count for each proposal
        times = RESTARTS / RESTARTS_OF_PROFILES * max(1.0, len(problem.domain) / 20) ** 0.5
    if regions <= FEW_REGIONS:
        return float(times * min(max(3e5 * regions, 8e7), 4e8))
    few, ways = min(1.0, rows / 2000), sum(size**1.25 for size in problem.domain.sizes)
    least, most = 1.5e8 if regions <= SOME_REGIONS else 5e7, min(4.5e8, WORK_PER_ROW * rows)
    large = min(1.0, limit_of(problem) / MANY_LEAVES) ** 0.2
    return float(times * max(least, large * min(most, few * 1.8e6 * ways)))


def is_too_wide(problem: AnyProblem) -> bool:
    """Whether one look at a few rows takes so long that annealing could not be interrupted in time."""
    if problem.posterior.even:
        return False
    table, values = problem.engine.collapsed(), int(problem.domain.starts[-1])
    rows = FEW_ROWS if table is None else min(len(table), FEW_ROWS)
    return rows * pairs_per_row(problem) + WORK_PER_PAIR * values**2 > LONGEST_LOOK


def some_rows(table: Table, limit: int, rng: np.random.Generator) -> Table | None:
    """Some rows that stand for a table of many; ``None`` if there are few."""
    times = len(table) // max(SOME_ROWS, ROWS_PER_LEAF * limit)
    if times < 2:
        return None
    some = MemoryEngine(table).sample(len(table) // times, rng)
    weights = np.rint(some.weights) if is_whole(table.weights) else some.weights
    return Table(some.domain, some.codes, weights).on_grid()


def grown_tree(searched: AnyProblem, seconds: float | None) -> Tree | None:
    """The greedy tree, where it is cheap to have; it may take a share of the time limit."""
    if limit_of(searched) > 10 * ARCHIVED:
        return None
    budget = Budget(seconds=None if seconds is None else GREEDY_SHARE * seconds)
    tree = run(Greedy(), searched, budget=budget).structure
    assert isinstance(tree, Tree)
    return tree
