"""Trees that are searched for: what the leaf-sparse and the branch-sparse tree share."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from sparsedensity.engines import MemoryEngine
from sparsedensity.errors import DataError, ParameterError
from sparsedensity.estimators.base import DensityEstimator
from sparsedensity.estimators.fitted import generator
from sparsedensity.estimators.paths import PathEstimator
from sparsedensity.kernels import is_compiled, moves
from sparsedensity.posterior import LeafSparse
from sparsedensity.problem import Problem, check_limit, check_time
from sparsedensity.search import Anneal, Budget, Found, Greedy, run
from sparsedensity.search.base import Watch, keep
from sparsedensity.search.chain import COOLINGS
from sparsedensity.structures import Tree

SEARCHES = ("auto", "anneal", "greedy")
FOLD_EFFORT = 0.25
"""The share of the budget for each fold of a cross-validated path."""
AnyProblem = Problem[Any]


class SearchedTree(PathEstimator):
    """A density tree whose structure is searched for under a posterior."""

    pseudocount: float
    search: str
    iterations: int | None
    restarts: int
    cooling: Any
    time_limit: float | None
    warm_start_from: Any
    random_state: Any

    def needs_compiling(self) -> bool:
        """Whether the first fit on this machine will take some seconds longer, because its search is compiled."""
        return self.search != "greedy" and not is_compiled(moves.rebuild)

    def _learn(self, engine: MemoryEngine, watch: list[Watch]) -> Found:
        return self._search(engine, watch, 1.0)

    def _learn_fold(self, engine: MemoryEngine) -> Found:
        return self._search(engine, [], FOLD_EFFORT)

    def _search(self, engine: MemoryEngine, watch: list[Watch], effort: float) -> Found:
        problem = Problem(engine, self._posterior(engine.domain), self.max_leaves)
        if self.search == "greedy":
            return self._learn_greedily(problem, watch)
        search = Anneal(
            restarts=self.restarts,
            iterations=self.iterations,
            cooling=self.cooling,
            starts=self._starts(problem),
            effort=effort,
            jobs=self._jobs(),
            seconds=self.time_limit,
        )
        budget, rng = Budget(seconds=self.time_limit), generator(self.random_state)
        return run(search, problem, budget=budget, rng=rng, watch=watch)

    def _learn_greedily(self, problem: AnyProblem, watch: list[Watch]) -> Found:
        """Grow by the leaf-sparse posterior and take the size that this posterior likes best."""
        budget = Budget(seconds=self.time_limit)
        if isinstance(problem.posterior, LeafSparse):
            return run(Greedy(), problem, budget=budget, watch=watch)
        grown = Problem(problem.engine, LeafSparse(pseudocount=self.pseudocount), self.max_leaves)
        found = run(Greedy(), grown, budget=budget, watch=watch)
        best = max(keep(problem, found.archive).values(), key=lambda kept: kept.log_posterior)
        return replace(found, structure=best.structure, log_posterior=best.log_posterior, limit_binds=False)

    def _starts(self, problem: AnyProblem) -> tuple[Tree, ...]:
        """The tree to start from instead of the greedy one."""
        source = self.warm_start_from
        if source is None:
            return ()
        if isinstance(source, str) and source == "greedy":
            source = self._learn_greedily(problem, []).structure
        if isinstance(source, str | os.PathLike):
            from sparsedensity.estimators.saving import load

            source = load(source)
        if isinstance(source, DensityEstimator):
            source = source.structure_
        if not isinstance(source, Tree):
            allowed = "a fitted tree, the path of a saved one, 'greedy' or None"
            raise ParameterError("warm_start_from", self.warm_start_from, allowed)
        if source.domain != problem.domain:
            raise DataError(
                "warm_start_from has another domain than this table. Fit with domain= the domain_ of that model."
            )
        return (source,)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.search not in SEARCHES:
            raise ParameterError("search", self.search, f"one of {', '.join(map(repr, SEARCHES))}")
        if self.cooling not in COOLINGS:
            raise ParameterError("cooling", self.cooling, f"one of {', '.join(map(repr, COOLINGS))}")
        check_limit("iterations", self.iterations)
        if self.restarts is None:
            raise ParameterError("restarts", self.restarts, "a whole number of 1 or more")
        check_limit("restarts", self.restarts)
        check_time(self.time_limit)
