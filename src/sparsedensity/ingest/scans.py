"""Files larger than memory as lazy frames: Polars reads them part by part, whenever rows are asked for.

What the columns of a CSV hold is found by reading all of it once: a column that is text only in its last row is text,
as it is when the file is read into memory.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import polars as pl

from sparsedensity.errors import DataError
from sparsedensity.ingest.files import (
    DATE_FORMS,
    FAILURES,
    MISSING,
    WITH_COMMA,
    as_dates,
    csv_error,
    damaged,
    is_utf8,
    only_a_header,
    refuse_ragged,
    refuse_twins,
    sniff,
    with_points,
)

LOOKED_AT = 10_000
"""Rows that are looked at before all of them are read."""
NUMBER = "\0number"
TRUTH = {"true": True, "false": False}
NO_NUMBER = r"^\+\d+$|^\s|^[+-]?[iI]nfinity"
"""What is text to Polars if it reads a CSV, but a number if it casts text."""
Meaning: TypeAlias = tuple[Any, str]
"""What text means: a Polars type, and the form in which dates and times are written."""
MEANINGS: tuple[Meaning, ...] = ((pl.Boolean(), ""), (pl.Int64(), ""), (pl.Float64(), ""), *DATE_FORMS)
TEXT, NOTHING = (pl.String(), ""), (pl.Null(), "")


class CsvScan(NamedTuple):
    """A CSV file that is read part by part."""

    path: Path
    separator: str
    decimal_comma: bool
    meanings: dict[str, Meaning]
    """What each column holds; one without any value holds nothing."""
    blank: list[int]
    """The rows that are blank lines, which Polars reads as rows of missing values."""

    def frame(self, types: Mapping[str, Any]) -> pl.LazyFrame:
        """The rows as columns of these types, which hold what they mean."""
        lazy = _all_text(self.path, self.separator)
        if self.blank:
            blank = pl.col(NUMBER).is_in(self.blank) & pl.all_horizontal(pl.all().exclude(NUMBER).is_null())
            lazy = lazy.with_row_index(NUMBER).filter(~blank).drop(NUMBER)
        meanings = {name: self.meanings[name] for name in types}
        as_told = {name: m if m[0] == types[name] else (types[name], "") for name, m in meanings.items()}
        return lazy.select(_read(pl.col(name), meaning, self.decimal_comma) for name, meaning in as_told.items())


def scan_csv(path: Path, texts: Collection[str] = ()) -> CsvScan:
    """Find what a CSV file holds; some columns are known to be text."""
    if not is_utf8(path):
        raise DataError(f"{path} is not text in UTF-8, and too large to be read as anything else. Save it as UTF-8.")
    separator, decimal_comma = sniff(path)
    with _reading_csv(path, separator):
        lazy = _all_text(path, separator)
        look = lazy.head(LOOKED_AT).collect()
        refuse_twins(look.columns, str(path))
        if not look.height:
            raise only_a_header(str(path))
        first = {name: () if name in texts else MEANINGS for name in look.columns}
        likely = _possible(look.lazy(), first, decimal_comma).meanings
        possible, seen, rows = _possible(lazy, likely, decimal_comma)
    meanings = {
        name: (NOTHING if seen.get(name) == 0 else fits[0]) if fits else TEXT for name, fits in possible.items()
    }
    may_be_short = len(meanings) > 1 and seen[look.columns[-1]] < rows
    blank = refuse_ragged(path, str(path), separator) if may_be_short else []
    return CsvScan(path, separator, decimal_comma, meanings, blank)


class _Possible(NamedTuple):
    meanings: dict[str, tuple[Meaning, ...]]
    """What the text of each column could mean, all of it,"""
    seen: dict[str, int]
    """how many values there are in the last column and those that could mean anything,"""
    rows: int


def _possible(lazy: pl.LazyFrame, likely: Mapping[str, tuple[Meaning, ...]], decimal_comma: bool) -> _Possible:
    """Count in one pass which values have which meanings; one that all have is possible."""
    names, last = [name for name in likely if likely[name]], [*likely][-1]
    pairs = [(name, meaning) for name in names for meaning in likely[name]]
    readings = [_read(pl.col(name), meaning, decimal_comma) for name, meaning in pairs]
    counted = [
        pl.len(),
        pl.col(last).count(),
        *(pl.col(name).count() for name in names),
        *(r.count() for r in readings),
    ]
    rows, at_last, *counts = (
        lazy.select(count.alias(str(i)) for i, count in enumerate(counted)).collect(engine="streaming").row(0)
    )
    seen = {last: at_last, **dict(zip(names, counts, strict=False))}
    fits = {pair for pair, count in zip(pairs, counts[len(names) :], strict=True) if count == seen[pair[0]]}
    return _Possible({name: tuple(m for m in likely[name] if (name, m) in fits) for name in likely}, seen, rows)


def _read(text: pl.Expr, meaning: Meaning, decimal_comma: bool) -> pl.Expr:
    """Text as what it means, with the words of the reader in memory; what it cannot mean is missing."""
    dtype, form = meaning
    if form:
        return as_dates(text, dtype, form)
    if dtype == pl.Boolean:
        return text.str.to_lowercase().replace_strict(TRUTH, default=None, return_dtype=pl.Boolean)
    if dtype == pl.Int64:
        return pl.when(~text.str.starts_with("+")).then(text).cast(pl.Int64, strict=False)
    if dtype == pl.Float64 and decimal_comma:
        plain = text.str.strip_chars()
        return with_points(pl.when(plain.str.contains(WITH_COMMA)).then(plain)).cast(pl.Float64, strict=False)
    if dtype == pl.Float64:
        return pl.when(~text.str.contains(NO_NUMBER)).then(text).cast(pl.Float64, strict=False)
    return text.cast(dtype)


def _all_text(path: Path, separator: str) -> pl.LazyFrame:
    return pl.scan_csv(path, separator=separator, null_values=list(MISSING), infer_schema=False)


@contextmanager
def _reading_csv(path: Path, separator: str) -> Iterator[None]:
    """Say in one sentence that a CSV cannot be read."""
    try:
        yield
    except pl.exceptions.NoDataError:
        raise DataError(f"{path} is empty: it has no rows.") from None
    except FAILURES as error:
        if "truncate_ragged_lines" in str(error):
            refuse_ragged(path, str(path), separator)
        raise csv_error(str(path), error) from None


def scan_parquet(path: Path, *, partitioned: bool = False) -> pl.LazyFrame:
    """A Parquet file; if it is part of a partitioned table, the folders above it that are named so are columns."""
    try:
        lazy = pl.scan_parquet(path, hive_partitioning=partitioned)
        lazy.collect_schema()
    except FAILURES as error:
        raise damaged(path, "Parquet", error) from None
    return lazy
