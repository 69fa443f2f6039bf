"""Rows in memory: a subset of rows is an array of row numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparsedensity.domain import Domain
from sparsedensity.kernels import count
from sparsedensity.structures import Structure
from sparsedensity.table import Floats, Table

Rows = NDArray[np.uint32]


@dataclass(frozen=True)
class MemoryEngine:
    """Counts the rows of a table."""

    table: Table
    jobs: int = 1

    @property
    def domain(self) -> Domain:
        """The space the rows live in."""
        return self.table.domain

    @property
    def n(self) -> float:
        """The total weight."""
        return self.table.n

    def all_rows(self) -> Rows:
        """The whole table as a subset."""
        return np.arange(len(self.table), dtype=np.uint32)

    def value_weights(self, rows: Rows) -> Floats:
        """The weight of a subset at every value of every feature."""
        out = np.zeros(int(self.domain.starts[-1]))
        count.value_weights(self.table.codes, self.table.weights, rows, self.domain.starts, out)
        return out

    def divide(self, rows: Rows, feature: int, part: NDArray[np.int64], parts: int) -> list[Rows]:
        """Divide a subset by the part that each value of a feature belongs to."""
        sizes = np.zeros(parts, np.int64)
        count.part_sizes(self.table.codes, rows, feature, part, sizes)
        ends = np.cumsum(sizes)
        out = np.empty_like(rows)
        count.divide_rows(self.table.codes, rows, feature, part, out, ends - sizes)
        return np.split(out, ends[:-1])

    def leaf_weights(self, structure: Structure) -> Floats:
        """The weight in every leaf of a structure."""
        leaves = structure.leaf_numbers(self.table.codes, jobs=self.jobs)
        return np.bincount(leaves, self.table.weights, minlength=structure.n_leaves).astype(np.float64)
