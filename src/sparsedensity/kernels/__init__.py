"""The compiled loops: arrays and scalars in, arrays and scalars out; no policy, no classes, no names.

Compiled once per machine and kept on disk; they let go of the interpreter lock, so threads run side by side. All
compiled code of the package is in this folder, because the cache goes by the sources in it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from numba.extending import overload

from sparsedensity.kernels.cache import KernelCache, cache_folder
from sparsedensity.kernels.compiling import before_compiling, is_compiling

__all__ = [
    "bare", "before_compiling", "by_type", "cache_folder", "inner", "is_compiled", "is_compiling", "kernel", "part",
    "record",
]  # fmt: skip

OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
"""Nothing calls a kernel from C, and the wrapper for that would take a tenth of the time to compile."""
INNER: dict[str, Any] = {**OPTIONS, "no_cpython_wrapper": True}
"""For what only other kernels call: compiled with its caller, with neither a cache nor a wrapper of its own."""


BARE: dict[str, Any] = {**INNER, "_nrt": False}
"""For what allocates nothing: counting the references to arrays would take half of the time of short loops."""


def record(ints: str = "", floats: str = "") -> np.dtype[Any]:
    """The type of a record: whole numbers and real ones by their names."""
    fields = [(name, np.int64) for name in ints.split()] + [(name, np.float64) for name in floats.split()]
    return np.dtype(fields, align=True)


NONE, ONE, TWO = np.int64(0), np.int64(1), np.int64(2)
"""As arguments of kernels, plain numbers would be types of their own, and compile the kernel once more for each."""


def by_type(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let what follows choose, by the types of the arguments, what a function does in other kernels."""
    chooser: Callable[..., Any] = overload(function, jit_options=BARE, inline="always")  # type: ignore[arg-type]
    return chooser


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a loop that is called from Python, and keep the result on disk.

    Functions of other packages are compiled anew in each process: nothing here knows when their sources change.
    """
    compiled = njit(**OPTIONS)(function)
    if function.__module__.startswith(f"{__name__}.") and cache_folder() is not None:
        compiled._cache = KernelCache(function)
    return compiled


def inner(function: Callable[..., Any]) -> Any:
    """Compile a loop that only other kernels call."""
    return njit(**INNER)(function)


def bare(function: Callable[..., Any]) -> Any:
    """Compile a loop that only other kernels call and that allocates nothing."""
    return njit(**BARE)(function)


def part(function: Callable[..., Any]) -> Any:
    """Compile a part of a bare loop, cut out to be read, as if it stood there: faster than to compile a call."""
    return njit(inline="always", **BARE)(function)


def is_compiled(function: Any) -> bool:
    """Whether a kernel has been compiled on this machine, now or before."""
    return bool(function.signatures) or (isinstance(function._cache, KernelCache) and function._cache.is_filled())
