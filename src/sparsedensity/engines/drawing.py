"""Rows drawn by weight: at equal steps of the weight of all rows, one after the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sparsedensity.table import Floats, stored_once


def places(total: float, size: int, start: float) -> Floats:
    """So many places at equal steps of a total weight; the first lies in the first step, at this share of it.

    >>> places(12.0, 3, 0.25).tolist()
    [1.0, 5.0, 9.0]
    """
    every = (np.arange(size, dtype=np.float64) + start) * (total / size)
    return np.minimum(every, np.nextafter(total, 0.0))


def rows_at(places: Floats, weights: Floats, before: float = 0.0) -> tuple[NDArray[np.intp], Floats]:
    """The rows at some places, and at how many each; so much weight comes before the first row.

    >>> rows_at(np.array([1.0, 5.0, 9.0]), np.array([4.0, 0.0, 8.0]))
    (array([0, 2]), array([1., 2.]))
    """
    each = stored_once(weights)
    if each is None:
        found = np.searchsorted(before + np.cumsum(weights), places, side="right")
    else:
        found = ((places - before) / each).astype(np.intp)
    rows, times = np.unique(np.minimum(found, len(weights) - 1), return_counts=True)
    return rows, times.astype(np.float64)


def expected_distinct(times: Floats, rows: float) -> float:
    """How many different rows a table has at most, given how often each of the different ones was drawn.

    The share of the drawn rows that were drawn once is how often the next row is a new one (Good and Turing), and that
    only falls.

    >>> expected_distinct(np.array([1.0, 1.0, 2.0]), 100)
    51.0
    """
    drawn = float(times.sum())
    return len(times) + int(np.count_nonzero(times == 1)) / drawn * max(rows - drawn, 0.0)
