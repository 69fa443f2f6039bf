"""Which single change of a value would make a row most ordinary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparsedensity.density import EQUALLY_DENSE, Density
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
        for begin, leaves in leaves_by_value(density, codes, feature):
            logs = density.log_densities[leaves]
            highest = logs.max(axis=1)
            for row in np.flatnonzero(highest > best[begin : begin + len(leaves)] + EQUALLY_DENSE).tolist():
                equal = np.flatnonzero(logs[row] >= highest[row] - EQUALLY_DENSE)
                changes[begin + row] = BestChange(feature, tuple(equal.tolist()), int(leaves[row, equal[0]]))
                best[begin + row] = highest[row]
    return changes


def leaves_by_value(density: Density, codes: Codes, feature: int) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """The leaf of every row (one line each) with every value of a feature, in blocks with the place of their first row.

    Blocks, because a feature may have thousands of values.
    """
    domain = density.structure.domain
    values = np.arange(domain.sizes[feature])
    rows_at_once = max(1, CODES_AT_ONCE // (len(domain) * len(values)))
    for begin in range(0, len(codes), rows_at_once):
        changed = np.repeat(codes[begin : begin + rows_at_once], len(values), axis=0)
        changed[:, feature] = np.resize(values, len(changed))
        yield begin, density.leaf_numbers(changed).reshape(-1, len(values))
