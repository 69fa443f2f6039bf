"""The one door for data: any frame, array or file becomes a table of codes.

* :mod:`~sparsedensity.ingest.sources` opens whatever holds columns;
* :mod:`~sparsedensity.ingest.columns` brings one column into one plain form;
* :mod:`~sparsedensity.ingest.features` decides what a column is: its kind, values and bins;
* :mod:`~sparsedensity.ingest.infer` does so for a table, and leaves identifiers out;
* :mod:`~sparsedensity.ingest.encode` turns columns into codes;
* :mod:`~sparsedensity.ingest.parts` does all that part by part, for tables larger than memory;
* :mod:`~sparsedensity.ingest.files` reads files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from sparsedensity.domain import Domain
from sparsedensity.errors import DataError, ParameterError, RowError
from sparsedensity.ingest.columns import Rows
from sparsedensity.ingest.encode import Encoded, encode
from sparsedensity.ingest.features import check_bins, check_kinds
from sparsedensity.ingest.infer import infer
from sparsedensity.ingest.sources import Source, open_source
from sparsedensity.ingest.weighing import as_floats, weigh
from sparsedensity.scalars import is_one_of
from sparsedensity.table import Floats, Table

Divide: TypeAlias = Callable[[Floats], tuple[Floats, ...]]
"""Divides the weights of rows: for every part a weight for every row, 0 for rows that are not in it."""

__all__ = [
    "Encoded",
    "Reading",
    "Source",
    "check_rows_left",
    "check_weights",
    "encode",
    "infer_domain",
    "open_source",
    "read_table",
    "read_tables",
    "rows_to_use",
]


@dataclass(frozen=True)
class Reading:
    """How to read a table."""

    kinds: Mapping[str, Any] | str | None = None
    bins: Any = 10
    domain: Domain | None = None
    missing: Literal["category", "drop", "error"] = "category"
    unknown: Literal["zero", "nearest", "error"] = "zero"

    def __post_init__(self) -> None:
        if not is_one_of(self.missing, ("category", "drop", "error")):
            raise ParameterError("missing", self.missing, "'category', 'drop' or 'error'")
        if not is_one_of(self.unknown, ("zero", "nearest", "error")):
            raise ParameterError("unknown", self.unknown, "'zero', 'nearest' or 'error'")
        if self.domain is not None and not isinstance(self.domain, Domain):
            raise ParameterError("domain", self.domain, "a Domain or None")
        check_kinds(self.kinds)
        check_bins(self.bins)


def infer_domain(X: Any, reading: Reading, sample_weight: Any = None) -> Domain:
    """The domain of a table."""
    source = open_source(X)
    weights = check_weights(sample_weight, source.n_rows)
    source = source.counting(None if weights is None else weights > 0)
    return _prepare(source, reading, weights).domain


def read_table(source: Source, reading: Reading, sample_weight: Any = None) -> Table:
    """The distinct rows of a source with their weights, in the declared or inferred domain."""
    return read_tables(source, reading, sample_weight)[0]


def read_tables(
    source: Source, reading: Reading, sample_weight: Any = None, divide: Divide | None = None
) -> tuple[Table, ...]:
    """As :func:`read_table`, divided into several tables of one domain.

    Its values and ranges are those of all rows, its quantiles those of the first table.
    """
    weights = check_weights(sample_weight, source.n_rows)
    source = source.counting(None if weights is None else weights > 0)
    source = source if reading.domain is None else source.known_to(reading.domain)
    domain, keep, parts = _prepare(source, reading, weights, divide)
    source = source.known_to(domain)
    source.check_names(domain.names)
    encoded = encode(source, domain, nearest=reading.unknown == "nearest", strict=True, keep=keep)
    if parts is not None:
        return tuple(Table.of(domain, encoded.codes[part > 0], part[part > 0]) for part in parts)
    codes = encoded.codes if keep.all() else encoded.codes[keep]
    return (Table.of(domain, codes, None if weights is None else weights[keep]),)


def check_weights(sample_weight: Any, rows: int, name: str = "sample_weight") -> Floats | None:
    """Weights as floats, or one sentence about what is wrong with them."""
    if sample_weight is None:
        return None
    weights = as_floats(sample_weight, name)
    if weights.ndim == 0:
        weights = np.full(rows, float(weights))
    if weights.ndim != 1:
        raise DataError(f"Sample weights must be 1D array or scalar, not of {weights.ndim} dimensions.")
    if len(weights) != rows:
        raise DataError(f"{name} has {len(weights):,} entries for {rows:,} rows. Give one weight per row.")
    weigh(weights, name).check(name)
    return weights


class _Prepared(NamedTuple):
    """What has to be known of a table before its rows are encoded."""

    domain: Domain
    keep: Rows
    """The rows to use,"""
    parts: tuple[Floats, ...] | None
    """and how they are divided, if they are."""


def _prepare(source: Source, reading: Reading, weights: Floats | None, divide: Divide | None = None) -> _Prepared:
    """The declared or inferred domain and the rows to use. No row is dropped because it lacks an identifier."""
    keep = rows_to_use(source, reading, weights)
    check_rows_left(int(keep.sum()))
    parts = None if divide is None else divide(np.where(keep, 1.0 if weights is None else weights, 0.0))
    searched = weights if parts is None else parts[0]
    domain = reading.domain or infer(source, reading.kinds, reading.bins, searched, keep)
    if domain is reading.domain or not domain.left_out or reading.missing != "drop" or keep.all():
        return _Prepared(domain, keep, parts)
    again = _prepare(source.without(domain.left_out), reading, weights, divide)
    left_out = (*domain.left_out, *again.domain.left_out)
    return again._replace(domain=replace(again.domain, left_out=left_out))


def rows_to_use(source: Source, reading: Reading, weights: Floats | None) -> Rows:
    """Rows of weight 0 never count; rows with a missing value are dropped or refused if that was asked for."""
    keep = np.ones(source.n_rows, bool) if weights is None else weights > 0
    if reading.missing == "category" or source.whole is not None:
        return keep
    for column in source:
        if column.missing is None or not (column.missing & keep).any():
            continue
        if reading.missing == "error":
            row = int(np.flatnonzero(column.missing & keep)[0])
            way_out = "Fill it in, or use missing='category' or missing='drop'."
            raise RowError(f"{column.name!r} is missing", row, way_out)
        keep = keep & ~column.missing
    return keep


def check_rows_left(rows: int) -> None:
    """Refuse to go on without rows."""
    if not rows:
        raise DataError("Every row has a missing value and missing='drop' leaves none. Use missing='category'.")
