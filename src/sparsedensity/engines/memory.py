"""Rows in memory, or in a file that is mapped into it: counted block by block."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from sparsedensity.domain import Domain
from sparsedensity.engines.base import CountedOnce
from sparsedensity.engines.drawing import places, rows_at
from sparsedensity.kernels import count
from sparsedensity.structures import Structure
from sparsedensity.structures.base import ROWS_PER_BLOCK
from sparsedensity.table import Codes, Floats, Table


@dataclass(frozen=True)
class MemoryEngine(CountedOnce):
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

    def leaf_weights(self, structure: Structure) -> Floats:
        """The weight in every leaf of a structure."""

        def counted(codes: Codes, weights: Floats) -> Floats:
            return np.bincount(structure.leaf_numbers(codes), weights, structure.n_leaves).astype(
                np.float64, copy=False
            )

        return self._added_up(counted, structure.n_leaves)

    def leaf_value_weights(self, structure: Structure) -> Floats:
        """The weight in every leaf of a structure at every value of every feature."""
        starts = self.domain.starts
        leaves, values = structure.n_leaves, int(starts[-1])

        def counted(codes: Codes, weights: Floats) -> Floats:
            out = np.zeros((leaves, values))
            count.leaf_value_weights(codes, weights, structure.leaf_numbers(codes), starts, out)
            return out

        return self._added_up(counted, leaves * values)

    def sample(self, size: int, rng: np.random.Generator) -> Table:
        """Rows drawn at equal steps of weight from a random start; the drawn weights stand for the whole."""
        table = self.table
        rows, times = rows_at(places(table.n, size, rng.random()), table.weights)
        codes, weights = np.ascontiguousarray(table.codes[rows]), times * (table.n / size)
        return Table(table.domain, codes, weights) if table.distinct else Table.of(table.domain, codes, weights)

    def collapsed(self) -> Table | None:
        """The distinct rows, unless they were too many to tell apart."""
        return self.table if self.table.distinct else None

    def _added_up(self, counted: Callable[[Codes, Floats], Floats], numbers: int) -> Floats:
        """What is counted in blocks of rows, added up in their order, so that the number of threads changes nothing.

        A block has no fewer rows than there are numbers to add up. The first is counted here: what has to be compiled
        or prepared is so once, and Ctrl-C can end it.
        """
        codes, weights = self.table.codes, self.table.weights
        rows = max(ROWS_PER_BLOCK, numbers)

        def count_from(begin: int) -> Floats:
            block = slice(begin, begin + rows)
            return counted(codes[block], np.ascontiguousarray(weights[block]))

        total, others = count_from(0), range(rows, len(codes), rows)
        if self.jobs == 1 or not others:
            return sum(map(count_from, others), start=total)
        with ThreadPoolExecutor(self.jobs if self.jobs > 0 else os.cpu_count()) as pool:
            return sum(pool.map(count_from, others), start=total)
