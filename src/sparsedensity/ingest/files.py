"""Tables from files: CSV (gzipped too), Parquet and Excel."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import sys
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

from sparsedensity.domain import Domain
from sparsedensity.errors import DataError, warn
from sparsedensity.extras import need

CSV_ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".tab", ".txt")
PARQUET_ENDINGS = (".parquet", ".pq")
EXCEL_ENDINGS = (".xlsx", ".xls", ".xlsb", ".xlsm", ".ods")
ENDINGS = {"CSV": CSV_ENDINGS, "Parquet": PARQUET_ENDINGS, "Excel": EXCEL_ENDINGS}
SEPARATORS = (",", ";", "\t", "|")
MISSING = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null")
"""How tables spell a missing value."""
DECIMAL_COMMA = re.compile(r"(^|;)\s*-?(\d+|\d{1,3}(\.\d{3})+),\d+\s*(;|$)", re.MULTILINE)
THOUSANDS = r"^-?\d{1,3}(\.\d{3})+(,\d+)?$"
"""A number as it is written with a decimal comma and dots between the thousands."""
WITH_COMMA = rf"{THOUSANDS}|^-?\d+(,\d+)?$"
"""Any number of a file with decimal commas."""
SNIFFED_BYTES = 1 << 16
BYTES_AT_ONCE = 1 << 20
GZIPPED = b"\x1f\x8b"
DATE_FORMS: tuple[tuple[Any, str], ...] = (
    (pl.Date(), "%Y-%m-%d"),
    (pl.Date(), "%d.%m.%Y"),
    (pl.Datetime("us"), "%Y-%m-%d %H:%M"),
    (pl.Datetime("us"), "%Y-%m-%d %H:%M:%S%.f"),
    (pl.Time(), "%H:%M"),
    (pl.Time(), "%H:%M:%S%.f"),
)
DATE_LIKE = re.compile(r"\s*(\d{4}-\d\d-\d\d|\d\d?\.\d\d?\.\d{4}|\d\d:\d\d)")
"""Dates and times in ISO's form, and dates with dots; others, such as 3/4/2024, could mean two things and stay text."""
NOT_TEXT = "it is not text in UTF-8 or Latin-1. Save it as UTF-8."
FAILURES = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
"""What Polars raises for a file that it cannot read: damaged ones make it panic."""


def read_file(path: str | Path, domain: Domain | None = None, texts: Collection[str] = ()) -> pl.DataFrame:
    """Read a CSV, Parquet or Excel file; ``-`` reads CSV from standard input.

    Columns of a CSV that are named, or that hold text in a domain, are read as text, whatever they look like.
    """
    texts = {*texts, *texts_of(domain)}
    if str(path) == "-":
        return _read_csv(io.BytesIO(_standard_input()), "standard input", texts)
    path = Path(path)
    if path.is_dir():
        raise DataError(f"{path} is a directory. Name a CSV or Parquet file in it.")
    if not path.exists():
        raise no_file(path)
    match form_of(path):
        case "CSV":
            return _read_csv(path, str(path), texts)
        case "Parquet":
            return _read_binary(path, "Parquet", pl.read_parquet)
        case _:
            need("fastexcel", "reading Excel files")
            return _read_binary(path, "Excel", pl.read_excel)


def form_of(path: Path) -> str:
    """What a file is by the ending of its name: CSV, Parquet or Excel."""
    for form, endings in ENDINGS.items():
        if path.name.lower().endswith(endings):
            return form
    known = ", ".join(f"{form} ({', '.join(endings)})" for form, endings in ENDINGS.items())
    raise DataError(f"{path} has no ending that says what it is. Known: {known}.")


def no_file(path: Path) -> DataError:
    """The error for a file that is not there."""
    return DataError(f"There is no file {path}. Check the name and the folder.")


def texts_of(domain: Domain | None) -> set[str]:
    """The columns of a domain that hold text."""
    return {f.name for f in domain or () if any(isinstance(value, str) for value in f.values)}


def _read_binary(path: Path, form: str, read: Callable[[Path], pl.DataFrame]) -> pl.DataFrame:
    """Read a file that is not text; whatever a damaged one makes of Polars becomes one sentence."""
    try:
        return read(path)
    except (Exception, pl.exceptions.PanicException) as error:
        raise damaged(path, form, error) from None


def damaged(path: Path, form: str, error: BaseException) -> DataError:
    """The error for a file that is not what its name says."""
    article = "an" if form == "Excel" else "a"
    return DataError(
        f"{path} is not {article} {form} file, or is damaged ({_first_line(error)}). Create it again, or correct the "
        "ending of its name."
    )


def _standard_input() -> bytes:
    """All of standard input, unless its beginning already shows that it is no table."""
    begin = sys.stdin.buffer.read(SNIFFED_BYTES)
    if b"\0" in begin and not begin.startswith(GZIPPED):
        raise DataError(f"Standard input cannot be read as CSV: {NOT_TEXT}")
    return begin + sys.stdin.buffer.read()


def _read_csv(source: Path | io.BytesIO, name: str, texts: Collection[str]) -> pl.DataFrame:
    source = as_utf8(source, name)
    separator, decimal_comma = sniff(source)
    how: dict[str, Any] = {"separator": separator, "decimal_comma": decimal_comma, "null_values": list(MISSING)}
    try:
        frame = pl.read_csv(source, **how, infer_schema_length=None, schema_overrides=dict.fromkeys(texts, pl.String))
    except pl.exceptions.NoDataError:
        raise DataError(f"{name} is empty: it has no rows.") from None
    except FAILURES as error:
        if "truncate_ragged_lines" in str(error):
            refuse_ragged(source, name, separator)
        raise csv_error(name, error) from None
    frame = frame.with_columns(with_dates(column) for column in frame if column.name not in texts)
    if decimal_comma:
        frame = frame.with_columns(_with_thousands(column) for column in frame if column.name not in texts)
    refuse_twins(frame.columns, name)
    if not frame.height:
        raise only_a_header(name)
    if frame.width > 1 and frame[:, -1].null_count():
        # Polars fills short rows up with nulls, and makes a row of nulls from a blank line.
        blank = refuse_ragged(source, name, separator)
        frame = frame.filter(~(pl.int_range(pl.len()).is_in(blank) & pl.all_horizontal(pl.all().is_null())))
    return frame


def only_a_header(name: str) -> DataError:
    """The error for a CSV without rows."""
    return DataError(f"{name} has a header but no rows.")


def refuse_twins(columns: Sequence[str], name: str) -> None:
    """Raise if a name occurs twice in a header: Polars renames the second, but an error is better."""
    for column in columns:
        base, mark, number = column.rpartition("_duplicated_")
        if mark and number.isdecimal() and base in columns:
            raise DataError(f"{name} has two columns called {base!r}. Rename one of them.")


def refuse_ragged(source: Path | io.BytesIO, name: str, separator: str) -> list[int]:
    """Raise for the first row with more or fewer fields than the header; return the rows that are blank lines."""
    blank: list[int] = []
    if lines_are_alike(source, separator):
        return blank
    with _opened(source) as file, io.TextIOWrapper(file, encoding="utf-8-sig", newline="") as lines:
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


def lines_are_alike(source: Path | io.BytesIO, separator: str) -> bool:
    """Whether every line has as many separators as the first, without quotes: a quick look before a slow one."""
    mark = separator.encode()
    with _opened(source) as file:
        fields = file.readline().count(mark)
        return all(line.count(mark) == fields and b'"' not in line for line in file)


def as_utf8(source: Path | io.BytesIO, name: str) -> Path | io.BytesIO:
    """A CSV file as it is if it is text in UTF-8; else its text, read as Latin-1, with a warning."""
    if is_utf8(source):
        return source
    content = _content(source)
    if b"\0" in content:
        raise DataError(f"{name} cannot be read as CSV: {NOT_TEXT}")
    warn(f"{name} is not text in UTF-8 and is read as Latin-1. Save it as UTF-8 if letters look wrong.")
    return io.BytesIO(content.decode("cp1252", errors="replace").encode())


def is_utf8(source: Path | io.BytesIO) -> bool:
    """Whether a CSV file is text in UTF-8, or cannot be read at all: reading it as a table says what is wrong."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with _opened(source) as file:
            while part := file.read(BYTES_AT_ONCE):
                decoder.decode(part)
            decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    except (OSError, EOFError, zlib.error):
        pass
    return True


def with_dates(column: pl.Series) -> pl.Series:
    """A column of text as dates or times if all of it is in ISO's form, or all of it in the form 17.03.2024."""
    if column.dtype != pl.String or not DATE_LIKE.match(next(filter(None, column), "")):
        return column
    for dtype, form in DATE_FORMS:
        read = pl.select(as_dates(pl.lit(column), dtype, form)).to_series()
        if read.null_count() == column.null_count():
            return read
    return column


def as_dates(text: pl.Expr, dtype: Any, form: str) -> pl.Expr:
    """Text as dates or times of one form; what is not is missing."""
    plain = text.str.strip_chars().str.replace("T", " ", literal=True).str.strip_suffix("Z")
    return plain.str.strptime(dtype, form, strict=False)


def with_points(text: pl.Expr) -> pl.Expr:
    """Numbers with decimal commas, as text, with decimal points; dots between their thousands are left out."""
    plain = pl.when(text.str.contains(THOUSANDS)).then(text.str.replace_all(".", "", literal=True)).otherwise(text)
    return plain.str.replace(",", ".", literal=True)


def _with_thousands(column: pl.Series) -> pl.Series:
    """A column of text as numbers if all of it is numbers, with dots between thousands."""
    if column.dtype != pl.String:
        return column
    text = column.str.strip_chars()
    if not text.str.contains(WITH_COMMA).all():
        return column
    return pl.select(with_points(pl.lit(text)).cast(pl.Float64)).to_series()


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
    with _opened(source) as file:
        return file.read(most)


@contextmanager
def _opened(source: Path | io.BytesIO) -> Iterator[BinaryIO | gzip.GzipFile]:
    """A CSV file to be read, unpacked if it is gzipped."""
    with source.open("rb") if isinstance(source, Path) else io.BytesIO(source.getvalue()) as raw:
        packed = raw.read(2) == GZIPPED
        raw.seek(0)
        yield gzip.GzipFile(fileobj=raw) if packed else raw


def one_line_per_row(path: str | Path, rows: int) -> bool:
    """Whether a file is text with a header in its first line and one row in every other."""
    if str(path) == "-" or not Path(path).is_file() or not Path(path).name.lower().endswith(CSV_ENDINGS):
        return False
    ends, last = 0, b"\n"
    with _opened(Path(path)) as file:
        while part := file.read(SNIFFED_BYTES):
            ends, last = ends + part.count(b"\n"), part[-1:]
    return ends + (last != b"\n") == rows + 1


def csv_error(name: str, error: BaseException) -> DataError:
    """Why a file could not be read, in one sentence."""
    text, reason = str(error), f"{_first_line(error)}. Check its quotes and separators."
    if "unexpected end of file" in text or "deflate" in text:
        reason = "its compressed data are damaged or end too early. Copy or create the file again."
    return DataError(f"{name} cannot be read as CSV: {reason}")


def _first_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
