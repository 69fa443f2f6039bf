"""Mass on single points and the rest of the domain: the full histogram."""

from __future__ import annotations

import math

import numpy as np

from sparsedensity.structures import Cells
from sparsedensity.table import Codes, Floats


class Points:
    """The occupied cells, each a box of one value a feature, and everything else as one leaf."""

    def __init__(self, cells: Cells) -> None:
        self.cells, self.domain = cells, cells.domain
        self.leaf = np.arange(cells.n_leaves)
        self._flat = cells.codes.astype(np.int64) + self.domain.starts[:-1]
        self._shares = np.exp(cells.log_volumes - self.domain.log_volume)
        """The share of the domain's volume in every leaf, the remainder last."""

    def masses(self, probabilities: Floats, event: Floats) -> Floats:
        """The mass of an event in every cell, and in the remainder."""
        inside = event[self._flat].prod(axis=1)
        taken = float(self._shares[:-1] @ inside)
        outside = max(0.0, math.prod(self._sides(event)) - taken)
        return np.append(probabilities[:-1] * inside, self._rest(probabilities) * outside)

    def joint(self, probabilities: Floats, features: list[int], event: Floats) -> Floats:
        """The mass of an event by the values of some features."""
        shape = [self.domain.sizes[feature] for feature in features]
        inside = event[self._flat].prod(axis=1)
        place = np.ravel_multi_index(tuple(self.cells.codes[:, feature] for feature in features), shape)
        occupied = np.bincount(place, probabilities[:-1] * inside, math.prod(shape))
        taken = np.bincount(place, self._shares[:-1] * inside, math.prod(shape))
        sides = self._sides(event)
        uniform = np.array(math.prod(side for feature, side in enumerate(sides) if feature not in features))
        for feature in features:
            span = self.domain.span(feature)
            side = self.domain.measures[span] * event[span]
            uniform = np.multiply.outer(uniform, side / self.domain.measures[span].sum())
        outside = np.maximum(uniform - taken.reshape(shape), 0.0)
        return np.asarray(occupied.reshape(shape) + self._rest(probabilities) * outside)

    def draw(self, probabilities: Floats, size: int, rng: np.random.Generator) -> Codes:
        """New rows: a cell by its mass; the remainder by drawing from the domain until a cell is unoccupied."""
        leaf = rng.choice(len(probabilities), size, p=probabilities / probabilities.sum())
        codes = np.empty((size, len(self.domain)), self.domain.code_type)
        own = leaf < len(self.cells.codes)
        codes[own] = self.cells.codes[leaf[own]]
        missing = np.flatnonzero(~own)
        while len(missing):
            drawn = self._uniform(len(missing), rng)
            free = self.cells.leaf_numbers(drawn) == len(self.cells.codes)
            codes[missing[free]] = drawn[free]
            missing = missing[~free]
        return codes

    def _rest(self, probabilities: Floats) -> float:
        """The remainder's mass for each share of the domain's volume that it holds."""
        return float(probabilities[-1] / self._shares[-1]) if probabilities[-1] else 0.0

    def _sides(self, event: Floats) -> list[float]:
        """For every feature, the share of the domain's side that lies in the event."""
        measures = self.domain.measures
        totals = np.add.reduceat(measures, self.domain.starts[:-1])
        sides: list[float] = (np.add.reduceat(measures * event, self.domain.starts[:-1]) / totals).tolist()
        return sides

    def _uniform(self, size: int, rng: np.random.Generator) -> Codes:
        """Rows spread evenly over the domain's volume."""
        columns = [
            rng.choice(feature.size, size, p=np.array(feature.measures) / sum(feature.measures))
            for feature in self.domain
        ]
        return np.stack(columns, axis=1).astype(self.domain.code_type)
