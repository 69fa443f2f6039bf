"""One number for a whole table, whatever the order of its rows and the types of its columns.

The canonical form of a table is text: the names of its columns, then its rows, sorted by their bytes; the values of a
row with commas between them, nothing quoted, a newline after every line, UTF-8. For a CSV file without quotes that is

    { head -1 table.csv; tail -n +2 table.csv | LC_ALL=C sort; } | sha256sum
"""

from __future__ import annotations

import hashlib

import polars as pl


def digest(frame: pl.DataFrame) -> str:
    r"""The SHA-256 of the canonical form of a table, in hexadecimal.

    >>> table = pl.DataFrame({"sex": ["m", "f"], "age": [31, 2]})
    >>> digest(table) == digest(table.reverse()) == hashlib.sha256(b"sex,age\nf,2\nm,31\n").hexdigest()
    True
    """
    rows = frame.select(row=pl.concat_str(pl.all().cast(pl.String), separator=","))
    canonical = hashlib.sha256(f"{','.join(frame.columns)}\n".encode())
    for part in rows.sort("row").iter_slices(1 << 16):
        canonical.update("".join(f"{row}\n" for row in part["row"]).encode())
    return canonical.hexdigest()
