"""Simulated annealing for leaf-sparse and branch-sparse trees.

Several chains look for a tree, each by a recipe of its own: from the root by the paper's moves on single splits, or
from a grown tree by removing subtrees and growing them again. Then chains that start from the best tree polish it,
round after round, until a round brings no more. A table of very many rows is searched on a sample of them, and the
best trees are counted and refined on all rows.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from sparsedensity.engines import MemoryEngine
from sparsedensity.kernels import anneal_moves, is_compiled
from sparsedensity.problem import AnyProblem, Problem
from sparsedensity.search.base import Best, Budget, each, run
from sparsedensity.search.bounds import may_bind
from sparsedensity.search.trees.anneal_chain import (
    ARCHIVED,
    FEW_REGIONS,
    KINDS,
    AnnealChain,
    Cooling,
    Recipe,
    Stored,
    region_count,
)
from sparsedensity.search.trees.anneal_memory import FEW_ROWS, limit_of, on_grid, pairs_per_row, rows_within
from sparsedensity.search.trees.greedy import Greedy
from sparsedensity.structures import Tree, canonical
from sparsedensity.table import Table

MOST_ROWS = 200_000
"""Tables with more distinct rows are searched on a sample."""
SAMPLE = 60_000
MOST_PAIRS = 5e7
"""The same for tables with more pairs of values to count before the first split: some tens of milliseconds."""
LONGEST_LOOK, WORK_PER_PAIR = 1e8, 12.0
"""The most work to score all splits of a few rows, and what the terms of two children take beside every value."""
SAMPLE_BUDGET, SAMPLE_ROUNDS = 2.5e8, 1
"""A sample deserves no more work than that: its best tree is not quite that of all rows."""
PASSES, MOST_REFINED = 3, 50_000_000
"""How often all values (and pairs) may be read while a tree is refined on all rows, and up to how many values it is."""
POLISHERS = 2
GREEDY_SHARE, RESTARTS_SHARE = 0.3, 0.6
"""The share of a time limit for the greedy tree, and for all that comes before polishing."""
MOST_ROUNDS = 8
ENOUGH = 2e-4
"""A round of polishing that adds less than this share of all that was gained over a single leaf is the last."""
BETTER = 1e-9
"""What a tree of the path must add to take the place of the best tree."""
SHORT = 10
"""Moves at each size of the path."""
RECIPES = (
    Recipe.of(0.0, 0.0, 0.03, 0.5, 0.5),
    Recipe.of(0.5, 0.3, 0.003, 1.0, 1.0),
    Recipe.of(0.0, 0.0, 0.1, 1.0, 1.0),
    Recipe.of(0.7, 0.5, 0.003, 0.5, 0.5),
)
POLISH = Recipe.of(0.0, 0.0, 0.002, 1.0, 0.7)
REFINE = POLISH._replace(settings=POLISH.settings._replace(noise=0.2, trust=0.5))
WORK_PER_ROW = 4e7
"""A handful of rows has little to tell, however many columns they have."""


@dataclass(frozen=True)
class Anneal:
    """Simulated annealing in several restarts, then rounds that polish the best tree."""

    restarts: int = 4
    iterations: int | None = None
    """Proposals per restart; ``None`` derives a budget from the size of the problem."""
    cooling: Cooling = "geometric"
    epsilon: float = 0.01
    """The share of structural changes among the paper's moves."""
    starts: tuple[Tree, ...] = ()
    """Trees to start from instead of the greedy one; every second restart starts from the root."""
    effort: float = 1.0
    """A factor to the proposals and rounds: a search at a quarter of the effort takes about a quarter of the time."""
    jobs: int = 1
    seconds: float | None = None
    """A time budget that the cooling is fitted into."""
    name: str = "anneal"

    def init(self, problem: AnyProblem, rng: np.random.Generator) -> Annealing:
        """The chains before their first block."""
        table, most = problem.engine.collapsed(), min(MOST_ROWS, rows_within(problem, MOST_PAIRS))
        is_sample = table is None or len(table) > most
        if table is None or len(table) > most:
            table = problem.engine.sample(min(SAMPLE, most), rng)
        budget = self.effort * (SAMPLE_BUDGET if is_sample else budget_of(problem, len(table)))
        generators = rng.spawn(self.restarts + 2)[::-1]
        state = Annealing(on_grid(table), is_sample, budget, generators)
        starts = self.starts or greedy_starts(problem, state, self.seconds)
        for i in range(self.restarts):
            recipe = RECIPES[i % len(RECIPES)]
            start = starts[i // 2 % len(starts)] if starts and recipe.annealed == 0.0 else None
            state.chains.append(self._chain(problem, state, recipe, start))
        state.update()
        state.bottom = state.log_posterior
        return state

    def step(self, problem: AnyProblem, state: Annealing, rng: np.random.Generator) -> Annealing:
        """One block of every chain that is not done; when all are, the next stage."""
        live = [chain for chain in state.chains if not chain.done]
        share = state.share(self.seconds)
        # What must be compiled first is compiled in the main thread, where Ctrl-C can end it.
        compiled = is_compiled(anneal_moves.anneal) and is_compiled(anneal_moves.rebuild)
        each(live, lambda chain: chain.block(share), self.jobs if compiled else 1)
        state.update()
        if all(chain.done for chain in state.chains):
            self._next_stage(problem, state)
        return state

    def best(self, problem: AnyProblem, state: Annealing) -> Best:
        """The best tree of all chains and of the short search at each size; if only leaves matter, canonical."""
        leader = state.leader()
        kept = self._archive(problem, state)
        better = max(kept.values(), key=lambda stored: stored.score)
        leads = state.is_sample or better.score <= leader.score + BETTER
        tree = (leader.found if leads else better).tree(problem)
        counted = not state.is_sample or state.stage == "all rows"
        reached = problem.max_leaves is not None and tree.n_leaves >= problem.max_leaves
        return Best(
            canonical(tree) if problem.posterior.only_leaves else tree,
            archive={leaves: stored.tree(problem) for leaves, stored in kept.items()},
            scores={leaves: stored.score for leaves, stored in kept.items()},
            limit_binds=(leads and counted and reached and leader.wants_more) or may_bind(problem),
            by_kind=state.by_kind,
            restarts=self.restarts,
        )

    def _archive(self, problem: AnyProblem, state: Annealing) -> dict[int, Stored]:
        """The best tree found for each number of leaves, after a short search at each."""
        found = self._chain(problem, state, POLISH, state.leader().tree(problem)).walk_down(SHORT)
        for other in state.retired if state.stage == "all rows" else state.everyone():
            for leaves, kept in other.kept.items():
                if leaves not in found or kept.score > found[leaves].score:
                    found[leaves] = kept
        return dict(sorted(found.items()))

    def _chain(self, problem: AnyProblem, state: Annealing, recipe: Recipe, start: Tree | None) -> AnnealChain:
        chain = AnnealChain(problem, state.table, recipe, state.generators.pop(), self.epsilon, self.cooling)
        chain.budget = state.budget
        chain.proposals = None if self.iterations is None else max(1, round(self.effort * self.iterations))
        chain.start = start
        return chain

    def _next_stage(self, problem: AnyProblem, state: Annealing) -> None:
        """After the restarts rounds of polishing; after them (for a sample) all rows; then the end."""
        rounds = SAMPLE_ROUNDS if state.is_sample else max(1, round(self.effort * MOST_ROUNDS))
        if state.stage == "search" and state.rounds < rounds and state.gains():
            ranked = sorted(state.everyone(), key=lambda chain: -chain.score)
            tree = ranked[0].tree(problem)
            state.before_round, state.rounds = state.log_posterior, state.rounds + 1
            state.keep_only([chain for chain in ranked if chain in state.chains][:POLISHERS])
            for chain in state.chains:
                chain.resume(POLISH, tree)
        elif state.stage == "search" and state.is_sample:
            self._to_all_rows(problem, state)
        else:
            state.finished = True

    def _to_all_rows(self, problem: AnyProblem, state: Annealing) -> None:
        """Count the best trees on all rows, and go on with the best of them there unless that would take long."""
        table, state.stage = problem.engine.collapsed(), "all rows"
        ranked = sorted(state.everyone(), key=lambda chain: -chain.score)[:2]
        scored = [(problem.score(chain.tree(problem)), chain) for chain in ranked]
        score, best = max(scored, key=lambda pair: pair[0])
        state.keep_only([])
        if table is None or table.codes.size > MOST_REFINED or len(table) > rows_within(problem, MOST_PAIRS):
            best.score, state.chains, state.finished = score, [best], True
            return
        chain = AnnealChain(problem, on_grid(table), REFINE, state.generators.pop(), self.epsilon, self.cooling)
        reads = table.codes.size + len(table) * pairs_per_row(problem)
        chain.start, chain.reads = best.tree(problem), PASSES * reads
        state.chains = [chain]


@dataclass
class Annealing:
    """Where an annealing search stands."""

    table: Table
    """The rows that are searched: all of them, or a sample."""
    is_sample: bool
    budget: float
    generators: list[np.random.Generator]
    chains: list[AnnealChain] = field(default_factory=list)
    retired: list[AnnealChain] = field(default_factory=list)
    stage: Literal["search", "all rows"] = "search"
    rounds: int = 0
    before_round: float = -math.inf
    bottom: float = -math.inf
    """The log posterior of a single leaf."""
    begin: float = field(default_factory=time.perf_counter)
    log_posterior: float = -math.inf
    leaves: int = 1
    moves: int = 0
    finished: bool = False
    by_kind: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    """Moves proposed, accepted and leading to a new best tree, by kind."""

    def share(self, seconds: float | None) -> float:
        """How much of the time for the restarts has passed; 0 without a time limit."""
        if seconds is None or self.rounds > 0:
            return 0.0
        return (time.perf_counter() - self.begin) / max(seconds * RESTARTS_SHARE, 1e-9)

    def gains(self) -> bool:
        """Whether the last round brought enough for another."""
        return self.log_posterior - self.before_round > ENOUGH * (self.log_posterior - self.bottom)

    def leader(self) -> AnnealChain:
        """The chain with the best tree, the first of equals; once all rows are searched, only that counts."""
        finalists = self.chains if self.stage == "all rows" else self.everyone()
        return max(finalists, key=lambda chain: chain.score)

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
        best = self.leader()
        self.log_posterior, self.leaves = best.score, best.leaves


def budget_of(problem: AnyProblem, rows: int) -> float:
    """Work for one chain, in units of about a nanosecond."""
    values = int(problem.domain.starts[-1])
    if region_count(problem) <= FEW_REGIONS:
        return min(max(3e5 * region_count(problem), 8e7), 4e8)
    few = min(1.0, rows / 2000)
    most = min(8e8, WORK_PER_ROW * rows)
    return float(max(5e7, min(most, few * 4e5 * values**1.5 + 200.0 * rows * len(problem.domain))))


def is_too_wide(problem: AnyProblem) -> bool:
    """Whether one look at a few rows takes so long that annealing could not be interrupted in time."""
    if problem.posterior.even:
        return False
    table, values = problem.engine.collapsed(), int(problem.domain.starts[-1])
    rows = FEW_ROWS if table is None else min(len(table), FEW_ROWS)
    return rows * pairs_per_row(problem) + WORK_PER_PAIR * values**2 > LONGEST_LOOK


def greedy_starts(problem: AnyProblem, state: Annealing, seconds: float | None) -> tuple[Tree, ...]:
    """The greedy tree, where it is cheap to have; it may take a share of the time limit."""
    if not problem.posterior.only_leaves or limit_of(problem) > 10 * ARCHIVED:
        return ()
    budget = Budget(seconds=None if seconds is None else GREEDY_SHARE * seconds)
    searched = Problem(MemoryEngine(state.table), problem.posterior, problem.max_leaves)
    tree = run(Greedy(), searched, budget=budget).structure
    assert isinstance(tree, Tree)
    return (tree,)
