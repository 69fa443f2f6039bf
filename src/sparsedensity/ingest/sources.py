"""Whatever holds columns: data frames, arrays, lists of records."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from sparsedensity.domain import Domain, check_name
from sparsedensity.errors import ColumnsError, DataError, in_short
from sparsedensity.ingest.columns import (
    Column,
    Rows,
    column_of_objects,
    column_of_series,
    column_of_vector,
    complex_error,
)

COLUMNS_AT_ONCE = 8


@dataclass(frozen=True, eq=False)
class Source:
    """A table as named columns that are read when asked for."""

    names: tuple[str, ...]
    n_rows: int
    read: Callable[[Sequence[int], Rows | None], Iterator[Column]]
    """The columns at some positions, given the rows that count."""
    positions: tuple[int, ...]
    named: bool = True
    """Whether the names were given by the user."""
    whole: NDArray[np.integer[Any]] | None = None
    """The array with all columns, if it holds whole numbers."""
    index: Any = None
    """What the table calls its rows, if it calls them anything."""
    counted: Rows | None = None
    """The rows that count; the type of a column is not read off the others."""

    def __iter__(self) -> Iterator[Column]:
        return self.read(self.positions, self.counted)

    def counting(self, rows: Rows | None) -> Source:
        """The same table, of which only some rows count."""
        return replace(self, counted=rows)

    def label(self, row: int) -> object:
        """What the table calls a row: its label in the index of a pandas frame, or its number, counted from 0."""
        if self.index is None:
            return row
        found = self.index[row]
        return found.item() if isinstance(found, np.generic) else found

    def without(self, names: Collection[str]) -> Source:
        """The same table without those of these columns that it has."""
        gone = frozenset(names)
        kept = [i for i, name in enumerate(self.names) if name not in gone]
        if len(kept) == len(self.names):
            return self
        return replace(self, names=tuple(self.names[i] for i in kept), positions=tuple(self.positions[i] for i in kept))

    def known_to(self, domain: Domain) -> Source:
        """The same table without what a domain leaves out, which a table without names has if it is so wide."""
        as_it_was = len(domain) + len(domain.left_out)
        return self.without(domain.left_out) if self.named or len(self.names) == as_it_was else self

    @property
    def integers(self) -> NDArray[np.integer[Any]] | None:
        """The table as it is, if it is an array of whole numbers."""
        if self.whole is None or len(self.positions) == self.whole.shape[1]:
            return self.whole
        return self.whole[:, self.positions]

    def check_names(self, names: Sequence[str]) -> None:
        """Raise unless the columns are these, in this order."""
        if self.named and tuple(names) != self.names:
            raise ColumnsError(name_difference(self.names, tuple(names)))
        if len(names) != len(self.names):
            raise ColumnsError(f"The table has {len(self.names)} columns, but {len(names)} are declared.")


def open_source(X: Any) -> Source:
    """Open a pandas, Polars or PyArrow table, a NumPy array, a list of records or a list of rows, unless it is open."""
    if isinstance(X, Source):
        return X
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise DataError("Sparse data was passed, but dense data is required. Use X.toarray().")
    frame = as_frame(X)
    if isinstance(frame, nw.LazyFrame):
        raise DataError(
            "This needs rows in memory, but the rows of this table are elsewhere. Collect it first, or some of them."
        )
    if isinstance(frame, nw.DataFrame):
        source = _of_frame(frame)
    elif isinstance(X, Sequence) and len(X) and isinstance(X[0], Mapping):
        source = _of_records(X)
    else:
        source = _of_array(_as_array(X))
    shape = source.n_rows, len(source.names)
    for length, unit, word in zip(reversed(shape), ("feature", "sample"), ("columns", "rows"), strict=True):
        if not length:
            found = f"Found array with 0 {unit}(s) (shape={shape}) while a minimum of 1 is required"
            raise DataError(f"{found}: the table has no {word}.")
    return source


def as_frame(X: Any) -> Any:
    """A data frame of any library, lazy or not, in one form; anything else as it is."""
    try:
        return nw.from_native(X, pass_through=True)
    except nw.exceptions.DuplicateError:
        _check_names(X.column_names if hasattr(X, "column_names") else X.columns)
        raise


def _of_frame(frame: nw.DataFrame[Any]) -> Source:
    columns = frame.columns
    texts = [name for name in columns if isinstance(name, str)]
    if texts and len(texts) < len(columns):
        odd = next(name for name in columns if not isinstance(name, str))
        raise ColumnsError(
            f"Column names must all be strings: {texts[0]!r} is one, {odd!r} is not. Rename them, for example with "
            "df.columns = df.columns.astype(str)."
        )
    names = tuple(map(str, columns))
    _check_names(names)

    series = list(frame.iter_columns())

    def read(positions: Sequence[int], counted: Rows | None) -> Iterator[Column]:
        return (column_of_series(names[i], series[i], counted) for i in positions)

    index = nw.maybe_get_index(frame)
    return Source(names, len(frame), read, tuple(range(len(names))), named=bool(texts), index=index)


def _of_records(records: Sequence[Mapping[str, Any]]) -> Source:
    for row, record in enumerate(records):
        if not isinstance(record, Mapping):
            raise DataError(
                f"Row {row} of the list is {in_short(record)}, not a record like the first. Give all one form."
            )
    keys = list(dict.fromkeys(key for record in records for key in record))
    names = tuple(map(str, keys))
    _check_names(names)

    def read(positions: Sequence[int], counted: Rows | None) -> Iterator[Column]:
        for i in positions:
            yield column_of_objects(names[i], [record.get(keys[i]) for record in records], counted)

    return Source(names, len(records), read, tuple(range(len(names))))


def _as_array(X: Any) -> NDArray[Any]:
    """An array of two dimensions, of objects if the rows mix types."""
    array: NDArray[Any]
    if isinstance(X, np.ma.MaskedArray) and X.mask.any():
        array = X.data.astype(object)
        array[X.mask] = None
    elif isinstance(X, np.ndarray) or not isinstance(X, Sequence):
        array = np.asarray(X)
    else:
        try:
            array = np.asarray(X)
        except ValueError:
            raise DataError("The rows of the list differ in length. Give every row the same columns.") from None
        if array.ndim == 2 and array.dtype.kind in "USO":
            array = np.array([list(row) for row in X], dtype=object).reshape(array.shape)
    if array.dtype.kind == "c" and array.size:
        raise complex_error("x0", array.flat[0])
    if array.ndim != 2:
        if array.ndim > 2:
            raise DataError(f"Found array with dim {array.ndim}, while dim <= 2 is required.")
        if array.ndim == 0:
            way_out = "Give a data frame, a two-dimensional array or a list of records"
            if isinstance(X, str | os.PathLike):
                way_out = "Read the file first, for example with polars.read_csv"
            raise DataError(f"Expected 2D array, got 0D array instead: {in_short(X)} is not a table. {way_out}.")
        raise DataError(
            f"Expected 2D array, got {array.ndim}D array instead. Reshape your data: X.reshape(-1, 1) if it is "
            "one column, X.reshape(1, -1) if it is one row."
        )
    return array


def _of_array(array: NDArray[Any]) -> Source:
    names = tuple(f"x{i}" for i in range(array.shape[1]))
    whole = array if array.dtype.kind in "iu" and array.dtype != np.uint64 else None

    def read(positions: Sequence[int], counted: Rows | None) -> Iterator[Column]:
        for begin in range(0, len(positions), COLUMNS_AT_ONCE):
            some = positions[begin : begin + COLUMNS_AT_ONCE]
            block = np.ascontiguousarray(array[:, some[0] : some[-1] + 1].T)
            yield from (column_of_vector(names[i], block[i - some[0]], counted) for i in some)

    return Source(names, len(array), read, tuple(range(len(names))), named=False, whole=whole)


def _check_names(names: Iterable[Any]) -> None:
    seen: set[Any] = set()
    for name in names:
        check_name(str(name))
        if name in seen:
            raise ColumnsError(f"Two columns are called {name!r}. Rename one of them.")
        seen.add(name)


def name_difference(given: Sequence[str], expected: Sequence[str]) -> str:
    """What is wrong with the columns, in scikit-learn's words."""
    lines = ["The feature names should match those that were passed during fit."]
    extra, lacking = sorted(set(given) - set(expected)), sorted(set(expected) - set(given))
    for title, names in (("unseen at fit time", extra), ("seen at fit time, yet now missing", lacking)):
        if names:
            lines += [f"Feature names {title}:", *(f"- {name}" for name in names[:5])]
            lines += ["- ..."] * (len(names) > 5)
    if not extra and not lacking:
        lines.append("Feature names must be in the same order as they were in fit.")
        lines.append("Give the columns in this order: " + ", ".join(expected))
    return "\n".join(lines)
