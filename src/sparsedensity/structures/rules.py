"""A rule list: if a_1 then leaf 0, else if a_2 then leaf 1, ... else the last leaf.

A rule's antecedent is a conjunction of conditions on different features; a condition allows one value or, for an
ordered feature, a run of neighbouring values.

>>> from sparsedensity.domain import Domain, Feature
>>> domain = Domain((Feature.nominal("class", ("1st", "2nd", "3rd", "crew")), Feature.nominal("sex", ("f", "m"))))
>>> rules = RuleList.of(domain, [[Condition(0, 3, 3)], [Condition(1, 1, 1)]])
>>> np.exp(rules.log_volumes).round(9).tolist()
[2.0, 3.0, 3.0]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsedensity.domain import Domain
from sparsedensity.errors import DataError
from sparsedensity.structures.base import in_threads
from sparsedensity.table import Codes, Floats


class Condition(NamedTuple):
    """The codes low..high of one feature; one value if the two are equal."""

    feature: int
    low: int
    high: int


@dataclass(frozen=True, eq=False)
class RuleList:
    """A division of the domain by rules read from the top; the last leaf is what no rule takes."""

    domain: Domain
    start: NDArray[np.int64]
    feature: NDArray[np.int32]
    low: NDArray[np.int32]
    high: NDArray[np.int32]

    @classmethod
    def of(cls, domain: Domain, rules: Sequence[Sequence[Condition]]) -> RuleList:
        """Build from the conditions of each rule."""
        conditions = [condition for rule in rules for condition in sorted(rule)]
        for rule in rules:
            _check_rule(domain, rule)
        if len({tuple(sorted(rule)) for rule in rules}) < len(rules):
            raise DataError("A rule stands twice in the list: the second could never apply.")
        start = np.concatenate([[0], np.cumsum([len(rule) for rule in rules])]).astype(np.int64)
        columns = np.array(conditions, np.int32).reshape(-1, 3)
        return cls(domain, start, *(np.ascontiguousarray(column) for column in columns.T))

    @property
    def n_rules(self) -> int:
        """How many rules there are; the else is not one."""
        return len(self.start) - 1

    @property
    def n_leaves(self) -> int:
        """One leaf per rule, and the else."""
        return self.n_rules + 1

    @cached_property
    def rules(self) -> tuple[tuple[Condition, ...], ...]:
        """The conditions of each rule, by column."""
        columns = zip(self.feature.tolist(), self.low.tolist(), self.high.tolist(), strict=True)
        flat = [Condition(*column) for column in columns]
        return tuple(tuple(flat[a:b]) for a, b in zip(self.start, self.start[1:], strict=False))

    @cached_property
    def boxes(self) -> tuple[NDArray[np.bool_], ...]:
        """For every leaf the disjoint boxes it is made of: one row of truth values over all values per box.

        What the rules so far leave of the domain is kept as disjoint boxes. A rule takes its part of each, and
        the rest is cut along its conditions one after another, so volumes only ever add up.
        """
        rest = np.ones((1, int(self.domain.starts[-1])), bool)
        leaves = []
        for rule in self.rules:
            taken, rest = self._take(rest, rule)
            leaves.append(taken)
        return (*leaves, rest)

    @cached_property
    def log_volumes(self) -> Floats:
        """The natural log of the volume of every leaf; minus infinity for one that nothing can reach."""
        return np.array([log_sum(log_box_volumes(self.domain, boxes)) for boxes in self.boxes])

    def leaf_numbers(self, codes: Codes, *, jobs: int = 1) -> NDArray[np.int64]:
        """The leaf of every encoded row."""
        from sparsedensity.kernels import route  # the compiler takes long to load, and readers route nothing

        rules = self.start, self.feature, self.low, self.high
        return in_threads(lambda rows, out: route.route_rules(rows, *rules, out), codes, jobs)

    def _take(self, boxes: NDArray[np.bool_], rule: Sequence[Condition]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Divide boxes into what a rule takes and what it leaves; boxes apart from it stay whole."""
        meet = boxes_meeting(self.domain, boxes, rule)
        left, boxes = [boxes[~meet]], boxes[meet]
        for feature, low, high in rule:
            span = self.domain.span(feature)
            inside, outside = boxes.copy(), boxes.copy()
            inside[:, span][:, :low] = False
            inside[:, span][:, high + 1 :] = False
            outside[:, span][:, low : high + 1] = False
            left.append(outside[outside[:, span].any(axis=1)])
            boxes = inside
        return boxes, np.concatenate(left)


def boxes_meeting(domain: Domain, boxes: NDArray[np.bool_], rule: Sequence[Condition]) -> NDArray[np.bool_]:
    """Which boxes have points that obey a rule."""
    meet = np.ones(len(boxes), bool)
    for feature, low, high in rule:
        meet &= boxes[:, domain.span(feature)][:, low : high + 1].any(axis=1)
    return meet


def log_box_volumes(domain: Domain, boxes: NDArray[np.bool_]) -> Floats:
    """The natural log of the volume of each box (a row of truth values over all values)."""
    sides = np.add.reduceat(boxes * domain.measures, domain.starts[:-1], axis=1)
    with np.errstate(divide="ignore"):
        logs: Floats = np.log(sides).sum(axis=1)
    return logs


def log_sum(logs: Floats) -> float:
    """The log of the sum of numbers given by their logs; minus infinity for none."""
    return float(np.logaddexp.reduce(logs, initial=-np.inf))


def _check_rule(domain: Domain, rule: Sequence[Condition]) -> None:
    if not rule:
        raise DataError("A rule needs at least one condition: without one it would take everything.")
    if len({condition.feature for condition in rule}) < len(rule):
        raise DataError("A rule has two conditions on one feature. Give each feature once.")
    for feature, low, high in rule:
        of = domain[feature]
        if not 0 <= low <= high < of.size or (low < high and (high == of.missing or not of.ordered)):
            raise DataError(f"{of.name!r} has no run of neighbouring values with the codes {low} to {high}.")
