"""Codes back to tables: the other side of the door."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any, Literal

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from sparsedensity import periods
from sparsedensity.domain import Bin, Domain, Feature
from sparsedensity.extras import need
from sparsedensity.table import Codes, Floats

Frame = Literal["numpy", "pandas", "polars", "pyarrow"]
FRAMES: tuple[Frame, ...] = ("numpy", "pandas", "polars", "pyarrow")

MOST_DECIMALS = 15
LARGEST_WHOLE = 2.0**53
"""Floats beyond it have no decimals."""


def kind_of(X: Any) -> Frame:
    """The kind of table to give back to a user who gave this one."""
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.DataFrame | nw.LazyFrame):
        name = frame.implementation.name.lower()
        return next((known for known in FRAMES if known == name), "polars")
    records = isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], dict)
    return "polars" if records else "numpy"


def decode(domain: Domain, codes: Codes, rng: np.random.Generator, frame: Frame) -> Any:
    """Rows of codes as a table: labels as they were, numbers drawn evenly from their bins."""
    # One row more, of first values, gives a column its type even where nothing, or nothing but missing, was drawn.
    codes = np.concatenate([codes, np.zeros((1, len(domain)), codes.dtype)])
    columns = {feature.name: _decode(feature, codes[:, i], rng) for i, feature in enumerate(domain)}
    if frame == "numpy":
        return _stacked(list(columns.values()))[:-1]
    need(frame, f"returning a {frame} table")
    data = {name: _plain(values) for name, values in columns.items()}
    return nw.from_dict(data, backend=frame).head(len(codes) - 1).to_native()


def _decode(feature: Feature, codes: Codes, rng: np.random.Generator) -> NDArray[Any]:
    if feature.period is not None:
        return _moments(feature, codes, rng)
    if feature.binned:
        return _numbers(feature, codes, rng)
    values = np.empty(feature.size, object)
    values[:] = feature.values
    return values[codes]


def _numbers(feature: Feature, codes: Codes, rng: np.random.Generator) -> NDArray[Any]:
    """Numbers drawn evenly from their bins; NaN (None for whole numbers) where missing."""
    bins = [Bin(np.nan, np.nan) if value is None else value for value in feature.values]
    low, high = (np.array(ends)[codes] for ends in zip(*bins, strict=True))
    drawn: Floats = low + (high - low) * rng.random(len(codes))
    if not feature.integer:
        return _rounded(drawn, low, high, _decimals(feature))
    missing = np.isnan(drawn)
    whole = np.floor(np.where(missing, 0, np.minimum(drawn, np.maximum(low, high - 1)))).astype(np.int64)
    if not missing.any():
        return whole
    boxed = whole.astype(object)
    boxed[missing] = None
    return boxed


def _rounded(numbers: Floats, low: Floats, high: Floats, decimals: int) -> Floats:
    """Numbers with so many decimals, each still in its bin; as they are if floats do not have so many."""
    if decimals > MOST_DECIMALS:
        return numbers
    rounds = (low < high) & (np.abs(numbers) < LARGEST_WHOLE / 10.0**decimals)
    near = np.where(rounds, numbers, 0.0).round(decimals)
    inside = near + 10.0**-decimals * (1.0 * (near < low) - (near >= high))
    return np.where(rounds, inside.round(decimals), numbers)


def _decimals(feature: Feature) -> int:
    """As many decimals as the ends of the range have, or as it takes to tell a thousand numbers apart in every bin."""
    ends = [end for value in feature.values if isinstance(value, Bin) for end in value]
    seen = [-int(Decimal(repr(end)).normalize().as_tuple().exponent) for end in (min(ends), max(ends))]
    return max(0, *seen, math.ceil(3 - math.log10(min(feature.measures))))


def _moments(feature: Feature, codes: Codes, rng: np.random.Generator) -> NDArray[Any]:
    """Dates, or hours where hours are told apart, drawn evenly from their periods; None where missing."""
    unit, missing = feature.period, codes == feature.missing
    assert unit is not None
    number = _numbers(feature, np.where(missing, 0, codes), rng)
    begin, end = (periods.start(unit, n).astype("M8[h]") for n in (number, number + 1))
    moments = begin + np.floor((end - begin).astype(np.int64) * rng.random(len(codes))).astype(np.int64)
    drawn: NDArray[Any] = moments.astype("M8[s]" if "hour" in unit else "M8[D]").astype(object)
    if unit == "hour of day":
        drawn[:] = [moment.time() for moment in drawn]
    drawn[missing] = None
    return drawn


def _plain(values: NDArray[Any]) -> Any:
    """What data frame libraries build typed columns from, with None where a value is missing."""
    if values.dtype.kind == "f" and np.isnan(values).any():
        return [None if math.isnan(value) else value for value in values.tolist()]
    return _of_one_type(values.tolist()) if values.dtype == object else values


def _of_one_type(values: list[Any]) -> list[Any]:
    """Labels as a typed column takes them: numbers of two types as floats, other mixtures as texts."""
    types = {type(value) for value in values if value is not None}
    if len(types) < 2:
        return values
    return [None if value is None else float(value) if types == {int, float} else str(value) for value in values]


def _stacked(columns: list[NDArray[Any]]) -> NDArray[Any]:
    """An array of numbers or truth values where all columns agree, else of objects."""
    narrowed = [np.array(column.tolist()) for column in columns]
    kinds = {column.dtype.kind for column in narrowed}
    if kinds <= {"i"} or kinds <= {"i", "f"} or kinds <= {"b"}:
        return np.stack(narrowed, axis=1)
    out = np.empty((len(columns[0]), len(columns)), object)
    for i, column in enumerate(columns):
        out[:, i] = column
    return out
