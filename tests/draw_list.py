"""A rule list drawn from the prior of method III: Algorithm 1 of the paper, from the top down."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from sparsedensity.domain import Domain
from sparsedensity.errors import DataError
from sparsedensity.posterior.rule_list import OrdinalConditions, SparseRules, antecedents_by_size, conditions_in
from sparsedensity.structures import Condition, RuleList


def rules_on(
    domain: Domain, *, max_conditions: int = 2, ordinal_conditions: OrdinalConditions = "value", **prior: Any
) -> SparseRules:
    """The posterior with every antecedent of a domain to choose from."""
    return SparseRules(antecedents_by_size(domain, max_conditions, ordinal_conditions), **prior)


def draw_list(
    domain: Domain,
    prior: SparseRules,
    random_state: int | np.random.Generator | None = None,
    ordinal_conditions: OrdinalConditions = "value",
) -> RuleList:
    """Draw a number of rules, then for each rule its number of conditions and any unused antecedent of that size.

    >>> from sparsedensity.domain import Feature
    >>> domain = Domain((Feature.nominal("sex", ("f", "m")), Feature.nominal("age", ("child", "adult"))))
    >>> draw_list(domain, rules_on(domain, expected_rules=2), random_state=1).n_rules
    2
    """
    if prior.antecedents != antecedents_by_size(domain, max(1, len(prior.antecedents)), ordinal_conditions):
        raise DataError(
            "A list is drawn from all antecedents of a domain: make the prior with rules_on(domain, ...) and the "
            "same ordinal_conditions."
        )
    rng = np.random.default_rng(random_state)
    conditions = conditions_in(domain, ordinal_conditions)
    unused = list(prior.antecedents)
    rules: dict[tuple[Condition, ...], None] = {}
    for _ in range(_draw_length(prior, rng)):
        size = _draw_size(prior, unused, rng)
        unused[size - 1] -= 1
        rule = _draw_antecedent(conditions, size, rng)
        while rule in rules:
            rule = _draw_antecedent(conditions, size, rng)
        rules[rule] = None
    return RuleList.of(domain, list(rules))


def _draw_length(prior: SparseRules, rng: np.random.Generator) -> int:
    """A Poisson truncated to the number of antecedents, by inverting its cumulative sum."""
    mark, total, most = rng.random(), 0.0, sum(prior.antecedents)
    for rules in itertools.count():
        total += math.exp(prior.log_length(rules))
        if total > mark or rules == most:
            return rules
    raise AssertionError


def _draw_size(prior: SparseRules, unused: Sequence[int], rng: np.random.Generator) -> int:
    """A Poisson truncated to the sizes that still have an unused antecedent."""
    shares = np.exp(prior.log_sizes(unused))
    return 1 + int(rng.choice(len(unused), p=shares / shares.sum()))


def _draw_antecedent(conditions: Sequence[Condition], size: int, rng: np.random.Generator) -> tuple[Condition, ...]:
    """Any conjunction of so many conditions on different features, each as likely as any other."""
    while True:
        rule = sorted(conditions[i] for i in rng.integers(len(conditions), size=size))
        if len({condition.feature for condition in rule}) == size:
            return tuple(rule)
