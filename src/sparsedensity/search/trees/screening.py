"""Which features of a very wide region are worth dividing.

To score every division beside every other feature takes the square of their number. On wide tables only the features
that the others depend on most are divided: those with the largest sum of chi-squared statistics, which needs no pairs
of features if there are fewer rows than values. Beside them, one value that all rows share can be told from the rest.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsedensity.table import Floats, Table

MOST_SCORED, FEWEST_FEATURES = 500_000, 32
"""So many values beside those of divided features are scored per region, about a tenth of a second; or so many
features."""
MOST_CELLS = 10_000_000
"""At most so many values of rows are compared; of a larger region every so many-th row."""


def telling_features(
    table: Table, rows: NDArray[np.integer[Any]], allowed: NDArray[np.uint8], shares: Floats
) -> NDArray[np.int64]:
    """The features worth dividing a region by; all of them unless they are very many."""
    most = max(FEWEST_FEATURES, MOST_SCORED // int(table.domain.starts[-1]))
    if len(table.domain) <= most:
        return np.arange(len(table.domain))
    strongest = np.argsort(-dependence(table, rows), kind="stable")[:most]
    return np.union1d(strongest, rarest_alone(table, rows, allowed, shares))


def rarest_alone(
    table: Table, rows: NDArray[np.integer[Any]], allowed: NDArray[np.uint8], shares: Floats
) -> NDArray[np.int64]:
    """Of the features with one value in all rows of a region, but others allowed, that whose value is rarest overall.

    To shut out its other values changes no other feature, and says most of all such divisions.
    """
    starts, codes = table.domain.starts[:-1], table.codes[rows]
    within = shares[starts + codes[0]] / np.add.reduceat(shares * allowed, starts)
    within[(codes != codes[0]).any(axis=0) | (np.add.reduceat(allowed, starts, dtype=np.int64) < 2)] = np.inf
    return np.flatnonzero(np.isfinite(within) & (within == within.min()))[:1]


def dependence(table: Table, rows: NDArray[np.integer[Any]]) -> Floats:
    """The sum of chi-squared of every feature with all others, per weight."""
    starts = table.domain.starts
    rows = rows[:: math.ceil(len(rows) * int(starts[-1]) / MOST_CELLS) or 1]
    deviations = standardised(table, rows)
    by_value: NDArray[np.float32]
    if len(rows) < deviations.shape[1]:
        by_value = np.einsum("rv,rv->v", deviations, (deviations @ deviations.T) @ deviations)
    else:
        by_value = np.square(deviations.T @ deviations).sum(axis=1)
    with_itself = np.add.reduceat((deviations != 0).any(axis=0), starts[:-1], dtype=np.int64) - 1
    sums: Floats = np.add.reduceat(by_value.astype(np.float64), starts[:-1]) - np.maximum(with_itself, 0)
    return sums


def standardised(table: Table, rows: NDArray[np.integer[Any]]) -> NDArray[np.float32]:
    """Rows by values: how far each row is from the shares of all rows, so that products of columns give chi-squared."""
    starts, weights = table.domain.starts, table.weights[rows]
    places = table.codes[rows] + starts[:-1]
    held = np.bincount(places.reshape(-1), np.repeat(weights, places.shape[1]), int(starts[-1]))
    cells = np.zeros((len(rows), int(starts[-1])), np.float32)
    np.put_along_axis(cells, places, np.float32(1.0), axis=1)
    cells -= (held / weights.sum()).astype(np.float32)
    cells *= np.sqrt(weights).astype(np.float32)[:, None]
    cells /= np.sqrt(np.where(held > 0, held, 1.0)).astype(np.float32)
    return cells
