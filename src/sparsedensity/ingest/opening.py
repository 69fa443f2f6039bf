"""A table by its name or names: files, folders and patterns, standard input, a database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sparsedensity.domain import Domain
from sparsedensity.errors import DataError
from sparsedensity.ingest.databases import address_of, open_database
from sparsedensity.ingest.files import read_file
from sparsedensity.ingest.other_engines import on_duckdb, on_spark
from sparsedensity.ingest.paths import files_named
from sparsedensity.ingest.tables import read_files

OTHERS = {"duckdb": on_duckdb, "spark": on_spark}


def open_table(names: Sequence[str], domain: Domain | None = None, engine: str | None = None) -> Any:
    """What some names stand for, as one table.

    A Polars frame if it fits in memory, else a lazy frame; with an engine its own lazy frame, whatever the size. With a
    domain, columns that hold text there are read as text from a CSV.
    """
    for name in names:
        if len(names) > 1 and (name == "-" or address_of(name) is not None):
            what = "Standard input" if name == "-" else name
            raise DataError(f"{what} is a table of its own. Name it alone, or name files only.")
    address = address_of(names[0])
    if address is not None:
        if engine is not None and engine != address.scheme:
            raise DataError(f"--engine {engine} is for files, but {address.name} is a database. Leave it out.")
        return open_database(address)
    if names[0] == "-":
        frame = read_file("-", domain)
        check_engine(engine, "standard input")
        return frame if engine is None else frame.lazy()
    files = files_named(names)
    if engine in OTHERS and files.form != "Excel":
        return OTHERS[engine](files, domain)
    check_engine(engine, str(files.paths[0]))
    return read_files(files, domain, lazy=engine is not None)


def check_engine(engine: str | None, name: str) -> None:
    """Refuse an engine for what only Polars reads."""
    if engine in OTHERS:
        raise DataError(f"--engine {engine} reads CSV and Parquet files, not {name}. Use --engine polars.")
