"""Where published sets are kept on this machine, and how they are read from there."""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import polars as pl
import pooch

from reproduction.datasets.prepare import typed
from reproduction.datasets.published import PublishedFile, PublishedForm, PublishedSet
from sparsedensity.errors import DataError

VARIABLE = "SPARSEDENSITY_DATA"
UNREADABLE = (
    pl.exceptions.PolarsError, zipfile.BadZipFile, zlib.error, LookupError, ValueError, TypeError, OSError, EOFError,
    RuntimeError,
)  # fmt: skip
"""What a file may raise that is not what its name says; an archive under a password raises the last."""
PREPARED_ENDINGS = (".parquet", ".csv.gz", ".csv")


@dataclass(frozen=True)
class LocalFiles:
    """A published set on this machine: its prepared table, or the files of one of its forms."""

    record: PublishedSet
    paths: tuple[Path, ...]
    form: PublishedForm | None = None

    def read(self, called: str | None = None) -> pl.DataFrame:
        """The table, checked; what is wrong with it is said of the files, or of what they are called."""
        where = called or " and ".join(map(str, self.paths))
        way_out = "" if called else " Remove or replace it."
        try:
            frame = typed(self._prepared() if self.form is None else self._from(self.form))
        except UNREADABLE as error:
            reason = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
            raise DataError(f"{where} cannot be read as {self.record.name}: {reason}.{way_out}") from None
        if differences := self.record.differences(frame):
            wrong = f"{where} is not {self.record.name} as the paper used it: it has {differences}."
            raise DataError(f"{wrong}{way_out}")
        return frame

    def _prepared(self) -> pl.DataFrame:
        (path,) = self.paths
        return pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path, infer_schema=False)

    def _from(self, form: PublishedForm) -> pl.DataFrame:
        with ExitStack() as stack:
            files = [
                stack.enter_context(_opened(path, file)) for path, file in zip(self.paths, form.files, strict=True)
            ]
            return form.prepare(*files)


def places(folder: Path | None = None) -> tuple[Path, ...]:
    """The folders in which a published set is looked for, in this order."""
    named = (folder, os.environ.get(VARIABLE))
    return (*(Path(place).expanduser() for place in named if place), pooch.os_cache("sparsedensity"))


def home(folder: Path | None = None) -> Path:
    """The first of those folders that can be written: what is fetched is kept there."""
    where = places(folder)
    return next((place for place in where if _writable(place)), where[-1])


def find(record: PublishedSet, where: tuple[Path, ...]) -> LocalFiles | None:
    """The first place that has a set, prepared or in a published form."""
    for place in where:
        for ending in PREPARED_ENDINGS:
            if _is_file(path := place / f"{record.name}{ending}"):
                return LocalFiles(record, (path,))
        for form in record.forms:
            if found := find_form(record, form, place):
                return found
    return None


def find_form(record: PublishedSet, form: PublishedForm, place: Path) -> LocalFiles | None:
    """A set in one of its forms, if all files of the form are there."""
    paths = tuple(path for file in form.files if (path := _first(place, file)))
    return LocalFiles(record, paths, form) if len(paths) == len(form.files) else None


def wanted(record: PublishedSet) -> str:
    """What a person would have to put into a folder, in words."""
    forms = [" and ".join(file.name for file in form.files) for form in record.forms]
    return ", or ".join((*forms, f"{record.name}.csv.gz"))


def _writable(place: Path) -> bool:
    """Whether a folder can be written, or made if there is none."""
    whole = place.absolute()
    try:
        nearest = next((path for path in (whole, *whole.parents) if path.exists()), None)
        return nearest is not None and nearest.is_dir() and os.access(nearest, os.W_OK)
    except OSError:  # a folder that may not be looked into
        return False


def _first(place: Path, file: PublishedFile) -> Path | None:
    return next((place / name for name in file.names if _is_file(place / name)), None)


def _is_file(path: Path) -> bool:
    """Whether a file is there; in a folder that may not be looked into there is none."""
    try:
        return path.is_file()
    except OSError:
        return False


@contextmanager
def _opened(path: Path, file: PublishedFile) -> Iterator[IO[bytes]]:
    """A published file, by itself or in an archive."""
    if path.suffix != ".zip":
        with path.open("rb") as plain:
            yield plain
        return
    with zipfile.ZipFile(path) as archive, ExitStack() as stack:
        yield _member(archive, file.name, stack)


def _member(archive: zipfile.ZipFile, name: str, stack: ExitStack) -> IO[bytes]:
    """A file in any folder of an archive, or of an archive inside it: UCI packs some twice."""
    for member in archive.namelist():
        if member.rpartition("/")[2] == name:
            return stack.enter_context(archive.open(member))
    for member in archive.namelist():
        if member.endswith(".zip"):
            inner = stack.enter_context(zipfile.ZipFile(stack.enter_context(archive.open(member))))
            if any(path.rpartition("/")[2] == name for path in inner.namelist()):
                return _member(inner, name, stack)
    raise LookupError(f"there is no {name} in it")
