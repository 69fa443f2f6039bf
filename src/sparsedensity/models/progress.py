"""Progress on a terminal, for whatever takes longer than a second."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from sparsedensity.kernels import cache_folder, is_compiled
from sparsedensity.search.base import State, Watch

if TYPE_CHECKING:
    from rich.text import Text

SILENT_SECONDS = 1.0


@cache
def announce_compiling(kernel: Any) -> None:
    """Say once, to whoever would else wait in silence, that a search must first be compiled."""
    if not is_compiled(kernel):
        kept = "once for this machine" if cache_folder() else "kept only if NUMBA_CACHE_DIR names a folder to write to"
        sys.stderr.write(f"compiling the search: {kept}, about ten seconds\n")


@dataclass
class Line:
    """What is going on, and for how long: a single pass over all rows may take minutes, in which nobody says more."""

    text: str
    begin: float = field(default_factory=time.perf_counter)

    def __rich__(self) -> Text:
        """The line at this moment."""
        from rich.text import Text

        return Text(f"{self.text}, {time.perf_counter() - self.begin:.0f} s")


@contextmanager
def telling(shown: bool, title: str) -> Iterator[Callable[[str], None]]:
    """Show what is going on after a second, and give what adds a word on how far it is.

    Nothing is shown unless it is asked for and standard error is a terminal.
    """
    if not shown or not sys.stderr.isatty():
        yield lambda _text: None
        return
    from rich.console import Console

    line = Line(title)
    status = Console(stderr=True).status(line)
    starting = threading.Timer(SILENT_SECONDS, status.start)
    starting.start()
    try:
        yield lambda text: setattr(line, "text", f"{title}: {text}")
    finally:
        starting.cancel()
        starting.join()
        status.stop()


@contextmanager
def watching(progress: bool, title: str) -> Iterator[list[Watch]]:
    """Show how a search goes, by watchers that are given to it."""
    with telling(progress, title) as say:

        def look(state: State, _seconds: float) -> None:
            say(standing(state))

        yield [look] if progress else []


def standing(state: State) -> str:
    """How far a search is, and which pass over all rows is under way if there is one."""
    leaves = f", {state.leaves} leaves" if hasattr(state, "leaves") and isinstance(state.leaves, int) else ""
    under_way = f"{stage}, " if (stage := getattr(state, "stage", "")) else ""
    return f"{under_way}log posterior {state.log_posterior:,.1f}{leaves}, {state.moves:,} moves"
