"""Ctrl-C while a search runs: it ends between two steps, with the best so far.

An exception could strike between any two lines and leave a search half changed. So the first Ctrl-C only asks it to
stop. The second ends the program at once, and so does one while kernels are compiled and there is nothing to keep yet.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from sparsedensity.kernels import before_compiling, is_compiling


class Quit(KeyboardInterrupt):
    """Ctrl-C that no search may answer with its best so far."""


@dataclass
class Ongoing:
    """A search that Ctrl-C can end."""

    has_result: bool = False
    """Whether it has come to something that is worth keeping."""


_ongoing: list[Ongoing] = []
"""The searches of the main thread, each within the one before."""
_asked = threading.Event()


def asked_to_stop() -> bool:
    """Whether Ctrl-C was pressed since the outermost search began."""
    return _asked.is_set()


@contextmanager
def stopping_on_ctrl_c() -> Iterator[Ongoing]:
    """Let Ctrl-C ask the searches within to stop, unless someone else answers to it."""
    search = Ongoing()
    is_outermost = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if threading.current_thread() is not threading.main_thread() or not (_ongoing or is_outermost):
        yield search
        return
    _ongoing.append(search)
    if is_outermost:
        signal.signal(signal.SIGINT, _ask)
    try:
        yield search
    finally:
        _ongoing.pop()
        if is_outermost:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            _asked.clear()


@contextmanager
def whole_or_interrupted() -> Iterator[None]:
    """For searches whose best so far is of no use: Ctrl-C ends them soon, and then interrupts."""
    with stopping_on_ctrl_c():
        yield
        if asked_to_stop():
            raise Quit


@contextmanager
def quitting_on_ctrl_c() -> Iterator[None]:
    """For work whose beginnings are of no use: Ctrl-C ends it at once, whatever error an engine makes of that."""
    is_default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if threading.current_thread() is not threading.main_thread() or not is_default:
        yield
        return
    pressed = threading.Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        pressed.set()
        raise Quit

    signal.signal(signal.SIGINT, end)
    try:
        yield
    except Exception:
        if pressed.is_set():
            raise Quit from None
        raise
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _ask(_number: int, _frame: FrameType | None) -> None:
    if asked_to_stop():
        raise Quit
    _asked.set()
    if is_compiling():
        _quit_if_there_is_nothing_yet()


def _quit_if_there_is_nothing_yet() -> None:
    """Whoever asked to stop does not wait for what is compiled, unless something would be lost."""
    if asked_to_stop() and _ongoing and not _ongoing[-1].has_result:
        raise Quit


before_compiling.append(_quit_if_there_is_nothing_yet)
