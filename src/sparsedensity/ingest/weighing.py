"""The weights of a table in brief, and the grid on which their sums do not depend on the order of the rows."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from sparsedensity.table import Floats

GRID_BITS = 52
"""All weights together take at most so many bits: sums of them are exact floats and exact whole numbers."""


class Weighing(NamedTuple):
    """What the rows of a table, or of a part of it, weigh; rows of weight 0 do not count.

    >>> (Weighing.of(np.array([0.5, 0.25, 0.0])) + Weighing.of(np.array([3.0]))).rows
    3
    """

    rows: int = 0
    total: float = 0.0
    largest: float = 0.0
    whole: bool = True
    """Whether all are whole numbers."""

    @classmethod
    def of(cls, weights: Floats) -> Weighing:
        """Weights that are all finite and not negative."""
        whole = bool((weights == np.floor(weights)).all())
        return cls(int(np.count_nonzero(weights)), float(weights.sum()), float(weights.max(initial=0.0)), whole)

    def __add__(self, other: object) -> Weighing:
        """The weights of two parts."""
        assert isinstance(other, Weighing)
        largest, whole = max(self.largest, other.largest), self.whole and other.whole
        return Weighing(self.rows + other.rows, self.total + other.total, largest, whole)

    @property
    def step(self) -> float:
        """The step of the grid: 1 for whole numbers that add up exactly.

        Else it comes from the largest weight and the number of rows alone, which no order of summation changes.

        >>> Weighing(rows=4, total=6.0, largest=2.0).step, Weighing(rows=4, total=1.0, largest=0.3, whole=False).step
        (1.0, 4.440892098500626e-16)
        """
        if self.whole and self.total < 2.0**GRID_BITS:
            return 1.0
        return math.ldexp(1.0, math.frexp(self.largest * self.rows)[1] - GRID_BITS)

    def on_grid(self, weights: Floats) -> Floats:
        """Weights of this table as whole numbers of steps, at least one for a row that counts.

        A half is rounded up, as databases do.
        """
        return np.where(weights > 0, np.maximum(np.floor(weights / self.step + 0.5), 1.0), 0.0)
