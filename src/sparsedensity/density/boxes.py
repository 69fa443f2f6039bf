"""Mass spread evenly over disjoint boxes: the leaves of trees and rule lists."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sparsedensity.density.merging import Averaged, average_boxes
from sparsedensity.domain import Domain
from sparsedensity.structures.rules import log_box_volumes
from sparsedensity.table import Codes, Floats


@dataclass(frozen=True, eq=False)
class Boxes:
    """Boxes as shares of every feature's values: inside a box each feature is independent of the others."""

    domain: Domain
    inside: Floats
    """One row per box: for every feature the distribution over its values inside the box."""
    leaf: NDArray[np.int64]
    share: Floats
    """The share of its leaf's volume that each box holds."""

    @classmethod
    def of(cls, domain: Domain, masks: NDArray[np.bool_], leaf: NDArray[np.int64]) -> Boxes:
        """From one row of truth values per box, over all values, and the leaf each box belongs to."""
        measured = masks * domain.measures
        sides = np.add.reduceat(measured, domain.starts[:-1], axis=1)
        logs = log_box_volumes(domain, masks)
        largest = np.full(int(leaf.max()) + 1, -np.inf)
        np.maximum.at(largest, leaf, logs)
        volumes = np.exp(logs - largest[leaf])
        share = volumes / np.bincount(leaf, volumes)[leaf]
        return cls(domain, measured / np.repeat(sides, domain.sizes, axis=1), leaf, share)

    def masses(self, probabilities: Floats, event: Floats) -> Floats:
        """The mass of an event in every box."""
        masses: Floats = probabilities[self.leaf] * self.share * self._sides(event).prod(axis=1)
        return masses

    def joint(self, probabilities: Floats, features: list[int], event: Floats) -> Floats:
        """The mass of an event by the values of some features."""
        sides = self._sides(event)
        sides[:, features] = 1.0
        rest = probabilities[self.leaf] * self.share * sides.prod(axis=1)
        out = np.zeros([self.domain.sizes[feature] for feature in features])
        spans = [self.domain.span(feature) for feature in features]
        for box in np.flatnonzero(rest):
            product = np.array(rest[box])
            for span in spans:
                product = np.multiply.outer(product, self.inside[box, span] * event[span])
            out += product
        return out

    def draw(self, probabilities: Floats, size: int, rng: np.random.Generator) -> Codes:
        """New rows: a box by its mass, then each feature by its distribution inside the box."""
        masses = probabilities[self.leaf] * self.share
        return self.draw_in(rng.choice(len(masses), size, p=masses / masses.sum()), rng)

    def draw_in(self, boxes: NDArray[np.int64], rng: np.random.Generator) -> Codes:
        """A new row in each of some boxes."""
        codes = np.empty((len(boxes), len(self.domain)), self.domain.code_type)
        for feature in range(len(self.domain)):
            sides, which = np.unique(self.inside[:, self.domain.span(feature)], axis=0, return_inverse=True)
            codes[:, feature] = _draw_values(sides, which[boxes], rng.random(len(boxes)))
        return codes

    def averaged(self, logs: Floats, feature: int) -> Averaged:
        """The density, given by the logs of its leaves, averaged over a feature."""
        return average_boxes(self.domain, self.inside > 0, logs[self.leaf], feature)

    @cached_property
    def log_points(self) -> Floats:
        """The natural log of the number of points in every box."""
        sides = np.add.reduceat(self.inside > 0, self.domain.starts[:-1], axis=1, dtype=np.int64)
        logs: Floats = np.log(sides).sum(axis=1)
        return logs

    @property
    def used(self) -> list[int]:
        """The features that some box restricts."""
        spans = map(self.domain.span, range(len(self.domain)))
        return [feature for feature, span in enumerate(spans) if not np.all(self.inside[:, span] > 0)]

    def _sides(self, event: Floats) -> Floats:
        """For every box and feature, the share of the box's side that lies in the event."""
        sides: Floats = np.add.reduceat(self.inside * event, self.domain.starts[:-1], axis=1)
        return sides


def _draw_values(sides: Floats, which: NDArray[np.int64], marks: Floats) -> NDArray[np.int64]:
    """For every row a value from one of a few distributions, by inverting its cumulative sum at a mark."""
    values = np.empty(len(marks), np.int64)
    order = np.argsort(which, kind="stable")
    for side, rows in zip(sides, np.split(order, np.cumsum(np.bincount(which, minlength=len(sides)))), strict=False):
        possible = np.flatnonzero(side)
        cumulative = np.cumsum(side[possible])
        found = np.searchsorted(cumulative[:-1], marks[rows] * cumulative[-1], side="right")
        values[rows] = possible[found]
    return values
