"""Complete designs: every combination of values once, under the names in which they were published.

Three sets of the UCI repository were made by rating every possible case. Without the rating, which the paper leaves
out, nothing is left but the design: the density is uniform, and one leaf says so.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

import polars as pl

WEIGHTS = (1, 2, 3, 4, 5)
BALANCE: Mapping[str, Sequence[int]] = dict.fromkeys(
    ("Left-Weight", "Left-Distance", "Right-Weight", "Right-Distance"), WEIGHTS
)
CAR: Mapping[str, Sequence[str]] = {
    "buying": ("vhigh", "high", "med", "low"),
    "maint": ("vhigh", "high", "med", "low"),
    "doors": ("2", "3", "4", "5more"),
    "persons": ("2", "4", "more"),
    "lug_boot": ("small", "med", "big"),
    "safety": ("low", "med", "high"),
}
NURSERY: Mapping[str, Sequence[str]] = {
    "parents": ("usual", "pretentious", "great_pret"),
    "has_nurs": ("proper", "less_proper", "improper", "critical", "very_crit"),
    "form": ("complete", "completed", "incomplete", "foster"),
    "children": ("1", "2", "3", "more"),
    "housing": ("convenient", "less_conv", "critical"),
    "finance": ("convenient", "inconv"),
    "social": ("nonprob", "slightly_prob", "problematic"),
    "health": ("recommended", "priority", "not_recom"),
}


def balance() -> pl.DataFrame:
    """Weights and distances on the two arms of a balance: all 625 of UCI Balance Scale.

    >>> balance().shape
    (625, 4)
    """
    return _every_combination(BALANCE)


def car() -> pl.DataFrame:
    """Prices, sizes and safety of cars: all 1,728 of UCI Car Evaluation.

    >>> car().row(0)
    ('vhigh', 'vhigh', '2', '2', 'small', 'low')
    """
    return _every_combination(CAR)


def nursery() -> pl.DataFrame:
    """Families that apply for a nursery school: all 12,960 of UCI Nursery.

    >>> nursery().shape
    (12960, 8)
    """
    return _every_combination(NURSERY)


def _every_combination(values: Mapping[str, Sequence[object]]) -> pl.DataFrame:
    """The full factorial of named values, the last column fastest."""
    columns = (pl.DataFrame({name: known}) for name, known in values.items())
    return functools.reduce(lambda left, right: left.join(right, how="cross"), columns)
