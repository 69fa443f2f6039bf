"""The compiled loops: arrays and scalars in, arrays and scalars out; no policy, no classes, no names.

Compiled once per machine and kept in numba's cache; they let go of the interpreter lock, so threads run side by side.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop, keep the result on disk, and run it without the interpreter lock."""
    compiled: Callable[..., Any] = njit(cache=True, nogil=True)(function)
    return compiled
