"""Events: what a user asks the probability of.

An event says for some features which values they take: one value, a list of values, ``None`` for missing, for a
continuous feature an interval ``(low, high)``, and for dates one, or ``(first, last)``; these may cut bins. Features it
does not name may take any value.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Number
from typing import Any, TypeAlias

import numpy as np

from sparsedensity import periods
from sparsedensity.density import Density
from sparsedensity.domain import Bin, Domain, Feature, Value
from sparsedensity.errors import DataError, UnknownValueError, in_short
from sparsedensity.scalars import is_number, is_whole
from sparsedensity.table import Floats

MOST_COMBINATIONS = 1_000_000

Event: TypeAlias = Mapping[str, Any]


def event_weights(domain: Domain, event: Event) -> Floats:
    """For every value of the domain, the share of it that lies in an event."""
    if not isinstance(event, Mapping):
        raise DataError(
            f"An event is a mapping from column to values, such as {{'sex': 'male'}}, not {in_short(event)}."
        )
    weights = np.ones(int(domain.starts[-1]))
    for name, asked in event.items():
        feature = column_of(domain, name)
        weights[domain.span(feature)] = _shares(domain[feature], asked)
    return weights


def conditional(density: Density, features: str | Sequence[str], given: Event) -> dict[Any, float]:
    """The distribution of one or more columns given an event, by value or by tuple of values."""
    domain = density.structure.domain
    names = [features] if isinstance(features, str) else features
    if not isinstance(names, Sequence) or not names or len(set(map(in_short, names))) < len(names):
        raise DataError(f"Name one or more different columns, not {in_short(features)}.")
    columns = [column_of(domain, name) for name in names]
    if math.prod(domain.sizes[column] for column in columns) > MOST_COMBINATIONS:
        raise DataError(f"{', '.join(names)} have more than {MOST_COMBINATIONS:,} combinations. Name fewer columns.")
    masses = density.joint(columns, event_weights(domain, given))
    if not masses.sum() > 0:
        raise DataError(f"The event {in_short(given)} has probability 0, so nothing can be conditional on it.")
    values = [[plain(domain[column], value) for value in domain[column].values] for column in columns]
    keys = values[0] if isinstance(features, str) else itertools.product(*values)
    return dict(zip(keys, (masses / masses.sum()).ravel().tolist(), strict=True))


def column_of(domain: Domain, name: Any) -> int:
    """The position of a column, by its name."""
    if not isinstance(name, str):
        raise DataError(
            f"Refer to columns by name; {in_short(name)} is not a column name. "
            f"Columns: {', '.join(map(repr, domain.names))}."
        )
    return domain.index(name)


def plain(feature: Feature, value: Value) -> Any:
    """A value as users write it in an event: bins become (low, high), both ends included for whole numbers.

    Calendar periods are texts in ISO's form: "2024-03", or ("2024-03", "2024-05") for a run.
    """
    if not isinstance(value, Bin):
        return value
    if feature.period is not None:
        return periods.plain(feature.period, value.low, value.high - 1)
    return (int(value.low), int(max(value.low, value.high - 1))) if feature.integer else tuple(value)


def _shares(feature: Feature, asked: Any) -> Floats:
    if feature.binned:
        return _interval_shares(feature, asked)
    one = (
        isinstance(asked, str) or not isinstance(asked, Iterable) or (isinstance(asked, np.ndarray) and not asked.ndim)
    )
    values = [asked] if one else asked
    shares = np.zeros(feature.size)
    for value in values:
        shares[_code(feature, value)] = 1.0
    return shares


def _interval_shares(feature: Feature, asked: Any) -> Floats:
    """How much of each bin lies in (low, high), or in the union of several such intervals and missing."""
    parts = asked if isinstance(asked, list | set | frozenset) else [asked]
    shares = np.zeros(feature.size)
    for low, high in _disjoint([_bounds(feature, part) for part in parts if not _is_missing(part)]):
        for code, value in enumerate(feature.known):
            assert isinstance(value, Bin)
            shares[code] += _overlap(value, low, high, feature.integer and feature.period is None)
    if any(map(_is_missing, parts)):
        shares[_code(feature, None)] = 1.0
    return np.minimum(shares, 1.0)


def _disjoint(intervals: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The same union without overlaps, lowest first."""
    merged: list[tuple[float, float]] = []
    for low, high in sorted(intervals):
        if merged and low <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(high, merged[-1][1])
        else:
            merged.append((low, high))
    return merged


def _overlap(value: Bin, low: float, high: float, integer: bool) -> float:
    """The share of a bin that lies between two ends; of whole numbers the upper end is the first beyond."""
    if value.low == value.high:
        return float(low <= value.low < high if integer else low <= value.low <= high)
    return max(0.0, min(high, value.high) - max(low, value.low)) / (value.high - value.low)


def _bounds(feature: Feature, asked: Any) -> tuple[float, float]:
    """Lower and upper end of an interval; for whole numbers both ends count and one number is an interval too."""
    if feature.period is not None:
        return _moments(feature, asked)
    if feature.integer and is_whole(asked) and is_number(asked):
        return float(asked), float(asked) + 1
    if not (isinstance(asked, tuple) and len(asked) == 2):
        raise DataError(
            f"{feature.name!r} is continuous: give an interval (low, high), or None for missing, not {in_short(asked)}."
        )
    try:
        low, high = (float(end) for end in asked)
    except (TypeError, ValueError, OverflowError):
        raise DataError(f"{feature.name!r} needs an interval (low, high) of numbers, not {in_short(asked)}.") from None
    if math.isnan(low) or math.isnan(high) or low > high:
        raise DataError(f"{feature.name!r} needs an interval (low, high) with low <= high, not {in_short(asked)}.")
    if not feature.integer:
        return low, high
    return (math.ceil(low) if low > -math.inf else low), (math.floor(high) + 1 if high < math.inf else high)


def _moments(feature: Feature, asked: Any) -> tuple[float, float]:
    """The ends of a date, a time, or (first, last) of them, both included, as places among periods."""
    assert feature.period is not None
    ends = asked if isinstance(asked, tuple) and len(asked) == 2 else (asked, asked)
    try:
        (low, _), (_, high) = (periods.span(feature.period, end) for end in ends)
    except (TypeError, ValueError):
        example = "'14'" if feature.period == "hour of day" else "'2024-03' or '2024-03-17'"
        raise DataError(
            f"{feature.name!r} holds dates or times: give one, such as {example}, or (first, last), not {asked!r}."
        ) from None
    if low > high:
        raise DataError(f"{feature.name!r} needs (first, last) with first before last, not {asked!r}.")
    return low, high


def _code(feature: Feature, value: Any) -> int:
    wanted = None if _is_missing(value) else value.item() if isinstance(value, np.generic) else value
    for code, known in enumerate(feature.values):
        if not isinstance(wanted, Number | str | None):  # whatever it is, it may not even be compared
            break
        if isinstance(known, bool) == isinstance(wanted, bool) and known == wanted:
            return code
    values = [plain(feature, value) for value in feature.values]
    raise UnknownValueError(feature.name, wanted, values, "Ask for one of these.")


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))
