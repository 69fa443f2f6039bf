"""What a column is: its kind, its values, its bins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsedensity.domain import MAX_VALUES, Feature, check_kind
from sparsedensity.errors import DataError, ParameterError, warn
from sparsedensity.ingest.columns import Column, label_of
from sparsedensity.ingest.sources import Source
from sparsedensity.kernels import encode as kernels
from sparsedensity.scalars import is_whole
from sparsedensity.table import Floats

NOMINAL_INTEGERS = 20
"""Whole numbers with at most this many distinct values are taken for categories."""
DEFAULT_BINS = 10
SMALL_RANGE = 1 << 20


def feature_of(column: Column, kind: Any, bins: Any, weights: Floats | None) -> Feature:
    """The feature of a column, of the kind asked for or a fitting one."""
    missing = column.missing is not None and bool(column.missing.any())
    if _is_list(kind):
        return Feature.ordinal(column.name, tuple(map(label_of, kind)), missing=missing)
    asked = None if kind is None else check_kind(f"kinds[{column.name!r}]", kind)
    if column.labels is not None:
        return _of_labels(column, asked, missing)
    present = column.data if column.missing is None else column.data[~column.missing]
    if not len(present):
        return Feature.nominal(column.name, (), missing=True)
    if asked in ("nominal", "ordinal"):
        return _of_numbers(column.name, asked, np.unique(present), missing)
    if asked is None and column.type == "integer":
        distinct = distinct_integers(present)
        if len(distinct) <= NOMINAL_INTEGERS:
            return _of_numbers(column.name, "nominal", distinct, missing)
    kept = weights if weights is None or column.missing is None else weights[~column.missing]
    edges = bin_edges(column.name, present, bins, kept)
    return Feature.continuous(column.name, edges, integer=column.type == "integer", missing=missing)


def check_kinds(kinds: Any) -> None:
    """Raise unless `kinds` maps columns to kinds."""
    if kinds is None:
        return
    if not isinstance(kinds, Mapping):
        raise ParameterError("kinds", kinds, "a mapping from column to kind, or None")
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


def features_of_integers(
    source: Source, kinds: Mapping[str, Any], bins: Any, weights: Floats | None, keep: NDArray[np.bool_]
) -> list[Feature]:
    """The features of a whole array of integers, read in two passes if the ranges are small."""
    numbers = source.integers
    assert numbers is not None
    width = numbers.shape[1]
    low, high = np.full(width, np.iinfo(np.int64).max), np.full(width, np.iinfo(np.int64).min)
    kernels.integer_ranges(numbers, keep, low, high)
    small = high.astype(np.float64) - low < SMALL_RANGE
    small &= np.array([name not in kinds for name in source.names])
    start = np.concatenate([[0], np.cumsum(np.where(small, high - low + 1, 0))])
    features: list[Feature | None] = [None] * width
    if small.all():
        present = np.zeros(int(start[-1]), bool)
        kernels.mark_present(numbers, keep, low, start, present)
        for i, name in enumerate(source.names):
            distinct = low[i] + np.flatnonzero(present[start[i] : start[i + 1]])
            if len(distinct) <= NOMINAL_INTEGERS:
                features[i] = _of_numbers(name, "nominal", distinct, missing=False)
    some = weights if weights is None or keep.all() else weights[keep]
    return [
        feature or feature_of(_integer_column(source, i, keep), kinds.get(source.names[i]), bins, some)
        for i, feature in enumerate(features)
    ]


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
        used = column.data if column.missing is None else column.data[~column.missing]
        occurs = np.bincount(used, minlength=len(labels)) > 0
        labels = tuple(label for label, there in zip(labels, occurs, strict=False) if there)
        if kind == "ordinal" and column.type == "text" and len(labels) > 1:
            warn(
                f"{column.name!r} is ordinal but its text has no declared order, so it is ordered alphabetically, "
                f"{labels[0]!r} first. Give the order with kinds={{{column.name!r}: [...]}}."
            )
    if kind == "ordinal" or (kind is None and column.ordered):
        return Feature.ordinal(column.name, labels, missing=missing)
    return Feature.nominal(column.name, labels, missing=missing or not labels)


def _of_numbers(name: str, kind: str, distinct: NDArray[Any], missing: bool) -> Feature:
    if len(distinct) > MAX_VALUES:
        raise DataError(
            f"{name!r} has {len(distinct):,} distinct values; at most {MAX_VALUES:,} are possible. "
            "Make it continuous, group its values, or leave it out."
        )
    make = Feature.ordinal if kind == "ordinal" else Feature.nominal
    return make(name, distinct.tolist(), missing=missing)


def _integer_column(source: Source, column: int, keep: NDArray[np.bool_]) -> Column:
    assert source.integers is not None
    data = np.ascontiguousarray(source.integers[:, column])
    return Column(source.names[column], "integer", data if keep.all() else data[keep])


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
