"""Rows in memory."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sparsedensity.domain import Domain
from sparsedensity.kernels import count
from sparsedensity.structures import Structure, Tree
from sparsedensity.table import Floats, Table


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

    def value_weights(self) -> Floats:
        """The weight at every value of every feature."""
        return self._value_weights

    @cached_property
    def _value_weights(self) -> Floats:
        weights: Floats = self.leaf_value_weights(Tree.leaf(self.domain))[0]
        return weights

    def leaf_weights(self, structure: Structure) -> Floats:
        """The weight in every leaf of a structure."""
        leaves = structure.leaf_numbers(self.table.codes, jobs=self.jobs)
        return np.bincount(leaves, self.table.weights, minlength=structure.n_leaves).astype(np.float64)

    def leaf_value_weights(self, structure: Structure) -> Floats:
        """The weight in every leaf of a structure at every value of every feature."""
        out = np.zeros((structure.n_leaves, int(self.domain.starts[-1])))
        leaves = structure.leaf_numbers(self.table.codes, jobs=self.jobs)
        count.leaf_value_weights(self.table.codes, self.table.weights, leaves, self.domain.starts, out)
        return out

    def sample(self, size: int, rng: np.random.Generator) -> Table:
        """Rows drawn at equal steps of weight from a random start; the drawn weights stand for the whole."""
        table = self.table
        ends = np.cumsum(table.weights)
        step = float(ends[-1]) / size
        places = np.searchsorted(ends, (np.arange(size) + rng.random()) * step, side="right")
        drawn, times = np.unique(np.minimum(places, len(table) - 1), return_counts=True)
        return Table(table.domain, np.ascontiguousarray(table.codes[drawn]), times.astype(np.float64) * step)

    def collapsed(self) -> Table:
        """The distinct rows: they are in memory already."""
        return self.table
