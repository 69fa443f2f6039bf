"""What becomes of the columns of a table: features, and identifiers that are left out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from sparsedensity.domain import Domain, Feature
from sparsedensity.errors import DataError, warn
from sparsedensity.ingest.columns import Column, Rows
from sparsedensity.ingest.features import distinct_by_column, feature_of, holds_whole_numbers, levels
from sparsedensity.ingest.sources import Source
from sparsedensity.table import Floats

LEAST_ROWS = 100
"""In smaller tables nothing is taken for an identifier."""
MANY_SHARE = 0.5
"""A text column that has a value of its own in more than this share of the rows names the rows."""
NUMBER_LIKE = re.compile(r"[^\w\s]?\s?\d+([.,/' -]\d+)+\s?[^\w\s]?")
"""Text that may be meant as a number or a date: 1.234,50 or 3/17/2024."""
LARGEST_SPAN = 2
"""Whole numbers that are all different count the rows if they span at most so many times as many numbers."""


def infer(source: Source, kinds: Any, bins: Any, weights: Floats | None, keep: Rows) -> Domain:
    """One feature per column, without identifiers unless a kind is asked for them or there is nothing else."""
    by_name = _asked(source, kinds, bins)
    word = kinds if isinstance(kinds, str) else None
    binned = set(bins if isinstance(bins, Mapping) else ()) - set(kinds if isinstance(kinds, Mapping) else ())
    rows = None if keep.all() else keep
    kept = weights if weights is None or rows is None else weights[rows]
    found, left_out = _levels_of_array(source, by_name, word, keep), dict[str, Column]()
    for column in source.without(found):
        some, kind = column.only(rows), by_name.get(column.name)
        if kind is None and word is not None and _suits(word, column):
            kind = word
        if some.labels is not None and column.name in binned:
            raise DataError(f"{column.name!r} cannot be cut into bins, since it does not hold numbers.")
        if kind is None and len(source.names) > 1 and _is_identifier(some):
            left_out[column.name] = some
        else:
            found[column.name] = feature_of(some, kind, bins, kept)
    for column in left_out.values():
        _tell_of_identifier(column, int(keep.sum()), alone=not found)
    features = tuple(found[name] for name in source.names if name in found)
    for feature in features:
        if feature.values == (None,):
            warn(f"{feature.name!r} is missing in every row.")
    return Domain(features, tuple(left_out))


def _asked(source: Source, kinds: Any, bins: Any) -> dict[str, Any]:
    """The kinds that were asked for, column by column; who is given bins is continuous."""
    binned, named = (of if isinstance(of, Mapping) else {} for of in (bins, kinds))
    for parameter, columns in (("kinds", named), ("bins", binned)):
        for name in columns:
            if name not in source.names:
                raise DataError(f"{parameter} names the column {name!r}, which is not in the table.")
    return {**dict.fromkeys(binned, "continuous"), **named}


def _levels_of_array(source: Source, kinds: dict[str, Any], word: str | None, keep: Rows) -> dict[str, Feature]:
    """The features of an array of whole numbers that are but their distinct numbers, in two passes over all of it."""
    distinct = None if source.integers is None else distinct_by_column(source.integers, keep)
    if distinct is None:
        return {}
    both = zip(source.names, distinct, strict=True)
    features = {name: levels(name, kinds.get(name, word), numbers) for name, numbers in both}
    return {name: feature for name, feature in features.items() if feature is not None}


def _suits(kind: str, column: Column) -> bool:
    """Whether one word for all columns is meant for this one: text is not put in an order, nor cut into bins."""
    return kind == "nominal" or column.labels is None


def _is_identifier(column: Column) -> bool:
    """Whether a column names or counts the rows."""
    present = column.present
    rows = len(present)
    if rows < LEAST_ROWS or column.declared:
        return False
    if column.type == "text":
        labels = len(column.labels or ())
        return labels > MANY_SHARE * rows and int(np.count_nonzero(np.bincount(present))) > MANY_SHARE * rows
    whole = column.type == "integer" or (column.type == "float" and holds_whole_numbers(present))
    if not whole or column.missing is not None or float(present.max()) - float(present.min()) >= LARGEST_SPAN * rows:
        return False
    return len(np.unique(present)) == rows


def _tell_of_identifier(column: Column, count: int, *, alone: bool) -> None:
    """Warn that a column is left out; it cannot be if there is no other."""
    name, first = column.name, str((column.labels or ("",))[0])
    looks = f"{name!r} looks like an identifier: its values are nearly all different in {count:,} rows."
    keep = f"kinds={{{name!r}: 'nominal'}}"
    if alone:
        raise DataError(f"{looks} No other column is left, so say what it is, for example {keep}.")
    more = f"It is left out; {keep} keeps it" + (" (or 'continuous')." if column.labels is None else ".")
    if NUMBER_LIKE.fullmatch(first):
        more += f" It holds text such as {first!r}: write numbers like 1234.5 and dates like 2024-03-17."
    warn(f"{looks} {more}")
