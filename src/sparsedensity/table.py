"""The table: encoded rows with weights, the distinct ones unless they are too many to tell apart.

>>> import numpy as np
>>> from sparsedensity.domain import Domain, Feature
>>> domain = Domain((Feature.nominal("sex", ("f", "m")),))
>>> table = Table.of(domain, np.array([[0], [1], [1]], np.uint8))
>>> table.codes.tolist(), table.weights.tolist(), table.n
([[0], [1]], [1.0, 2.0], 3.0)
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsedensity.domain import Domain
from sparsedensity.errors import DataError

if TYPE_CHECKING:
    from sparsedensity.kernels.row_bits import Uncommon

Codes = NDArray[np.unsignedinteger[Any]]
Floats = NDArray[np.float64]
Ints = NDArray[np.integer[Any]]
MOST_ROWS = 2**32 - 1
"""Row numbers take 32 bits."""
GRID, FINE, ALIKE = 51, 2.0**30, 1e-12
"""Weights are multiples of the total weight over 2 to this power, in whole numbers of the least if that is so many of
these steps at least; weights that differ by such a share are equal."""
ROWS_AT_A_TIME = 1 << 14
"""So that lists of values take little room while they are made."""


@dataclass(frozen=True)
class Table:
    """Rows of codes, the weight of each, and the domain they live in."""

    domain: Domain
    codes: Codes
    weights: Floats
    distinct: bool = True
    """Whether no row occurs twice."""

    @classmethod
    def of(cls, domain: Domain, codes: Codes, weights: Floats | None = None) -> Table:
        """Collapse equal rows and add up their weights."""
        codes = np.ascontiguousarray(codes, domain.code_type)
        group, first = number_rows(codes)
        summed = np.bincount(group, weights, minlength=len(first)).astype(np.float64)
        return cls(domain, codes if len(first) == len(codes) else codes[first], summed)

    @classmethod
    def of_parts(cls, domain: Domain, codes: Codes, weights: Floats | None, rows: int) -> Table:
        """As :meth:`of`, so many rows at a time: that takes little memory if few of them are distinct."""
        parts = (slice(begin, begin + rows) for begin in range(0, len(codes), rows))
        tables = (cls.of(domain, codes[part], None if weights is None else weights[part]) for part in parts)
        return reduce(cls._joined, tables)

    def _joined(self, other: Table) -> Table:
        codes, weights = np.concatenate([self.codes, other.codes]), np.concatenate([self.weights, other.weights])
        return Table.of(self.domain, codes, weights)

    @classmethod
    def of_equal_weights(cls, domain: Domain, codes: Codes) -> Table:
        """Rows as they are, each of weight 1, which is stored but once."""
        return cls(domain, codes, np.broadcast_to(np.float64(1), len(codes)), distinct=False)

    def in_order(self) -> Table:
        """The same rows in an order of their own, whatever the order they came in."""
        order = np.lexsort(self.codes.T[::-1])
        return replace(self, codes=np.ascontiguousarray(self.codes[order]), weights=self.weights[order])

    @cached_property
    def n(self) -> float:
        """The total weight."""
        each = stored_once(self.weights)
        return math.fsum(self.weights) if each is None else len(self) * each

    @cached_property
    def uncommon(self) -> Uncommon:
        """The rows by their values, but for the commonest of each feature."""
        from sparsedensity.kernels.row_bits import Uncommon  # the compiler takes long to load

        starts, common = self.domain.starts[:-1], np.zeros(len(self.domain), self.codes.dtype)
        for f, size in enumerate(self.domain.sizes):
            common[f] = np.bincount(self.codes[:, f], minlength=size).argmax()
        first, places = np.zeros(len(self) + 1, np.uint64), []
        for begin in range(0, len(self), ROWS_AT_A_TIME):
            part = self.codes[begin : begin + ROWS_AT_A_TIME]
            row, feature = np.nonzero(part != common)
            first[begin + 1 : begin + 1 + len(part)] = np.bincount(row, minlength=len(part))
            places.append((part[row, feature] + starts[feature]).astype(np.uint32))
        return Uncommon(first.cumsum(), np.concatenate([np.zeros(0, np.uint32), *places]), starts + common)

    @cached_property
    def columns(self) -> Codes:
        """The codes, one feature after the other."""
        return np.ascontiguousarray(self.codes.T)

    @cached_property
    def units(self) -> tuple[NDArray[np.int64], float]:
        """The weights as whole multiples of the largest unit that they all are multiples of, and that unit.

        They must lie on a grid (:meth:`on_grid`), or the multiples have no room.
        """
        mantissas, exponents = np.frexp(self.weights)
        whole = np.ldexp(mantissas, 53).astype(np.int64)
        lowest = exponents - 53 + np.frexp((whole & -whole).astype(np.float64))[1] - 1
        power = int(lowest.min(initial=0))
        multiples = np.ldexp(self.weights, -power).astype(np.int64)
        common = int(np.gcd.reduce(multiples)) or 1
        return multiples // common, math.ldexp(common, power)

    def on_grid(self) -> Table:
        """The table with weights that are multiples of n 2^-51 or more: sums and differences are exact in any order.

        Weights that are multiples of the least of them, as those of a sample, remain so.
        """
        weights: Floats = np.ascontiguousarray(self.weights, np.float64)
        step = 2.0 ** (math.ceil(math.log2(weights.sum())) - GRID)
        if step > 1.0 or not np.array_equal(weights, np.rint(weights)):
            least = weights.min()
            times = np.rint(weights / least)
            if least > FINE * step and np.allclose(weights, times * least, rtol=ALIKE, atol=0.0):
                weights = times * (np.rint(least / step) * step)
            else:
                weights = np.maximum(np.rint(weights / step), 1.0) * step
        return replace(self, codes=np.ascontiguousarray(self.codes), weights=weights)

    def __len__(self) -> int:
        return len(self.weights)


def stored_once(weights: Floats) -> float | None:
    """What every row weighs, if that is stored but once."""
    return float(weights[0]) if weights.strides == (0,) else None


def number_rows(codes: Codes) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """The number of every row among the distinct ones, in order of appearance, and the first row of each."""
    from sparsedensity.kernels.rows import group_rows  # the compiler takes long to load

    if len(codes) >= MOST_ROWS:
        raise DataError(f"The table has {len(codes):,} rows; at most 4 billion fit into memory here.")
    slots = np.zeros(1 << max(4, (2 * len(codes) - 1).bit_length()), np.uint32)
    group = np.empty(len(codes), np.uint32)
    return group, group_rows(codes, slots, group)
