"""Trees that are searched for: what the leaf-sparse and the branch-sparse tree share."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sklearn.utils.validation import check_is_fitted

from sparsedensity.engines import MemoryEngine
from sparsedensity.errors import DataError, ParameterError
from sparsedensity.estimators.base import DensityEstimator
from sparsedensity.estimators.fitted import check_seed, generator
from sparsedensity.estimators.paths import PathEstimator
from sparsedensity.estimators.progress import say
from sparsedensity.kernels import is_compiled, moves
from sparsedensity.posterior import LeafSparse
from sparsedensity.problem import AnyProblem, Problem, check_limit, check_time, check_whole
from sparsedensity.search import Anneal, Budget, Exact, Found, Greedy, NearOptimal, estimate, near_optimal, run
from sparsedensity.search.base import Watch, keep
from sparsedensity.search.trees.anneal_chain import COOLINGS
from sparsedensity.structures import Structure, Tree
from sparsedensity.table import Table

SEARCHES = ("auto", "anneal", "exact", "greedy")
AUTO_SECONDS = 10.0
"""A proof that is estimated to take no longer is made by default."""
AT_ONCE = 0.1
"""A proof that is estimated to take longer begins with the greedy tree, so that there is one if it is cut short."""
MOST_VALUES = 2000
"""A table with a feature of more values is searched greedily: its groupings are too many to anneal."""
STARTS = "a fitted tree, the path of a saved one, 'greedy' or None"
FOLD_EFFORT = 0.25
"""The share of the budget for each fold of a cross-validated path."""


class SearchedTree(PathEstimator):
    """A density tree whose structure is searched for under a posterior."""

    pseudocount: float
    search: str
    depth: int | None
    iterations: int | None
    restarts: int
    cooling: Any
    time_limit: float | None
    warm_start_from: Any
    random_state: Any
    _has_path = False

    def near_optimal(self, within: float = 2.0, at_most: int = 1000) -> NearOptimal:
        """The trees whose log posterior is within some nats of the best: the set of good models.

        Distinct sets of leaves for leaf-sparse trees, trees up to the order of children for branch-sparse ones. Only
        where the best tree can be proven; beyond ``at_most`` the answer says that there are more.

        >>> from sparsedensity import LeafSparseTree, datasets
        >>> print(LeafSparseTree().fit(datasets.load("titanic")).near_optimal(within=3))
        5 within 3 nats of the optimum
        """
        check_is_fitted(self)
        problem = Problem(self._held_rows(), self.posterior_, self.max_leaves)
        return near_optimal(problem, within, at_most, depth=self.depth)

    def _learn(self, engine: MemoryEngine, watch: list[Watch]) -> Found:
        problem = Problem(engine, self._posterior(engine.domain), self.max_leaves)
        if self.search == "greedy":
            return self._learn_greedily(problem, watch)
        if self.search == "exact" or self.depth is not None:
            return self._prove(problem, watch)
        if self.search == "auto" and (seconds := estimate(problem).seconds) <= self._seconds_for_a_proof:
            warm = self._learn_greedily(problem, []).structure if seconds > AT_ONCE else None
            search = Exact(warm if isinstance(warm, Tree) else None, anytime=True)
            return run(search, problem, budget=Budget(seconds=self.time_limit), watch=watch)
        return self._anneal(problem, watch)

    @property
    def _seconds_for_a_proof(self) -> float:
        """How long a proof may take, by the estimate, to be tried: half of the time there is at most."""
        return AUTO_SECONDS if self.time_limit is None else min(AUTO_SECONDS, self.time_limit / 2)

    def _learn_fold(self, engine: MemoryEngine) -> Found:
        problem = Problem(engine, self._posterior(engine.domain), self.max_leaves)
        if self.search == "greedy":
            return self._learn_greedily(problem, [])
        return self._anneal(problem, [], effort=FOLD_EFFORT)

    def _archive(self, problem: AnyProblem) -> Mapping[int, Structure]:
        """The best tree of every size; a proof knows one size only, so the others are annealed from it."""
        if self.found_.method == "exact" and not self._has_path:
            tree = self.found_.structure
            assert isinstance(tree, Tree)
            others = self._anneal(problem, [], starts=(tree,), effort=FOLD_EFFORT).archive
            self.found_ = replace(self.found_, archive={**others, tree.n_leaves: tree})
            self._has_path = True
        return self.found_.archive

    def _anneal(
        self, problem: AnyProblem, watch: list[Watch], *, starts: tuple[Tree, ...] | None = None, effort: float = 1.0
    ) -> Found:
        if max(problem.domain.sizes) > MOST_VALUES:
            return self._learn_greedily(problem, watch)
        if not is_compiled(moves.rebuild):
            say(self.progress, "compiling the search: once for this machine, about half a minute")
        search = Anneal(
            restarts=self.restarts,
            iterations=self.iterations,
            cooling=self.cooling,
            starts=self._starts(problem) if starts is None else starts,
            effort=effort,
            jobs=self._jobs(),
            seconds=self.time_limit,
        )
        budget, rng = Budget(seconds=self.time_limit), generator(self.random_state)
        return run(search, problem, budget=budget, rng=rng, watch=watch)

    def _prove(self, problem: AnyProblem, watch: list[Watch]) -> Found:
        """The best tree, proven; with a time limit, the annealed tree and the bound that was reached."""
        if self.time_limit is None:
            return run(Exact(depth=self.depth), problem, watch=watch)
        begin = time.perf_counter()
        start = None if self.depth is not None else self._anneal(problem, watch).structure
        warm = start if isinstance(start, Tree) else None
        left = max(self.time_limit - (time.perf_counter() - begin), 0.0)
        return run(Exact(warm, anytime=True, depth=self.depth), problem, budget=Budget(seconds=left), watch=watch)

    def _learn_greedily(self, problem: AnyProblem, watch: list[Watch]) -> Found:
        """Grow by the leaf-sparse posterior and take the size that this posterior likes best."""
        budget = Budget(seconds=self.time_limit)
        if isinstance(problem.posterior, LeafSparse):
            return run(Greedy(), problem, budget=budget, watch=watch)
        grown = Problem(problem.engine, LeafSparse(pseudocount=self.pseudocount), self.max_leaves)
        found = run(Greedy(), grown, budget=budget, watch=watch)
        wide = max(problem.domain.sizes) > MOST_VALUES
        some = {k: tree for k, tree in found.archive.items() if not wide or k.bit_count() == 1}
        best = max(keep(problem, some).values(), key=lambda kept: kept.log_posterior)
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
            raise ParameterError("warm_start_from", self.warm_start_from, STARTS)
        if source.domain != problem.domain:
            raise DataError(
                "warm_start_from has another domain than this table. Fit with domain= the domain_ of that model."
            )
        return (source,)

    def _remember_rows(self, table: Table) -> None:
        super()._remember_rows(table)
        self._has_path = False

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.search not in SEARCHES:
            raise ParameterError("search", self.search, f"one of {', '.join(map(repr, SEARCHES))}")
        if self.cooling not in COOLINGS:
            raise ParameterError("cooling", self.cooling, f"one of {', '.join(map(repr, COOLINGS))}")
        check_limit("depth", self.depth)
        if self.depth is not None and self.search in ("anneal", "greedy"):
            raise ParameterError("search", self.search, "'exact' or 'auto' where a depth is asked for")
        check_limit("iterations", self.iterations)
        check_whole("restarts", self.restarts)
        check_time(self.time_limit)
        if not isinstance(self.warm_start_from, str | os.PathLike | DensityEstimator | Tree | None):
            raise ParameterError("warm_start_from", self.warm_start_from, STARTS)
        check_seed(self.random_state)
