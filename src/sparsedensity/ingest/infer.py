"""What becomes of the columns of a table: features, and identifiers that are left out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

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


class Told(NamedTuple):
    """A column as a feature is made of it."""

    column: Column
    weights: Floats | None
    is_identifier: Callable[[], bool]


@dataclass(frozen=True)
class Asked:
    """What was asked of the columns of a table."""

    names: tuple[str, ...]
    by_name: Mapping[str, Any]
    """Kinds, column by column; who is given bins is continuous."""
    word: str | None
    """One kind for all columns that it suits."""
    binned: frozenset[str]
    """Columns that are given bins and no kind."""
    bins: Any

    @classmethod
    def of(cls, names: tuple[str, ...], kinds: Any, bins: Any) -> Asked:
        """What `kinds` and `bins` ask for."""
        binned, named = (of if isinstance(of, Mapping) else {} for of in (bins, kinds))
        for parameter, columns in (("kinds", named), ("bins", binned)):
            for name in columns:
                if name not in names:
                    raise DataError(f"{parameter} names the column {name!r}, which is not in the table.")
        by_name = {**dict.fromkeys(binned, "continuous"), **named}
        return cls(
            names, by_name, kinds if isinstance(kinds, str) else None, frozenset(binned) - frozenset(named), bins
        )

    def kind(self, column: Column) -> Any:
        """The kind that is asked of a column, if any; text is not put in an order, nor cut into bins, by one word."""
        kind = self.by_name.get(column.name)
        suits = self.word is not None and (self.word == "nominal" or column.labels is None)
        return self.word if kind is None and suits else kind

    def domain(self, columns: Iterable[Told], rows: int, known: Mapping[str, Feature] | None = None) -> Domain:
        """One feature per column, without identifiers unless a kind is asked for them or there is nothing else."""
        found, left_out = dict(known or {}), dict[str, Column]()
        for column, weights, is_identifier in columns:
            kind = self.kind(column)
            if column.labels is not None and column.name in self.binned:
                raise DataError(f"{column.name!r} cannot be cut into bins, since it does not hold numbers.")
            if kind is None and len(self.names) > 1 and is_identifier():
                left_out[column.name] = column
            else:
                found[column.name] = feature_of(column, kind, self.bins, weights)
        for column in left_out.values():
            _tell_of_identifier(column, rows, alone=not found)
        features = tuple(found[name] for name in self.names if name in found)
        for feature in features:
            if feature.values == (None,):
                warn(f"{feature.name!r} is missing in every row.")
        return Domain(features, tuple(left_out))


def infer(source: Source, kinds: Any, bins: Any, weights: Floats | None, keep: Rows) -> Domain:
    """The domain of the rows to keep."""
    asked = Asked.of(source.names, kinds, bins)
    rows = None if keep.all() else keep
    kept = weights if weights is None or rows is None else weights[rows]
    known = _levels_of_array(source, asked, keep)
    columns = (column.only(rows) for column in source.without(known))
    told = (Told(column, kept, partial(_is_identifier, column)) for column in columns)
    return asked.domain(told, int(keep.sum()), known)


def _levels_of_array(source: Source, asked: Asked, keep: Rows) -> dict[str, Feature]:
    """The features of an array of whole numbers that are but their distinct numbers, in two passes over all of it."""
    distinct = None if source.integers is None else distinct_by_column(source.integers, keep)
    if distinct is None:
        return {}
    both = zip(source.names, distinct, strict=True)
    features = {name: levels(name, asked.by_name.get(name, asked.word), numbers) for name, numbers in both}
    return {name: feature for name, feature in features.items() if feature is not None}


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
