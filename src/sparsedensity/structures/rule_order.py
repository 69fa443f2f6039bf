"""One list of all that divide the domain alike: shortest rules first, then the heaviest leaves.

Several lists of the same rule sizes can often state the same leaves: rules that no point obeys both may trade places,
and of the last two leaves either can be the else. A rule may stand for a leaf as soon as it holds all of it and nothing
of the leaves that are left, and what may come first now may still come first later. So the rules are chosen one after
another.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsedensity.structures.rules import Condition, RuleList, boxes_meeting
from sparsedensity.table import Floats

Rule = tuple[Condition, ...]
MOST_STATEMENTS = 5_000
"""If there would be more, only the rules of the list are put in another order."""


class Statement(NamedTuple):
    """A rule that states a leaf once some other leaves are stated."""

    leaf: int
    rule: Rule
    before: frozenset[int]


def in_reading_order(rules: RuleList, weights: Floats, is_antecedent: Callable[[Rule], bool]) -> RuleList:
    """The list that states the same leaves with the shortest rules first, then the heaviest leaves.

    >>> from sparsedensity.domain import Domain, Feature
    >>> domain = Domain((Feature.nominal("sex", ("f", "m")), Feature.nominal("age", ("child", "adult"))))
    >>> late = RuleList.of(domain, [[Condition(0, 0, 0)]])
    >>> in_reading_order(late, np.array([1.0, 9.0]), lambda rule: True).rules
    ((Condition(feature=0, low=1, high=1),),)
    """
    if not all(map(len, rules.boxes)):  # a leaf that nothing reaches can be stated by any rule
        return rules
    statements = _statements(rules, is_antecedent)
    left, chosen = set(range(rules.n_leaves)), list[Rule]()
    while len(left) > 1:
        possible = [statement for statement in statements if statement.leaf in left and not statement.before & left]
        first = min(possible, key=lambda statement: (len(statement.rule), -weights[statement.leaf], statement.rule))
        chosen.append(first.rule)
        left.remove(first.leaf)
    return RuleList.of(rules.domain, chosen)


def _statements(rules: RuleList, is_antecedent: Callable[[Rule], bool]) -> list[Statement]:
    """Every way to state a leaf by a rule; those of the list itself are among them."""
    longest = max(map(len, rules.rules), default=0)
    ways = list(enumerate(rules.rules))
    spans = [_spans(rules, boxes) for boxes in rules.boxes]
    if sum(math.comb(len(span), min(longest, len(span) // 2)) for span in spans) <= MOST_STATEMENTS:
        sizes = range(1, longest + 1)
        ways += [(leaf, rule) for leaf, span in enumerate(spans) for k in sizes for rule in combinations(span, k)]
    boxes = np.concatenate(rules.boxes)
    leaf_of = np.repeat(np.arange(rules.n_leaves), list(map(len, rules.boxes)))
    return [
        Statement(leaf, rule, frozenset(leaf_of[boxes_meeting(rules.domain, boxes, rule)].tolist()) - {leaf})
        for leaf, rule in dict.fromkeys(ways)
        if is_antecedent(rule)
    ]


def _spans(rules: RuleList, boxes: NDArray[np.bool_]) -> list[Condition]:
    """The conditions that hold all of a leaf: of every feature the shortest run, if it leaves something out."""
    held: NDArray[np.bool_] = np.any(boxes, axis=0)
    spans = []
    for column, feature in enumerate(rules.domain):
        codes = np.flatnonzero(held[rules.domain.span(column)])
        if not len(codes):
            return []
        one = len(codes) == 1 < feature.size
        if one or (feature.ordered and 1 < codes[-1] - codes[0] + 1 < feature.size and codes[-1] != feature.missing):
            spans.append(Condition(column, int(codes[0]), int(codes[-1])))
    return spans
