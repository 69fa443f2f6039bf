"""Columns to codes, and what to do with a value outside the domain."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsedensity.domain import Bin, Domain, Feature, Label
from sparsedensity.errors import DataError, UnknownValueError
from sparsedensity.ingest.columns import Column, Rows
from sparsedensity.ingest.sources import Source
from sparsedensity.kernels import encode as kernels
from sparsedensity.table import Codes

UNKNOWN = kernels.UNKNOWN
LARGEST_TABLE = 1 << 20
ROWS_AT_ONCE = 4096
COLUMNS_AT_ONCE = 16
LARGEST_EXACT = 1 << 53
"""Beyond this, whole numbers are compared with bin edges as floats: not every one of them is a float."""


@dataclass(frozen=True, eq=False)
class Encoded:
    """Rows as codes. A row with a value outside the domain is marked, and one such value is remembered."""

    codes: Codes
    outside: Rows
    unknown: tuple[str, object] | None = None
    """The first column with a value outside the domain, and the value."""


def encode(
    source: Source, domain: Domain, *, nearest: bool = False, strict: bool = False, keep: Rows | None = None
) -> Encoded:
    """The codes of every row. `strict` refuses a value outside the domain in a row to keep."""
    encoded = _encode_integers(source, domain, nearest) or _encode_columns(source, domain, nearest)
    if strict and encoded.unknown is not None:
        _refuse_unknown(source, domain, encoded, nearest, keep)
    return encoded


def unknown_value(feature: Feature, value: object, nearest: bool) -> UnknownValueError:
    """The error for a value outside a feature."""
    if feature.kind == "continuous" and value is not None:
        edges = feature.edges
        last = max(edges[0], edges[-1] - 1) if feature.integer else edges[-1]
        known: tuple[Any, ...] = (f"{edges[0]:g} to {last:g}",)
        ways = "Widen its bins" + ("." if nearest else ", or use unknown='nearest' to put it into the outermost one.")
    else:
        known = feature.known
        ways = "Correct it, declare it in the domain, or leave out such rows; unknown='zero' scores them as density 0."
    return UnknownValueError(feature.name, value, known, ways)


def _encode_integers(source: Source, domain: Domain, nearest: bool) -> Encoded | None:
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
    codes = np.empty(numbers.shape, domain.code_type)
    outside = np.zeros(len(numbers), bool)
    row, column = kernels.encode_integers(numbers, look_up, codes, outside)
    unknown = None if row < 0 else (domain.names[column], numbers[row, column].item())
    return Encoded(codes, outside, unknown)


def _encode_columns(source: Source, domain: Domain, nearest: bool) -> Encoded:
    """A few columns at a time, which are then turned so that a row lies together."""
    codes = np.empty((source.n_rows, len(domain)), domain.code_type)
    few = np.empty((min(COLUMNS_AT_ONCE, len(domain)), source.n_rows), domain.code_type)
    outside = np.zeros(source.n_rows, bool)
    unknown = None
    for i, (feature, column) in enumerate(zip(domain, source, strict=True)):
        found = encode_column(column, feature, nearest)
        strange = found == UNKNOWN
        if strange.any():
            unknown = unknown or (feature.name, column.value(int(np.argmax(strange))))
            outside |= strange
            found = np.where(strange, 0, found)
        few[i % len(few)] = found
        if i % len(few) == len(few) - 1 or i == len(domain) - 1:
            begin = i - i % len(few)
            for row in range(0, source.n_rows, ROWS_AT_ONCE):  # so few rows at a time that both fit the cache
                codes[row : row + ROWS_AT_ONCE, begin : i + 1] = few[: i + 1 - begin, row : row + ROWS_AT_ONCE].T
    return Encoded(codes, outside, unknown)


def encode_column(column: Column, feature: Feature, nearest: bool = False) -> NDArray[np.int32]:
    """The codes of one column; -1 for a value that the feature does not have."""
    _refuse_other_type(column, feature)
    if column.labels is not None:
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
    if feature.kind == "continuous":
        return _codes_of_bins(numbers, feature, nearest)
    known = np.array(feature.known)
    order = np.argsort(known)
    at = np.minimum(np.searchsorted(known[order], numbers), len(known) - 1)
    return np.where(known[order][at] == numbers, order[at], UNKNOWN).astype(np.int32)


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
    if feature.kind == "continuous":
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
    used = encoded.outside if keep is None else encoded.outside & keep
    for feature, column in zip(domain, source, strict=True):
        strange = (encode_column(column, feature, nearest) == UNKNOWN) & used
        if strange.any():
            raise unknown_value(feature, column.value(int(np.argmax(strange))), nearest)


def _is_numeric(feature: Feature) -> bool:
    """Whether its values are numbers or bins of numbers."""
    return bool(feature.known) and not any(isinstance(value, str | bool) for value in feature.known)


def _refuse_other_type(column: Column, feature: Feature) -> None:
    """Raise if a column shares no type with its feature, so that none of its values can be known."""
    present = range(len(column.data)) if column.missing is None else np.flatnonzero(~column.missing)
    if not len(present) or not feature.known:
        return
    given = {"a number"} if column.labels is None else set(map(_type_name, column.labels))
    known = set(map(_type_name, feature.known))
    if given and not given & known:
        raise DataError(
            f"{column.name!r} holds {column.value(int(present[0]))!r}, but {' or '.join(sorted(known))} is expected "
            f"({_range_of(feature)}). Give the column that type."
        )


def _type_name(value: object) -> str:
    return "text" if isinstance(value, str) else "true or false" if isinstance(value, bool) else "a number"


def _range_of(feature: Feature) -> str:
    """A feature's values in brief."""
    if feature.kind == "continuous":
        return f"{feature.edges[0]:g} to {feature.edges[-1]:g}"
    some = ", ".join(map(repr, feature.known[:3]))
    return f"{some}, ..." if len(feature.known) > 3 else some
