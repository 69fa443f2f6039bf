"""Files as one table: in memory if they fit, else as a lazy frame that is read part by part."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from sparsedensity.domain import Domain
from sparsedensity.errors import ColumnsError, DataError, in_short
from sparsedensity.ingest.files import FAILURES, damaged, read_file, texts_of
from sparsedensity.ingest.paths import Files
from sparsedensity.ingest.scans import CsvScan, scan_csv, scan_parquet

MOST_IN_MEMORY = 1 << 30
"""Bytes that a table may take in memory, about: a quarter of what a small computer has to spare."""
BYTES_PER_CELL = 20
"""Between a number and a short text, as Polars holds them,"""
BYTES_PER_BYTE = 4
"""and so of one byte of CSV, which is a quarter of a cell or less."""
PACKED = 8
"""Bytes of CSV in one byte that is packed by gzip, about."""
Types: TypeAlias = dict[str, Any]
"""The Polars type of each column."""


def read_files(files: Files, domain: Domain | None = None, *, lazy: bool = False) -> Any:
    """Files as one table: a Polars frame if it fits in memory, else, or if asked for, a lazy frame.

    Columns that hold text in a domain are read as text from a CSV, whatever they look like.
    """
    if lazy or bytes_in_memory(files) > MOST_IN_MEMORY:
        return scan_files(files, domain)
    if files.partitioned:
        return scan_files(files, domain).collect()
    frames = [read_file(path, domain) for path in files.paths]
    if len(frames) == 1:
        return frames[0]
    types = _common(files, [_held(frame) for frame in frames])
    texts = {name for name, dtype in types.items() if dtype == pl.String and files.form == "CSV"}
    for i, frame in enumerate(frames):
        if any(frame.schema[name] != pl.String for name in texts):  # read again, as it is written
            frames[i] = read_file(files.paths[i], domain, texts)
    return pl.concat([frame.select(_cast(types)) for frame in frames])


def bytes_in_memory(files: Files) -> int:
    """About how much memory a table takes; Excel files are small."""
    if files.form == "CSV":
        sizes = [path.stat().st_size * (PACKED if path.suffix == ".gz" else 1) for path in files.paths]
        return BYTES_PER_BYTE * sum(sizes)
    return BYTES_PER_CELL * sum(map(_cells, files.paths)) if files.form == "Parquet" else 0


def scan_files(files: Files, domain: Domain | None = None) -> pl.LazyFrame:
    """Files as one lazy frame."""
    match files.form:
        case "CSV":
            scans, types = scan_csvs(files, domain)
            lazy = pl.concat([scan.frame(types) for scan in scans])
            _refuse_words(lazy, types, domain)
            return lazy
        case "Parquet":
            types, alike = parquet_types(files)
            if alike:
                return pl.scan_parquet(files.paths, hive_partitioning=files.partitioned)
            scanned = (scan_parquet(path, partitioned=files.partitioned) for path in files.paths)
            return pl.concat([lazy.select(_cast(types)) for lazy in scanned])
        case _:
            frame: pl.DataFrame = read_files(files)
            return frame.lazy()


def scan_csvs(files: Files, domain: Domain | None = None) -> tuple[list[CsvScan], Types]:
    """What CSV files hold, each for itself and all together."""
    scans = [scan_csv(path, texts_of(domain)) for path in files.paths]
    types = _common(files, [{name: dtype for name, (dtype, _) in scan.meanings.items()} for scan in scans])
    return scans, {name: pl.String() if dtype == pl.Null else dtype for name, dtype in types.items()}


def parquet_types(files: Files) -> tuple[Types, bool]:
    """What Parquet files hold, all together, and whether they are all alike."""
    scanned = (scan_parquet(path, partitioned=files.partitioned) for path in files.paths)
    schemas = [lazy.collect_schema() for lazy in scanned]
    return _common(files, list(map(dict, schemas))), all(schema == schemas[0] for schema in schemas)


def _common(files: Files, types: Sequence[Types]) -> Types:
    """The types of the columns of all files, which must have the same ones."""
    join = _join_of_texts if files.form == "CSV" else _join
    common = dict(types[0])
    for path, own in zip(files.paths[1:], types[1:], strict=True):
        _check_columns(files.paths[0], common, path, own)
        for name, dtype in common.items():
            both = join(dtype, own[name])
            if both is None:
                raise ColumnsError(
                    f"The column {name!r} holds {own[name]} in {path}, but {dtype} in the files before it. Make it one "
                    "type in all files."
                )
            common[name] = both
    return common


def _check_columns(first: Path, columns: Types, file: Path, own: Types) -> None:
    """Refuse a file that has other columns than the first; their order may differ."""
    lacking = [name for name in columns if name not in own]
    more = [name for name in own if name not in columns]
    if lacking or more:
        how = f"it has no column {lacking[0]!r}" if lacking else f"it also has a column {more[0]!r}"
        raise ColumnsError(
            f"{file} has other columns than {first}: {how}. Files that are read together need the same ones."
        )


def _join_of_texts(one: Any, other: Any) -> Any:
    """What a column of two CSV files holds: if that differs, it is text, as if they were one file."""
    return _join(one, other) or pl.String()


def _join(one: Any, other: Any) -> Any:
    """The type that holds the values of two; ``None`` if there is none. Of nothing but missing values it is any."""
    if one in (pl.Null, other):
        return other
    if other == pl.Null:
        return one
    numbers = one.is_numeric() and other.is_numeric()
    moments = isinstance(one, pl.Datetime) and isinstance(other, pl.Datetime) and one.time_zone == other.time_zone
    if not numbers and not moments:
        return None
    empty = [pl.DataFrame(schema={"both": dtype}) for dtype in (one, other)]
    return pl.concat(empty, how="vertical_relaxed").schema["both"]


def _refuse_words(lazy: pl.LazyFrame, types: Types, domain: Domain | None) -> None:
    """Name the first value that makes text of a column in which a domain has numbers."""
    for feature in domain or ():
        if types.get(feature.name) != pl.String or feature.period is not None or not feature.known:
            continue
        if any(isinstance(value, str | bool) for value in feature.known):
            continue
        text = pl.col(feature.name)
        word = text.is_not_null() & text.str.strip_chars().cast(pl.Float64, strict=False).is_null()
        found = lazy.select(text.filter(word).first()).collect(engine="streaming").item()
        if found is not None:
            raise DataError(
                f"{feature.name!r} holds {in_short(found)}, but a number is expected. Correct it, or leave out such "
                "rows."
            )


def _held(frame: pl.DataFrame) -> Types:
    """The types of columns; one without any value may be of any."""
    return {
        column.name: pl.Null() if column.null_count() == frame.height and column.dtype == pl.String else column.dtype
        for column in frame
    }


def _cast(types: Types) -> list[pl.Expr]:
    return [pl.col(name).cast(pl.String() if dtype == pl.Null else dtype) for name, dtype in types.items()]


def _cells(file: Path) -> int:
    """How many values a Parquet file holds, by its own word."""
    lazy = scan_parquet(file)
    try:
        return int(lazy.select(pl.len()).collect().item()) * len(lazy.collect_schema())
    except FAILURES as error:
        raise damaged(file, "Parquet", error) from None
