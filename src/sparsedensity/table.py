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
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsedensity.domain import Domain
from sparsedensity.errors import DataError

Codes = NDArray[np.unsignedinteger[Any]]
Floats = NDArray[np.float64]
Ints = NDArray[np.integer[Any]]


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
        group = np.empty(len(codes), np.uint32)
        first = _kernels().group_rows(codes, _free_slots(len(codes)), group)
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


class RowIndex:
    """Finds rows of codes among the distinct rows of a table."""

    def __init__(self, codes: Codes) -> None:
        self.codes = np.ascontiguousarray(codes)
        self.slots = _free_slots(len(codes))
        _kernels().index_rows(self.codes, self.slots)

    def find(self, codes: Codes) -> NDArray[np.int64]:
        """The position of each row, or -1 if it is not there."""
        found = np.empty(len(codes), np.int64)
        codes = np.ascontiguousarray(codes, self.codes.dtype)
        _kernels().find_rows(self.slots, self.codes, codes, found)
        return found


def _free_slots(rows: int) -> NDArray[np.uint32]:
    """An empty hash table, at most half full when all rows are in it; its size is a power of two."""
    free = _kernels().FREE
    if rows >= free:
        raise DataError(f"The table has {rows:,} rows; at most 4 billion fit into memory here.")
    return np.full(1 << max(4, (2 * rows - 1).bit_length()), free, np.uint32)


def _kernels() -> ModuleType:
    from sparsedensity.kernels import rows  # the compiler takes long to load

    return rows
