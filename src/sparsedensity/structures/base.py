"""What every structure answers."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sparsedensity.domain import Domain
from sparsedensity.table import Codes, Floats

ROWS_PER_BLOCK = 1 << 16


class Structure(Protocol):
    """A division of the domain into numbered leaves."""

    @property
    def domain(self) -> Domain:
        """The space that is divided."""

    @property
    def n_leaves(self) -> int:
        """How many leaves there are."""

    @property
    def log_volumes(self) -> Floats:
        """The natural log of the volume of every leaf; minus infinity for a leaf without points."""

    def leaf_numbers(self, codes: Codes, *, jobs: int = 1) -> NDArray[np.int64]:
        """The leaf of every encoded row."""


def in_threads(route: Callable[[Codes, NDArray[np.int64]], Any], codes: Codes, jobs: int) -> NDArray[np.int64]:
    """Route blocks of rows with a kernel that fills in the leaf numbers, several blocks at a time."""
    out = np.empty(len(codes), np.int64)
    blocks = [slice(begin, begin + ROWS_PER_BLOCK) for begin in range(0, len(codes), ROWS_PER_BLOCK)]
    if jobs == 1 or len(blocks) == 1:
        route(codes, out)
        return out
    with ThreadPoolExecutor(jobs if jobs > 0 else os.cpu_count()) as pool:
        list(pool.map(lambda block: route(codes[block], out[block]), blocks))
    return out
