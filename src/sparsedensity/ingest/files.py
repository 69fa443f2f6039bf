"""Tables from files: CSV (gzipped too) and Parquet."""

from __future__ import annotations

import csv
import gzip
import io
import re
import sys
import zlib
from pathlib import Path
from typing import Any

import polars as pl

from sparsedensity.domain import Domain
from sparsedensity.errors import DataError

CSV_ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".tab", ".txt")
PARQUET_ENDINGS = (".parquet", ".pq")
SEPARATORS = (",", ";", "\t", "|")
MISSING = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null")
"""How tables spell a missing value."""
DECIMAL_COMMA = re.compile(r"(^|;)\s*-?\d+,\d+\s*(;|$)", re.MULTILINE)
SNIFFED_BYTES = 1 << 16
NOT_UTF8 = "its encoding is not UTF-8. Save it as UTF-8."


def read_file(path: str | Path, domain: Domain | None = None) -> pl.DataFrame:
    """Read a CSV or Parquet file; ``-`` reads CSV from standard input.

    With a domain, columns that hold text there are read as text here, whatever they look like.
    """
    if str(path) == "-":
        return _read_csv(io.BytesIO(sys.stdin.buffer.read()), "standard input", domain)
    path = Path(path)
    name = path.name.lower()
    if path.is_dir():
        raise DataError(f"{path} is a directory. Name a CSV or Parquet file in it.")
    if not path.exists():
        raise DataError(f"There is no file {path}. Check the name and the folder.")
    if name.endswith(PARQUET_ENDINGS):
        try:
            return pl.read_parquet(path)
        except (pl.exceptions.PolarsError, OSError) as error:
            raise DataError(
                f"{path} is not a Parquet file, or is damaged ({_first_line(error)}). Create it again, or correct "
                "the ending of its name."
            ) from None
    if name.endswith(CSV_ENDINGS):
        return _read_csv(path, str(path), domain)
    raise DataError(f"{path} is neither CSV ({', '.join(CSV_ENDINGS)}) nor Parquet ({', '.join(PARQUET_ENDINGS)}).")


def _read_csv(source: Path | io.BytesIO, name: str, domain: Domain | None) -> pl.DataFrame:
    separator, decimal_comma = sniff(source)
    texts: dict[str, Any] = {f.name: pl.String for f in domain or () if any(isinstance(v, str) for v in f.values)}
    how: dict[str, Any] = {"separator": separator, "decimal_comma": decimal_comma, "null_values": list(MISSING)}
    try:
        frame = pl.read_csv(source, **how, infer_schema_length=None, schema_overrides=texts)
    except pl.exceptions.NoDataError:
        raise DataError(f"{name} is empty: it has no rows.") from None
    except (pl.exceptions.PolarsError, OSError) as error:
        if "truncate_ragged_lines" in str(error):
            _refuse_ragged(source, name, separator)
        raise csv_error(name, error) from None
    if any("\ufffd" in column for column in frame.columns):
        raise DataError(f"{name} cannot be read as CSV: {NOT_UTF8}")
    for column in frame.columns:  # Polars renames a column that occurs twice; an error is better
        base, mark, number = column.rpartition("_duplicated_")
        if mark and number.isdecimal() and base in frame.columns:
            raise DataError(f"{name} has two columns called {base!r}. Rename one of them.")
    if not frame.height:
        raise DataError(f"{name} has a header but no rows.")
    if frame.width > 1 and frame[:, -1].null_count():
        # Polars fills short rows up with nulls, and makes a row of nulls from a blank line.
        blank = _refuse_ragged(source, name, separator)
        frame = frame.filter(~(pl.int_range(pl.len()).is_in(blank) & pl.all_horizontal(pl.all().is_null())))
    return frame


def _refuse_ragged(source: Path | io.BytesIO, name: str, separator: str) -> list[int]:
    """Raise for the first row with more or fewer fields than the header; return the rows that are blank lines."""
    blank: list[int] = []
    with io.TextIOWrapper(io.BytesIO(_content(source)), encoding="utf-8-sig", newline="") as lines:
        rows = csv.reader(lines, delimiter=separator)
        try:
            header = next(row for row in rows if row)
            for number, row in enumerate(rows):
                if not row:
                    blank.append(number)
                elif len(row) != len(header):
                    raise DataError(
                        f"{name} has {len(header)} columns, but line {rows.line_num} has {len(row)}. "
                        "Give every row the same number of fields."
                    )
        except (csv.Error, UnicodeDecodeError):
            return []
    return blank


def sniff(source: Path | io.BytesIO) -> tuple[str, bool]:
    """The separator that the header of a CSV uses most, and whether its numbers have a decimal comma."""
    try:
        text = _content(source, SNIFFED_BYTES).decode("utf-8", errors="replace")
    except (OSError, EOFError, zlib.error):
        return ",", False
    header = re.sub(r'"[^"]*"', "", text.lstrip("\ufeff\r\n").partition("\n")[0])
    separator = max(SEPARATORS, key=header.count)
    return separator, separator == ";" and DECIMAL_COMMA.search(text) is not None


def _content(source: Path | io.BytesIO, most: int = -1) -> bytes:
    """The bytes of a CSV file, unpacked if it is gzipped; all of them, or the first few."""
    raw = source.open("rb") if isinstance(source, Path) else io.BytesIO(source.getvalue())
    with raw:
        packed = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        return gzip.GzipFile(fileobj=raw).read(most) if packed else raw.read(most)


def one_line_per_row(path: str | Path, rows: int) -> bool:
    """Whether a file is text with a header in its first line and one row in every other."""
    if str(path) == "-" or not Path(path).is_file() or not Path(path).name.lower().endswith(CSV_ENDINGS):
        return False
    with Path(path).open("rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        file: Any = gzip.GzipFile(fileobj=raw) if packed else raw
        ends, last = 0, b"\n"
        while part := file.read(SNIFFED_BYTES):
            ends, last = ends + part.count(b"\n"), part[-1:]
    return ends + (last != b"\n") == rows + 1


def csv_error(name: str, error: Exception) -> DataError:
    """Why a file could not be read, in one sentence."""
    text, reason = str(error), f"{_first_line(error)}. Check its quotes and separators."
    if "utf-8" in text.lower() or "utf8" in text.lower():
        reason = NOT_UTF8
    elif "unexpected end of file" in text or "deflate" in text:
        reason = "its compressed data are damaged or end too early. Copy or create the file again."
    return DataError(f"{name} cannot be read as CSV: {reason}")


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
