"""The most unusual rows of a table that need not fit in memory."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sparsedensity.cli.data import known_columns
from sparsedensity.errors import DataError, DataWarning

if TYPE_CHECKING:
    import polars as pl

    from sparsedensity.estimators import DensityEstimator


class Top(NamedTuple):
    """The most unusual rows, the most unusual first."""

    rows: pl.DataFrame
    numbers: list[int]
    """Which rows of the table they are, counted from 0."""
    total: int
    outside: int


def scores_of(model: DensityEstimator, rows: pl.DataFrame) -> pl.DataFrame:
    """The leaf, log density and unusualness of every row; those outside the domain have leaf -1."""
    import numpy as np
    import polars as pl

    leaves = model.apply(rows)
    logs = np.where(leaves < 0, -np.inf, model.density_.log_densities[leaves])
    unusual = np.where(leaves < 0, 1.0, model.density_.unusualness[leaves])
    return pl.DataFrame({"leaf": leaves, "log_density": logs, "unusualness": unusual})


def most_unusual(model: DensityEstimator, data: str, top: int) -> Top:
    """Read a table part by part and keep the most unusual rows; of equals the least dense, then the first."""
    import polars as pl

    order, downwards = ["\0unusualness", "\0log_density", "\0number"], [True, False, False]
    kept: pl.DataFrame | None = None
    total = outside = 0
    for batch in _batches(model, data):
        with warnings.catch_warnings():  # that some lie outside the domain is said once, at the end
            warnings.simplefilter("ignore", DataWarning)
            scores = scores_of(model, batch).select(
                pl.all().name.prefix("\0"), pl.int_range(total, total + pl.len()).alias("\0number")
            )
        best = scores.sort(order, descending=downwards).head(top)
        scored = batch[best["\0number"] - total].hstack(best)
        both = scored if kept is None else pl.concat([kept, scored], how="vertical_relaxed")
        kept = both.sort(order, descending=downwards).head(top)
        total, outside = total + batch.height, outside + int((scores["\0leaf"] < 0).sum())
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
