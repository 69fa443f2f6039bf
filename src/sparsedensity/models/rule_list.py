"""The sparse density rule list, method III of the paper: a proof, Markov chains, or chains and then a proof."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Literal, Self

from sparsedensity.domain import Domain
from sparsedensity.engines import Engine, Searched, whole_table
from sparsedensity.errors import SearchWarning, warn
from sparsedensity.kernels import list_moves
from sparsedensity.models.near_optimal import NearLists
from sparsedensity.models.parameters import check_word, generator, jobs_of
from sparsedensity.models.paths import searched_rows
from sparsedensity.models.progress import announce_compiling
from sparsedensity.models.searched import SearchedModel
from sparsedensity.models.warm_start import check_start, start_on
from sparsedensity.posterior import SparseRules, antecedents_by_size
from sparsedensity.posterior.base import check_positive
from sparsedensity.problem import Problem, check_limit, check_restarts, check_time
from sparsedensity.report.words import counted
from sparsedensity.scalars import check_whole
from sparsedensity.search import (
    AnnealLists,
    Budget,
    ExactLists,
    Found,
    estimate_list,
    near_optimal_lists,
    run,
)
from sparsedensity.search.base import Watch
from sparsedensity.search.lists.antecedents import Antecedents
from sparsedensity.search.lists.exact_estimate import too_large
from sparsedensity.search.lists.from_tree import as_rules
from sparsedensity.structures import RuleList, Structure, Tree

SEARCHES = ("auto", "anneal", "exact")
AUTO_SECONDS = 0.5
"""As many prefixes as take about so long are visited by default in the hope of a proof."""
SAMPLE = 60_000
"""The rows that are searched if an engine cannot bring all distinct ones home."""
FEW_PROPOSALS = 2_000
"""Enough for a quick look at what more rules would buy."""
STARTS = "a fitted tree or rule list, the path of a saved one, or None"


@dataclass(eq=False, repr=False)
class SparseRuleList(SearchedModel):
    """A list of rules: if this then one density, else if that then another, else the last.

    Shorter to read than a tree. If a proof takes seconds, the list is the best there is; if not, ladders of Markov
    chains at several temperatures run side by side, and :attr:`search_` says how well they agree: ``r_hat``, near 1
    when they do, ``spread``, how far apart their best lists are, and ``modes``, these lists, if they do not.

    Parameters
    ----------
    expected_rules
        How many rules you would like to read (lambda). With many rows the data outweigh it: see ``max_rules``.
    expected_conditions
        How many conditions a rule should have (eta).
    max_conditions
        The most conditions of a rule.
    pseudocount
        Added to every leaf (alpha).
    min_support
        The least weight of the rows that meet a rule, wherever it stands: a weight, or a share below 1.
    max_rules
        The most rules, a hard limit; ``None`` for no limit.
    ordinal_conditions
        On ordered features a condition is one value (``"value"``) or any run of values (``"interval"``).
    search
        ``"anneal"`` runs several chains; ``"exact"`` runs them and then proves the best list, or with a ``time_limit``
        bounds how much better one could be; ``"auto"`` tries a proof for a moment and runs the chains if that fails.
    iterations
        The most proposals of each ladder of chains; ladders that agree stop earlier. A look at all antecedents counts
        as many proposals as would take the same time.
    restarts
        The number of ladders.
    r_hat
        The Gelman-Rubin statistic of the log posterior below which the chains agree.
    time_limit
        Seconds after which the search stops with the best list so far.
    warm_start_from
        A fitted tree or rule list, or the path of a saved one, from which the first chain starts.
    honest, random_state
        As in :class:`SearchedModel`.
    density, kinds, bins, domain, missing, unknown, n_jobs, progress
        As in :class:`DensityModel`.

    Examples
    --------
    >>> from sparsedensity import SparseRuleList, datasets
    >>> rules = SparseRuleList(max_rules=2).fit(datasets.load("titanic"))
    >>> rules.n_rules_
    2
    >>> [str(leaf) for leaf in rules.leaves_]
    ['age is child', 'class is crew and sex is male and none of the rules above', 'none of the rules above']
    """

    title: ClassVar[str] = "Sparse density rule list"
    unit = "rules"
    from_rows = ("antecedents",)

    expected_rules: float = 7
    _: KW_ONLY
    expected_conditions: float = 1
    max_conditions: int = 2
    pseudocount: float = 1
    min_support: float = 0
    max_rules: int | None = None
    ordinal_conditions: Literal["value", "interval"] = "value"
    search: Literal["auto", "anneal", "exact"] = "auto"
    iterations: int = 400_000
    restarts: int = 2
    r_hat: float = 1.05
    time_limit: float | None = None
    warm_start_from: Any = None

    @property
    def n_rules_(self) -> int:
        """The number of rules; the else is not one."""
        return int(self.structure_.n_rules)

    def size_in_words(self) -> str:
        """How much there is to read."""
        return counted(self.n_rules_, "rule", "rules")

    def check_parameters(self) -> None:
        """Refuse invalid parameters before any row is read."""
        super().check_parameters()
        check_word("search", self.search, SEARCHES)
        check_limit("max_rules", self.max_rules)
        check_time(self.time_limit)
        check_whole("iterations", self.iterations)
        check_restarts(self.restarts)
        check_positive("r_hat", self.r_hat)
        check_start(self.warm_start_from, STARTS)

    def posterior(self, domain: Domain) -> SparseRules:
        """What is believed before any row is seen, if rules may use every antecedent of a domain."""
        return self._belief(antecedents_by_size(domain, self.max_conditions, self.ordinal_conditions))

    def learn(self, engine: Engine, watch: list[Watch]) -> tuple[SparseRules, Found]:
        """Search as the parameter says, and warn if the chains do not agree."""
        problem, antecedents = self._problem(engine)
        found = self._search(problem, antecedents, watch)
        if found.reason == "iterations" and (found.r_hat is None or found.r_hat >= self.r_hat):
            reached = "was not reached" if found.r_hat is None else f"is {found.r_hat:.3g}, not below {self.r_hat}"
            ended, lists = "this is the best list they saw", sum(mode.restarts > 0 for mode in found.modes)
            if lists > 1:
                apart = f"the posterior has several modes, {found.spread:.3g} nats apart (search_.modes)"
                ended = f"they ended at {lists} lists; {apart}"
            warn(
                f"The chains do not agree yet (R-hat {reached}): {ended}. Raise iterations, or limit max_rules.",
                SearchWarning,
            )
        return problem.posterior, found

    def learn_fold(self, engine: Engine, effort: float) -> Found:
        """The best lists of all lengths that fewer chains see: each takes its time to climb, however few they are."""
        chains = max(1, round(self.restarts * min(effort, 1.0)))
        share = min(1.0, effort * self.restarts / chains)
        short = replace(
            self,
            restarts=chains,
            iterations=max(1, round(self.iterations * share)),
            time_limit=None if self.time_limit is None else self.time_limit * effort,
        )
        return short._walk(*self._problem(engine), [])

    def learn_beyond(self, engine: Engine, limit: int) -> Found | None:
        """A quick look from the fitted list under another limit, by one chain."""
        wider = replace(self, max_rules=limit, restarts=1, iterations=FEW_PROPOSALS)
        return wider._walk(*wider._problem(engine), [], start=self.structure_)

    def every_size(self, engine: Engine, found: Found) -> Mapping[int, Structure]:
        """The best list of every length; a proof is about one length, so the chains walk to the others from there."""
        if len(found.archive) > 1 or (found.archive and found.method != "exact"):
            return found.archive
        rules = found.structure
        assert isinstance(rules, RuleList)
        return {**self._walk(*self._problem(engine), [], start=rules).archive, rules.n_rules: rules}

    def near_optimal(self, within: float = 2.0, at_most: int = 1000) -> NearLists[Self]:
        """The lists whose log posterior is within some nats of the best: the set of good models.

        Each of its ``lists`` is a fitted model; printed, they say what all of them share and where they differ.

        Lists whose rules take the same parts of the domain, with as many conditions, are one. Works only if the best
        list can be proven; beyond ``at_most`` the answer says that there are more.

        >>> from sparsedensity import SparseRuleList, datasets
        >>> print(SparseRuleList(max_conditions=1).fit(datasets.load("titanic")).near_optimal(within=3))
        3 lists within 3 nats of the optimum, with 5 rules
        Columns in all of them: class, sex, age
        <BLANKLINE>
                         lists
        In all of them
          age is child       3
          class is 1st       3
          sex is female      3
        In some of them
          class is 2nd       2
          class is crew      2
          class is 3rd       2
        """
        self.check_parameters()
        found = near_optimal_lists(*self._problem(searched_rows(self)), within, at_most)
        return NearLists(self, found.listed, found.within, found.complete)

    def _belief(self, counts: tuple[int, ...]) -> SparseRules:
        return SparseRules(counts, self.expected_rules, self.expected_conditions, self.pseudocount)

    def _problem(self, engine: Engine) -> tuple[Problem[SparseRules], Antecedents]:
        """The problem and the antecedents, which are mined once for the prior and the search alike."""
        table, sampled = Searched.of(engine, SAMPLE, generator(self.random_state))
        antecedents = Antecedents(table, self.max_conditions, self.ordinal_conditions, self.min_support, sampled)
        most = None if self.max_rules is None else self.max_rules + 1  # the else is a leaf too
        return Problem(engine, self._belief(antecedents.counts), most), antecedents

    def _search(self, problem: Problem[SparseRules], antecedents: Antecedents, watch: list[Watch]) -> Found:
        if self.search == "exact":
            return self._prove(problem, antecedents, watch)
        sampled = antecedents.sampled is not None
        if self.search == "anneal" or sampled or not estimate_list(problem, antecedents).possible:
            return self._walk(problem, antecedents, watch)
        tried = self._try_to_prove(problem, antecedents, watch)
        if tried.proven or tried.reason == "interrupted":
            return tried
        walked = self._walk(problem, antecedents, watch, spent=tried.seconds)
        assert walked.upper_bound is not None
        assert tried.upper_bound is not None
        return replace(walked, upper_bound=max(walked.log_posterior, min(walked.upper_bound, tried.upper_bound)))

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
        announce_compiling(list_moves.work)
        first = self._start(antecedents) if start is None else start
        search = AnnealLists(antecedents, self.iterations, self.restarts, self.r_hat, jobs_of(self.n_jobs), first)
        budget = Budget(moves=self.iterations * self.restarts, seconds=self._left(spent))
        return run(search, problem, budget=budget, rng=generator(self.random_state), watch=watch)

    def _prove(self, problem: Problem[SparseRules], antecedents: Antecedents, watch: list[Watch]) -> Found:
        """The best list, proven; with a time limit, the best list known and the bound that was reached."""
        whole_table(problem.engine)
        if self.time_limit is None and (ahead := estimate_list(problem, antecedents)).hopeless:
            raise too_large(ahead)
        walked = self._walk(problem, antecedents, watch)
        if walked.reason == "interrupted":
            return walked
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
        search = ExactLists(antecedents, self._start(antecedents), anytime=True)
        return run(search, problem, budget=Budget(moves=prefixes, seconds=self.time_limit), watch=watch)

    def _left(self, spent: float) -> float | None:
        """What is left of the time limit."""
        return None if self.time_limit is None else max(self.time_limit - spent, 0.0)

    def _start(self, antecedents: Antecedents) -> RuleList | None:
        """The list to start from; a tree becomes one."""
        if self.warm_start_from is None:
            return None
        start = start_on(antecedents.table.domain, self.warm_start_from, STARTS)
        return as_rules(start, antecedents) if isinstance(start, Tree) else start
