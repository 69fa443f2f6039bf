"""An engine that remembers what was counted once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sparsedensity.domain import Domain
from sparsedensity.engines.base import Engine
from sparsedensity.structures import Structure, Tree
from sparsedensity.table import Floats, Table


@dataclass(frozen=True)
class RememberingEngine:
    """Answers for trees whose leaves are all known regions without a pass over the rows."""

    engine: Engine
    known: Mapping[bytes, Floats]
    """The weight at every value, by region: for every value 1 if it is allowed there, else 0."""

    @property
    def domain(self) -> Domain:
        """The space the rows live in."""
        return self.engine.domain

    @property
    def n(self) -> float:
        """The total weight."""
        return self.engine.n

    def value_weights(self) -> Floats:
        """The weight at every value of every feature."""
        return self.engine.value_weights()

    def leaf_weights(self, structure: Structure) -> Floats:
        """The weight in every leaf of a structure."""
        held = self._recalled(structure)
        return self.engine.leaf_weights(structure) if held is None else held[:, self.domain.span(0)].sum(axis=1)

    def leaf_value_weights(self, structure: Structure) -> Floats:
        """The weight in every leaf of a structure at every value of every feature."""
        held = self._recalled(structure)
        return self.engine.leaf_value_weights(structure) if held is None else held

    def sample(self, size: int, rng: np.random.Generator) -> Table:
        """About so many rows drawn by weight."""
        return self.engine.sample(size, rng)

    def collapsed(self) -> Table | None:
        """The distinct rows with their weights, if they are few enough."""
        return self.engine.collapsed()

    def _recalled(self, structure: Structure) -> Floats | None:
        if not isinstance(structure, Tree):
            return None
        regions = [bytes(mask) for mask in structure.masks]
        return np.array([self.known[region] for region in regions]) if self.known.keys() >= set(regions) else None
