"""The most unusual rows of a table that need not fit in memory."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sparsedensity.cli.data import known_columns
from sparsedensity.errors import DataError, DataWarning

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from sparsedensity.estimators import DensityEstimator


class Top(NamedTuple):
    """The most unusual rows, the most unusual first."""

    rows: pl.DataFrame
    numbers: list[int]
    """Which rows of the table they are, counted from 0."""
    total: int
    outside: int


def most_unusual(model: DensityEstimator, data: str, top: int) -> Top:
    """Read a table part by part and keep the most unusual rows; of equals the least dense, then the first."""
    import numpy as np
    import polars as pl

    kept: pl.DataFrame | None = None
    total = outside = 0
    for batch in _batches(model, data):
        leaves = _leaves(model, batch)
        strange = leaves < 0
        marks = {
            "unusual": np.where(strange, 1.0, model.density_.unusualness[leaves]),
            "log": np.where(strange, -np.inf, model.density_.log_densities[leaves]),
            "number": np.arange(total, total + len(leaves)),
        }
        best = np.lexsort([marks["number"], marks["log"], -marks["unusual"]])[:top]
        scored = batch[best].with_columns(pl.Series(f"\0{name}", values[best]) for name, values in marks.items())
        both = scored if kept is None else pl.concat([kept, scored], how="vertical_relaxed")
        kept = both.sort("\0unusual", "\0log", "\0number", descending=[True, False, False]).head(top)
        total, outside = total + len(leaves), outside + int(strange.sum())
    if kept is None:
        raise DataError(f"{data} has no rows.")
    return Top(kept.select(model.domain_.names), kept["\0number"].to_list(), total, outside)


def _batches(model: DensityEstimator, data: str) -> Iterator[pl.DataFrame]:
    from sparsedensity import datasets
    from sparsedensity.ingest.batches import read_batches

    bundled = data in datasets.NAMES and not Path(data).exists()
    parts = iter([datasets.load(data)]) if bundled else read_batches(data, model.domain_)
    for i, batch in enumerate(parts):
        if i == 0:
            known_columns(batch, data, model.domain_)
        yield batch.select(model.domain_.names)


def _leaves(model: DensityEstimator, batch: pl.DataFrame) -> NDArray[np.int64]:
    """The leaf of every row; that some lie outside the domain is said once, at the end."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return model.apply(batch)
