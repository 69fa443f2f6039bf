"""What a column is: its kind, its values, its bins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsedensity import periods
from sparsedensity.domain import KINDS, MAX_VALUES, Feature, Kind, check_kind
from sparsedensity.errors import DataError, ParameterError, warn
from sparsedensity.ingest.columns import Column, label_of
from sparsedensity.kernels import encode as kernels
from sparsedensity.scalars import is_whole
from sparsedensity.table import Floats

FEW_NUMBERS = 20
"""Whole numbers with at most this many distinct values are levels; more are binned."""
DEFAULT_BINS = 10
CROWDED = 0.9
"""A bin that holds more than this share of the rows hides what there is to see."""
LARGEST_WHOLE = 1 << 53
SMALL_RANGE = 1 << 20
MOST_NUMBERS = 1 << 27


def feature_of(column: Column, kind: Any, bins: Any, weights: Floats | None) -> Feature:
    """The feature of a column, of the kind asked for or a fitting one."""
    missing = column.missing is not None and bool(column.missing.any())
    if _is_list(kind):
        return Feature.ordinal(column.name, tuple(map(label_of, kind)), missing=missing)
    asked = None if kind is None else check_kind(f"kinds[{column.name!r}]", kind)
    if column.labels is not None:
        return _of_labels(column, asked, missing)
    if not len(column.present):
        return Feature.nominal(column.name, (), missing=True)
    if column.type in ("date", "time"):
        if isinstance(bins, Mapping) and column.name in bins:
            raise DataError(
                f"{column.name!r} holds dates or times, whose bins are calendar periods. Leave it out of bins; for "
                "other periods give a column of their numbers instead, such as years."
            )
        return _of_moments(column, asked, missing)
    return _numeric(column, asked, bins, weights, missing)


def _numeric(column: Column, asked: Kind | None, bins: Any, weights: Floats | None, missing: bool) -> Feature:
    """The feature of a column of numbers: few whole ones are levels, all others are binned."""
    present = column.present
    if column.type == "float" and holds_whole_numbers(present):
        present = present.astype(np.int64)
    whole = present.dtype.kind != "f"
    if asked in ("nominal", "ordinal"):
        return _of_numbers(column.name, asked, np.unique(present), missing)
    if asked is None and whole and len(distinct := distinct_integers(present)) <= FEW_NUMBERS:
        return _of_numbers(column.name, "ordinal", distinct, missing)
    kept = weights if weights is None or column.missing is None else weights[~column.missing]
    edges = bin_edges(column.name, present, bins, kept)
    return Feature.continuous(column.name, edges, integer=whole, missing=missing)


def holds_whole_numbers(numbers: NDArray[Any]) -> bool:
    """Whether floats are all whole, and small enough to be told apart."""
    return bool((np.abs(numbers) < LARGEST_WHOLE).all() and (numbers == np.floor(numbers)).all())


def check_kinds(kinds: Any) -> None:
    """Raise unless `kinds` is a kind for all columns, or maps columns to kinds."""
    if kinds is None or (isinstance(kinds, str) and kinds in KINDS):
        return
    if not isinstance(kinds, Mapping):
        raise ParameterError("kinds", kinds, f"{', '.join(map(repr, KINDS))}, a mapping from column to kind, or None")
    for name, kind in kinds.items():
        if not _is_list(kind):
            check_kind(f"kinds[{name!r}]", kind)
        elif any(value is None for value in kind):
            raise ParameterError(
                f"kinds[{name!r}]", kind, "a list without None: missing values are added automatically"
            )


def check_bins(bins: Any) -> None:
    """Raise for an invalid `bins`, whether or not there is a column to bin."""
    specs = bins.items() if isinstance(bins, Mapping) else [(None, bins)]
    for name, spec in specs:
        if _is_list(spec):
            _given_edges(name, spec, integer=False)
        else:
            _bin_count(name, spec)


def distinct_by_column(numbers: NDArray[np.integer[Any]], keep: NDArray[np.bool_]) -> list[NDArray[Any]] | None:
    """The different numbers of every column of an array, read in two passes; None if a range is too large for it."""
    width = numbers.shape[1]
    low, high = np.full(width, np.iinfo(np.int64).max), np.full(width, np.iinfo(np.int64).min)
    kernels.integer_ranges(numbers, keep, low, high)
    spans = high.astype(np.float64) - low
    if not (spans < SMALL_RANGE).all() or spans.sum() > MOST_NUMBERS:
        return None
    start = np.concatenate([[0], np.cumsum(high - low + 1)])
    present = np.zeros(int(start[-1]), bool)
    kernels.mark_present(numbers, keep, low, start, present)
    return [low[i] + np.flatnonzero(present[start[i] : start[i + 1]]) for i in range(width)]


def levels(name: str, kind: Any, distinct: NDArray[Any]) -> Feature | None:
    """The feature of a column of whole numbers, none missing; None if it takes more than its distinct numbers."""
    if kind is None and len(distinct) <= FEW_NUMBERS:
        kind = "ordinal"
    asked = isinstance(kind, str) and kind in ("nominal", "ordinal")
    return _of_numbers(name, kind, distinct, missing=False) if asked else None


def distinct_integers(numbers: NDArray[np.integer[Any]]) -> NDArray[Any]:
    """The different whole numbers of a column, lowest first; marked off in a table if their range is small."""
    low, high = int(numbers.min()), int(numbers.max())
    if high - low >= SMALL_RANGE or numbers.dtype == np.uint64:
        return np.unique(numbers)
    present = np.zeros(high - low + 1, bool)
    kernels.mark_numbers(numbers, low, present)
    return low + np.flatnonzero(present)


def bin_edges(name: str, numbers: NDArray[Any], bins: Any, weights: Floats | None) -> Floats:
    """The bin edges of one column: equal widths, quantiles, or as given."""
    spec = bins.get(name, DEFAULT_BINS) if isinstance(bins, Mapping) else bins
    integer = numbers.dtype.kind in "iu"
    if _is_list(spec):
        return _given_edges(name, spec, integer)
    low, high = float(numbers.min()), float(numbers.max())
    count = _bin_count(name, spec)
    if isinstance(spec, str) and spec.startswith("quantile"):
        edges = weighted_quantiles(numbers, weights, count)
    else:
        with np.errstate(over="ignore", invalid="ignore"):  # said in words below
            edges = np.linspace(low, high, count + 1)
        if low < high and not np.isfinite(edges).all():
            raise DataError(f"{name!r} spans more than a float can hold. Rescale the column.")
        if not isinstance(bins, Mapping) or name not in bins:
            _warn_of_a_crowd(name, numbers, weights, edges)
    if integer and low < high:
        edges = np.append(np.ceil(edges[:-1]), _after(high))
    return np.unique(edges)


def weighted_quantiles(numbers: NDArray[Any], weights: Floats | None, count: int) -> Floats:
    """Edges with equal weight between them: the lowest number below which lies each k/count of the weight."""
    order = np.argsort(numbers, kind="stable")
    ordered = numbers[order].astype(np.float64)
    total = np.arange(1.0, len(ordered) + 1) if weights is None else np.cumsum(weights[order])
    marks = np.arange(1, count) / count * total[-1]
    inner = ordered[np.searchsorted(total, marks * (1 - 1e-12), side="left")]
    return np.concatenate([ordered[:1], inner, ordered[-1:]])


def _of_labels(column: Column, kind: str | None, missing: bool) -> Feature:
    if kind == "continuous":
        raise ParameterError(
            f"kinds[{column.name!r}]", kind, "'nominal' or 'ordinal', since the column does not hold numbers"
        )
    labels = column.labels or ()
    if not column.declared:
        occurs = np.bincount(column.present, minlength=len(labels)) > 0
        labels = tuple(label for label, there in zip(labels, occurs, strict=False) if there)
        if kind == "ordinal" and column.type == "text" and len(labels) > 1:
            warn(
                f"{column.name!r} is ordinal but its text has no declared order, so it is ordered alphabetically, "
                f"{labels[0]!r} first. Give the order with kinds={{{column.name!r}: [...]}}."
            )
    if kind == "ordinal" or (kind is None and column.ordered):
        return Feature.ordinal(column.name, labels, missing=missing)
    return Feature.nominal(column.name, labels, missing=missing or not labels)


def _of_moments(column: Column, kind: Kind | None, missing: bool) -> Feature:
    """Dates and times over calendar periods."""
    moments = column.present
    days_only = bool((moments == moments.astype("M8[D]")).all())
    units = periods.TIMES_OF_DAY if column.type == "time" else periods.DATES if days_only else periods.CALENDAR
    unit, edges = periods.runs(moments.min(), moments.max(), units)
    nominal = kind == "nominal"
    return Feature.calendar(column.name, unit, edges, kind="nominal" if nominal else "ordinal", missing=missing)


def _warn_of_a_crowd(name: str, numbers: NDArray[Any], weights: Floats | None, edges: Floats) -> None:
    """Say if one of several bins of equal width holds nearly everything."""
    if len(edges) < 3 or edges[0] == edges[-1]:
        return
    counts = np.bincount(np.searchsorted(edges[1:-1], numbers, side="right"), weights)
    share = counts.max() / counts.sum()
    if share > CROWDED:
        warn(
            f"{name!r} has {100 * share:.1f} % of its rows in one of {len(edges) - 1} bins of equal width. Bins of "
            f"equal weight would tell them apart: bins={{{name!r}: 'quantile'}}."
        )


def _of_numbers(name: str, kind: str, distinct: NDArray[Any], missing: bool) -> Feature:
    if len(distinct) > MAX_VALUES:
        raise DataError(
            f"{name!r} has {len(distinct):,} distinct values; at most {MAX_VALUES:,} are possible. "
            "Make it continuous, group its values, or leave it out."
        )
    make = Feature.ordinal if kind == "ordinal" else Feature.nominal
    return make(name, distinct.tolist(), missing=missing)


def _given_edges(name: str | None, edges: Sequence[float] | NDArray[Any], integer: bool) -> Floats:
    allowed = "a list of two or more different finite edges"
    try:
        cuts = np.unique(np.asarray(edges, np.float64))
    except (TypeError, ValueError):
        raise ParameterError(_bins_of(name), edges, allowed) from None
    if len(cuts) < 2 or not np.isfinite(cuts).all():
        raise ParameterError(_bins_of(name), list(edges), allowed)
    if integer:
        cuts = np.unique(np.append(np.ceil(cuts[:-1]), _after(np.floor(cuts[-1]))))
    return cuts


def _bin_count(name: str | None, spec: Any) -> int:
    count = DEFAULT_BINS if isinstance(spec, str) and spec == "quantile" else spec
    if isinstance(count, str) and count.removeprefix("quantile:").isdecimal():
        count = int(count.removeprefix("quantile:"))
    if is_whole(count) and 1 <= count <= MAX_VALUES:
        return int(count)
    raise ParameterError(
        _bins_of(name), spec, "a number of bins from 1 to 65,535, 'quantile', 'quantile:N' or a list of edges"
    )


def _bins_of(name: str | None) -> str:
    """The parameter as the user wrote it: for one column or for all."""
    return "bins" if name is None else f"bins for {name!r}"


def _after(number: float) -> float:
    """The next whole number, or the next float if whole numbers are further apart than 1."""
    return max(number + 1, float(np.nextafter(number, np.inf)))


def _is_list(spec: Any) -> bool:
    """Whether it lists values or edges."""
    return (isinstance(spec, Sequence) and not isinstance(spec, str)) or getattr(spec, "ndim", 0) == 1
