"""The file of finished folds: an evaluation that was interrupted goes on where it stopped.

One line of JSON a fold, below a line that says of which table and which folds. A last line that was cut off is a fold
that is not finished; anything else that does not fit is refused, never mixed.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from sparsedensity.errors import DataError, SparseDensityError
from sparsedensity.version import __version__

HEADER = "folds of"
MADE_BY = "made by"
BEGIN = f'{{"{HEADER}": '.encode()
"""What a file begins with, even one whose first line was cut off."""


class FoldFile:
    """Finished folds by method and number; in memory only where no file is named."""

    def __init__(
        self, path: str | os.PathLike[str] | None, belongs: Mapping[str, Any], entries: Collection[str]
    ) -> None:
        self.path = None if path is None else Path(path)
        self.entries = {*entries, MADE_BY}
        self._lines: dict[tuple[str, int], dict[str, Any]] = {}
        if self.path is not None:
            self._open(self.path, {**belongs, "version": __version__})

    def get(self, method: str, fold: int, made_by: str) -> dict[str, Any] | None:
        """A fold that is finished; a method of the same name with other parameters is refused."""
        line = self._lines.get((method, fold))
        if line is None:
            return None
        if line[MADE_BY] != made_by:
            raise DataError(
                f"{self.path} holds folds of {method!r} with other parameters. Name another file, or another method."
            )
        return {key: value for key, value in line.items() if key != MADE_BY}

    def add(self, fold: Mapping[str, Any], made_by: str) -> None:
        """Keep a fold that is finished."""
        if self.path is not None:
            self._append({**fold, MADE_BY: made_by})

    def _open(self, path: Path, belongs: Mapping[str, Any]) -> None:
        text = _bytes_of(path)
        kept = text[: text.rfind(b"\n") + 1]
        documents = [self._parsed(number, line) for number, line in enumerate(kept.splitlines(), 1)]
        if documents:
            self._check_header(documents[0], belongs)
        for number, document in enumerate(documents[1:], 2):
            self._remember(number, document)
        if not documents and not text.startswith(BEGIN[: len(text)]):
            raise DataError(f"{path} is not a file of finished folds. Name another file.")
        if len(kept) < len(text):
            os.truncate(path, len(kept))
        if not documents:
            self._append({HEADER: dict(belongs)})

    def _parsed(self, number: int, line: bytes) -> dict[str, Any]:
        try:
            document = json.loads(line)
        except ValueError:
            document = None
        if not isinstance(document, dict) or (number == 1 and not isinstance(document.get(HEADER), dict)):
            raise DataError(f"{self.path} is not a file of finished folds: line {number} is none. Name another file.")
        return document

    def _check_header(self, header: Mapping[str, Any], belongs: Mapping[str, Any]) -> None:
        for what, own in belongs.items():
            kept = header[HEADER].get(what)
            if kept != own:
                thing = "another table" if what == "table" else f"{what}={kept}, not {what}={own}"
                raise DataError(f"{self.path} holds finished folds of {thing}. Name another file.")

    def _remember(self, number: int, line: dict[str, Any]) -> None:
        if set(line) != self.entries:
            raise DataError(f"{self.path} is damaged: line {number} is not a finished fold. Name another file.")
        self._lines[line["method"], line["fold"]] = line

    def _append(self, document: Mapping[str, Any]) -> None:
        """One line, in one write, on the disk before anything else happens."""
        assert self.path is not None
        line = json.dumps(document, default=_plain) + "\n"
        try:
            with self.path.open("ab") as file:
                file.write(line.encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise SparseDensityError(f"{self.path} cannot be written: {error.strerror or error}.") from None


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes() if path.exists() else b""
    except OSError as error:
        raise SparseDensityError(f"{path} cannot be read: {error.strerror or error}.") from None


def fingerprint(*things: Any) -> str:
    """The same for things that look the same."""
    return hashlib.sha256("\n".join(map(repr, things)).encode()).hexdigest()[:16]


def _plain(value: Any) -> Any:
    """NumPy's numbers as Python's."""
    return value.item() if hasattr(value, "item") else repr(value)
