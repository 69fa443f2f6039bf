"""Method III: the prior says how many rules, of how many conditions, a person wants to read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc, gammaln

from sparsedensity.domain import Domain, Feature
from sparsedensity.errors import ParameterError
from sparsedensity.posterior.base import (
    Posterior,
    PriorBound,
    beta_intervals,
    check_positive,
    check_pseudocount,
    log_dirichlet,
    log_volume_terms,
    mean_log_probabilities,
)
from sparsedensity.scalars import MOST, is_one_of, is_whole
from sparsedensity.structures import Condition, RuleList
from sparsedensity.table import Floats

OrdinalConditions = Literal["value", "interval"]
MOST_COUNTED = 1_000_000
"""Numbers of rules beyond this are bounded together."""
LENGTH = np.dtype([("log_prior", np.float64), ("log_evidence", np.float64)], align=True)
SIZE = np.dtype([("log_rate", np.float64), ("antecedents", np.float64)], align=True)


class ListTerms(NamedTuple):
    """A log posterior of rule lists as data; volumes are relative to the whole domain.

    A list has a term for its number of rules; for each rule that of its size, less that of all sizes which still have
    an unused antecedent and less the log of how many of its size are unused; and for each leaf
    lnG(n_l + a) - lnG(a) - n_l ln V_l.
    """

    of_length: NDArray[Any]
    """For every number of rules from 0 on, what it alone adds to the log prior and to the log evidence."""
    of_size: NDArray[Any]
    """For every number of conditions from 0 on, the log rate of the size and how many antecedents have it."""
    of_weight: Floats
    """lnG(w + a) - lnG(a) for the whole weights w from 0 on; at least for 0."""
    pseudocount: float
    log_gamma: float
    """lnG(a)."""


class ListPosterior(Posterior, Protocol):
    """What a search for rule lists asks of a posterior."""

    def terms(self, n: float, log_volume: float, most_rules: int, most_weight: int = 0) -> ListTerms:
        """The terms of lists of up to so many rules.

        For rows of total weight n on a domain of so much volume; whole weights up to the given one are looked up.
        """

    def best_log_prior(self, domain: Domain, most_leaves: int) -> PriorBound:
        """The log prior of the empty list, and what no other list's exceeds."""


@dataclass(frozen=True)
class SparseRules:
    """Poisson priors on the number of rules (lambda) and of conditions (eta), one Dirichlet over the leaves (alpha).

    ``antecedents`` says how many antecedents of 1, 2, .. conditions there are to choose from
    (:func:`antecedents_by_size`, or the counts of a mined set).

    >>> prior = SparseRules(antecedents=(8, 20))
    >>> float(prior.log_length(0)) == -prior.log_norm
    True
    """

    antecedents: tuple[int, ...]
    expected_rules: float = 7.0
    expected_conditions: float = 1.0
    pseudocount: float = 1.0
    as_printed: bool = False
    """Drop the Dirichlet constant lnG((m+1) a) - (m+1) lnG(a), as the paper's last line does."""

    even: ClassVar[bool] = True
    """What a rule leaves over is no box, so records are spread evenly in it,"""
    bounded: ClassVar[bool] = True
    """and the term of a leaf is the log of a density."""

    def __post_init__(self) -> None:
        check_positive("expected_rules", self.expected_rules)
        check_positive("expected_conditions", self.expected_conditions)
        check_pseudocount(self.pseudocount)
        if any(count < 0 for count in self.antecedents):
            raise ParameterError("antecedents", self.antecedents, "counts of 0 or more")

    @property
    def log_norm(self) -> float:
        """Ln of the sum over j = 0..|A| of lambda^j / j!, which tends to lambda as |A| grows."""
        total, rate = sum(self.antecedents), self.expected_rules
        tail = float(gammaincc(total + 1, rate)) if total < 1e15 else 1.0
        if tail > 1e-300:
            return rate + math.log(tail)
        return float(np.logaddexp.reduce(_log_poisson(np.arange(total + 1), rate)))

    def log_length(self, rules: Any) -> Any:
        """Ln P(m), for one number of rules or an array of them: Poisson(lambda) truncated to 0..|A|."""
        return _log_poisson(rules, self.expected_rules) - self.log_norm

    def log_sizes(self, unused: Any) -> Floats:
        """Ln P(c_j | c_<j) for the sizes from 1 on: Poisson(eta) truncated to those with an unused antecedent."""
        rates = _log_poisson(np.arange(1, len(self.antecedents) + 1), self.expected_conditions)
        return log_available_sizes(rates, unused)

    def log_prior(self, sizes: Sequence[int]) -> float:
        """The log prior of a list whose rules have these numbers of conditions, in order."""
        unused = list(self.antecedents)
        log = float(self.log_length(len(sizes)))
        for size in sizes:
            if not 1 <= size <= len(unused) or unused[size - 1] <= 0:
                return -math.inf
            log += float(self.log_sizes(unused)[size - 1]) - math.log(unused[size - 1])
            unused[size - 1] -= 1
        return log

    def log_posterior(self, structure: RuleList, weights: Floats) -> float:
        """Prior of the list, Dirichlet over its m + 1 leaves, and the exact volumes."""
        sizes = np.diff(structure.start).tolist()
        dirichlet = log_dirichlet(weights, self.pseudocount) - float(self._log_dropped(len(weights)))
        return self.log_prior(sizes) + dirichlet + log_volume_terms(weights, structure.log_volumes)

    def terms(self, n: float, log_volume: float, most_rules: int, most_weight: int = 0) -> ListTerms:
        """The log posterior as tables; see :class:`ListPosterior`."""
        a = float(self.pseudocount)
        of_length, of_size = np.empty(most_rules + 1, LENGTH), np.zeros(len(self.antecedents) + 1, SIZE)
        rules = np.arange(most_rules + 1.0)
        leaves = rules + 1
        of_length["log_prior"] = self.log_length(rules)
        of_length["log_evidence"] = -gammaln(n + leaves * a) - n * log_volume
        of_length["log_evidence"] += gammaln(leaves * a) - self._log_dropped(leaves)
        of_size["log_rate"] = _log_poisson(np.arange(len(of_size)), self.expected_conditions)
        of_size["antecedents"][1:] = self.antecedents
        of_weight: Floats = gammaln(np.arange(most_weight + 1) + a) - math.lgamma(a)
        return ListTerms(of_length, of_size, of_weight, a, math.lgamma(a))

    def best_log_prior(self, domain: Domain, most_leaves: int) -> PriorBound:
        """The empty list, and the best length, each rule for free; a dropped Dirichlet constant is given back."""
        rules = np.arange(min(sum(self.antecedents), MOST_COUNTED) + 1.0)
        logs = self.log_length(rules) - self._log_dropped(rules + 1)
        return PriorBound(float(logs[0]), float(logs.max()))

    def _log_dropped(self, leaves: Any) -> Any:
        """The Dirichlet constant of so many leaves, if it is dropped."""
        a = self.pseudocount
        return gammaln(leaves * a) - leaves * math.lgamma(a) if self.as_printed else 0.0 * leaves

    def log_probabilities(self, structure: RuleList, weights: Floats) -> Floats:
        """Ln (n_l + a) / (n + K a), K the leaves of positive volume."""
        return mean_log_probabilities(weights, structure.log_volumes, self.pseudocount)

    def intervals(self, structure: RuleList, weights: Floats, level: float = 0.95) -> Floats:
        """Beta quantiles."""
        return beta_intervals(weights, structure.log_volumes, self.pseudocount, level)


def log_available_sizes(log_rates: Floats, unused: Any) -> Floats:
    """Log probabilities of sizes, truncated to those (in the last axis) that still have an unused antecedent."""
    with np.errstate(invalid="ignore"):
        logs = np.where(np.asarray(unused) > 0, log_rates, -np.inf)
        shares: Floats = logs - np.logaddexp.reduce(logs, axis=-1, keepdims=True)
    return np.nan_to_num(shares, nan=-np.inf, neginf=-np.inf)


def _log_poisson(k: Any, rate: float) -> Any:
    """Ln of rate^k / k!."""
    return k * math.log(rate) - gammaln(k + 1)


def antecedents_by_size(
    domain: Domain, max_conditions: int, ordinal_conditions: OrdinalConditions = "value"
) -> tuple[int, ...]:
    """How many conjunctions of 1, 2, .. conditions on different features a domain has, counted exactly.

    The paper's example, features of 2, 3, 4 and 5 values and at most two conditions (without the empty one):

    >>> four = Domain(tuple(Feature.nominal(str(q), range(q)) for q in (2, 3, 4, 5)))
    >>> antecedents_by_size(four, 2)
    (14, 71)
    """
    if not is_whole(max_conditions) or not 1 <= max_conditions <= MOST:
        raise ParameterError("max_conditions", max_conditions, "a whole number of 1 or more")
    counts = [1] + [0] * min(max_conditions, len(domain))
    for feature in domain:
        conditions = conditions_of(feature, ordinal_conditions)
        for size in range(len(counts) - 1, 0, -1):
            counts[size] += counts[size - 1] * conditions
    return tuple(counts[1:])


def conditions_of(feature: Feature, ordinal_conditions: OrdinalConditions = "value") -> int:
    """How many conditions one feature offers: its values, or the runs of an ordered feature and missing alone.

    A run that allows everything says nothing and is none.

    >>> conditions_of(Feature.ordinal("size", ("s", "m", "l")), "interval")
    5
    """
    if not is_one_of(ordinal_conditions, ("value", "interval")):
        raise ParameterError("ordinal_conditions", ordinal_conditions, "'value' or 'interval'")
    if ordinal_conditions == "value" or not feature.ordered:
        return feature.size
    q = len(feature.known)
    runs = q * (q + 1) // 2
    return runs - 1 if feature.missing is None else runs + (q > 0)


def conditions_in(domain: Domain, ordinal_conditions: OrdinalConditions = "value") -> list[Condition]:
    """Every condition that rules may use, by feature: a value, or a run of an ordered feature.

    >>> domain = Domain((Feature.ordinal("size", ("s", "m", "l")),))
    >>> [(low, high) for _, low, high in conditions_in(domain, "interval")]
    [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2)]
    """
    found = []
    for column, feature in enumerate(domain):
        if ordinal_conditions == "value" or not feature.ordered:
            runs = [(code, code) for code in range(feature.size)]
        else:
            known = len(feature.known)
            runs = [(low, high) for low in range(known) for high in range(low, known)]
            runs += [] if feature.missing is None else [(feature.missing, feature.missing)]
            runs = [run for run in runs if run != (0, feature.size - 1)]
        found += [Condition(column, low, high) for low, high in runs]
    return found
