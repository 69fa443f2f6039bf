"""Two tables as one: the rows of the first, then those of the second, column by column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sparsedensity.domain import Label
from sparsedensity.errors import ColumnsError, DataError
from sparsedensity.ingest.columns import Column, Rows
from sparsedensity.ingest.sources import Source


def join(first: Source, second: Source) -> Source:
    """Both tables, which must have the same columns; nothing about the columns depends on which is first."""
    _check_columns(first, second)
    n = first.n_rows

    def read(positions: Sequence[int], counted: Rows | None) -> Iterator[Column]:
        ours, theirs = (None, None) if counted is None else (counted[:n], counted[n:])
        for one, other in zip(first.read(positions, ours), second.read(positions, theirs), strict=True):
            yield join_columns(one, replace(other, name=one.name))

    whole = None
    if first.whole is not None and second.whole is not None:
        numbers = np.concatenate([first.whole, second.whole])
        whole = numbers if numbers.dtype.kind in "iu" else None
    return replace(first, n_rows=n + second.n_rows, read=read, named=first.named and second.named, whole=whole)


def join_columns(one: Column, other: Column) -> Column:
    """The rows of one column, then those of another."""
    one = _like(one, other)
    other = _like(other, one)
    if {one.type, other.type} == {"integer", "float"}:
        one, other = _as_floats(one), _as_floats(other)
    if one.type != other.type:
        some, others = (column.value(int(np.argmin(_missing(column)))) for column in (one, other))
        raise DataError(
            f"{one.name!r} holds {some!r} in one table and {others!r} in the other. Make the column one type in both."
        )
    missing = np.concatenate([_missing(one), _missing(other)])
    joined = replace(one, missing=missing if missing.any() else None)
    if one.labels is None or other.labels is None:
        data = np.concatenate([one.data, other.data])
        return replace(joined, data=data, type="float" if data.dtype.kind == "f" else one.type)
    labels = _joined_labels(one, other)
    place = {(type(label), label): code for code, label in enumerate(labels)}
    codes = [_recoded(column, place) for column in (one, other)]
    declared, ordered = one.declared or other.declared, one.ordered or other.ordered
    return replace(joined, data=np.concatenate(codes), labels=labels, declared=declared, ordered=ordered)


def _check_columns(first: Source, second: Source) -> None:
    """Raise unless both tables have the same columns, in the same order."""
    if len(first.names) != len(second.names) and not (first.named and second.named):
        raise ColumnsError(f"The first table has {len(first.names)} columns, the second {len(second.names)}.")
    if not (first.named and second.named) or first.names == second.names:
        return
    for here, there, word in ((first, second, "first"), (second, first, "second")):
        lone = [name for name in here.names if name not in there.names]
        if lone:
            raise ColumnsError(f"Only the {word} table has a column {lone[0]!r}. Give both tables the same columns.")
    raise ColumnsError(f"Give the columns of both tables in the same order: {', '.join(first.names)}.")


def _like(column: Column, other: Column) -> Column:
    """A column that is missing in every row has whatever type the other has."""
    if not _missing(column).all() or column.declared:
        return column
    return replace(other, data=np.zeros(len(column.data), other.data.dtype), missing=_missing(column), declared=False)


def _as_floats(column: Column) -> Column:
    numbers = np.where(_missing(column), np.nan, column.data.astype(np.float64))
    return replace(column, type="float", data=numbers)


def _missing(column: Column) -> Rows:
    return np.zeros(len(column.data), bool) if column.missing is None else column.missing


def _joined_labels(one: Column, other: Column) -> tuple[Label, ...]:
    """The labels of both: in the order that was declared, if there is one, else sorted."""
    assert one.labels is not None
    assert other.labels is not None
    if one.labels == other.labels:
        return one.labels
    if not one.ordered and not other.ordered:
        return tuple(sorted({*one.labels, *other.labels}, key=lambda label: (isinstance(label, str), label)))
    for column, rest in ((one, other), (other, one)):
        labels = column.labels or ()
        shared = tuple(label for label in labels if label in (rest.labels or ()))
        if column.ordered and (shared == rest.labels or (not rest.ordered and set(shared) == set(rest.labels or ()))):
            return labels
    raise DataError(
        f"The categories of {one.name!r} are ordered differently in the two tables. Declare the same ones in both, in "
        "the same order."
    )


def _recoded(column: Column, place: dict[tuple[type, Label], int]) -> NDArray[np.int64]:
    """The positions of a column's rows among other labels."""
    places = [place[type(label), label] for label in column.labels or ()]
    codes: NDArray[np.int64] = np.array(places or [0], np.int64)[column.data]
    return codes
