"""What the domain of a table depends on, gathered part by part, so that no more than a part is ever in memory.

A column is told by a few of its rows: one for every different value (if they are not too many), the extremes, a number
that is not whole, a moment that is not midnight, a missing value. The feature of these rows is the feature of the
column. Only quantiles, and whether a bin is crowded, need more: some rows that were drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsedensity.domain import MAX_VALUES, Domain
from sparsedensity.ingest.columns import Column, Rows
from sparsedensity.ingest.features import FEW_NUMBERS, LARGEST_WHOLE, holds_whole_numbers
from sparsedensity.ingest.infer import LARGEST_SPAN, LEAST_ROWS, MANY_SHARE, Asked, Told
from sparsedensity.ingest.joining import join_columns
from sparsedensity.ingest.sources import Source
from sparsedensity.table import Floats

FIRST_LOOK = 4096
"""Rows that are looked at first: if these are many numbers already, or all there are, the rest is not told apart."""


@dataclass(frozen=True, eq=False)
class ColumnSummary:
    """A column in brief."""

    told: Column
    """The rows that tell its feature."""
    rows: int
    """How many rows count,"""
    missing: int
    """and in how many of them the column is missing."""
    most: int
    """How many different values are kept; of a column with more, so many are."""
    drawn: Column
    """Some of its rows, if it holds numbers,"""
    weights: Floats
    """and how much each of them stands for."""

    def __add__(self, other: ColumnSummary) -> ColumnSummary:
        """The column of two parts of a table."""
        crowded = next((summary for summary in (self, other) if summary.crowded), None)
        return ColumnSummary(
            tell(join_columns(self.told, other.told), self.most) if crowded is None else crowded.told,
            self.rows + other.rows,
            self.missing + other.missing,
            self.most,
            join_columns(self.drawn, other.drawn),
            np.concatenate([self.weights, other.weights]),
        )

    @property
    def many(self) -> bool:
        """Whether it has so many different values that not all are kept."""
        return len(different(self.told, self.most)) >= self.most

    @property
    def crowded(self) -> bool:
        """Whether it holds so many different texts that no others matter any more."""
        return not self.told.declared and len(self.told.labels or ()) >= self.most

    def is_identifier(self) -> bool:
        """Whether the column names or counts the rows; among numbers, those that were drawn must be all different."""
        present = self.rows - self.missing
        if present < LEAST_ROWS or self.told.declared:
            return False
        if self.told.type == "text":
            return self.many or len(self.told.labels or ()) > MANY_SHARE * present
        if self.told.type not in ("integer", "float") or self.missing or not self.many:
            return False
        numbers, drawn = self.told.present, self.drawn.present
        counts = float(numbers.max()) - float(numbers.min()) < LARGEST_SPAN * present and holds_whole_numbers(numbers)
        return counts and len(np.unique(drawn)) == len(drawn)

    def as_told(self) -> Told:
        """The column as a domain is inferred from it; if none of its rows were drawn, those that tell it stand in."""
        told = np.zeros if self.weights.any() else np.ones
        weights = np.concatenate([told(len(self.told.data)), self.weights])
        return Told(join_columns(self.told, self.drawn), weights, self.is_identifier)


def summarise(
    source: Source, asked: Asked, drawn: NDArray[np.intp], weights: Floats, keep: Rows | None = None
) -> dict[str, ColumnSummary]:
    """Every column of a part of a table in brief; `drawn` are some of its rows, `weights` what they stand for."""
    return {column.name: _summary(column.only(keep), asked, drawn, weights) for column in source}


def domain_of(summaries: Mapping[str, ColumnSummary], asked: Asked) -> Domain:
    """The domain of a table, from all its columns in brief."""
    rows = max(summary.rows for summary in summaries.values())
    return asked.domain((summary.as_told() for summary in summaries.values()), rows)


def added_up(parts: Iterable[dict[str, ColumnSummary]]) -> dict[str, ColumnSummary]:
    """The columns of a table in parts."""
    return reduce(lambda one, other: {name: one[name] + other[name] for name in one}, parts)


def most_kept(column: Column, asked: Asked) -> int:
    """How many different values tell a column: numbers are binned if they are more than a few."""
    numbers = column.labels is None and asked.kind(column) not in ("nominal", "ordinal")
    return (FEW_NUMBERS if numbers else MAX_VALUES) + 1


def tell(column: Column, most: int) -> Column:
    """The rows that tell the feature of a column: at most so many different values, extremes, oddities, one missing."""
    present = np.arange(len(column.data)) if column.missing is None else np.flatnonzero(~column.missing)
    rows = [present[different(column, most)]]
    if column.missing is not None:
        rows.append(np.flatnonzero(column.missing)[:1])
    data = column.data[present]
    if column.labels is None and len(data):
        odd = np.flatnonzero(_is_odd(column, data))[:1]
        rows += [present[[data.argmin(), data.argmax()]], present[odd]]
    return _with_own_labels(column.only(np.unique(np.concatenate(rows))))


def different(column: Column, most: int) -> NDArray[np.intp]:
    """Places among the present rows of a column that hold different values, at most so many; of dates none."""
    data = column.present
    if column.type in ("date", "time"):
        return np.empty(0, np.intp)
    values, places = np.unique(data[:FIRST_LOOK], return_index=True)
    if column.labels is None and len(values) >= most:
        return places[:most]
    return places if np.isin(data, values).all() else np.unique(data, return_index=True)[1][:most]


def _summary(column: Column, asked: Asked, drawn: NDArray[np.intp], weights: Floats) -> ColumnSummary:
    most, missing = most_kept(column, asked), 0 if column.missing is None else int(column.missing.sum())
    picked = column.only(drawn)
    there = np.zeros(len(drawn), bool) if column.labels is not None else np.ones(len(drawn), bool)
    if picked.missing is not None:
        there &= ~picked.missing
    numbers = _with_own_labels(picked.only(there))
    return ColumnSummary(tell(column, most), len(column.data), missing, most, numbers, weights[there])


def _is_odd(column: Column, data: NDArray[Any]) -> Rows:
    """Which numbers are not whole, or too large to tell; which moments are not the beginning of a day."""
    if column.type in ("date", "time"):
        return np.asarray(data != data.astype("M8[D]"))
    if data.dtype.kind != "f":
        return np.zeros(len(data), bool)
    return np.asarray(~(np.abs(data) < LARGEST_WHOLE) | (data != np.floor(data)))


def _with_own_labels(column: Column) -> Column:
    """A column with no other labels than it holds, unless they were declared."""
    if column.declared or column.labels is None:
        return column
    held, labels = np.zeros(len(column.labels or ()) + 1, bool), column.labels or ()
    held[column.present] = True
    kept = tuple(label for label, there in zip(labels, held, strict=False) if there)
    return replace(column, data=np.where(held, np.cumsum(held) - 1, 0)[column.data], labels=kept)
