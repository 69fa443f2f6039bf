"""What an exact search for rule lists would take at most, known before it begins."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sparsedensity.engines import whole_table
from sparsedensity.errors import DataError
from sparsedensity.kernels.list_terms import most_evidence
from sparsedensity.posterior.rule_list import ListPosterior, ListTerms
from sparsedensity.problem import Problem
from sparsedensity.search.bounds import log_volume_of_rows
from sparsedensity.search.lists.antecedents import MOST_LISTED, Antecedents
from sparsedensity.search.lists.exact_arrays import count_uses
from sparsedensity.search.trees.exact.estimate import MOST_BYTES, MOST_SECONDS, about, as_float
from sparsedensity.structures import RuleList
from sparsedensity.table import Floats

MOST_POINTS, MOST_BITS = 1 << 14, 1 << 25
"""The most points of a domain, and points times antecedents, that are looked at one by one."""
MOST_PRIORS = 1 << 24
"""The most numbers in a table of the prior."""
SECONDS_PER_RULE, POINTS_PER_RULE = 4e-7, 32
"""As measured: to try one rule after one prefix; looking at so many points takes as long again."""


@dataclass(frozen=True)
class ListEstimate:
    """What a proof would take at most, known before it begins."""

    prefixes: float
    """The most states there can be: that bounds will drop most of them is not foreseen."""
    bytes: float
    seconds_each: float
    """To extend one prefix by every rule."""
    possible: bool = True
    """Whether the points and priors fit into tables at all."""

    @property
    def seconds(self) -> float:
        """The time for all prefixes."""
        return self.prefixes * self.seconds_each

    @property
    def hopeless(self) -> bool:
        """Whether a proof is out of reach."""
        return not self.possible or self.bytes > MOST_BYTES or self.seconds > MOST_SECONDS


def estimate_list(
    problem: Problem[ListPosterior], antecedents: Antecedents, at_least: float | None = None
) -> ListEstimate:
    """The prefixes, memory and time of an exact search at most, given the log posterior of a list known."""
    counts = antecedents.counts
    points, total = math.prod(problem.domain.sizes), sum(counts)
    too_many = points > MOST_POINTS or total > MOST_LISTED or points * total > MOST_BITS
    if too_many or problem.engine.collapsed() is None:
        return ListEstimate(math.inf, math.inf, math.inf, possible=False)
    known = problem.score(RuleList.of(problem.domain, [])) if at_least is None else at_least
    longest = longest_of(problem, antecedents, known)
    uses = count_uses(counts, longest)
    prefixes = sum(min(as_float(math.comb(total, m)), 2.0 ** min(points, 1000) * uses[m]) for m in range(longest + 1))
    width = 8 * (-(-points // 64) + 9)
    possible = sum(uses) * (longest + 1) <= MOST_PRIORS
    return ListEstimate(prefixes, prefixes * width, seconds_per_prefix(total, points), possible)


def seconds_per_prefix(rules: int, points: int) -> float:
    """To extend one prefix by so many rules."""
    return rules * SECONDS_PER_RULE * (1 + points / POINTS_PER_RULE)


def longest_of(problem: Problem[ListPosterior], antecedents: Antecedents, known: float) -> int:
    """No list of more rules than this is better than one that is known."""
    total = sum(antecedents.counts)
    limit = min(total, (problem.max_leaves or total + 1) - 1)
    if not limit:
        return 0
    used: Floats = np.arange(limit, dtype=np.float64)
    fewest = np.min(np.maximum(np.array([c for c in antecedents.counts if c])[:, None] - used, 1.0), axis=0)
    cheapest = np.concatenate([[0.0], -np.cumsum(np.log(fewest))])
    bounds: Floats = np.empty(limit + 1)
    most_evidence(terms_of(problem, limit), problem.engine.n, bounds)
    return int(np.max(np.flatnonzero(bounds + cheapest + _fit_of_rows(problem) > known), initial=0))


def terms_of(problem: Problem[ListPosterior], most_rules: int) -> ListTerms:
    """The terms of lists of up to so many rules."""
    return problem.posterior.terms(problem.engine.n, problem.domain.log_volume, most_rules)


def too_large(ahead: ListEstimate) -> DataError:
    """The sentence for a table whose proof is out of reach."""
    return DataError(
        f"An exact search for rule lists of this table could visit {about(ahead.prefixes)} prefixes and take "
        f"{about(ahead.bytes / 1e9)} GB of memory and {about(ahead.seconds / 60)} minutes. Use search='anneal', set a "
        "time_limit to get the best list known with a bound, lower max_rules or max_conditions, or raise min_support."
    )


def _fit_of_rows(problem: Problem[ListPosterior]) -> float:
    """The sum over distinct rows of n ln (n / V), volumes relative to the whole domain."""
    engine = problem.engine
    weights = whole_table(engine).weights
    return float(weights @ np.log(weights) - log_volume_of_rows(engine) + engine.n * engine.domain.log_volume)
