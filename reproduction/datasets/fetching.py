"""Published sets from the network: fetched, prepared, checked, and only then kept.

What is kept is the prepared table. Everything on the way to it lies in a temporary folder: a download that breaks off,
or that is not what was published, leaves nothing behind.
"""

from __future__ import annotations

import http.client
import os
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO
from urllib.error import HTTPError
from urllib.parse import quote, urlsplit

from sparsedensity.datasets.places import VARIABLE, find_form, wanted
from sparsedensity.datasets.published import File, Form, Published, file_name
from sparsedensity.errors import DataError, FetchError
from sparsedensity.version import __version__

MIRROR = "SPARSEDENSITY_MIRROR"
KEPT = "prepared.parquet"
BLOCK = 1 << 16
PATIENCE = 30.0
"""Seconds without an answer after which an address counts as unreachable."""


def fetch(record: Published, home: Path) -> Path:
    """Fetch a set from where it was published, and keep the prepared table in a folder."""
    try:
        home.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".fetching-", dir=home) as folder:
            return _prepared(record, Path(folder)).replace(home / f"{record.name}.parquet")
    except OSError as error:
        raise FetchError(
            f"{record.name} cannot be kept in {home}: {error.strerror or error}. Set {VARIABLE} to a folder for data."
        ) from None
    except DataError as error:
        instead = f" {record.stand_in} is something like it, made on the spot." if record.stand_in else ""
        raise FetchError(
            f"{record.name} is not on this machine and cannot be fetched: {error} Put {wanted(record)} into {home}, or "
            f"set {VARIABLE} to the folder that has it.{instead}"
        ) from None


def _prepared(record: Published, folder: Path) -> Path:
    """Try one way after the other until a table arrives and is what it should be; the reason is that of the first."""
    reasons = []
    for number, (form, addresses) in enumerate(_ways(record)):
        place = folder / str(number)
        place.mkdir()
        try:
            for address in addresses:
                download(address, place / file_name(address))
            found = find_form(record, form, place)
            assert found is not None
            found.read("what arrived").write_parquet(folder / KEPT)
            return folder / KEPT
        except DataError as error:
            reasons.append(error)
    raise reasons[0]


def _ways(record: Published) -> Iterator[tuple[Form, list[str]]]:
    """Every form with the first address of each of its files, then with the second; an archive of several only once."""
    for form in record.forms:
        for addresses in zip(*map(_addresses, form.files), strict=True):
            yield form, list(dict.fromkeys(addresses))


def _addresses(file: File) -> tuple[str, ...]:
    """Where a file is to be had: at a mirror, where one is set, else where it was published."""
    mirror = os.environ.get(MIRROR)
    return tuple(f"{mirror.rstrip('/')}/{quote(name)}" for name in file.names) if mirror else file.addresses


def download(address: str, target: Path) -> None:
    """Copy what lies at an address into a file; say so on standard error; leave nothing if it breaks off."""
    if urlsplit(address).scheme not in ("http", "https"):
        raise DataError(f"{address} is neither http nor https.")
    sys.stderr.write(f"fetching {address}\n")
    part = target.with_name(f"{target.name}.part")
    try:
        with _answer(address) as answer, part.open("wb") as file:
            _copy(answer, file, address)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def _answer(address: str) -> http.client.HTTPResponse:
    """The beginning of what a server sends."""
    request = urllib.request.Request(address, headers={"User-Agent": f"sparsedensity/{__version__}"})  # noqa: S310
    try:
        answer: http.client.HTTPResponse = _opener().open(request, timeout=PATIENCE)
        return answer
    except HTTPError as error:
        raise DataError(f"{address} answers {error.code} {error.reason}.") from None
    except OSError as error:
        raise DataError(f"{address} cannot be reached ({_reason(error)}).") from None
    except http.client.HTTPException as error:
        raise DataError(f"{address} does not answer as a server should ({_reason(error)}).") from None


def _opener() -> urllib.request.OpenerDirector:
    """What opens web addresses, follows redirections between them, and knows no other kind."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler,
        urllib.request.HTTPHandler,
        urllib.request.HTTPSHandler,
        urllib.request.HTTPRedirectHandler,
        urllib.request.HTTPDefaultErrorHandler,
        urllib.request.HTTPErrorProcessor,
        urllib.request.UnknownHandler,
    ):
        opener.add_handler(handler())
    return opener


def _copy(answer: http.client.HTTPResponse, file: IO[bytes], address: str) -> None:
    length = answer.headers.get("Content-Length", "")
    total = int(length) if length.isdecimal() else None
    with _progress(file_name(address), total) as advance:
        for block in _blocks(answer, address):
            file.write(block)
            advance(len(block))
    if total is not None and file.tell() < total:
        raise DataError(f"{address} broke off after {file.tell():,} of {total:,} bytes.")


def _blocks(answer: http.client.HTTPResponse, address: str) -> Iterator[bytes]:
    """What a server sends, part by part."""
    try:
        while block := answer.read(BLOCK):
            yield block
    except (http.client.HTTPException, OSError) as error:
        raise DataError(f"{address} broke off ({_reason(error)}).") from None


@contextmanager
def _progress(title: str, total: int | None) -> Iterator[Callable[[int], object]]:
    """A bar on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda advance: bar.advance(task, advance)


def _reason(error: Exception) -> str:
    cause = getattr(error, "reason", error)
    if isinstance(cause, OSError) and cause.strerror:
        return cause.strerror
    return str(cause).strip() or type(cause).__name__
