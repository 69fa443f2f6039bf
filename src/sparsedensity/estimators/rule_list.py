"""The sparse density rule list, method III of the paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

from sklearn.utils.validation import check_is_fitted

from sparsedensity.domain import Domain
from sparsedensity.engines import MemoryEngine
from sparsedensity.errors import DataError, ParameterError, SearchWarning, warn
from sparsedensity.estimators.fitted import check_seed, generator
from sparsedensity.estimators.paths import PathEstimator
from sparsedensity.posterior import Posterior, SparseRules, antecedents_by_size
from sparsedensity.posterior.base import check_positive
from sparsedensity.problem import Problem, check_limit, check_time, check_whole
from sparsedensity.search import (
    AnnealLists,
    Budget,
    ExactLists,
    Found,
    NearOptimalLists,
    estimate_list,
    near_optimal_lists,
    run,
)
from sparsedensity.search.base import Watch
from sparsedensity.search.lists.antecedents import Antecedents
from sparsedensity.search.lists.exact_estimate import too_large
from sparsedensity.search.lists.from_tree import as_rules
from sparsedensity.structures import RuleList, Structure, Tree
from sparsedensity.table import Floats

SEARCHES = ("auto", "anneal", "exact")
AUTO_SECONDS = 0.5
"""As many prefixes as take about so long are visited by default in the hope of a proof."""


class SparseRuleList(PathEstimator):
    """A list of rules: if this then one density, else if that then another, else the last.

    Shorter to read than a tree. Where a proof takes seconds, the list is the best there is; else several Markov chains
    run side by side, and :attr:`search_` says how well they agree (``r_hat``, near 1 when they do).

    Parameters
    ----------
    expected_rules
        How many rules you would like to read (lambda). Data in plenty outweigh this; ``max_rules`` is a hard limit.
    expected_conditions
        How many conditions a rule should have (eta).
    max_conditions
        The most conditions of a rule.
    pseudocount
        Added to every leaf (alpha).
    min_support
        The least weight of the rows that obey a rule, wherever it stands: a weight, or a share below 1.
    max_rules
        The most rules; ``None`` for no limit.
    ordinal_conditions
        On ordered features a condition is one value (``"value"``) or any run of values (``"interval"``).
    search
        ``"anneal"`` walks with several chains; ``"exact"`` walks and then proves the best list, or with a
        ``time_limit`` bounds how much better one could be; ``"auto"`` tries a proof for a few seconds and else walks.
    iterations
        The most proposals of each chain; chains that agree stop earlier.
    restarts
        The number of chains.
    r_hat
        The Gelman-Rubin statistic of the log posterior below which the chains agree.
    time_limit
        Seconds after which the search stops with the best list so far.
    warm_start_from
        A fitted model or a structure, tree or list, from which the first chain starts.
    random_state
        A seed: the same seed finds the same list, whatever the number of jobs.
    density
        ``"mean"`` is the posterior mean and never 0, ``"empirical"`` the share of the rows.
    kinds
        The kind of a column: ``"nominal"``, ``"ordinal"``, ``"continuous"``, or a list of its values in order.
    bins
        Bins of continuous columns: a number (equal widths), ``"quantile"``, ``"quantile:5"``, or by column one of
        these or a list of edges.
    domain
        A declared :class:`Domain`; inferred from the data by default.
    missing
        A missing value is a category of its own (``"category"``), drops its row (``"drop"``) or is an error.
    unknown
        A value outside the domain has density 0 (``"zero"``), goes to the outermost bin if it is a number
        (``"nearest"``) or is an error (``"error"``).
    n_jobs
        Threads for chains and scoring; -1 for all cores.
    progress
        Show progress on a terminal when it takes longer than a second.

    Examples
    --------
    >>> from sparsedensity import SparseRuleList, datasets
    >>> rules = SparseRuleList(max_rules=2).fit(datasets.load("titanic"))
    >>> rules.n_rules_
    2
    >>> [str(leaf) for leaf in rules.leaves_]
    ['age is child', 'class is crew and sex is male', 'everything else']
    """

    title: ClassVar[str] = "Sparse density rule list"
    unit = "rules"
    saved = ("antecedents_",)
    antecedents_: tuple[int, ...]

    def __init__(
        self,
        expected_rules: float = 7,
        *,
        expected_conditions: float = 1,
        max_conditions: int = 2,
        pseudocount: float = 1,
        min_support: float = 0,
        max_rules: int | None = None,
        ordinal_conditions: Literal["value", "interval"] = "value",
        search: Literal["auto", "anneal", "exact"] = "auto",
        iterations: int = 50_000,
        restarts: int = 4,
        r_hat: float = 1.05,
        time_limit: float | None = None,
        warm_start_from: Any = None,
        random_state: Any = 0,
        density: Literal["mean", "empirical"] = "mean",
        kinds: Any = None,
        bins: Any = 10,
        domain: Domain | None = None,
        missing: Literal["category", "drop", "error"] = "category",
        unknown: Literal["zero", "nearest", "error"] = "zero",
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> None:
        self.expected_rules = expected_rules
        self.expected_conditions = expected_conditions
        self.max_conditions = max_conditions
        self.pseudocount = pseudocount
        self.min_support = min_support
        self.max_rules = max_rules
        self.ordinal_conditions = ordinal_conditions
        self.search = search
        self.iterations = iterations
        self.restarts = restarts
        self.r_hat = r_hat
        self.time_limit = time_limit
        self.warm_start_from = warm_start_from
        self.random_state = random_state
        self.density = density
        self.kinds = kinds
        self.bins = bins
        self.domain = domain
        self.missing = missing
        self.unknown = unknown
        self.n_jobs = n_jobs
        self.progress = progress

    @property
    def n_rules_(self) -> int:
        """The number of rules; the else is not one."""
        return int(self.structure_.n_rules)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the density of a table; see :meth:`GreedyTree.fit <sparsedensity.GreedyTree.fit>`.

        Chains that do not agree by the end of their iterations are worth a warning: the list is the best they saw,
        but another seed or more iterations may find a better one.
        """
        super().fit(X, y, sample_weight)
        found = self.found_
        if found.reason == "iterations" and (found.r_hat is None or found.r_hat >= self.r_hat):
            shown = "was not reached" if found.r_hat is None else f"is {found.r_hat:.3g}, not below {self.r_hat}"
            warn(
                f"The chains do not agree yet (R-hat {shown}): this is the best list they saw. Raise iterations, or "
                "limit max_rules.",
                SearchWarning,
            )
        return self

    def near_optimal(self, within: float = 2.0, at_most: int = 1000) -> NearOptimalLists:
        """The lists whose log posterior is within some nats of the best: the set of good models.

        Lists whose rules take the same parts of the domain, with as many conditions, are one. Only where the best list
        can be proven; beyond ``at_most`` the answer says that there are more.

        >>> from sparsedensity import SparseRuleList, datasets
        >>> print(SparseRuleList(max_conditions=1).fit(datasets.load("titanic")).near_optimal(within=3))
        3 within 3 nats of the optimum
        """
        check_is_fitted(self)
        return near_optimal_lists(*self._problem(self._held_rows()), within, at_most)

    @property
    def max_leaves(self) -> int | None:  # type: ignore[override]
        """One leaf a rule, and the else."""
        check_limit("max_rules", self.max_rules)
        return None if self.max_rules is None else self.max_rules + 1

    def _posterior(self, domain: Domain) -> SparseRules:
        counts = self.__dict__.get("antecedents_") if self.min_support else None
        if counts is None:
            counts = antecedents_by_size(domain, self.max_conditions, self.ordinal_conditions)
        return self._belief(counts)

    def _posterior_on(self, engine: MemoryEngine) -> SparseRules:
        return self._belief(self._antecedents(engine).counts)

    def _belief(self, counts: Any) -> SparseRules:
        return SparseRules(tuple(counts), self.expected_rules, self.expected_conditions, self.pseudocount)

    def _antecedents(self, engine: MemoryEngine) -> Antecedents:
        return Antecedents(engine.table, self.max_conditions, self.ordinal_conditions, self.min_support)

    def _learn(self, engine: MemoryEngine, watch: list[Watch]) -> Found:
        problem, antecedents = self._problem(engine)
        if self.search == "exact":
            return self._prove(problem, antecedents, watch)
        if self.search == "anneal" or not estimate_list(problem, antecedents).possible:
            return self._walk(problem, antecedents, watch)
        tried = self._try_to_prove(problem, antecedents, watch)
        if tried.proven or tried.reason == "interrupted":
            return tried
        walked = self._walk(problem, antecedents, watch, spent=tried.seconds)
        assert walked.upper_bound is not None
        assert tried.upper_bound is not None
        return replace(walked, upper_bound=max(walked.log_posterior, min(walked.upper_bound, tried.upper_bound)))

    def _learn_fold(self, engine: MemoryEngine) -> Found:
        return self._walk(*self._problem(engine), [])

    def _problem(self, engine: MemoryEngine) -> tuple[Problem[SparseRules], Antecedents]:
        antecedents = self._antecedents(engine)
        return Problem(engine, self._belief(antecedents.counts), self.max_leaves), antecedents

    def _archive(self, problem: Problem[Any]) -> Mapping[int, Structure]:
        """The best list of every length; a proof knows one length only, so the others are walked to from it."""
        found = self.found_
        if found.method == "exact" and len(found.archive) == 1:
            antecedents = self._antecedents(problem.engine)
            assert isinstance(found.structure, RuleList)
            others = self._walk(problem, antecedents, [], start=found.structure).archive
            self.found_ = replace(found, archive={**others, found.structure.n_rules: found.structure})
        return self.found_.archive

    def _walk(
        self,
        problem: Problem[SparseRules],
        antecedents: Antecedents,
        watch: list[Watch],
        *,
        start: RuleList | None = None,
        spent: float = 0.0,
    ) -> Found:
        """The best list that several chains see."""
        warm = self._warm(problem.domain, antecedents) if start is None else start
        search = AnnealLists(antecedents, self.iterations, self.restarts, self.r_hat, self._jobs(), warm)
        budget = Budget(moves=self.iterations * self.restarts, seconds=self._left(spent))
        return run(search, problem, budget=budget, rng=generator(self.random_state), watch=watch)

    def _left(self, spent: float) -> float | None:
        """What is left of the time limit."""
        return None if self.time_limit is None else max(self.time_limit - spent, 0.0)

    def _prove(self, problem: Problem[SparseRules], antecedents: Antecedents, watch: list[Watch]) -> Found:
        """The best list, proven; with a time limit, the best list known and the bound that was reached."""
        if self.time_limit is None and (ahead := estimate_list(problem, antecedents)).hopeless:
            raise too_large(ahead)
        walked = self._walk(problem, antecedents, watch)
        assert isinstance(walked.structure, RuleList)
        search = ExactLists(antecedents, walked.structure, anytime=True)
        found = run(search, problem, budget=Budget(seconds=self._left(walked.seconds)), watch=watch)
        return replace(
            found,
            seconds=walked.seconds + found.seconds,
            trace=walked.trace + tuple((walked.seconds + seconds, score) for seconds, score in found.trace[1:]),
            archive={**walked.archive, **found.archive},
            r_hat=walked.r_hat,
        )

    def _try_to_prove(self, problem: Problem[SparseRules], antecedents: Antecedents, watch: list[Watch]) -> Found:
        """Visit as many prefixes as take seconds: bounds drop most of them, but how many cannot be foreseen.

        So many prefixes, not seconds, so that the same table gives the same list on any machine.
        """
        prefixes = int(AUTO_SECONDS / max(estimate_list(problem, antecedents).seconds_each, 1e-9))
        search = ExactLists(antecedents, self._warm(problem.domain, antecedents), anytime=True)
        return run(search, problem, budget=Budget(moves=prefixes, seconds=self.time_limit), watch=watch)

    def _warm(self, domain: Domain, antecedents: Antecedents) -> RuleList | None:
        """The list to start from."""
        if self.warm_start_from is None:
            return None
        structure = getattr(self.warm_start_from, "structure_", self.warm_start_from)
        if not isinstance(structure, RuleList | Tree):
            raise ParameterError("warm_start_from", self.warm_start_from, "a fitted model, a tree, a rule list or None")
        if structure.domain != domain:
            raise DataError("The model to start from lives on another domain: fit both with the same domain=.")
        return as_rules(structure, antecedents) if isinstance(structure, Tree) else structure

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_seed(self.random_state)
        if self.search not in SEARCHES:
            raise ParameterError("search", self.search, f"one of {', '.join(map(repr, SEARCHES))}")
        check_time(self.time_limit)
        check_whole("iterations", self.iterations)
        check_whole("restarts", self.restarts)
        check_positive("r_hat", self.r_hat)

    def _settle(self, domain: Domain, posterior: Posterior, found: Found, weights: Floats) -> None:
        super()._settle(domain, posterior, found, weights)
        assert isinstance(posterior, SparseRules)
        self.antecedents_ = posterior.antecedents

    def _size_in_words(self) -> str:
        return f"{self.n_rules_} {'rule' if self.n_rules_ == 1 else 'rules'}"
