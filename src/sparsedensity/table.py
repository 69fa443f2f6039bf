"""The table: distinct encoded rows with weights.

>>> import numpy as np
>>> from sparsedensity.domain import Domain, Feature
>>> domain = Domain((Feature.nominal("sex", ("f", "m")),))
>>> table = Table.of(domain, np.array([[0], [1], [1]], np.uint8))
>>> table.codes.tolist(), table.weights.tolist(), table.n
([[0], [1]], [1.0, 2.0], 3.0)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsedensity.domain import Domain
from sparsedensity.errors import DataError

Codes = NDArray[np.unsignedinteger[Any]]
Floats = NDArray[np.float64]
Ints = NDArray[np.integer[Any]]
MOST_ROWS = 2**32 - 1
"""Row numbers take 32 bits."""


@dataclass(frozen=True)
class Table:
    """Distinct rows of codes, the weight of each, and the domain they live in."""

    domain: Domain
    codes: Codes
    weights: Floats

    @classmethod
    def of(cls, domain: Domain, codes: Codes, weights: Floats | None = None) -> Table:
        """Collapse equal rows and add up their weights."""
        codes = np.ascontiguousarray(codes, domain.code_type)
        group, first = number_rows(codes)
        summed = np.bincount(group, weights, minlength=len(first)).astype(np.float64)
        return cls(domain, codes if len(first) == len(codes) else codes[first], summed)

    def in_order(self) -> Table:
        """The same rows in an order of their own, whatever the order they came in."""
        order = np.lexsort(self.codes.T[::-1])
        return Table(self.domain, np.ascontiguousarray(self.codes[order]), self.weights[order])

    @cached_property
    def n(self) -> float:
        """The total weight."""
        return math.fsum(self.weights)

    def __len__(self) -> int:
        return len(self.weights)


def number_rows(codes: Codes) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """The number of every row among the distinct ones, in order of appearance, and the first row of each."""
    from sparsedensity.kernels.rows import group_rows  # the compiler takes long to load

    if len(codes) >= MOST_ROWS:
        raise DataError(f"The table has {len(codes):,} rows; at most 4 billion fit into memory here.")
    slots = np.zeros(1 << max(4, (2 * len(codes) - 1).bit_length()), np.uint32)
    group = np.empty(len(codes), np.uint32)
    return group, group_rows(codes, slots, group)
