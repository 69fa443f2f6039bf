"""Which single change of a value would make a row most ordinary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sparsedensity.density import EQUALLY_DENSE, Density
from sparsedensity.table import Codes, Floats

NUMBERS_AT_ONCE = 1 << 22


@dataclass(frozen=True)
class BestChange:
    """A feature and the values of it that raise the density of a row most."""

    feature: int
    codes: tuple[int, ...]
    """Every value that does equally well."""
    log_density: float
    """What the log density becomes."""


def best_changes(
    density: Density, codes: Codes, floors: Floats, features: Iterable[int] | None = None
) -> list[BestChange | None]:
    """For every row the best change of one value; ``None`` if none lifts the log density above its floor.

    Every value of every feature is tried. Of features that do equally well the first is taken.
    """
    tried = list(range(len(density.structure.domain)) if features is None else features)
    best = floors.copy()
    changes: list[BestChange | None] = [None] * len(codes)
    for begin, near in neighbours(density, codes):
        for feature in tried:
            logs = near.log_densities(feature)
            highest = logs.max(axis=1)
            for row in np.flatnonzero(highest > best[begin : begin + len(logs)] + EQUALLY_DENSE).tolist():
                equal = np.flatnonzero(logs[row] >= highest[row] - EQUALLY_DENSE)
                best[begin + row] = highest[row]
                changes[begin + row] = BestChange(feature, tuple(equal.tolist()), float(highest[row]))
    return changes


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Rows with one value changed."""

    density: Density
    codes: Codes

    def log_densities(self, feature: int) -> Floats:
        """The log density of every row (one line each) with every value of a feature, or with any if all are alike."""
        leaves = self._leaves(feature)
        if self._by_leaf is None:
            return self.density.log_densities[leaves]
        by_value = self._allowed_logs[:, self.density.structure.domain.span(feature)]
        given = np.take_along_axis(self._by_leaf, leaves, axis=1)
        own = by_value[leaves, self.codes[:, [feature]].astype(np.int64)]
        logs: Floats = given - own + by_value[leaves, np.arange(by_value.shape[1])]
        return logs

    def _leaves(self, feature: int) -> NDArray[np.int64]:
        """The leaf of every row with every value of a feature, or with any if no leaf asks for it."""
        if feature not in self.density.asked_features:
            return self.density.leaf_numbers(self.codes)[:, None]
        size = self.density.structure.domain.sizes[feature]
        changed = np.repeat(self.codes, size, axis=0)
        changed[:, feature] = np.resize(np.arange(size), len(changed))
        return self.density.leaf_numbers(changed).reshape(-1, size)

    @cached_property
    def _by_leaf(self) -> Floats | None:
        """The log density of every row as each leaf with a profile gives it, whatever values the leaf allows.

        A changed row is in a leaf that allows all its other values, and its old value is taken out again.
        """
        if self.density.profiles is None:
            return None
        logs = np.tile(self.density.log_probabilities, (len(self.codes), 1))
        by_value = np.ascontiguousarray(self._allowed_logs.T)
        for feature, start in enumerate(self.density.structure.domain.starts[:-1]):
            logs += by_value[start + self.codes[:, feature].astype(np.int64)]
        return logs

    @cached_property
    def _allowed_logs(self) -> Floats:
        """The log density of every value in every leaf, given the leaf; 0 where it is not allowed."""
        assert self.density.profiles is not None
        logs = self.density.profiles.log_densities
        return np.where(logs > -np.inf, logs, 0.0)


def neighbours(density: Density, codes: Codes) -> Iterator[tuple[int, Neighbours]]:
    """Rows with one value changed, in blocks with the place of their first row: a feature may have many values."""
    domain = density.structure.domain
    width = len(domain) * max(domain.sizes) + (density.profiles is not None) * len(density.weights)
    rows_at_once = max(1, NUMBERS_AT_ONCE // width)
    for begin in range(0, len(codes), rows_at_once):
        yield begin, Neighbours(density, codes[begin : begin + rows_at_once])
