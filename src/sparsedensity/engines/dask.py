"""Rows on a Dask cluster: every partition is counted where it is, and the counts are added up.

A block is a delayed table: the distinct rows of one partition. If it is lost with its worker, Dask makes it again from
the partition, so no count depends on which workers live.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import dask
import numpy as np
from dask import delayed
from dask.delayed import Delayed

from sparsedensity.domain import Domain
from sparsedensity.engines.base import CountedOnce
from sparsedensity.engines.drawing import places, rows_at
from sparsedensity.engines.memory import MemoryEngine
from sparsedensity.structures import Structure
from sparsedensity.table import Floats, Table

ADDED_AT_ONCE = 8
"""Parts that one task adds up, so that no worker, nor the client, ever holds those of all partitions."""


@dataclass(frozen=True, eq=False)
class DaskEngine(CountedOnce):
    """Counts the rows of delayed tables."""

    domain: Domain
    blocks: tuple[Delayed, ...]
    """The rows, partition by partition; their weights add up exactly in any order."""
    rows: int
    """How many there are, equal ones included."""

    @property
    def n(self) -> float:
        """The total weight."""
        return float(self._totals.sum())

    @cached_property
    def _totals(self) -> Floats:
        """The weight of every block."""
        return np.array(dask.compute(*(delayed(_weight)(block) for block in self.blocks)))

    def leaf_weights(self, structure: Structure) -> Floats:
        """The weight in every leaf of a structure."""
        return self._counted(MemoryEngine.leaf_weights, structure)

    def leaf_value_weights(self, structure: Structure) -> Floats:
        """The weight in every leaf of a structure at every value of every feature."""
        return self._counted(MemoryEngine.leaf_value_weights, structure)

    def sample(self, size: int, rng: np.random.Generator) -> Table:
        """Rows drawn at equal steps of weight from a random start, through one block after the other."""
        every, ends = places(self.n, size, rng.random()), np.cumsum(self._totals)
        parts = np.split(every, np.searchsorted(every, ends[:-1]))
        met = [each for each in zip(self.blocks, parts, ends - self._totals, strict=True) if len(each[1])]
        drawn = _joined(dask.compute(*(delayed(_drawn)(*each) for each in met)))
        return Table(self.domain, drawn.codes, drawn.weights * (self.n / size))

    def distinct(self, most: int) -> Table | None:
        """The distinct rows with their weights, unless there are more than so many."""
        table: Table | None = reduced(partial(_few, most), self.blocks)
        return table

    def collapsed(self) -> None:
        """Nothing: whoever opened the table would have brought home few distinct rows."""

    def _counted(self, question: Callable[..., Floats], *about: Structure) -> Floats:
        """What is counted in every block, added up."""
        sent = [delayed(each, traverse=False) for each in about]
        counts: Floats = reduced(sum, [delayed(_answer)(question, block, *sent) for block in self.blocks])
        return counts


def reduced(add: Callable[[list[Any]], Any], parts: Sequence[Delayed]) -> Any:
    """Delayed parts added up on the workers, a few at a time."""
    starts = range(0, len(parts), ADDED_AT_ONCE)
    sums = [delayed(add)(list(parts[start : start + ADDED_AT_ONCE])) for start in starts]
    return sums[0].compute() if len(sums) == 1 else reduced(add, sums)


def _answer(question: Callable[..., Floats], block: Table, *about: Structure) -> Floats:
    return question(MemoryEngine(block), *about)


def _weight(block: Table) -> float:
    return block.n


def _drawn(block: Table, some: Floats, before: float) -> Table:
    """The rows of a block at some places, weighed by how often they are met."""
    rows, times = rows_at(some, block.weights, before)
    return Table(block.domain, block.codes[rows], times)


def _few(most: int, tables: Sequence[Table | None]) -> Table | None:
    """The distinct rows of some tables, unless there are too many."""
    there = [table for table in tables if table is not None and len(table) <= most]
    joined = _joined(there) if len(there) == len(tables) else None
    return joined if joined is not None and len(joined) <= most else None


def _joined(tables: Sequence[Table]) -> Table:
    """The distinct rows of some tables of one domain, in order of appearance."""
    codes, weights = ([getattr(table, name) for table in tables] for name in ("codes", "weights"))
    return Table.of(tables[0].domain, np.concatenate(codes), np.concatenate(weights))
