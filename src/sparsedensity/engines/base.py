"""What every engine answers: the rows may be anywhere, and only counts, a sample or a small table come home."""

from __future__ import annotations

import math
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from sparsedensity.domain import Domain
from sparsedensity.errors import DataError
from sparsedensity.structures import Structure, Tree
from sparsedensity.table import Floats, Table


class Engine(Protocol):
    """Where the rows are, and how to count them."""

    @property
    def domain(self) -> Domain:
        """The space the rows live in."""

    @property
    def n(self) -> float:
        """The total weight."""

    def value_weights(self) -> Floats:
        """The weight at every value of every feature."""

    def leaf_weights(self, structure: Structure) -> Floats:
        """The weight in every leaf of a structure."""

    def leaf_value_weights(self, structure: Structure) -> Floats:
        """The weight in every leaf of a structure at every value of every feature: leaves by values, in one pass."""

    def sample(self, size: int, rng: np.random.Generator) -> Table:
        """About so many rows drawn by weight; their weights are scaled to the total weight."""

    def collapsed(self) -> Table | None:
        """The distinct rows with their weights, if they are few enough to be held in memory."""


class CountedOnce:
    """What engines share that count the weight at every value once."""

    def value_weights(self) -> Floats:
        """The weight at every value of every feature."""
        return self._value_weights  # type: ignore[misc]  # whoever inherits this is an engine

    @cached_property
    def _value_weights(self: Engine) -> Floats:
        weights: Floats = self.leaf_value_weights(Tree.leaf(self.domain))[0]
        return weights


class LeafWeights(NamedTuple):
    """What was counted in the leaves of a structure."""

    weights: Floats
    by_value: Floats | None = None
    """The weight in every leaf at every value, if leaves have profiles."""

    @classmethod
    def on(cls, engine: Engine, structure: Structure, *, even: bool) -> LeafWeights:
        """Count what a posterior asks for; if its leaves are even, no more than their weights."""
        if even:
            return cls(engine.leaf_weights(structure))
        by_value = engine.leaf_value_weights(structure)
        return cls(by_value[:, structure.domain.span(0)].sum(axis=1), by_value)


def whole_table(engine: Engine) -> Table:
    """The distinct rows of an engine, for what cannot work without them."""
    table = engine.collapsed()
    if table is None:
        raise DataError(
            "This needs all distinct rows in memory, and the table has too many of them. "
            "Draw a sample of the rows, or merge rare values."
        )
    return table


class Searched(NamedTuple):
    """The rows that a search looks at."""

    table: Table
    sampled: int | None
    """How many of all rows were drawn; ``None`` if these are all."""

    @classmethod
    def of(cls, engine: Engine, size: int, rng: np.random.Generator, most: float = math.inf) -> Searched:
        """All distinct rows; so many drawn ones if they are more than the most, or cannot be brought home."""
        table = engine.collapsed()
        if table is not None and len(table) <= most:
            return cls(table, None)
        return cls(engine.sample(size, rng), size)
