"""Mass on single points and the rest of the domain: the full histogram."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from sparsedensity.density.boxes import Boxes
from sparsedensity.density.merging import Averaged, average_points
from sparsedensity.structures import Cells
from sparsedensity.table import Codes, Floats


class Points:
    """The occupied cells, each a box of one value per feature, and everything else as one leaf."""

    def __init__(self, cells: Cells) -> None:
        self.cells, self.domain = cells, cells.domain
        self.leaf = np.arange(cells.n_leaves)
        self._flat = cells.codes.astype(np.int64) + self.domain.starts[:-1]
        self._shares = np.exp(cells.log_volumes - self.domain.log_volume)
        """The share of the domain's volume in every leaf, the remainder last."""
        self._everything = Boxes.of(self.domain, np.ones((1, len(self.domain.measures)), bool), np.zeros(1, np.int64))

    def masses(self, probabilities: Floats, event: Floats) -> Floats:
        """The mass of an event in every cell, and in the remainder."""
        inside = event[self._flat].prod(axis=1)
        return np.append(probabilities[:-1] * inside, probabilities[-1] * self._rest([], event, inside))

    def joint(self, probabilities: Floats, features: list[int], event: Floats) -> Floats:
        """The mass of an event by the values of some features."""
        inside = event[self._flat].prod(axis=1)
        occupied = self._tally(self.cells.codes, features, probabilities[:-1] * inside)
        return np.asarray(occupied + probabilities[-1] * self._rest(features, event, inside))

    def draw(self, probabilities: Floats, size: int, rng: np.random.Generator) -> Codes:
        """New rows: a cell by its mass; the remainder by drawing from the domain until a cell is unoccupied."""
        leaf = rng.choice(len(probabilities), size, p=probabilities / probabilities.sum())
        codes = np.empty((size, len(self.domain)), self.domain.code_type)
        occupied = leaf < len(self.cells.codes)
        codes[occupied] = self.cells.codes[leaf[occupied]]
        open_rows = np.flatnonzero(~occupied)
        if self.cells.empty is not None and len(open_rows):
            codes[open_rows] = self.cells.empty[rng.choice(len(self.cells.empty), len(open_rows), p=self._empty_shares)]
            return codes
        while len(open_rows):
            drawn = self._uniform(len(open_rows), rng)
            free = self.cells.leaf_numbers(drawn) == len(self.cells.codes)
            codes[open_rows[free]] = drawn[free]
            open_rows = open_rows[~free]
        return codes

    def averaged(self, logs: Floats, feature: int) -> Averaged:
        """The density, given by the logs of its leaves, averaged over a feature."""
        return average_points(self.cells, logs, feature)

    @property
    def used(self) -> list[int]:
        """The features that can tell points apart."""
        return [feature for feature, size in enumerate(self.domain.sizes) if size > 1]

    @cached_property
    def _empty_shares(self) -> Floats:
        """The share of the remainder's volume in every unoccupied point, if they are listed."""
        assert self.cells.empty is not None
        logs = self.cells.log_point_volumes(self.cells.empty)
        shares = np.exp(logs - logs.max(initial=-np.inf))
        return np.asarray(shares / shares.sum())

    def _rest(self, features: list[int], event: Floats, inside: Floats) -> Floats:
        """The share of the remainder's volume that lies in an event, by the values of some features."""
        if self.cells.empty is not None:
            flat = self.cells.empty.astype(np.int64) + self.domain.starts[:-1]
            return self._tally(self.cells.empty, features, self._empty_shares * event[flat].prod(axis=1))
        if not self._shares[-1]:
            return np.zeros([self.domain.sizes[feature] for feature in features])
        uniform = self._everything.joint(np.ones(1), features, event)
        taken = self._tally(self.cells.codes, features, self._shares[:-1] * inside)
        return np.asarray(np.maximum(uniform - taken, 0.0) / self._shares[-1])

    def _tally(self, codes: Codes, features: list[int], masses: Floats) -> Floats:
        """The mass of points by the values of some features."""
        if not features:
            return np.asarray(masses.sum())
        shape = [self.domain.sizes[feature] for feature in features]
        place = np.ravel_multi_index(tuple(codes[:, feature] for feature in features), shape)
        return np.bincount(place, masses, math.prod(shape)).astype(np.float64).reshape(shape)

    def _uniform(self, size: int, rng: np.random.Generator) -> Codes:
        """Rows spread evenly over the domain's volume."""
        columns = [
            rng.choice(feature.size, size, p=np.array(feature.measures) / sum(feature.measures))
            for feature in self.domain
        ]
        return np.stack(columns, axis=1).astype(self.domain.code_type)
