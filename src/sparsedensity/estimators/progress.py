"""Progress on a terminal, for whatever takes longer than a second."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from sparsedensity.kernels import cache_folder, is_compiled
from sparsedensity.search.base import State, Watch

SILENT_SECONDS = 1.0


@cache
def announce_compiling(kernel: Any) -> None:
    """Say once, to whoever would else wait in silence, that a search must first be compiled."""
    if not is_compiled(kernel):
        kept = "once for this machine" if cache_folder() else "kept only if NUMBA_CACHE_DIR names a folder to write to"
        sys.stderr.write(f"compiling the search: {kept}, about half a minute\n")


@contextmanager
def telling(shown: bool, title: str) -> Iterator[Callable[[str], None]]:
    """Show what is going on after a second, and give what adds a word on how far it is.

    Nothing is shown unless it is asked for and standard error is a terminal.
    """
    if not shown or not sys.stderr.isatty():
        yield lambda _text: None
        return
    from rich.console import Console

    status = Console(stderr=True).status(title)
    starting = threading.Timer(SILENT_SECONDS, status.start)
    starting.start()
    try:
        yield lambda text: status.update(f"{title}: {text}")
    finally:
        starting.cancel()
        starting.join()
        status.stop()


@contextmanager
def watching(progress: bool, title: str) -> Iterator[list[Watch]]:
    """Show how a search goes, by watchers that are given to it."""
    with telling(progress, title) as say:

        def look(state: State, seconds: float) -> None:
            leaves = f", {state.leaves} leaves" if hasattr(state, "leaves") and isinstance(state.leaves, int) else ""
            say(f"log posterior {state.log_posterior:,.1f}{leaves}, {state.moves:,} moves, {seconds:.0f} s")

        yield [look] if progress else []
