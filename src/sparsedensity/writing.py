"""Files are written whole or not at all: beside the old one, which stays until the new one is complete."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sparsedensity.errors import OutputError, ParameterError

SPECIAL = ("/dev/", "/proc/")
"""Names that stand for what a process has open, even if that is a file."""
LONGEST_NAME = 40
"""So much of a file's name is kept in that of its part, for which there may be little room."""


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a file to write; when that is done, it takes the place of the one that was asked for.

    A link is followed, and permissions are kept. Pipes and devices have nothing to lose and are written as they are.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "answer.txt"
    >>> with replacing(file) as part:
    ...     _ = part.write_text("42")
    ...     file.exists()
    False
    >>> file.read_text()
    '42'
    """
    if not isinstance(path, str | os.PathLike):
        raise ParameterError("path", path, "the name of a file")
    path = Path(path)
    if not _is_name(path):
        raise OutputError(path, "its name holds a character that no name may")
    try:
        if _is_special(path):
            yield path
            return
        target = Path(os.path.realpath(path))
        part = _part_of(target)
        try:
            yield part
            _take_place(part, target)
        finally:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
    except OutputError:
        raise
    except OSError as error:
        raise OutputError(path, error.strerror or re.sub(r" \(os error \d+\)", "", str(error))) from None


def write_text(text: str, path: str | os.PathLike[str]) -> None:
    """Write a text whole or not at all, the same on every system."""
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8", newline="\n")


def make_folder(path: Path) -> None:
    """Make a folder, and those above it, unless it is there."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(path, f"{error.strerror or error}") from None


def _is_name(path: Path) -> bool:
    try:
        return b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        return False


def _is_special(path: Path) -> bool:
    """Whether a path is no place for a file of its own: a pipe, a device, what a process has open."""
    return path.as_posix().startswith(SPECIAL) or (path.exists() and not path.is_file() and not path.is_dir())


def _part_of(target: Path) -> Path:
    """The name of the new file until it is complete; whoever could not write the old one may not replace it."""
    if target.is_dir():
        raise OutputError(target, "it is a directory. Name a file in it")
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError("Permission denied")
    return target.with_name(f".{target.stem[:LONGEST_NAME]}.{secrets.token_hex(4)}.part{target.suffix}")


def _take_place(part: Path, target: Path) -> None:
    """Put a complete file in the place of the old one. A disk may say only now that it is full."""
    with part.open("rb+") as file:
        os.fsync(file.fileno())
    with contextlib.suppress(FileNotFoundError):
        shutil.copymode(target, part)
    part.replace(target)
