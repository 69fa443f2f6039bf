"""Whether a kernel is being compiled at this moment, which can take ten seconds."""

from __future__ import annotations

from collections.abc import Callable

from numba.core import event

before_compiling: list[Callable[[], None]] = []
"""Called whenever the compilation of a kernel begins; what they raise ends it."""


class _Counter(event.Listener):
    """Counts what is being compiled: one kernel compiles others on the way."""

    def __init__(self) -> None:
        self.begun = 0

    def on_start(self, event: event.Event) -> None:
        self.begun += 1
        for look in before_compiling:
            look()

    def on_end(self, event: event.Event) -> None:
        self.begun -= 1


_counter = _Counter()
event.register("numba:compile", _counter)


def is_compiling() -> bool:
    """Whether a kernel is being compiled."""
    return _counter.begun > 0
