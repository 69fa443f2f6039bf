"""Published sets from the network: fetched, prepared, checked, and only then kept.

What is kept is the prepared table. Everything on the way to it lies in a temporary folder: a download that breaks off,
or that is not what was published, leaves nothing behind.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

import pooch
import requests

from reproduction.datasets.places import VARIABLE, find_form, wanted
from reproduction.datasets.published import PublishedFile, PublishedForm, PublishedSet, file_name
from sparsedensity.errors import DataError

MIRROR = "SPARSEDENSITY_MIRROR"
KEPT = "prepared.parquet"
PATIENCE = 30.0
"""Seconds without an answer after which an address counts as unreachable."""


class FetchError(DataError):
    """A published table is not on this machine and cannot be fetched."""


def fetch(record: PublishedSet, home: Path) -> Path:
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


def _prepared(record: PublishedSet, folder: Path) -> Path:
    """Try one way after the other until a table arrives and is what it should be; the reason is that of the first."""
    reasons = []
    for number, (form, addresses) in enumerate(_ways(record)):
        place = folder / str(number)
        try:
            for address in addresses:
                download(address, place)
            found = find_form(record, form, place)
            assert found is not None
            found.read("what arrived").write_parquet(folder / KEPT)
            return folder / KEPT
        except DataError as error:
            reasons.append(error)
    raise reasons[0]


def _ways(record: PublishedSet) -> Iterator[tuple[PublishedForm, list[str]]]:
    """Every form with the first address of each of its files, then with the second; an archive of several only once."""
    for form in record.forms:
        for addresses in zip(*map(_addresses, form.files), strict=True):
            yield form, list(dict.fromkeys(addresses))


def _addresses(file: PublishedFile) -> tuple[str, ...]:
    """Where a file can be fetched: at a mirror, if one is set, else where it was published."""
    mirror = os.environ.get(MIRROR)
    return tuple(f"{mirror.rstrip('/')}/{quote(name)}" for name in file.names) if mirror else file.addresses


def download(address: str, folder: Path) -> None:
    """Copy what lies at an address into a folder; say so on standard error; leave nothing if it breaks off."""
    sys.stderr.write(f"fetching {address}\n")
    pooch.get_logger().setLevel("WARNING")  # it would tell the hash of what arrives
    web = pooch.HTTPDownloader(timeout=PATIENCE)
    try:
        pooch.retrieve(address, known_hash=None, fname=file_name(address), path=folder, downloader=web)
    except requests.HTTPError as error:
        answer: Any = error.response
        raise DataError(f"{address} answers {answer.status_code} {answer.reason}.") from None
    except (requests.RequestException, ValueError) as error:  # the last for an answer that makes no sense
        raise DataError(f"{address} cannot be fetched ({type(error).__name__}).") from None
