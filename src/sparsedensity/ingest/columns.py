"""One column, whatever it came from, in one plain form."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Literal, TypeAlias

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from sparsedensity.domain import Label
from sparsedensity.errors import DataError, RowError, in_short, too_wide, unsupported
from sparsedensity.periods import MIDNIGHT
from sparsedensity.scalars import is_whole

Type = Literal["text", "boolean", "integer", "float", "date", "time"]
Rows: TypeAlias = NDArray[np.bool_]
"""One truth value per row."""
EPOCH = np.datetime64(0, "s")
FEW_ROWS = 256


@dataclass(frozen=True, eq=False)
class Column:
    """One column: numbers as they are, dates and times as moments, all else as positions in a list of labels."""

    name: str
    type: Type
    data: NDArray[Any]
    missing: Rows | None = None
    labels: tuple[Label, ...] | None = None
    declared: bool = False
    """Whether the labels were declared, so that one that never occurs still counts."""
    ordered: bool = False

    def only(self, rows: Rows | NDArray[np.intp] | None) -> Column:
        """Some of its rows, by a mark or a number for each."""
        if rows is None:
            return self
        missing = None if self.missing is None else self.missing[rows]
        return replace(self, data=self.data[rows], missing=missing)

    def value(self, row: int) -> object:
        """The value in one row, as the user wrote it."""
        if self.missing is not None and self.missing[row]:
            return None
        if self.type == "time":
            return self.data[row].item().time()
        if self.type == "date" and self.data[row] == self.data[row].astype("M8[D]"):
            return self.data[row].astype("M8[D]").item()
        return self.labels[int(self.data[row])] if self.labels is not None else self.data[row].item()

    @property
    def present(self) -> NDArray[Any]:
        """The data of the rows that are not missing."""
        return self.data if self.missing is None else self.data[~self.missing]


def column_of_vector(name: str, data: NDArray[Any], counted: Rows | None) -> Column:
    """A column of a NumPy array."""
    match data.dtype.kind:
        case "b":
            return Column(name, "boolean", data.astype(np.uint8), labels=(False, True))
        case "i" | "u":
            return Column(name, "integer", data)
        case "f":
            return _of_floats(name, data, counted)
        case "M":
            return _of_moments(name, "date", data)
        case "U" | "T":
            return _of_text(name, _texts(name, data.tolist()))
        case "O":
            return column_of_objects(name, data.tolist(), counted)
        case "S":
            raise unsupported(name, "bytes")
        case _:
            raise unsupported(name, str(data.dtype))


def column_of_series(name: str, series: nw.Series[Any], counted: Rows | None) -> Column:
    """A column of a data frame."""
    dtype = series.dtype
    if isinstance(dtype, nw.Categorical | nw.Enum):
        return _of_categories(name, series)
    if dtype == nw.String:
        return _of_text(name, _texts_of(name, series))
    if dtype in (nw.Object, nw.Unknown, nw.Time):
        return column_of_objects(name, series.to_list(), counted)
    if dtype in (nw.Date, nw.Datetime):
        local = series.cast(nw.Datetime("ms")) if dtype == nw.Date else series.dt.replace_time_zone(None)
        return _of_moments(name, "date", np.asarray(local.to_numpy()))
    return _of_plain_series(name, series, counted)


def _of_plain_series(name: str, series: nw.Series[Any], counted: Rows | None) -> Column:
    """A column of numbers or truth values."""
    dtype = series.dtype
    if dtype in (nw.Int128, nw.UInt128):
        raise too_wide(name)
    if dtype != nw.Boolean and not dtype.is_numeric():
        raise unsupported(name, str(dtype))
    missing = None
    if series.null_count():
        missing = series.is_null().to_numpy()
        series = series.fill_null(False if dtype == nw.Boolean else 0 if dtype.is_integer() else math.nan)
    if dtype == nw.Boolean:
        return Column(name, "boolean", series.to_numpy().astype(np.uint8), missing, (False, True))
    if dtype.is_integer():
        return Column(name, "integer", np.asarray(series.to_numpy()), missing)
    return _of_floats(name, series.cast(nw.Float64).to_numpy(), counted)


def _of_floats(name: str, data: NDArray[Any], counted: Rows | None) -> Column:
    data = data.astype(np.float64, copy=False)
    infinite = np.flatnonzero(np.isinf(data) if counted is None else np.isinf(data) & counted)
    if len(infinite):
        row = int(infinite[0])
        way_out = "Replace it with a finite number or with NaN, which counts as missing."
        raise RowError(f"{name!r} holds infinity ({data[row]})", row, way_out)
    return Column(name, "float", data, _if_any(np.isnan(data)))


def _of_moments(name: str, kind: Literal["date", "time"], data: NDArray[Any]) -> Column:
    """Moments to the second; a time of day is one of the first of January 1970."""
    moments = data.astype("M8[s]")
    missing = np.isnat(moments)
    return Column(name, kind, np.where(missing, EPOCH, moments), _if_any(missing))


def _of_text(name: str, series: pl.Series) -> Column:
    """Distinct texts, sorted, and the position of each row's text among them."""
    if len(series) <= FEW_ROWS:
        return _of_few_texts(name, series.to_list())
    missing = series.is_null().to_numpy() if series.null_count() else None
    labels = series.drop_nulls().unique().sort()
    if labels.is_empty():
        return Column(name, "text", np.zeros(len(series), np.uint8), np.ones(len(series), bool), ())
    codes = series.cast(pl.Enum(labels)).to_physical().fill_null(0).to_numpy()
    return Column(name, "text", codes, missing, tuple(labels.to_list()))


def _of_few_texts(name: str, texts: list[str | None]) -> Column:
    """The same without Polars, whose calls take longer than a few rows do: a table may have many columns."""
    labels = sorted({text for text in texts if text is not None})
    place = {label: code for code, label in enumerate(labels)}
    codes = np.array([0 if text is None else place[text] for text in texts], np.uint32)
    return Column(name, "text", codes, _if_any(np.array([text is None for text in texts])), tuple(labels))


def _of_categories(name: str, series: nw.Series[Any]) -> Column:
    """A categorical column declares its categories, in order if it is ordered.

    In Polars an Enum does, in order; a Categorical draws its categories from a pool shared by all columns and
    declares nothing.
    """
    native = series.to_native()
    if isinstance(native, pl.Series) and isinstance(native.dtype, pl.Enum):
        ordered, labels = True, tuple(native.dtype.categories.to_list())
        physical = native.to_physical()
        codes = (physical.cast(pl.Int64).fill_null(-1) if native.null_count() else physical).to_numpy()
    elif isinstance(native, pl.Series):
        return _of_text(name, native.cast(pl.String))
    elif hasattr(native, "cat"):
        ordered, codes = bool(native.cat.ordered), native.cat.codes.to_numpy()
        labels = tuple(label_of(category) for category in native.cat.categories.tolist())
    else:
        chunked = native if hasattr(native, "unify_dictionaries") else native.array.__arrow_array__()
        array = chunked.unify_dictionaries().combine_chunks()
        array = array.chunk(0) if hasattr(array, "chunk") else array
        if array.dictionary.null_count:
            array = array.dictionary_decode().dictionary_encode()
        ordered, labels = bool(array.type.ordered), tuple(label_of(value) for value in array.dictionary.to_pylist())
        codes = array.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    missing = codes < 0
    return Column(name, "text", np.where(missing, 0, codes), _if_any(missing), labels, True, ordered)


def column_of_objects(name: str, values: Sequence[Any], counted: Rows | None) -> Column:
    """A column of Python objects, which must be of one type in the rows that count; elsewhere it is missing."""
    missing = np.array([_is_missing(value) for value in values], bool)
    if counted is not None:
        missing |= ~counted
    present = [value for value, gone in zip(values, missing, strict=True) if not gone]
    types = {_type_of(name, value): value for value in reversed(present)}
    if types.keys() == {"integer", "float"}:
        types = {"float": 0.0}
    if len(types) > 1:
        one, other = list(types.values())[:2]
        raise DataError(
            f"{name!r} mixes types: {in_short(one)} and {in_short(other)}. Make the column one type, for example text "
            "with astype(str)."
        )

    def read(make: Callable[[Any], Any], nothing: Any) -> list[Any]:
        return [nothing if gone else make(value) for value, gone in zip(values, missing, strict=True)]

    match next(iter(types), "text"):
        case "text":
            return _of_text(name, _texts(name, read(str, None)))
        case "boolean":
            return Column(name, "boolean", np.array(read(bool, False), np.uint8), _if_any(missing), (False, True))
        case "float":
            return _of_floats(name, np.array(read(float, math.nan)), counted)
        case "date" | "time" as kind:
            return _of_moments(name, kind, np.array(read(_moment, np.datetime64("NaT")), "M8[s]"))
    try:
        return Column(name, "integer", np.array(read(int, 0), np.int64), _if_any(missing))
    except OverflowError:
        raise too_wide(name) from None


def _texts_of(name: str, series: nw.Series[Any]) -> pl.Series:
    try:
        return series.to_polars().cast(pl.String)
    except UnicodeEncodeError as error:
        raise _not_unicode(name, error) from None
    except ImportError:  # pandas text without PyArrow
        gone = series.is_null().to_list()
        return _texts(name, [None if missing else str(value) for value, missing in zip(series, gone, strict=True)])


def _texts(name: str, values: list[Any]) -> pl.Series:
    try:
        return pl.Series(name, values, dtype=pl.String)
    except UnicodeEncodeError as error:
        raise _not_unicode(name, error) from None


def _if_any(missing: Rows) -> Rows | None:
    return missing if missing.any() else None


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, np.datetime64):
        return bool(np.isnat(value))
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def _moment(value: Any) -> np.datetime64:
    """A date or a time as a moment, by the clock of its own time zone."""
    if isinstance(value, datetime.time):
        value = datetime.datetime.combine(MIDNIGHT, value)
    return np.datetime64(value.replace(tzinfo=None) if isinstance(value, datetime.datetime) else value, "s")


def _type_of(name: str, value: Any) -> Type:
    match value:
        case bool() | np.bool_():
            return "boolean"
        case str():
            return "text"
        case _ if is_whole(value):
            return "integer"
        case float() | np.floating() | Decimal():
            return "float"
        case datetime.date() | np.datetime64():
            return "date"
        case datetime.time():
            return "time"
        case complex() | np.complexfloating():
            raise complex_error(name, value)
    raise unsupported(name, type(value).__name__)


def label_of(value: Any) -> Label:
    """A category as a label: plain values as they are, intervals and dates by their text."""
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, str | bool | int | float) else str(value)


def _not_unicode(name: str, error: UnicodeEncodeError) -> DataError:
    return DataError(f"{name!r} holds {in_short(error.object)}, which is not valid Unicode. Replace it.")


def complex_error(name: str, value: Any) -> DataError:
    """The error for numbers that have no order."""
    return DataError(
        f"Complex data not supported: {name!r} holds {complex(value)!r}. Take the real part or the magnitude first."
    )
