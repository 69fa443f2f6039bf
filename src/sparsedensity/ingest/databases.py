"""Tables of databases: a DuckDB or SQLite file, or whatever Ibis connects to by a URL."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote, urlencode

from sparsedensity.errors import DataError, MissingExtraError, without_secrets
from sparsedensity.extras import need
from sparsedensity.ingest.files import no_file

FILE = re.compile(r"(?P<file>[^?]+\.(duckdb|ddb|db|sqlite|sqlite3))(\?(?P<query>.*))?", re.IGNORECASE)
URL = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]+)://(?P<place>[^?]*)(\?(?P<query>.*))?", re.IGNORECASE)
DRIVER = re.compile(r"ibis-framework\[[\w-]+\]")
"""What Ibis says is to be installed."""
SQLITE = b"SQLite format 3"
FOR_DUCKDB = "reading DuckDB files"


class Address(NamedTuple):
    """Where a table is."""

    scheme: str
    place: str
    """A file, or what a URL says after its scheme."""
    query: str
    """What a URL says beside the table."""
    table: str | None

    @property
    def name(self) -> str:
        """The database, as a sentence calls it."""
        return self.place if self.scheme in ("duckdb", "sqlite") else without_secrets(self.url)

    @property
    def url(self) -> str:
        """Where the database is, without the table."""
        return f"{self.scheme}://{self.place}{'?' * bool(self.query)}{self.query}"


def address_of(name: str) -> Address | None:
    """What a name says of a table in a database; ``None`` if it is not of one.

    >>> address_of("duckdb://shop.db?table=orders").table, address_of("logs/*.parquet")
    ('orders', None)
    """
    url, file = URL.fullmatch(name), FILE.fullmatch(name)
    found = url or file
    if found is None:
        return None
    asked = parse_qsl(found["query"] or "", keep_blank_values=True)
    table = dict(asked).get("table") or None
    if url is None:
        return Address(_scheme_of(Path(found["file"])), found["file"], "", table)
    place = unquote(url["place"]) if url["scheme"] == "duckdb" else url["place"]
    return Address(url["scheme"].lower(), place, urlencode([pair for pair in asked if pair[0] != "table"]), table)


def open_database(address: Address) -> Any:
    """A table of a database: a DuckDB relation or an Ibis table."""
    if address.scheme in ("duckdb", "sqlite") and not Path(address.place).is_file():
        raise no_file(Path(address.place))
    return _duckdb_table(address) if address.scheme == "duckdb" else _ibis_table(address)


def _scheme_of(file: Path) -> str:
    """The kind of database that a file is, by how it begins."""
    if not file.is_file():
        return "duckdb"
    with file.open("rb") as opened:
        return "sqlite" if opened.read(len(SQLITE)) == SQLITE else "duckdb"


def _duckdb_table(address: Address) -> Any:
    duckdb = need("duckdb", FOR_DUCKDB)
    try:
        connection = duckdb.connect(address.place, read_only=True)
        found = connection.execute("select table_schema, table_name from information_schema.tables").fetchall()
    except duckdb.Error as error:
        raise _not_opened(address, error) from None
    tables = [table if schema == "main" else f"{schema}.{table}" for schema, table in found]
    return connection.table(_chosen(address, tables))


def _ibis_table(address: Address) -> Any:
    ibis = need("ibis", "reading databases")
    try:
        connection = ibis.connect(address.url)
        tables = connection.list_tables()
    except Exception as error:  # whatever the driver of a database raises
        if driver := DRIVER.search(str(error)):
            wanted = f"'{driver[0]}' is needed for reading {address.name}. Install it: pip install '{driver[0]}'"
            raise MissingExtraError(wanted) from None
        raise _not_opened(address, error) from None
    return connection.table(_chosen(address, tables))


def _not_opened(address: Address, error: Exception) -> DataError:
    first = without_secrets(str(error).strip().partition("\n")[0]).rstrip(".") or type(error).__name__
    return DataError(f"{address.name} cannot be opened as a database ({first}). Check the file or URL.")


def _chosen(address: Address, tables: Sequence[str]) -> str:
    """The table that was asked for, or the only one."""
    if not tables:
        raise DataError(f"{address.name} has no tables.")
    if address.table is None and len(tables) > 1:
        raise DataError(
            f"{address.name} has {len(tables)} tables: {', '.join(tables)}. Name one: "
            f'"{address.name}?table={tables[0]}".'
        )
    if address.table is not None and address.table not in tables:
        raise DataError(f"There is no table {address.table!r} in {address.name}. Tables: {', '.join(tables)}.")
    return address.table or tables[0]
