"""The file of finished folds: an evaluation that was interrupted goes on where it stopped.

One line of JSON a fold, below a line that says of which table and which folds. A last line that was cut off is a fold
that is not finished; anything else that does not fit is refused, never mixed.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sparsedensity.errors import DataError, SparseDensityError
from sparsedensity.version import __version__

HEADER = "folds of"


class FoldFile:
    """Finished folds by method and number; in memory only where no file is named."""

    def __init__(self, path: str | os.PathLike[str] | None, belongs: Mapping[str, Any]) -> None:
        self.path = None if path is None else Path(path)
        self._lines: dict[tuple[str, int], dict[str, Any]] = {}
        if self.path is None:
            return
        text = self._read(self.path)
        kept = text[: text.rfind(b"\n") + 1]
        documents = [self._parsed(number, line) for number, line in enumerate(kept.splitlines(), 1)]
        if documents:
            self._check_header(documents[0], belongs)
        for number, document in enumerate(documents[1:], 2):
            self._remember(number, document)
        if len(kept) < len(text):
            self._cut(len(kept))
        if not documents:
            self._append({HEADER: dict(belongs), "version": __version__})

    def get(self, method: str, fold: int, made_by: str) -> dict[str, Any] | None:
        """A fold that is finished; a method of the same name with other parameters is refused."""
        line = self._lines.get((method, fold))
        if line is None:
            return None
        if line["made by"] != made_by:
            raise DataError(
                f"{self.path} holds folds of {method!r} with other parameters. Name another file, or another method."
            )
        found: dict[str, Any] = line["result"]
        return found

    def add(self, method: str, fold: int, made_by: str, result: Mapping[str, Any]) -> None:
        """Keep a fold that is finished."""
        if self.path is not None:
            self._append({"method": method, "fold": fold, "made by": made_by, "result": dict(result)})

    def _read(self, path: Path) -> bytes:
        try:
            return path.read_bytes() if path.exists() else b""
        except OSError as error:
            raise SparseDensityError(f"{path} cannot be read: {error.strerror or error}.") from None

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
        if not {"method", "fold", "made by", "result"} <= set(line):
            raise DataError(f"{self.path} is damaged: line {number} is not a finished fold. Name another file.")
        self._lines[line["method"], line["fold"]] = line

    def _cut(self, size: int) -> None:
        assert self.path is not None
        os.truncate(self.path, size)

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


def fingerprint(*things: Any) -> str:
    """The same for things that look the same."""
    return hashlib.sha256("\n".join(map(repr, things)).encode()).hexdigest()[:16]


def _plain(value: Any) -> Any:
    """NumPy's numbers as Python's."""
    return value.item() if hasattr(value, "item") else repr(value)
