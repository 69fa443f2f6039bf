"""Progress on a terminal, for whatever takes longer than a second."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from sparsedensity.search.base import State, Watch

SILENT_SECONDS = 1.0


@contextmanager
def watching(progress: bool, title: str) -> Iterator[list[Watch]]:
    """Show what is going on after a second, and give watchers for a search.

    Nothing is shown, and nothing watches, unless progress is asked for and standard error is a terminal.
    """
    if not progress or not sys.stderr.isatty():
        yield []
        return
    from rich.console import Console

    status = Console(stderr=True).status(title)
    starting = threading.Timer(SILENT_SECONDS, status.start)
    starting.start()

    def look(state: State, seconds: float) -> None:
        leaves = f", {state.leaves} leaves" if hasattr(state, "leaves") and isinstance(state.leaves, int) else ""
        best = f"log posterior {state.log_posterior:,.1f}{leaves}"
        status.update(f"{title}: {best}, {state.moves:,} moves, {seconds:.0f} s")

    try:
        yield [look]
    finally:
        starting.cancel()
        starting.join()
        status.stop()
