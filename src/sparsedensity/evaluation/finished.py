"""Results that are finished, kept in a file: work that was interrupted goes on where it stopped.

One line of JSON per result, below a line that says what the results belong to. A last line that was cut off is a result
that is not finished; anything else that does not fit is refused, never mixed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sparsedensity.errors import DataError, using_file
from sparsedensity.version import __version__

HEADER, NAME, RESULT = "results of", "name", "result"
BEGIN = f'{{"{HEADER}": '.encode()
"""What a file begins with, even one whose first line was cut off."""


class ResultFile:
    """Finished results by name; in memory only if no file is named.

    >>> results = ResultFile(None, {})
    >>> results.add("titanic", {"leaves": 9})
    >>> results.get("titanic"), results.get("simulated")
    ({'leaves': 9}, None)

    Parameters
    ----------
    path
        The file; an earlier one is read, and more is added to it.
    belongs
        What the results depend on. A file of results that depend on something else is refused.
    way_out
        What to do about a file that is refused, as a sentence.
    """

    def __init__(
        self, path: str | os.PathLike[str] | None, belongs: Mapping[str, Any], way_out: str = "Name another file."
    ) -> None:
        self.path = None if path is None else Path(path)
        self.way_out = way_out
        self._results: dict[str, dict[str, Any]] = {}
        if self.path is not None:
            self._open(self.path, {**belongs, "version": __version__})

    def get(self, name: str) -> dict[str, Any] | None:
        """A result that is finished."""
        return self._results.get(name)

    def add(self, name: str, result: Mapping[str, Any]) -> None:
        """Keep a result that is finished."""
        line = json.dumps({NAME: name, RESULT: result}, default=_plain)
        self._results[name] = json.loads(line)[RESULT]  # the same now as when it is read again
        if self.path is not None:
            self._append(self.path, line)

    def _open(self, path: Path, belongs: Mapping[str, Any]) -> None:
        with using_file(path, "read"):
            text = path.read_bytes() if path.exists() else b""
        whole = text[: text.rfind(b"\n") + 1]
        if not whole and not text.startswith(BEGIN[: len(text)]):
            raise DataError(f"{path} is not a file of results. {self.way_out}")
        for number, line in enumerate(whole.splitlines(), 1):
            if number == 1:
                self._check(self._parsed(number, line, HEADER)[0], belongs)
            else:
                name, result = self._parsed(number, line, NAME, RESULT)
                self._results[name] = result
        if len(whole) < len(text):
            os.truncate(path, len(whole))
        if not whole:
            self._append(path, json.dumps({HEADER: dict(belongs)}))

    def _parsed(self, number: int, line: bytes, *keys: str) -> list[Any]:
        """The entries of a line, of which the last holds entries of its own."""
        try:
            document = json.loads(line)
            *first, last = (document[key] for key in keys)
            return [*first, dict(last)]
        except (ValueError, KeyError, TypeError):
            wrong = "not a file of results" if number == 1 else f"damaged: line {number} is not a result"
            raise DataError(f"{self.path} is {wrong}. {self.way_out}") from None

    def _check(self, header: Mapping[str, Any], belongs: Mapping[str, Any]) -> None:
        for what, wanted in belongs.items():
            kept = header.get(what)
            if kept != wanted:
                thing = "another table" if what == "table" else f"{what}={kept}, not {what}={wanted}"
                raise DataError(f"{self.path} holds results of {thing}. {self.way_out}")

    def _append(self, path: Path, line: str) -> None:
        """One line, in one write, on the disk before anything else happens."""
        with using_file(path, "written"), path.open("ab") as file:
            file.write(f"{line}\n".encode())
            file.flush()
            os.fsync(file.fileno())


def _plain(value: Any) -> Any:
    """NumPy's numbers as Python's."""
    return value.item() if hasattr(value, "item") else repr(value)
