"""Folds for cross-validation, of rows or of what their weights count."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsedensity.errors import DataError, ParameterError
from sparsedensity.models.parameters import LARGEST_SEED
from sparsedensity.scalars import is_whole
from sparsedensity.table import Floats

MOST_UNITS = 50_000_000
"""Weights that count more than this are not taken apart: their rows are held out whole."""


class Split(NamedTuple):
    """What one fold learns from and what it holds out: a weight for every row, 0 for rows it does not use."""

    train: Floats
    test: Floats


@dataclass(frozen=True)
class HeldOut:
    """Which rows an honest model keeps from its search: a share of them, drawn with a seed."""

    share: float
    seed: int
    whole: bool = True
    """Whether weights count rows."""
    searched: float = 0.0
    """The weight of the rows that were searched."""

    def divide(self, weights: Floats) -> Split:
        """What is searched, and what is kept from the search."""
        return hold_out(weights, self.share, self.seed)


def standard_error(values: Sequence[float]) -> float:
    """The standard error of a mean over folds; not a number if a value is infinite, or for fewer than two values.

    >>> round(standard_error([1.0, 2.0, 3.0]), 3)
    0.577
    """
    if len(values) < 2:
        return math.nan
    with np.errstate(invalid="ignore"):
        return float(np.std(values, ddof=1) / np.sqrt(len(values)))


def folds_of(weights: Floats, folds: int, seed: int = 0, parameter: str = "cv") -> list[Split]:
    """Divide rows at random into folds.

    If the weights are whole numbers, they count rows, so that a table of counts is divided like the table it
    counts: some of the equal rows go into one fold, some into another.

    >>> [split.test.tolist() for split in folds_of(np.array([3.0, 1.0]), 2)]
    [[1.0, 1.0], [2.0, 0.0]]
    """
    if not is_whole(seed) or not 0 <= seed <= LARGEST_SEED:
        raise ParameterError("seed", seed, f"a whole number from 0 to {LARGEST_SEED:,}")
    units = _units(weights)
    if not is_whole(folds) or not 2 <= folds <= len(units):
        none = "None or " if parameter == "cv" else ""
        raise ParameterError(parameter, folds, f"{none}a whole number from 2 to the number of rows, {len(units):,}")
    each = weights / np.bincount(units, minlength=len(weights)).clip(1)
    shuffled = np.random.RandomState(int(seed)).permutation(units)
    held = [np.bincount(test, minlength=len(weights)) * each for test in np.array_split(shuffled, int(folds))]
    return [Split(weights - out, out) for out in held]


def hold_out(weights: Floats, share: float, seed: int) -> Split:
    """Keep a share of the rows, drawn at random, from whatever learns from the others; weights count as in folds.

    >>> hold_out(np.array([3.0, 1.0]), 0.5, seed=0).test.tolist()
    [2.0, 0.0]
    """
    rng = np.random.default_rng(seed)
    if are_counts(weights) and weights.sum() > MOST_UNITS:
        held = rng.binomial(weights.astype(np.int64), share).astype(np.float64)
    else:
        units = _units(weights)
        chosen = rng.permutation(len(units))[: min(max(1, round(share * len(units))), len(units) - 1)]
        each = weights / np.bincount(units, minlength=len(weights)).clip(1)
        held = np.bincount(units[chosen], minlength=len(weights)) * each
    if not held.any() or not (weights - held).any():
        raise DataError("An honest model needs two rows or more: some to choose its leaves, others to weigh them.")
    return Split(weights - held, held)


def are_counts(weights: Floats) -> bool:
    """Whether weights are whole numbers, so that they count rows."""
    return bool(np.all(weights == np.floor(weights)))


def _units(weights: Floats) -> NDArray[np.int64]:
    """The row of everything that can be held out on its own."""
    rows = np.arange(len(weights))
    if are_counts(weights) and weights.sum() <= MOST_UNITS:
        return np.repeat(rows, weights.astype(np.int64))
    return rows[weights > 0]
