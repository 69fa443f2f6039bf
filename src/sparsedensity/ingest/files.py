"""Tables from files: CSV (gzipped too) and Parquet."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import IO, Any

import polars as pl

from sparsedensity.domain import Domain
from sparsedensity.errors import DataError

CSV_ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".tab", ".txt")
PARQUET_ENDINGS = (".parquet", ".pq")


def read_file(path: str | Path, domain: Domain | None = None) -> pl.DataFrame:
    """Read a CSV or Parquet file; ``-`` reads CSV from standard input.

    With a domain, columns that hold text there are read as text here, whatever they look like.
    """
    if str(path) == "-":
        return _read_csv(sys.stdin.buffer, "standard input", ",", domain)
    path = Path(path)
    name = path.name.lower()
    if path.is_dir():
        raise DataError(f"{path} is a directory. Name a CSV or Parquet file in it.")
    if not path.exists():
        raise DataError(f"There is no file {path}.")
    if name.endswith(PARQUET_ENDINGS):
        try:
            return pl.read_parquet(path)
        except (pl.exceptions.PolarsError, OSError) as error:
            raise DataError(f"{path} cannot be read as Parquet: {_first_line(error)}") from None
    if name.endswith(CSV_ENDINGS):
        separator = "\t" if name.removesuffix(".gz").endswith((".tsv", ".tab")) else ","
        return _read_csv(path, str(path), separator, domain)
    raise DataError(f"{path} is neither CSV ({', '.join(CSV_ENDINGS)}) nor Parquet ({', '.join(PARQUET_ENDINGS)}).")


def _read_csv(source: Path | IO[bytes], name: str, separator: str, domain: Domain | None) -> pl.DataFrame:
    texts = [] if domain is None else [f.name for f in domain if any(isinstance(v, str) for v in f.values)]
    schema: dict[str, Any] = dict.fromkeys(texts, pl.String)
    try:
        frame = pl.read_csv(source, separator=separator, infer_schema_length=None, schema_overrides=schema)
    except pl.exceptions.NoDataError:
        raise DataError(f"{name} is empty: it has no rows.") from None
    except (pl.exceptions.PolarsError, OSError) as error:
        raise DataError(f"{name} cannot be read as CSV: {_csv_reason(error)}") from None
    _refuse_renamed(name, frame.columns)
    return frame


def _csv_reason(error: Exception) -> str:
    text = str(error)
    if "utf-8" in text.lower() or "utf8" in text.lower():
        return "its encoding is not UTF-8. Save it as UTF-8."
    if "more fields than defined in schema" in text or "truncate_ragged_lines" in text:
        return "a row has more fields than the header. Give every row the same number of fields."
    return _first_line(error)


def _refuse_renamed(name: str, columns: list[str]) -> None:
    """Polars renames a column that occurs twice; we rather say so."""
    for column in columns:
        base, mark, number = column.rpartition("_duplicated_")
        if mark and number.isdecimal() and base in columns:
            raise DataError(f"{name} has two columns called {base!r}. Rename one of them.")


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
