"""What the two sparse trees share: how they are searched, by a proof, by annealing, or by growing and pruning."""

from __future__ import annotations

import math
import time
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

from sparsedensity.domain import Domain
from sparsedensity.engines import Engine, whole_table
from sparsedensity.errors import ParameterError
from sparsedensity.kernels import anneal_work
from sparsedensity.models.near_optimal import NearTrees
from sparsedensity.models.parameters import check_word, generator, jobs_of
from sparsedensity.models.paths import searched_rows
from sparsedensity.models.progress import announce_compiling
from sparsedensity.models.searched import SearchedModel
from sparsedensity.models.warm_start import check_start, start_on
from sparsedensity.posterior import Posterior, TreePosterior, profile_leaf
from sparsedensity.posterior.profiles import check_profile
from sparsedensity.problem import AnyProblem, Problem, check_limit, check_restarts, check_time
from sparsedensity.search import Anneal, Budget, Exact, Found, Greedy, estimate, near_optimal, run
from sparsedensity.search.base import Watch, better_of
from sparsedensity.search.trees.anneal import is_too_wide
from sparsedensity.search.trees.anneal_chain import COOLINGS
from sparsedensity.search.trees.exact.estimate import gives_every_size, sizes_kept
from sparsedensity.structures import Structure, Tree
from sparsedensity.table import Floats

LEAVES = ("uniform", "profile")
PRIORS = ("paper", "calibrated")
SEARCHES = ("auto", "anneal", "exact", "greedy")
AUTO_SECONDS = 10.0
"""A proof that is estimated to take no longer is made by default."""
AT_ONCE = 0.1
"""A proof that is estimated to take longer begins with the greedy tree, so that there is one if it is cut short."""
MOST_VALUES = 2000
"""A table with a feature of more values is searched greedily: its groupings are too many to anneal."""
FOLD_SECONDS = 0.5
"""A fold is proven if that is estimated to take no longer: about as long as its short search."""
PATH_EFFORT = 0.25
"""The effort for the other sizes of a path, if the tree of one size is proven."""
FEW_PROPOSALS = 100
"""Enough for a quick look at what more leaves would buy."""
STARTS = "a fitted tree, the path of a saved one, 'greedy' or None"


@dataclass(eq=False, repr=False, kw_only=True)
class SparseTree(SearchedModel):
    """The tree with the highest posterior probability.

    Parameters
    ----------
    pseudocount
        Added to every leaf or branch (alpha), any number above 0.
    leaf
        ``"uniform"`` spreads the records of a leaf evenly; with ``"profile"`` every feature of a leaf either follows
        the whole table or has a profile of its own, so that a few leaves say more.
    profile_pseudocount, profile_probability
        How strongly a profile of its own is drawn to the whole table (a number above 0), and how probable one is.
    prior
        ``"paper"`` weighs a number of leaves by the number of trees that have it, so that the choice among them is
        free; ``"calibrated"`` charges for it: noise then has one leaf. By default (``None``) uniform leaves take the
        paper's and profiles the calibrated one.
    max_leaves
        The most leaves, a limit the search optimises under; ``None`` for no limit.
    search
        ``"exact"`` proves the best tree, ``"anneal"`` searches by simulated annealing and rebuilding, ``"greedy"``
        grows and prunes. ``"auto"`` proves if an estimate says seconds, else it anneals; ``search_`` says which.
    depth
        The best tree of at most so many levels, proven; feasible on wide tables too.
    iterations
        Proposals of each restart; by default as many as the size of the table calls for.
    restarts
        How many searches run side by side, before they learn from each other; by default 24, or 6 longer ones with
        profiles.
    cooling
        How the temperature falls: ``"geometric"`` or ``"linear"``.
    time_limit
        Seconds after which the search stops with the best so far.
    warm_start_from
        A fitted tree, or the path of a saved one, to start from; ``"greedy"`` for the greedy tree.
    honest, random_state
        As in :class:`SearchedModel`.
    density, kinds, bins, domain, missing, unknown, n_jobs, progress
        As in :class:`DensityModel`.
    """

    unit = "leaves"

    pseudocount: float = 2
    leaf: Literal["uniform", "profile"] = "uniform"
    profile_pseudocount: float = 2
    profile_probability: float = 0.5
    prior: Literal["paper", "calibrated"] | None = None
    max_leaves: int | None = 100
    search: Literal["auto", "anneal", "exact", "greedy"] = "auto"
    depth: int | None = None
    iterations: int | None = None
    restarts: int | None = None
    cooling: Literal["geometric", "linear"] = "geometric"
    time_limit: float | None = None
    warm_start_from: Any = None

    @abstractmethod
    def belief(self) -> TreePosterior:
        """What is believed, on any domain, if the choice among splits is free."""

    def check_parameters(self) -> None:
        """Refuse invalid parameters before any row is read."""
        super().check_parameters()
        self.belief()
        check_word("leaf", self.leaf, LEAVES)
        check_profile(self.profile_pseudocount, self.profile_probability)
        if self.prior is not None:
            check_word("prior", self.prior, PRIORS)
        check_word("search", self.search, SEARCHES)
        check_word("cooling", self.cooling, COOLINGS)
        check_limit("depth", self.depth)
        if self.depth is not None and self.search in ("anneal", "greedy"):
            raise ParameterError("search", self.search, "'exact' or 'auto' if a depth is given")
        check_limit("iterations", self.iterations)
        if self.restarts is not None:
            check_restarts(self.restarts)
        check_time(self.time_limit)
        check_start(self.warm_start_from, STARTS)

    def posterior(self, domain: Domain, value_weights: Floats | None = None) -> TreePosterior:
        """What is believed, given the weight at every value if rows have been seen."""
        belief = self.belief()
        if self.leaf == "profile":
            profile = profile_leaf(domain, value_weights, self.profile_pseudocount, self.profile_probability)
            belief = belief.with_leaf(profile)
        calibrated = self.leaf == "profile" if self.prior is None else self.prior == "calibrated"
        return belief.calibrated(domain) if calibrated else belief

    def near_optimal(self, within: float = 2.0, at_most: int = 1000) -> NearTrees[Self]:
        """The trees whose log posterior is within some nats of the best: the set of good models.

        Each of its ``trees`` is a fitted model; printed, they say what all of them share and where they differ.

        Trees with the same leaves are one; if the posterior tells them apart by their splits, those that differ in
        the order of children only. Works only if the best tree can be proven; beyond ``at_most`` the answer says that
        there are more.

        >>> from sparsedensity import LeafSparseTree, datasets
        >>> near = LeafSparseTree().fit(datasets.load("titanic")).near_optimal(within=3)
        >>> print(near.to_text().splitlines()[0])
        5 trees within 3 nats of the optimum, with 9 to 10 leaves
        >>> [tree.n_leaves_ for tree in near.trees]
        [9, 10, 10, 10, 10]
        """
        self.check_parameters()
        found = near_optimal(self._problem(searched_rows(self)), within, at_most, depth=self.depth)
        return NearTrees(self, found.listed, found.within, found.complete)

    def learn(self, engine: Engine, watch: list[Watch]) -> tuple[Posterior, Found]:
        """Search as the parameter says; ``"auto"`` proves if an estimate says seconds, and else anneals."""
        problem = self._problem(engine)
        return problem.posterior, self._search(problem, self._given_start(engine.domain), watch)

    def learn_fold(self, engine: Engine, effort: float) -> Found:
        """The best trees of all sizes, from a proof if one is quick to make, else from a short search."""
        start = self._given_start(engine.domain)
        return self._all_sizes(self._problem(engine), start, min(effort, 1.0), most_seconds=FOLD_SECONDS)

    def learn_beyond(self, engine: Engine, limit: int) -> Found | None:
        """A quick look from the fitted tree under another limit; with a depth it would take another proof."""
        if self.depth is not None:
            return None
        wider = replace(self, max_leaves=limit, restarts=1, iterations=FEW_PROPOSALS)
        problem = wider._problem(engine)
        return wider._grow(problem, []) if self.search == "greedy" else wider._anneal(problem, self.structure_, [])

    def choose(self, engine: Engine, found: Found) -> Structure:
        """The best tree that the fold saw; with a depth, which the other sizes do not heed, the one that is proven."""
        return found.structure if self.depth is None else self._prove(self._problem(engine), None, []).structure

    def every_size(self, engine: Engine, found: Found) -> Mapping[int, Structure]:
        """The best tree of every size; if a proof knows only some of them, the others are annealed from its tree."""
        problem, tree = self._problem(engine), found.structure
        if found.archive and (found.method != "exact" or len(found.archive) == sizes_kept(problem)):
            return found.archive
        assert isinstance(tree, Tree)
        others = self._all_sizes(problem, tree, PATH_EFFORT).archive
        return better_of(problem, {tree.n_leaves: tree, **found.archive}, others)

    def _all_sizes(
        self, problem: AnyProblem, start: Tree | None, effort: float, *, most_seconds: float = math.inf
    ) -> Found:
        """The best trees of all sizes: from a proof if it is said to take no more seconds, else from a short search."""
        if self.search == "greedy":
            return self._grow(problem, [])
        proves = self.depth is None and self._proves(problem) and estimate(problem).seconds <= most_seconds
        if proves and gives_every_size(problem):
            found = self._search(problem, start, [])
            if len(found.archive) == sizes_kept(problem):
                return found
        return self._anneal(problem, start, [], effort=effort)

    def _problem(self, engine: Engine) -> AnyProblem:
        seen = None if self.leaf == "uniform" else engine.value_weights()
        return Problem(engine, self.posterior(engine.domain, seen), self.max_leaves)

    def _search(self, problem: AnyProblem, start: Tree | None, watch: list[Watch]) -> Found:
        if self.search == "greedy":
            return self._grow(problem, watch)
        if self.search == "exact" or self.depth is not None:
            return self._prove(problem, start, watch)
        if self._proves(problem):
            warm = self._grow(problem, []).structure if estimate(problem).seconds > AT_ONCE else None
            search = Exact(warm if isinstance(warm, Tree) else None, anytime=True)
            return run(search, problem, budget=Budget(seconds=self.time_limit), watch=watch)
        return self._anneal(problem, start, watch)

    def _proves(self, problem: AnyProblem) -> bool:
        """Whether to try a proof: if told so, or if the estimate says seconds, and at most half of the time limit."""
        half = math.inf if self.time_limit is None else self.time_limit / 2
        return self.search == "exact" or (
            self.search == "auto" and estimate(problem).seconds <= min(AUTO_SECONDS, half)
        )

    def _anneal(self, problem: AnyProblem, start: Tree | None, watch: list[Watch], *, effort: float = 1.0) -> Found:
        if max(problem.domain.sizes) > MOST_VALUES or is_too_wide(problem):
            return self._grow(problem, watch)
        announce_compiling(anneal_work.work)
        starts, jobs = self._starts(problem, start), jobs_of(self.n_jobs)
        seconds = None if self.time_limit is None else self.time_limit * effort
        search = Anneal(
            self.restarts, self.iterations, self.cooling, starts=starts, effort=effort, jobs=jobs, seconds=seconds
        )
        budget, rng = Budget(seconds=seconds), generator(self.random_state)
        return run(search, problem, budget=budget, rng=rng, watch=watch)

    def _prove(self, problem: AnyProblem, start: Tree | None, watch: list[Watch]) -> Found:
        """The best tree, proven; with a time limit, the annealed tree and the bound that was reached."""
        whole_table(problem.engine)
        if self.time_limit is None:
            return run(Exact(depth=self.depth), problem, watch=watch)
        begin = time.perf_counter()
        annealed = None if self.depth is not None else self._anneal(problem, start, watch)
        if annealed is not None and annealed.reason == "interrupted":
            return annealed
        warm = annealed.structure if annealed is not None and isinstance(annealed.structure, Tree) else None
        left = max(self.time_limit - (time.perf_counter() - begin), 0.0)
        return run(Exact(warm, anytime=True, depth=self.depth), problem, budget=Budget(seconds=left), watch=watch)

    def _grow(self, problem: AnyProblem, watch: list[Watch]) -> Found:
        return run(Greedy(), problem, budget=Budget(seconds=self.time_limit), watch=watch)

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
