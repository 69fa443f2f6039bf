"""The weights of a table in brief, and the grid on which their sums do not depend on the order of the rows."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from sparsedensity.errors import DataError, RowError
from sparsedensity.table import Floats

LEAST_WEIGHT = 1e-300
"""What all rows weigh together at least: below, floats lose their digits, and then shares of the weight."""
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
        with np.errstate(over="ignore"):  # a sum beyond a float is refused in words
            total = float(weights.sum())
        return cls(int(np.count_nonzero(weights)), total, float(weights.max(initial=0.0)), whole)

    def __add__(self, other: object) -> Weighing:
        """The weights of two parts."""
        assert isinstance(other, Weighing)
        largest, whole = max(self.largest, other.largest), self.whole and other.whole
        return Weighing(self.rows + other.rows, self.total + other.total, largest, whole)

    def check(self, name: str) -> None:
        """Refuse weights that cannot be added up, or that come to nothing."""
        if not self.rows:
            raise DataError(f"{name} is zero in every row. Give at least one row a positive weight.")
        if self.total < LEAST_WEIGHT:
            raise DataError(
                f"{name} is {self.largest} at most, too small to count. Multiply all weights by a constant."
            )
        if self.largest > np.finfo(np.float64).max / self.rows:
            raise DataError(f"{name} is {self.largest}, too large to add up. Divide all weights by a constant.")

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


def as_floats(given: Any, name: str) -> Floats:
    """What was given as weights, as floats."""
    try:
        given = np.asarray(given)
        return np.asarray(given.astype(np.float64, casting="same_kind" if given.dtype.kind == "c" else "unsafe"))
    except (TypeError, ValueError, OverflowError):
        raise DataError(f"{name} must be real numbers, one for every row.") from None


def weigh(weights: Floats, name: str) -> Weighing:
    """Weights in brief, if each is finite and not negative."""
    bad = np.flatnonzero(~np.isfinite(weights) | (weights < 0))
    if len(bad):
        raise RowError(f"{name} is {weights[bad[0]]}", int(bad[0]), "Weights must be finite and not negative.")
    return Weighing.of(weights)
