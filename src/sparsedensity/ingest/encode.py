"""Columns to codes, and what to do with a value outside the domain."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsedensity import periods
from sparsedensity.domain import Bin, Domain, Feature, Label
from sparsedensity.errors import DataError, UnknownValueError, in_short
from sparsedensity.ingest.columns import Column, Rows
from sparsedensity.ingest.sources import Source
from sparsedensity.kernels import encode as kernels
from sparsedensity.table import Codes

UNKNOWN = kernels.UNKNOWN
LARGEST_TABLE = 1 << 20
ROWS_AT_ONCE = 4096
COLUMNS_AT_ONCE = 16
MOMENTS = {"date": "a date", "time": "a time of day"}
LARGEST_EXACT = 1 << 53
"""Beyond this, whole numbers are compared with bin edges as floats: not every one of them is a float."""


class Unknown(NamedTuple):
    """The values of one column that lie outside its feature."""

    feature: Feature
    rows: int
    value: object
    """The first of them."""
    used: bool
    """Whether the column can put a row outside the domain."""


@dataclass(frozen=True, eq=False)
class Encoded:
    """Rows as codes. A row with a value outside a column in use is marked; an unknown value is coded 0."""

    codes: Codes
    outside: Rows
    unknown: tuple[Unknown, ...] = ()
    """The columns with values outside the domain."""


def encode(
    source: Source,
    domain: Domain,
    *,
    nearest: bool = False,
    strict: bool = False,
    keep: Rows | None = None,
    used: Rows | None = None,
) -> Encoded:
    """The codes of every row. `strict` refuses a value outside the domain in a row to keep and a column in use."""
    used = np.ones(len(domain), bool) if used is None else used
    encoded = _encode_integers(source, domain, nearest, used) or _encode_columns(source, domain, nearest, used)
    if strict and encoded.outside.any():
        _refuse_unknown(source, domain, encoded, nearest, keep)
    return encoded


def unknown_value(feature: Feature, value: object, nearest: bool, *, refused: bool = True) -> UnknownValueError:
    """The error for a value outside a feature; or, if it is not refused, what a warning says of it."""
    known: tuple[Any, ...] = (_range_of(feature),) if feature.binned else feature.known
    if feature.binned and value is not None:
        ways = "Widen its bins" + ("." if nearest else ", or fit with unknown='nearest': it joins the outermost one.")
    else:
        zero = "; unknown='zero' scores them as density 0" if refused else ""
        ways = f"Correct it, declare it in the domain, or leave out such rows{zero}."
    return UnknownValueError(feature.name, value, known, ways)


def _encode_integers(source: Source, domain: Domain, nearest: bool, used: Rows) -> Encoded | None:
    """All columns of an array of whole numbers at once, by look-up tables; None if a feature is too wide for one."""
    numbers = source.integers
    if numbers is None:
        return None
    tables = [table for feature in domain if (table := _table_of(feature, nearest)) is not None]
    if len(tables) < len(domain):
        return None
    lows, parts, clamps = zip(*tables, strict=True)
    start = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
    look_up = kernels.LookUp(np.array(lows, np.int64), start, np.array(clamps, bool), np.concatenate(parts))
    codes, outside = np.empty(numbers.shape, domain.code_type), np.zeros(len(numbers), bool)
    unknown = np.zeros((len(domain), 2), np.int64)
    kernels.encode_integers(numbers, look_up, used, codes, outside, unknown)
    strange = [(i, *unknown[i].tolist()) for i in np.flatnonzero(unknown[:, 0]).tolist()]
    values = (Unknown(domain[i], rows, numbers[row, i].item(), bool(used[i])) for i, rows, row in strange)
    return Encoded(codes, outside, tuple(values))


def _encode_columns(source: Source, domain: Domain, nearest: bool, used: Rows) -> Encoded:
    """A few columns at a time, which are then turned so that a row lies together."""
    codes = np.empty((source.n_rows, len(domain)), domain.code_type)
    few = np.empty((min(COLUMNS_AT_ONCE, len(domain)), source.n_rows), domain.code_type)
    outside = np.zeros(source.n_rows, bool)
    unknown = []
    for i, (feature, column) in enumerate(zip(domain, source, strict=True)):
        found = encode_column(column, feature, nearest, used=bool(used[i]))
        strange = found == UNKNOWN
        if strange.any():
            first = column.value(int(np.argmax(strange)))
            unknown.append(Unknown(feature, int(strange.sum()), first, bool(used[i])))
            outside |= strange & used[i]
            found = np.where(strange, 0, found)
        few[i % len(few)] = found
        if i % len(few) == len(few) - 1 or i == len(domain) - 1:
            begin = i - i % len(few)
            for row in range(0, source.n_rows, ROWS_AT_ONCE):  # so few rows at a time that both fit the cache
                codes[row : row + ROWS_AT_ONCE, begin : i + 1] = few[: i + 1 - begin, row : row + ROWS_AT_ONCE].T
    return Encoded(codes, outside, tuple(unknown))


def encode_column(column: Column, feature: Feature, nearest: bool = False, *, used: bool = True) -> NDArray[np.int32]:
    """The codes of one column; -1 for a value that the feature does not have.

    That no value can be known, because all are of another type, is an error if the column is in use.
    """
    if of_other_type(column, feature):
        if used:
            raise other_type(column, feature)
        codes = np.full(len(column.data), UNKNOWN, np.int32)
    elif column.type in ("date", "time"):
        codes = _codes_of_moments(column.data, feature, nearest)
    elif column.labels is not None:
        codes = _codes_of_labels(column.labels, column.data, feature)
    elif _is_numeric(feature):
        codes = _codes_of_numbers(column.data, feature, nearest)
    else:
        labels, places = np.unique(column.data, return_inverse=True)
        codes = _codes_of_labels(labels.tolist(), places, feature)
    if column.missing is not None:
        codes[column.missing] = UNKNOWN if feature.missing is None else feature.missing
    return codes


def _codes_of_labels(labels: Sequence[Label], data: NDArray[Any], feature: Feature) -> NDArray[np.int32]:
    """Codes from positions in a list of labels."""
    place = {(type(value) is bool, value): code for code, value in enumerate(feature.known)}
    found = [place.get((type(label) is bool, label), UNKNOWN) for label in labels]
    codes: NDArray[np.int32] = np.array(found or [UNKNOWN], np.int32)[data]
    return codes


def _codes_of_numbers(numbers: NDArray[Any], feature: Feature, nearest: bool) -> NDArray[np.int32]:
    table = _table_of(feature, nearest) if numbers.dtype.kind in "iu" and numbers.dtype != np.uint64 else None
    if table is not None:
        codes = np.empty(len(numbers), np.int32)
        kernels.encode_column(numbers, *table, codes)
        return codes
    if feature.binned:
        return _codes_of_bins(numbers, feature, nearest)
    known = np.array(feature.known)
    order = np.argsort(known)
    at = np.minimum(np.searchsorted(known[order], numbers), len(known) - 1)
    return np.where(known[order][at] == numbers, order[at], UNKNOWN).astype(np.int32)


def _codes_of_moments(moments: NDArray[Any], feature: Feature, nearest: bool) -> NDArray[np.int32]:
    if feature.period is None:  # nothing but missing is known
        return np.full(len(moments), UNKNOWN, np.int32)
    return _codes_of_bins(periods.numbers(feature.period, moments), feature, nearest)


def _codes_of_bins(numbers: NDArray[Any], feature: Feature, nearest: bool) -> NDArray[np.int32]:
    edges = feature.edges
    codes = np.searchsorted(edges[1:-1], numbers, side="right").astype(np.int32)
    if not nearest:
        too_high = numbers >= edges[-1] if feature.integer and edges[0] < edges[-1] else numbers > edges[-1]
        codes[(numbers < edges[0]) | too_high] = UNKNOWN
    return codes


def _table_of(feature: Feature, nearest: bool) -> tuple[int, NDArray[np.int32], bool] | None:
    """The lowest whole number of a feature, the code of each from there on, and whether to clamp."""
    known = feature.known
    if not known or not _is_numeric(feature):
        return None
    if feature.binned:
        edges = feature.edges
        low, high = math.ceil(edges[0]), math.floor(edges[-1])
        if not low <= high < low + LARGEST_TABLE or max(-low, high) > LARGEST_EXACT:
            return None
        return low, _codes_of_bins(np.arange(low, high + 1), feature, nearest), nearest
    whole = [int(value) for value in known if not isinstance(value, str | Bin) and value is not None]
    low, high = min(whole), max(whole)
    if high - low >= LARGEST_TABLE or [*map(float, whole)] != [*map(float, known)]:  # type: ignore[arg-type]
        return None
    table = np.full(high - low + 1, UNKNOWN, np.int32)
    table[np.array(whole) - low] = np.arange(len(whole))
    return low, table, False


def _refuse_unknown(source: Source, domain: Domain, encoded: Encoded, nearest: bool, keep: Rows | None) -> None:
    """Raise for the first unknown value in a row that counts."""
    outside = encoded.outside if keep is None else encoded.outside & keep
    used = {unknown.feature.name for unknown in encoded.unknown if unknown.used}
    for feature, column in zip(domain, source, strict=True):
        if feature.name in used:
            strange = (encode_column(column, feature, nearest) == UNKNOWN) & outside
            if strange.any():
                raise unknown_value(feature, column.value(int(np.argmax(strange))), nearest)


def _is_numeric(feature: Feature) -> bool:
    """Whether its values are numbers or bins of numbers."""
    return bool(feature.known) and not any(isinstance(value, str | bool) for value in feature.known)


def of_other_type(column: Column, feature: Feature) -> bool:
    """Whether a column shares no type with its feature, so that none of its values can be known."""
    if not len(column.present) or not feature.known:
        return False
    given = _types_of(column)
    return bool(given) and not given & _known_types(feature)


def other_type(column: Column, feature: Feature) -> DataError:
    """The error for a column of which no value can be known."""
    first = 0 if column.missing is None else int(np.argmin(column.missing))
    return _of_other_type(feature, in_short(column.value(first)))


def check_type(feature: Feature, held: str) -> None:
    """Refuse a column that holds, in words, something of which no value can be known."""
    if feature.known and held not in _known_types(feature):
        raise _of_other_type(feature, held)


def _of_other_type(feature: Feature, held: str) -> DataError:
    return DataError(
        f"{feature.name!r} holds {held}, but {' or '.join(sorted(_known_types(feature)))} is expected "
        f"({_range_of(feature)}). Give the column that type."
    )


def _types_of(column: Column) -> set[str]:
    if column.labels is not None:
        return set(map(_type_name, column.labels))
    return {MOMENTS.get(column.type, "a number")}


def _known_types(feature: Feature) -> set[str]:
    if feature.period is not None:
        return {MOMENTS["time" if feature.period == "hour of day" else "date"]}
    return set(map(_type_name, feature.known))


def _type_name(value: object) -> str:
    return "text" if isinstance(value, str) else "true or false" if isinstance(value, bool) else "a number"


def _range_of(feature: Feature) -> str:
    """A feature's values in brief."""
    if feature.binned:
        edges = feature.edges
        last = max(edges[0], edges[-1] - 1) if feature.integer else edges[-1]
        if feature.period is not None:
            return periods.label(feature.period, edges[0], last)
        return f"{edges[0]:g} to {last:g}"
    some = ", ".join(map(repr, feature.known[:3]))
    return f"{some}, ..." if len(feature.known) > 3 else some
