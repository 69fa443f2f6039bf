"""Files read part by part, for tables larger than memory.

A model's domain says what every column holds, so nothing has to be guessed from the file: text is read as text, and
numbers are read from it part by part.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from sparsedensity.domain import Domain, Feature
from sparsedensity.errors import DataError
from sparsedensity.ingest.files import (
    FAILURES,
    MISSING,
    PARQUET_ENDINGS,
    as_utf8,
    csv_error,
    damaged,
    read_file,
    sniff,
    with_dates,
    with_points,
)

ROWS = 1 << 17
TRUTH = {"true": True, "false": False}


def read_batches(path: str | Path, domain: Domain, rows: int = ROWS) -> Iterator[pl.DataFrame]:
    """The rows of a file in parts; standard input, and what cannot be read in parts, in one."""
    name = Path(path).name.lower()
    if str(path) == "-" or not Path(path).is_file() or not name.endswith((".csv", ".tsv", *PARQUET_ENDINGS)):
        yield read_file(path, domain)
        return
    try:
        if name.endswith(PARQUET_ENDINGS):
            yield from pl.scan_parquet(path).collect_batches(chunk_size=rows)
        else:
            yield from _csv(Path(path), domain, rows)
    except FAILURES as error:
        bad = damaged(Path(path), "Parquet", error) if name.endswith(PARQUET_ENDINGS) else csv_error(str(path), error)
        raise bad from None


def _csv(path: Path, domain: Domain, rows: int) -> Iterator[pl.DataFrame]:
    source = as_utf8(path, str(path))
    separator, decimal_comma = sniff(source)
    lazy = pl.scan_csv(source, separator=separator, null_values=list(MISSING), infer_schema=False)
    for batch in lazy.collect_batches(chunk_size=rows):
        known = [feature for feature in domain if feature.name in batch.columns]
        yield batch.with_columns(_typed(batch[feature.name], feature, decimal_comma) for feature in known)


def _typed(column: pl.Series, feature: Feature, decimal_comma: bool) -> pl.Series:
    """A column of text as what its feature holds."""
    if feature.period is not None:
        return with_dates(column)
    kinds = set(map(type, feature.known))
    if str in kinds or not kinds:
        return column
    if bool in kinds:
        what, read = "true or false", column.str.to_lowercase().replace_strict(TRUTH, default=None)
    else:
        what, column = "a number", column.str.strip_chars()
        column = pl.select(with_points(pl.lit(column))).to_series() if decimal_comma else column
        read = column.cast(pl.Int64, strict=False)
        if read.null_count() > column.null_count():
            read = column.cast(pl.Float64, strict=False)
    if read.null_count() > column.null_count():
        bad = column.filter(read.is_null() & column.is_not_null())[0]
        raise DataError(f"{column.name!r} holds {bad!r}, but {what} is expected. Correct it, or leave out such rows.")
    return read
