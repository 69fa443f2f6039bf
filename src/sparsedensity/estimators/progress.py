"""Progress on a terminal, for whatever takes longer than a second."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sparsedensity.search.base import State, Watch

SILENT_SECONDS = 1.0


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
