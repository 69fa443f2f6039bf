"""The compiled loops: arrays and scalars in, arrays and scalars out; no policy, no classes, no names.

Compiled once per machine and kept in numba's cache; they let go of the interpreter lock, so threads run side by side.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import njit
from numba.extending import overload

OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
"""Nothing calls a kernel from C, and the wrapper for that would take a tenth of the time to compile."""

INNER: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""For what only other kernels call: compiled with its caller, with neither a cache nor a wrapper of its own."""


def inner(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop that only other kernels call."""
    compiled: Callable[..., Any] = njit(**INNER)(function)
    return compiled


def by_type(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let what follows choose, by the types of the arguments, what a function does in other kernels."""
    chooser: Callable[..., Any] = overload(function, jit_options=INNER)  # type: ignore[arg-type]
    return chooser


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop, keep the result on disk, and run it without the interpreter lock."""
    compiled: Callable[..., Any] = njit(**OPTIONS)(function)
    return compiled


def is_compiled(function: Any) -> bool:
    """Whether a kernel has been compiled on this machine, now or before."""
    name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
    return bool(function.signatures) or any(Path(function.stats.cache_path).glob(f"{name}-*.nbi"))
