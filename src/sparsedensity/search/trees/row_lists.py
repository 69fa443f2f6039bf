"""Lists of rows of a table in memory: what greedy growth divides and counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparsedensity.kernels import count
from sparsedensity.table import Floats, Table

RowList = NDArray[np.uint32]


@dataclass(frozen=True)
class RowLists:
    """Divides and counts lists of row numbers."""

    table: Table

    def all_rows(self) -> RowList:
        """The whole table."""
        return np.arange(len(self.table), dtype=np.uint32)

    def value_weights(self, rows: RowList) -> Floats:
        """The weight of some rows at every value of every feature."""
        table, starts = self.table, self.table.domain.starts
        out = np.zeros(int(starts[-1]))
        count.value_weights(table.codes, table.weights, rows, starts, out)
        return out

    def pair_weights(self, rows: RowList) -> Floats:
        """The weight of some rows at every pair of values."""
        table, starts = self.table, self.table.domain.starts
        out = np.zeros((int(starts[-1]), int(starts[-1])))
        count.pair_weights(table.codes, table.weights, rows, starts, out)
        return out

    def divide(self, rows: RowList, feature: int, part: NDArray[np.int64], parts: int) -> list[RowList]:
        """Divide rows by the part that each value of a feature belongs to."""
        sizes = np.zeros(parts, np.int64)
        count.part_sizes(self.table.codes, rows, feature, part, sizes)
        ends = np.cumsum(sizes)
        out = np.empty_like(rows)
        count.divide_rows(self.table.codes, rows, feature, part, out, ends - sizes)
        return np.split(out, ends[:-1])
