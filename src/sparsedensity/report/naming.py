"""Short names for leaves: the conditions that tell most."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from sparsedensity.domain import Domain
from sparsedensity.report.model import Leaf, Report, allowed_values
from sparsedensity.table import Floats

SHORT = 3
"""A leaf of so many conditions is named by all of them."""
FEWEST = 2

Codes = Mapping[int, frozenset[int]]


def brief_names(report: Report, leaves: Iterable[Leaf]) -> dict[int, str]:
    """By their numbers, leaves by their most telling conditions, which no other leaf meets.

    If conditions are left out, the name says how many there are.
    """
    every = [
        {feature: frozenset(codes) for feature, codes in allowed_values(report.structure, leaf.number)}
        for leaf in report.leaves
    ]
    return {leaf.number: _brief_name(report, leaf, every) for leaf in leaves}


def _brief_name(report: Report, leaf: Leaf, every: Sequence[Codes]) -> str:
    if len(leaf.conditions) <= SHORT:
        return str(leaf)
    chosen = _telling(report, every[leaf.number], every)
    conditions = zip(every[leaf.number], leaf.conditions, strict=True)
    named = replace(leaf, conditions=tuple(condition for feature, condition in conditions if feature in chosen))
    return f"{named} ({len(leaf.conditions)} conditions)"


def _telling(report: Report, leaf: Codes, every: Sequence[Codes]) -> Codes:
    """The conditions of a leaf that let the fewest records through, as many as it takes to mean this leaf alone."""
    domain = report.structure.domain
    event, met = np.ones(int(domain.starts[-1])), dict[int, frozenset[int]]()
    while len(met) < len(leaf) and (len(met) < FEWEST or not _one_leaf(met, every)):
        events = {i: _narrowed(domain, event, i, codes) for i, codes in leaf.items() if i not in met}
        best = min(events, key=lambda i: report.density.probability(events[i]))
        event, met[best] = events[best], leaf[best]
    for i in list(met):  # what came first may be needless by now
        fewer = {other: codes for other, codes in met.items() if other != i}
        if len(fewer) >= FEWEST and _one_leaf(fewer, every):
            met = fewer
    return met


def _one_leaf(conditions: Codes, every: Sequence[Codes]) -> bool:
    return sum(_inside(leaf, conditions) for leaf in every) == 1


def _inside(leaf: Codes, conditions: Codes) -> bool:
    """Whether every record of a leaf meets some conditions."""
    return all(feature in leaf and leaf[feature] <= codes for feature, codes in conditions.items())


def _narrowed(domain: Domain, event: Floats, feature: int, codes: frozenset[int]) -> Floats:
    """An event with one more condition."""
    narrow, side = event.copy(), np.zeros(domain.sizes[feature])
    side[list(codes)] = 1.0
    narrow[domain.span(feature)] *= side
    return narrow
