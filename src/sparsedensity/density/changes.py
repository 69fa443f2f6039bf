"""Which single change of a value would make a row most ordinary."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sparsedensity.density import TIE, Density
from sparsedensity.table import Codes, Floats

CODES_AT_ONCE = 1 << 22


@dataclass(frozen=True)
class BestChange:
    """A feature and the values of it that raise the density of a row most."""

    feature: int
    codes: tuple[int, ...]
    """Every value that does equally well."""
    leaf: int
    """The leaf that the first of them leads to."""


def best_changes(
    density: Density, codes: Codes, floors: Floats, features: Iterable[int] | None = None
) -> list[BestChange | None]:
    """For every row the best change of one value; ``None`` if none lifts the log density above its floor.

    Every value of every feature is tried. Of features that do equally well the first is taken.
    """
    domain = density.structure.domain
    best = floors.copy()
    changes: list[BestChange | None] = [None] * len(codes)
    for feature in range(len(domain)) if features is None else features:
        rows_at_once = max(1, CODES_AT_ONCE // (len(domain) * domain.sizes[feature]))
        for begin in range(0, len(codes), rows_at_once):
            leaves = _leaves_after(density, codes[begin : begin + rows_at_once], feature)
            logs = density.log_densities[leaves]
            highest = logs.max(axis=1)
            for row in np.flatnonzero(highest > best[begin : begin + rows_at_once] + TIE).tolist():
                equal = np.flatnonzero(logs[row] >= highest[row] - TIE)
                changes[begin + row] = BestChange(feature, tuple(equal.tolist()), int(leaves[row, equal[0]]))
                best[begin + row] = highest[row]
    return changes


def _leaves_after(density: Density, codes: Codes, feature: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """The leaf of every row for every value that one feature could take."""
    size = density.structure.domain.sizes[feature]
    changed = np.repeat(codes, size, axis=0)
    changed[:, feature] = np.tile(np.arange(size), len(codes))
    return density.leaf_numbers(changed).reshape(len(codes), size)
