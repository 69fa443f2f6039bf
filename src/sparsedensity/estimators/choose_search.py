"""Which search learns a tree: a proof, annealing, or growing and pruning; and from where it starts."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sparsedensity.domain import Domain
from sparsedensity.engines import MemoryEngine
from sparsedensity.errors import ParameterError
from sparsedensity.estimators.learner import Learned, Learner
from sparsedensity.estimators.parameters import check_seed, check_word, generator, jobs_of
from sparsedensity.estimators.progress import say
from sparsedensity.estimators.warm_start import check_start, start_on
from sparsedensity.kernels import anneal_moves, is_compiled
from sparsedensity.posterior import Posterior
from sparsedensity.problem import AnyProblem, Problem, check_limit, check_time, check_whole
from sparsedensity.search import Anneal, Budget, Exact, Found, Greedy, NearOptimal, estimate, near_optimal, run
from sparsedensity.search.base import Watch
from sparsedensity.search.trees.anneal_chain import COOLINGS
from sparsedensity.structures import Structure, Tree

SEARCHES = ("auto", "anneal", "exact", "greedy")
AUTO_SECONDS = 10.0
"""A proof that is estimated to take no longer is made by default."""
AT_ONCE = 0.1
"""A proof that is estimated to take longer begins with the greedy tree, so that there is one if it is cut short."""
MOST_VALUES = 2000
"""A table with a feature of more values is searched greedily: its groupings are too many to anneal."""
FOLD_EFFORT = 0.25
"""The share of the budget for each fold of a cross-validated path."""
STARTS = "a fitted tree, the path of a saved one, 'greedy' or None"


@dataclass(frozen=True)
class TreeLearner(Learner):
    """Learns the tree that a posterior likes best."""

    belief: Posterior
    max_leaves: int | None
    search: str
    depth: int | None
    iterations: int | None
    restarts: int
    cooling: Any
    time_limit: float | None
    warm_start_from: Any
    random_state: Any
    n_jobs: int | None
    progress: bool

    def __post_init__(self) -> None:
        check_word("search", self.search, SEARCHES)
        check_word("cooling", self.cooling, COOLINGS)
        check_limit("depth", self.depth)
        if self.depth is not None and self.search in ("anneal", "greedy"):
            raise ParameterError("search", self.search, "'exact' or 'auto' if a depth is given")
        check_limit("iterations", self.iterations)
        check_whole("restarts", self.restarts)
        check_time(self.time_limit)
        check_start(self.warm_start_from, STARTS)
        check_seed(self.random_state)

    def posterior(self, domain: Domain) -> Posterior:
        """What is believed, on any domain."""
        return self.belief

    def learn(self, engine: MemoryEngine, watch: list[Watch]) -> Learned:
        """Search as the parameter says; ``"auto"`` proves if an estimate says seconds, and else anneals."""
        problem = self._problem(engine)
        return Learned(self.belief, self._search(problem, self._given_start(engine.domain), watch))

    def learn_fold(self, engine: MemoryEngine) -> Found:
        """The best trees of all sizes, from a short search."""
        problem = self._problem(engine)
        if self.search == "greedy":
            return self._grow(problem, [])
        return self._anneal(problem, self._given_start(engine.domain), [], effort=FOLD_EFFORT)

    def choose(self, engine: MemoryEngine, found: Found) -> Structure:
        """The best tree that the fold saw; with a depth, which the other sizes do not heed, the one that is proven."""
        return found.structure if self.depth is None else self._prove(self._problem(engine), None, []).structure

    def every_size(self, engine: MemoryEngine, found: Found) -> Mapping[int, Structure]:
        """The best tree of every size; a proof is about one size, so the others are annealed from its tree."""
        if found.archive and found.method != "exact":
            return found.archive
        tree = found.structure
        assert isinstance(tree, Tree)
        others = self._anneal(self._problem(engine), tree, [], effort=FOLD_EFFORT).archive
        return {**others, tree.n_leaves: tree}

    def near_optimal(self, engine: MemoryEngine, within: float, at_most: int) -> NearOptimal:
        """The trees whose log posterior is within some nats of the best."""
        return near_optimal(self._problem(engine), within, at_most, depth=self.depth)

    def _problem(self, engine: MemoryEngine) -> AnyProblem:
        return Problem(engine, self.belief, self.max_leaves)

    def _search(self, problem: AnyProblem, start: Tree | None, watch: list[Watch]) -> Found:
        if self.search == "greedy":
            return self._grow(problem, watch)
        if self.search == "exact" or self.depth is not None:
            return self._prove(problem, start, watch)
        if self.search == "auto" and (seconds := estimate(problem).seconds) <= self._seconds_for_a_proof:
            warm = self._grow(problem, []).structure if seconds > AT_ONCE else None
            search = Exact(warm if isinstance(warm, Tree) else None, anytime=True)
            return run(search, problem, budget=Budget(seconds=self.time_limit), watch=watch)
        return self._anneal(problem, start, watch)

    @property
    def _seconds_for_a_proof(self) -> float:
        """How long a proof may take, by the estimate, to be tried: at most half of the time limit."""
        return AUTO_SECONDS if self.time_limit is None else min(AUTO_SECONDS, self.time_limit / 2)

    def _anneal(self, problem: AnyProblem, start: Tree | None, watch: list[Watch], *, effort: float = 1.0) -> Found:
        if max(problem.domain.sizes) > MOST_VALUES:
            return self._grow(problem, watch)
        if not is_compiled(anneal_moves.rebuild):
            say(self.progress, "compiling the search: once for this machine, about half a minute")
        search = Anneal(
            restarts=self.restarts,
            iterations=self.iterations,
            cooling=self.cooling,
            starts=self._starts(problem, start),
            effort=effort,
            jobs=jobs_of(self.n_jobs),
            seconds=self.time_limit,
        )
        budget, rng = Budget(seconds=self.time_limit), generator(self.random_state)
        return run(search, problem, budget=budget, rng=rng, watch=watch)

    def _prove(self, problem: AnyProblem, start: Tree | None, watch: list[Watch]) -> Found:
        """The best tree, proven; with a time limit, the annealed tree and the bound that was reached."""
        if self.time_limit is None:
            return run(Exact(depth=self.depth), problem, watch=watch)
        begin = time.perf_counter()
        annealed = None if self.depth is not None else self._anneal(problem, start, watch).structure
        warm = annealed if isinstance(annealed, Tree) else None
        left = max(self.time_limit - (time.perf_counter() - begin), 0.0)
        return run(Exact(warm, anytime=True, depth=self.depth), problem, budget=Budget(seconds=left), watch=watch)

    def _grow(self, problem: AnyProblem, watch: list[Watch]) -> Found:
        return grow_greedily(problem, Budget(seconds=self.time_limit), watch)

    def _given_start(self, domain: Domain) -> Tree | None:
        """The tree of the model that was given to start from."""
        if self.warm_start_from is None or self.warm_start_from == "greedy":
            return None
        start = start_on(domain, self.warm_start_from, STARTS)
        if not isinstance(start, Tree):
            raise ParameterError("warm_start_from", self.warm_start_from, STARTS)
        return start

    def _starts(self, problem: AnyProblem, start: Tree | None) -> tuple[Tree, ...]:
        """The tree to start from instead of the one that annealing grows by itself."""
        if start is None and self.warm_start_from == "greedy":
            grown = self._grow(problem, []).structure
            assert isinstance(grown, Tree)
            return (grown,)
        return () if start is None else (start,)


def grow_greedily(problem: AnyProblem, budget: Budget, watch: list[Watch]) -> Found:
    """Grow and prune."""
    return run(Greedy(), problem, budget=budget, watch=watch)
