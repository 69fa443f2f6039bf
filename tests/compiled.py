"""Kernels that only other kernels call, opened to Python."""

from collections.abc import Callable
from typing import Any

from numba import njit


def opened(inner: Callable[..., Any]) -> Callable[..., Any]:
    """A function that calls an inner kernel."""

    @njit(error_model="numpy")
    def call(*arguments):
        return inner(*arguments)

    compiled: Callable[..., Any] = call
    return compiled
