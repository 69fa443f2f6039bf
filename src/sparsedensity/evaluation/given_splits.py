"""Folds that a user gives: pairs of row numbers, or a scikit-learn splitter that makes them.

>>> import numpy as np
>>> [split.test.tolist() for split in given_splits([([0, 1], [2]), ([2], [0])], np.ones(3), np.arange(3), 3)]
[[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsedensity.errors import DataError, ParameterError
from sparsedensity.models.folds import Split
from sparsedensity.table import Floats

ALLOWED = "a number of folds, a scikit-learn splitter, or pairs of row numbers: what to learn from, what to hold out"


def given_splits(folds: Any, weights: Floats, numbers: NDArray[np.int64], n_rows: int) -> list[Split]:
    """What every fold learns from and holds out.

    `weights` are those of the rows that count, and `numbers` says which rows of the whole table of `n_rows` they are.
    """
    try:
        pairs = folds.split(np.zeros((n_rows, 1))) if hasattr(folds, "split") else folds
        parts = [(_mask(train, n_rows), _mask(test, n_rows)) for train, test in pairs]
    except (TypeError, ValueError) as error:
        raise ParameterError("folds", folds, f"{ALLOWED} ({error})") from None
    if not parts:
        raise ParameterError("folds", folds, ALLOWED)
    for fold, (train, test) in enumerate(parts):
        if (train & test).any():
            row = int(np.argmax(train & test))
            raise DataError(f"Row {row} is both learned from and held out in fold {fold}. Give it to one of the two.")
        if not (train[numbers].any() and test[numbers].any()):
            raise DataError(f"Fold {fold} has no row to learn from or none to hold out. Give it both.")
    return [Split(weights * train[numbers], weights * test[numbers]) for train, test in parts]


def digest_of(splits: list[Split]) -> str:
    """The same for the same folds."""
    digest = hashlib.sha256()
    for part in (part for split in splits for part in split):
        digest.update(part.tobytes())
    return digest.hexdigest()[:16]


def _mask(rows: Any, n_rows: int) -> NDArray[np.bool_]:
    """Row numbers, or one truth value per row, as truth values."""
    given = np.asarray(rows)
    if given.dtype == bool and given.shape == (n_rows,):
        return given
    if given.ndim != 1 or (given.size and not np.issubdtype(given.dtype, np.integer)):
        raise ValueError("rows are whole numbers, or one truth value per row")
    if given.size and not (given.min() >= 0 and given.max() < n_rows):
        raise ValueError(f"rows are numbered 0 to {n_rows - 1:,}")
    mask = np.zeros(n_rows, bool)
    mask[given.astype(np.int64)] = True
    return mask
