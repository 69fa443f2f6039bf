"""Parts of a study that are finished, kept in a file: an interrupted study goes on where it stopped.

One line of JSON a part, below a line that says what they belong to. Parts of another version, another machine or
another size are in another file. A last line that was cut off is a part that is not finished.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sparsedensity.errors import DataError


class Kept:
    """Finished parts by name, in a file or, without one, in memory.

    >>> kept = Kept()
    >>> kept.part("one", lambda: {"leaves": 9}), kept.part("one", lambda: {"leaves": 10})
    ({'leaves': 9}, {'leaves': 9})
    """

    def __init__(self, file: Path | None = None, belongs: dict[str, Any] | None = None, *, fresh: bool = False) -> None:
        self.header = {"parts of": belongs or {}}
        self.fresh = fresh
        self.file = None if file is None else self._named(file, file.stem)
        self.seconds_before = 0.0
        """The seconds of the parts that were taken from an earlier run."""
        self._parts: dict[str, tuple[dict[str, Any], float]] = {}
        self._earlier: set[str] = set()
        if self.file is not None and fresh:
            self.file.unlink(missing_ok=True)
        elif self.file is not None:
            self._read(self.file)

    def part(self, name: str, compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """A part that is kept, or computed now and kept."""
        if name not in self._parts:
            begin = time.perf_counter()
            value = compute()
            self._keep(name, value, time.perf_counter() - begin)
        elif name in self._earlier:
            self._earlier.remove(name)
            self.seconds_before += self._parts[name][1]
        return self._parts[name][0]

    def beside(self, name: str) -> Path | None:
        """A file for parts that something else keeps: another one for another version or size."""
        if self.file is None:
            return None
        path = self._named(self.file, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        if self.fresh:
            path.unlink(missing_ok=True)
        return path

    def _named(self, file: Path, name: str) -> Path:
        """A file in the same folder, named also by what its parts belong to."""
        digest = hashlib.sha256(json.dumps(self.header).encode()).hexdigest()[:8]
        return file.with_name(f"{name}-{digest}.jsonl")

    def _keep(self, name: str, value: dict[str, Any], seconds: float) -> None:
        line = json.dumps({"part": name, "seconds": seconds, "value": value})
        self._parts[name] = json.loads(line)["value"], seconds  # the same now as when it is read again
        if self.file is None:
            return
        if len(self._parts) == 1:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            self.file.write_text(json.dumps(self.header) + "\n", encoding="utf-8")
        with self.file.open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def _read(self, file: Path) -> None:
        if not file.exists():
            return
        *lines, cut_off = file.read_text(encoding="utf-8").split("\n")
        if not lines or lines[0] != json.dumps(self.header):
            return
        for number, line in enumerate(lines[1:], 2):
            try:
                part = json.loads(line)
                self._parts[part["part"]] = part["value"], part["seconds"]
            except (ValueError, KeyError, TypeError):
                raise DataError(
                    f"{file} is damaged: line {number} is not a finished part. Delete it, or measure anew with --fresh."
                ) from None
        self._earlier = set(self._parts)
        if cut_off:
            file.write_text("\n".join([*lines, ""]), encoding="utf-8")
