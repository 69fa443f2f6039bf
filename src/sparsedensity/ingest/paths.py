"""The files that a name stands for: a file, a pattern such as ``logs/*.parquet``, or a folder with all its files."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from sparsedensity.errors import DataError
from sparsedensity.ingest.files import ENDINGS, form_of, no_file

READABLE = tuple(ending for endings in ENDINGS.values() for ending in endings)
HIDDEN = (".", "_")
"""How names begin that are not data: notes of file systems, and what Spark writes beside its parts."""

MOST_FOLDERS = 100_000
"""Folders below one that is named; more are hardly one table."""


class Files(NamedTuple):
    """Files of one form that are one table."""

    paths: list[Path]
    form: str
    """CSV, Parquet or Excel."""
    partitioned: bool = False
    """Whether folders that are named like ``year=2024`` are columns of the table."""


def files_named(names: Sequence[str]) -> Files:
    """All files that some names stand for, each once."""
    paths = [file for name in names for file in _files(name)]
    for i, file in enumerate(paths):
        if file in paths[:i]:
            raise DataError(f"{file} is named twice, so its rows would count twice. Name it once.")
        if form_of(file) != form_of(paths[0]):
            raise DataError(
                f"{paths[0]} and {file} are of different forms. Name files of one form, for example "
                f"{file.parent / ('*' + file.suffix)}."
            )
    folders = [Path(name) for name in names if Path(name).is_dir()]
    above = [file.relative_to(folder).parent.name for folder in folders for file in paths if folder in file.parents]
    return Files(paths, form_of(paths[0]), any("=" in name for name in above))


def _files(name: str) -> list[Path]:
    path = Path(name)
    if path.is_dir():
        files = _readable(file for file in _within(path) if file.name.lower().endswith(READABLE))
        if not files:
            raise DataError(f"{path} is a folder without CSV or Parquet files. Name a file, or another folder.")
        return files
    if path.exists():
        return [path]
    if not glob.has_magic(name):
        raise no_file(path)
    files = _readable(Path(path.anchor).glob(str(path.relative_to(path.anchor))))
    if not files:
        raise DataError(f"No file matches {name}. Check the pattern and the folder.")
    return files


def _within(folder: Path) -> Iterator[Path]:
    """The files in a folder and in those below it, which may be partitions, but not a whole computer."""
    for count, (place, _, names) in enumerate(os.walk(folder)):
        if count > MOST_FOLDERS:
            raise DataError(f"{folder} holds more than {MOST_FOLDERS:,} folders. Name one of them, or a pattern.")
        yield from (Path(place, name) for name in names)


def _readable(paths: Iterable[Path]) -> list[Path]:
    """Those that are files and not hidden, in the order of their names."""
    return sorted(path for path in paths if path.is_file() and not path.name.startswith(HIDDEN))
