"""Values, names and columns that nobody expects."""

import datetime
import decimal
import enum
import fractions
import uuid

import numpy as np
import pandas as pd


class BadRepr:
    """A value that cannot even be printed."""

    def __repr__(self):
        raise RuntimeError("no repr")


class BadEquality:
    """A value that refuses to be compared."""

    def __eq__(self, other):
        raise RuntimeError("no equality")

    __hash__ = object.__hash__


class Colour(enum.Enum):
    RED = 1
    GREEN = 2


NUMBERS = (0, 1, -1, 2, 3, 100, 2**31, 2**63 - 1, 2**63, 2**70, -(2**80), 10**400, 10**5000, True, False)
FLOATS = (0.0, -0.0, 0.5, 1.0, 1.5, -3.25, 1e-320, 5e-324, 1e308, -1e308, 1e16, np.nan, np.inf, -np.inf, 1e-9)
TEXTS = (
    "", " ", "a", "b", "crew", "3rd", "NaN", "None", "null", "1", "1e400", "-0", "inf", "é", "\u202eabc", "\x1b[31mred",
    "\x00", "a\nb", "a,b", '"', "'", "<script>alert(1)</script>", "=1+1", "@x", "\ud800", "🙂", "a" * 10_000, "\ufeff",
    "auto", "exact", "anneal", "greedy", "value", "nearest", "quantile", "quantile:0", "quantile:x", "nominal",
)  # fmt: skip
MISSING = (None, np.nan, pd.NA, pd.NaT, float("nan"), np.datetime64("NaT"))
ODD: tuple[object, ...] = (
    1j, b"x", b"\xff", datetime.date(2026, 1, 31), datetime.datetime(2026, 1, 31, 12), datetime.time(12), [], [1], {},
    {"a": 1}, (), (1, 2), {1}, datetime.timedelta(1), decimal.Decimal("1.5"), decimal.Decimal("NaN"), range(3),
    fractions.Fraction(1, 3), uuid.UUID(int=1), Colour.RED, BadRepr(), BadEquality(), object(), int, len, np.float32(1),
    np.int8(1), np.bool_(True), np.str_("a"), np.datetime64("2026-01-31"), np.timedelta64(1, "D"), np.array([1, 2]),
    np.array(1), np.array(["a"]), np.zeros((2, 2)), pd.Timestamp("2026-01-31"), pd.Timedelta(1), pd.Interval(0, 1),
    pd.Period("2026-01"), pd.Series([1, 2]), pd.DataFrame({"a": [1]}), np.float64(np.nan), np.longdouble(1), ..., type,
    np.ma.masked, NotImplemented,
)  # fmt: skip
EVERYTHING = (*NUMBERS, *FLOATS, *TEXTS, *MISSING, *ODD)


def pick(rng, pool):
    """One of a pool, whatever its members are."""
    return pool[int(rng.integers(len(pool)))]


def column(rng, rows):
    """A column: mostly of one kind, sometimes of all kinds."""
    plain = (NUMBERS[:6], FLOATS[:6], TEXTS[:6], TEXTS, NUMBERS[:9], FLOATS[:11], (True, False))
    pool = pick(rng, plain if rng.random() < 0.7 else (NUMBERS, FLOATS, MISSING, ODD, EVERYTHING))
    pool = [pick(rng, pool) for _ in range(int(rng.integers(1, 6)))]
    pool = [value for value in pool if not isinstance(value, BadRepr | BadEquality)] or ["a"]
    if rng.random() < 0.3:
        pool += [pick(rng, MISSING)]
    return [pick(rng, pool) for _ in range(rows)]


def setting(rng, default):
    """A value for a parameter: most are of the kind that it expects."""
    pools = {str: TEXTS, float: (*NUMBERS, *FLOATS), int: (*NUMBERS, *FLOATS)}
    nearly = pools.get(type(default), (*NUMBERS[:6], *FLOATS[:12], None))
    return pick(rng, nearly if rng.random() < 0.7 else EVERYTHING)


def name(rng):
    """The name of a column."""
    return pick(rng, (*TEXTS, "a", "b", "c", "d", "e", 0, 1, None, ("a", 1), 1.5, np.nan, True))
