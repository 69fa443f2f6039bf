"""The compiled loops: arrays and scalars in, arrays and scalars out; no policy, no classes, no names.

Compiled once per machine and kept on disk; they let go of the interpreter lock, so threads run side by side. All
compiled code of the package is in this folder, because the cache goes by the sources in it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba import njit
from numba.extending import overload

from sparsedensity.kernels.cache import KernelCache, cache_folder
from sparsedensity.kernels.compiling import before_compiling, is_compiling
from sparsedensity.kernels.held import held, whole

__all__ = [
    "bare", "before_compiling", "by_type", "cache_folder", "held", "inner", "is_compiled", "is_compiling",
    "kernel", "record", "whole",
]  # fmt: skip

TRIED = ((0, 63), (0, 68))
"""The first and the last numba that is known to have all that ``linking`` uses of its insides."""


def _compiled_by(name: str) -> dict[str, Any]:
    """Which compiler of ours compiles a function. A numba that was not tried does it alone: the same, but slower."""
    if not TRIED[0] <= numba.version_info.short <= TRIED[1]:
        return {}
    from sparsedensity.kernels import linking  # noqa: PLC0415 - names that another numba may not have

    return {"pipeline_class": getattr(linking, name)}


OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
"""Nothing calls a kernel from C, and the wrapper for that would take a tenth of the time to compile."""
INNER: dict[str, Any] = {**OPTIONS, "no_cpython_wrapper": True}
"""For what only other kernels call: compiled with its caller, with neither a cache nor a wrapper of its own."""
BARE: dict[str, Any] = {**INNER, "_nrt": False, **_compiled_by("LoopCompiler")}
"""For what allocates nothing: counting the references to arrays would take half of the time of short loops."""


def record(ints: str = "", floats: str = "") -> np.dtype[Any]:
    """The type of a record: whole numbers and real ones by their names."""
    fields = [(name, np.int64) for name in ints.split()] + [(name, np.float64) for name in floats.split()]
    return np.dtype(fields, align=True)


NONE, ZERO, ONE, TWO = np.int64(-1), np.int64(0), np.int64(1), np.int64(2)
"""As arguments of kernels, plain numbers would be types of their own, and compile the kernel once more for each."""


def by_type(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let what follows choose, by the types of the arguments, what a function does in other kernels."""
    chooser: Callable[..., Any] = overload(function, jit_options=BARE)  # type: ignore[arg-type]
    return chooser


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a loop that is called from Python, and keep the result on disk; it gets named tuples by their place.

    Functions of other packages are compiled anew in each process: nothing here knows when their sources change.
    """
    compiled = njit(**OPTIONS, **_compiled_by("KernelCompiler"))(_entry(function))
    if function.__module__.startswith(f"{__name__}.") and cache_folder() is not None:
        compiled._cache = KernelCache(function)
    return compiled


def _entry(function: Callable[..., Any]) -> Any:
    """What Python calls: a function that holds the named tuples among its arguments and calls the loop itself."""
    names = list(inspect.signature(function).parameters)
    text = f"def {function.__name__}({', '.join(names)}): return loop({', '.join(f'held({name})' for name in names)})"
    scope = {"loop": inner(function), "held": held, "__name__": function.__module__}
    exec(text, scope)  # noqa: S102 - a function with the same arguments, by the same names
    entry = scope[function.__name__]
    entry.__doc__ = function.__doc__
    return entry


def inner(function: Callable[..., Any]) -> Any:
    """Compile a function that only other kernels call."""
    return njit(**INNER, **_compiled_by("PartCompiler"))(function)


def bare(function: Callable[..., Any]) -> Any:
    """Compile a loop that only other kernels call and that allocates nothing."""
    return njit(**BARE)(function)


def is_compiled(function: Any) -> bool:
    """Whether a kernel has been compiled on this machine, now or before."""
    return bool(function.signatures) or (isinstance(function._cache, KernelCache) and function._cache.is_filled())
