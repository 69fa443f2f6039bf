"""Events: what a user asks the probability of.

An event says for some features which values they take: one value, a list of values, ``None`` for missing, and for
a continuous feature an interval ``(low, high)``, which may cut bins. Features it does not name may take any value.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np

from sparsedensity.domain import Bin, Domain, Feature, Value
from sparsedensity.errors import DataError, UnknownValueError
from sparsedensity.table import Floats

Event: TypeAlias = Mapping[str, Any]


def event_weights(domain: Domain, event: Event) -> Floats:
    """For every value of the domain, the share of it that lies in an event."""
    if not isinstance(event, Mapping):
        raise DataError(f"An event is a mapping from column to values, such as {{'sex': 'male'}}, not {event!r}.")
    weights = np.ones(int(domain.starts[-1]))
    for name, asked in event.items():
        feature = domain.index(name)
        weights[domain.span(feature)] = _shares(domain[feature], asked)
    return weights


def plain(value: Value) -> Any:
    """A value as users write it in an event: bins become (low, high) pairs."""
    return tuple(value) if isinstance(value, Bin) else value


def _shares(feature: Feature, asked: Any) -> Floats:
    if feature.kind == "continuous":
        return _interval_shares(feature, asked)
    values = asked if isinstance(asked, Iterable) and not isinstance(asked, str) else [asked]
    shares = np.zeros(feature.size)
    for value in values:
        shares[_code(feature, value)] = 1.0
    return shares


def _interval_shares(feature: Feature, asked: Any) -> Floats:
    """How much of each bin lies in (low, high); lists of intervals and missing add up."""
    if isinstance(asked, list | set | frozenset):
        return np.minimum(1.0, sum((_interval_shares(feature, one) for one in asked), np.zeros(feature.size)))
    shares = np.zeros(feature.size)
    if _is_missing(asked):
        shares[_code(feature, None)] = 1.0
        return shares
    low, high = _bounds(feature, asked)
    for code, value in enumerate(feature.known):
        assert isinstance(value, Bin)
        if value.low == value.high:
            shares[code] = float(low <= value.low <= high)
        else:
            overlap = min(high, value.high) - max(low, value.low)
            shares[code] = max(0.0, overlap) / (value.high - value.low)
    return shares


def _bounds(feature: Feature, asked: Any) -> tuple[float, float]:
    """Lower and upper end of an interval; for whole numbers both ends count and one number is an interval too."""
    if feature.integer and isinstance(asked, int | np.integer):
        return float(asked), float(asked) + 1
    if not (isinstance(asked, tuple) and len(asked) == 2):
        raise DataError(
            f"{feature.name!r} is continuous: give an interval (low, high), or None for missing, not {asked!r}."
        )
    low, high = (float(end) for end in asked)
    if math.isnan(low) or math.isnan(high) or low > high:
        raise DataError(f"{feature.name!r} needs an interval (low, high) with low <= high, not {asked!r}.")
    if not feature.integer:
        return low, high
    return (math.ceil(low) if low > -math.inf else low), (math.floor(high) + 1 if high < math.inf else high)


def _code(feature: Feature, value: Any) -> int:
    wanted = None if _is_missing(value) else value.item() if isinstance(value, np.generic) else value
    for code, own in enumerate(feature.values):
        if isinstance(own, bool) == isinstance(wanted, bool) and own == wanted:
            return code
    raise UnknownValueError(feature.name, wanted, feature.values, "Ask for one of these.")


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))
