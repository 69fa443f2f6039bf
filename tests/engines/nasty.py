"""One small table with whatever engines see differently, and the domain that it is counted in."""

import datetime
import math
import random

import polars as pl

from sparsedensity.domain import Domain, Feature
from sparsedensity.structures import Tree

ROWS = 600
WEIGHTS = ("whole", "quarter")
"""Its two columns of weights; some are 0."""
NAMES = ("O'Hara", "", "NULL", "Zoë", 'x"; --', "%_\\")
SIZES = ("small", "medium", "large")
READINGS = (-2.5, -0.0, 0.0, 0.1, 0.5, 1.0, 3.0, math.nan, None)
"""Edges of bins, both zeros, and two ways to be missing."""
DAYS = [datetime.date(1968, 12, 31) + datetime.timedelta(months * 31) for months in range(40)]
MOMENTS = [datetime.datetime(1969, 12, 31, 22, 59, 59, 999_999) + datetime.timedelta(hours=h) for h in range(6)]
MANY = 300
"""Values of its widest feature."""

DOMAIN = Domain(
    (
        Feature.nominal("name", NAMES, missing=True),
        Feature.ordinal("few", (-1, 0, 3), missing=True),
        Feature.ordinal("many", range(MANY)),
        Feature.continuous("count", (0, 10, 100, 1001), integer=True, missing=True),
        Feature.continuous("reading", (-2.5, 0.0, 0.5, 1.0, 3.0), missing=True),
        Feature.nominal("flag", (False, True), missing=True),
        Feature.calendar("day", "year", (-2, 0, 1, 3), missing=True),
        Feature.calendar("moment", "hour", (-2, 0, 1, 2, 4)),
        Feature.ordinal("size", SIZES, missing=True),
    )
)
"""Every value in the table but the strange ones, and some that never occur."""
TREE = Tree.leaf(DOMAIN).split(0, 0, [{0, 3}, {1, 2, 4, 5}, {6}]).split(1, 4, [{0, 1, 4}, {2, 3}])
"""A tree on two of its columns, with groups of values."""


def nasty(rows: int = ROWS, seed: int = 0, *, strange: bool = False) -> pl.DataFrame:
    """Rows that repeat now and then, with weights; strange ones hold values outside the domain as well."""
    rng = random.Random(seed)

    def drawn(values, odd, missing=True):
        pool = [*values, *[None] * missing]
        pool[7:7] = [odd] * strange
        return rng.choices(pool, [1 / (1 + place) for place in range(len(pool))], k=rows)

    columns = {
        "name": drawn(NAMES, "stranger"),
        "few": drawn((-1, 0, 3), 2),
        "many": drawn(range(MANY), MANY, missing=False),
        "count": drawn((0, 9, 10, 99, 100, 1000), 1001),
        "reading": drawn(READINGS, 3.0000001),
        "flag": drawn((True, False), None),
        "day": drawn(DAYS, datetime.date(1980, 1, 1)),
        "moment": drawn(MOMENTS, datetime.datetime(1970, 1, 1, 4), missing=False),
        "size": drawn(SIZES, "huge"),
        "whole": drawn((1, 0, 2, 7), 0, missing=False),
        "quarter": drawn((0.25, 0.0, 1.0, 2.75), 0.0, missing=False),
    }
    return pl.DataFrame(columns, strict=False)[rng.choices(range(rows), k=rows)]
