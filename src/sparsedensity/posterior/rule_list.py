"""Method III: the prior says how many rules, of how many conditions, a person wants to read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from scipy.special import gammaincc, gammaln

from sparsedensity.domain import Domain, Feature
from sparsedensity.errors import ParameterError
from sparsedensity.kernels.belief import Uniform
from sparsedensity.posterior.base import (
    PriorBound,
    beta_intervals,
    check_positive,
    log_dirichlet,
    log_volume_terms,
    mean_log_probabilities,
)
from sparsedensity.structures import Condition, RuleList
from sparsedensity.table import Floats

MOST_COUNTED = 1_000_000
"""Numbers of rules beyond this are bounded together."""
OrdinalConditions = Literal["value", "interval"]


@dataclass(frozen=True)
class SparseRules:
    """Poisson priors on the number of rules (lambda) and of conditions (eta), one Dirichlet over the leaves (alpha).

    ``antecedents`` says how many antecedents of 1, 2, .. conditions there are to choose from
    (:func:`antecedents_by_size`, or the counts of a mined set).

    >>> SparseRules(antecedents=(8, 20)).log_length(0) == -SparseRules(antecedents=(8, 20)).log_norm
    True
    """

    antecedents: tuple[int, ...]
    expected_rules: float = 7.0
    expected_conditions: float = 1.0
    pseudocount: float = 1.0
    as_printed: bool = False
    """Drop the Dirichlet constant lnG((m+1) a) - (m+1) lnG(a), as the paper's last line does."""

    leaf: ClassVar[Uniform] = Uniform()
    """What a rule leaves over is no box, so records are spread evenly in it."""

    def __post_init__(self) -> None:
        check_positive("expected_rules", self.expected_rules)
        check_positive("expected_conditions", self.expected_conditions)
        check_positive("pseudocount", self.pseudocount)
        if any(count < 0 for count in self.antecedents):
            raise ParameterError("antecedents", self.antecedents, "counts of 0 or more")

    @classmethod
    def on(
        cls,
        domain: Domain,
        *,
        max_conditions: int = 2,
        ordinal_conditions: OrdinalConditions = "value",
        expected_rules: float = 7.0,
        expected_conditions: float = 1.0,
        pseudocount: float = 1.0,
        as_printed: bool = False,
    ) -> SparseRules:
        """The posterior with every antecedent of a domain to choose from."""
        counts = antecedents_by_size(domain, max_conditions, ordinal_conditions)
        return cls(counts, expected_rules, expected_conditions, pseudocount, as_printed)

    @property
    def log_norm(self) -> float:
        """Ln of the sum over j = 0..|A| of lambda^j / j!, which tends to lambda as |A| grows."""
        total, rate = sum(self.antecedents), self.expected_rules
        tail = float(gammaincc(total + 1, rate)) if total < 1e15 else 1.0
        if tail > 1e-300:
            return rate + math.log(tail)
        j = np.arange(total + 1)
        return float(np.logaddexp.reduce(j * math.log(rate) - gammaln(j + 1)))

    def log_length(self, rules: int) -> float:
        """Ln P(m): Poisson(lambda) truncated to 0..|A|."""
        return rules * math.log(self.expected_rules) - math.lgamma(rules + 1) - self.log_norm

    def best_log_prior(self, domain: Domain, most_leaves: int) -> PriorBound:
        """The empty list, and the best length, each rule for free; a dropped Dirichlet constant is given back."""
        most = min(sum(self.antecedents), MOST_COUNTED)
        m: Floats = np.arange(most + 1, dtype=np.float64)
        logs = m * math.log(self.expected_rules) - gammaln(m + 1) - self.log_norm
        if self.as_printed:
            a = self.pseudocount
            logs += (m + 1) * gammaln(a) - gammaln((m + 1) * a)
        return PriorBound(float(logs[0]), float(logs.max()))

    def log_prior(self, sizes: Sequence[int]) -> float:
        """The log prior of a list whose rules have these numbers of conditions, in order."""
        unused = list(self.antecedents)
        log = self.log_length(len(sizes))
        for size in sizes:
            if not 1 <= size <= len(unused) or unused[size - 1] <= 0:
                return -math.inf
            log += self._log_size(size, unused) - math.log(unused[size - 1])
            unused[size - 1] -= 1
        return log

    def log_posterior(self, structure: RuleList, weights: Floats) -> float:
        """Prior of the list, Dirichlet over its m + 1 leaves, and the exact volumes."""
        sizes = np.diff(structure.start).tolist()
        dirichlet = log_dirichlet(weights, self.pseudocount)
        if self.as_printed:
            k, a = len(weights), self.pseudocount
            dirichlet -= math.lgamma(k * a) - k * math.lgamma(a)
        return self.log_prior(sizes) + dirichlet + log_volume_terms(weights, structure.log_volumes)

    def log_probabilities(self, structure: RuleList, weights: Floats) -> Floats:
        """Ln (n_l + a) / (n + K a), K the leaves of positive volume."""
        return mean_log_probabilities(weights, structure.log_volumes, self.pseudocount)

    def intervals(self, structure: RuleList, weights: Floats, level: float = 0.95) -> Floats:
        """Beta quantiles."""
        return beta_intervals(weights, structure.log_volumes, self.pseudocount, level)

    def _log_size(self, size: int, unused: Sequence[int]) -> float:
        """Ln P(c_j | c_<j): Poisson(eta) truncated to the sizes that still have an unused antecedent."""
        rate = self.expected_conditions
        terms = [c * math.log(rate) - math.lgamma(c + 1) for c, left in enumerate(unused, 1) if left > 0]
        return size * math.log(rate) - math.lgamma(size + 1) - float(np.logaddexp.reduce(terms))


def antecedents_by_size(
    domain: Domain, max_conditions: int, ordinal_conditions: OrdinalConditions = "value"
) -> tuple[int, ...]:
    """How many conjunctions of 1, 2, .. conditions on different features a domain has, counted exactly.

    The paper's example, features of 2, 3, 4 and 5 values and at most two conditions (without the empty one):

    >>> four = Domain(tuple(Feature.nominal(str(q), range(q)) for q in (2, 3, 4, 5)))
    >>> antecedents_by_size(four, 2)
    (14, 71)
    """
    if not isinstance(max_conditions, int) or max_conditions < 1:
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
    if ordinal_conditions not in ("value", "interval"):
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
