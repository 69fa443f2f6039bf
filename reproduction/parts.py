"""Finished parts of a study, kept in a file: an interrupted study goes on where it stopped.

Parts of another version, another machine or another size are in another file.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sparsedensity.evaluation import ResultFile
from sparsedensity.writing import make_folder

WAY_OUT = "Delete it, or measure anew with --fresh."


class Parts:
    """Finished parts by name, in a file or, without one, in memory.

    >>> parts = Parts()
    >>> parts.part("one", lambda: {"leaves": 9}), parts.part("one", lambda: {"leaves": 10})
    ({'leaves': 9}, {'leaves': 9})
    """

    def __init__(self, file: Path | None = None, belongs: dict[str, Any] | None = None, *, fresh: bool = False) -> None:
        self.folder = None if file is None else file.parent
        self.belongs, self.fresh = belongs or {}, fresh
        self.results = ResultFile(None if file is None else self.beside(file.stem), self.belongs, WAY_OUT)
        self.seconds_before = 0.0
        """The seconds of the parts that were taken from an earlier run."""
        self._asked_for: set[str] = set()

    def part(self, name: str, compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """A part that is kept, or computed now and kept."""
        kept = self.results.get(name)
        if kept is None:
            begin = time.perf_counter()
            value = compute()
            self.results.add(name, {"seconds": time.perf_counter() - begin, "value": value})
        elif name not in self._asked_for:
            self.seconds_before += kept["seconds"]
        self._asked_for.add(name)
        found: dict[str, Any] = (self.results.get(name) or {})["value"]
        return found

    def beside(self, name: str) -> Path | None:
        """A file for finished parts, named also by what they belong to: another one for another version or size."""
        if self.folder is None:
            return None
        make_folder(self.folder)
        path = self.folder / f"{name}-{fingerprint(self.belongs)}.jsonl"
        if self.fresh:
            path.unlink(missing_ok=True)
        return path


def fingerprint(belongs: Any) -> str:
    """A short word, the same for things that look the same."""
    return hashlib.sha256(json.dumps(belongs).encode()).hexdigest()[:8]
