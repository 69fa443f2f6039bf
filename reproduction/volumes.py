"""The paper's ways to the volumes of a list's leaves.

:attr:`RuleList.log_volumes` is exact and fast, by disjoint boxes, and is what the library uses. Here are
inclusion and exclusion (exact, exponential in the number of rules that overlap), and two estimates: uniform samples,
and a Markov chain that redraws one feature at a time. An estimate of a small leaf may well be 0.

>>> from sparsedensity import Domain, Feature
>>> domain = Domain((Feature.nominal("class", ("1st", "2nd", "3rd", "crew")), Feature.nominal("sex", ("f", "m"))))
>>> rules = RuleList.of(domain, [[Condition(0, 3, 3)], [Condition(1, 1, 1)]])
>>> np.exp(inclusion_exclusion(rules)).round(9).tolist()
[2.0, 3.0, 3.0]
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsedensity import Domain
from sparsedensity.structures import Condition, RuleList

Codes = NDArray[np.unsignedinteger[Any]]
Floats = NDArray[np.float64]

Rule = tuple[Condition, ...]


def inclusion_exclusion(rules: RuleList) -> Floats:
    """The log volume of every leaf: V(a_i) less what a_i shares with earlier rules, in exact fractions.

    Sets of rules that contradict each other share nothing, nor do larger ones, so they are never visited.
    """
    own: list[Rule] = [*rules.rules, ()]
    return np.array([_log(_less_earlier(rules.domain, rule, own[:i])) for i, rule in enumerate(own)])


def uniform_samples(
    rules: RuleList, samples: int = 100_000, random_state: int | np.random.Generator | None = None
) -> Floats:
    """The log volume of every leaf, estimated by the share of uniform points that end there."""
    rng = np.random.default_rng(random_state)
    codes = np.empty((samples, len(rules.domain)), rules.domain.code_type)
    for feature in range(len(rules.domain)):
        codes[:, feature] = _draw_values(rules.domain, feature, samples, rng)
    return _log_shares(rules, codes)


def markov_chain(
    rules: RuleList,
    samples: int = 100_000,
    random_state: int | np.random.Generator | None = None,
    *,
    walkers: int = 100,
) -> Floats:
    """The log volume of every leaf, estimated by how long points that wander about the domain stay there.

    Each walker redraws one feature per step, chosen at random, so that it is equally long everywhere; the first tenth
    of its way is left out.
    """
    rng = np.random.default_rng(random_state)
    domain, steps = rules.domain, -(-samples // walkers)
    burn = steps // 9 + 1
    points = np.zeros((walkers, len(domain)), domain.code_type)
    visited = []
    for step in range(burn + steps):
        moved = rng.integers(len(domain), size=walkers)
        for feature in np.unique(moved):
            own = moved == feature
            points[own, feature] = _draw_values(domain, int(feature), int(own.sum()), rng)
        if step >= burn:
            visited.append(points.copy())
    return _log_shares(rules, np.concatenate(visited))


def _less_earlier(domain: Domain, rule: Rule, earlier: Sequence[Rule]) -> Fraction:
    """The volume of a rule outside all earlier ones: its own, less what it shares with each, outside those before."""
    total = _volume(domain, rule)
    for i, other in enumerate(earlier):
        both = _both(rule, other)
        if both is not None:
            total -= _less_earlier(domain, both, earlier[:i])
    return total


def _both(rule: Rule, other: Rule) -> Rule | None:
    """The conjunction of two rules; None where they contradict each other."""
    runs = {condition.feature: condition for condition in rule}
    for condition in other:
        own = runs.get(condition.feature, condition)
        low, high = max(own.low, condition.low), min(own.high, condition.high)
        if low > high:
            return None
        runs[condition.feature] = Condition(condition.feature, low, high)
    return tuple(sorted(runs.values()))


def _volume(domain: Domain, rule: Rule) -> Fraction:
    runs = {feature: range(low, high + 1) for feature, low, high in rule}
    total = Fraction(1)
    for column, feature in enumerate(domain):
        total *= sum(Fraction(feature.measures[code]) for code in runs.get(column, range(feature.size)))
    return total


def _log(volume: Fraction) -> float:
    return math.log(volume.numerator) - math.log(volume.denominator) if volume else -math.inf


def _draw_values(domain: Domain, feature: int, size: int, rng: np.random.Generator) -> Codes:
    measures = np.array(domain[feature].measures)
    drawn: Codes = rng.choice(len(measures), size, p=measures / measures.sum()).astype(domain.code_type)
    return drawn


def _log_shares(rules: RuleList, codes: Codes) -> Floats:
    counts = np.bincount(rules.leaf_numbers(codes), minlength=rules.n_leaves)
    with np.errstate(divide="ignore"):
        logs: Floats = np.log(counts / len(codes)) + rules.domain.log_volume
    return logs
