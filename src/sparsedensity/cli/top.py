"""The most unusual rows of a table that need not fit in memory."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sparsedensity.cli.data import known_columns
from sparsedensity.errors import DataError, DataWarning

if TYPE_CHECKING:
    import polars as pl

    from sparsedensity.density.placed import Placed
    from sparsedensity.estimators import DensityEstimator
    from sparsedensity.table import Floats


class Top(NamedTuple):
    """The most unusual rows, the most unusual first."""

    rows: pl.DataFrame
    numbers: list[int]
    """Which rows of the table they are, counted from 0."""
    total: int
    outside: int
    tied: int
    """How many rows are as unusual as the last of these, if they are not all here."""


def scores_of(model: DensityEstimator, rows: pl.DataFrame) -> pl.DataFrame:
    """The leaf, log density and unusualness of every row; those outside the domain have leaf -1."""
    import polars as pl

    from sparsedensity.estimators.answers import place_rows

    placed = place_rows(model, rows)
    scores = {"leaf": placed.leaves, "log_density": placed.log_densities, "unusualness": placed.unusualness}
    return pl.DataFrame(scores)


def most_unusual(model: DensityEstimator, data: str, top: int) -> Top:
    """Read a table part by part and keep its most unusual rows.

    Of a tie the rarest within their leaf are kept, then the first. If leaves are even, the table is read twice: first
    for what its leaves hold.
    """
    import polars as pl

    order, downwards = ["\0unusualness", "\0common", "\0number"], [True, False, False]
    parts = _parts(model, data)
    held = None if model.density_.profiles is not None else _held(model, parts())
    kept: pl.DataFrame | None = None
    total = outside = tied = 0
    for batch in parts():
        scores = _scored(model, batch, held).with_columns(pl.int_range(total, total + pl.len()).alias("\0number"))
        best = scores.sort(order, descending=downwards).head(top)
        scored = batch[best["\0number"] - total].hstack(best)
        before = kept
        both = scored if before is None else pl.concat([before, scored], how="vertical_relaxed")
        kept = both.sort(order, descending=downwards).head(top)
        tied = _as_last(kept, scores) + (0 if before is None else _still_tied(kept, before, tied))
        total, outside = total + batch.height, outside + int((scores["\0leaf"] < 0).sum())
    if kept is None:
        raise DataError(f"{data} has no rows.")
    rows, numbers = kept.drop(*order, "\0leaf", "\0log"), kept["\0number"].to_list()
    return Top(rows, numbers, total, outside, tied if tied > _as_last(kept, kept) else 0)


def _as_last(kept: pl.DataFrame, rows: pl.DataFrame) -> int:
    """How many of some rows are as unusual as the last that is kept; those outside the domain apart."""
    import numpy as np

    from sparsedensity.density import EQUALLY_DENSE

    last = kept[-1]
    if last["\0leaf"][0] < 0:
        return 0
    logs = rows.filter(rows["\0leaf"] >= 0)["\0log"].to_numpy()
    return int(np.isclose(logs, last["\0log"][0], rtol=0, atol=EQUALLY_DENSE).sum())


def _still_tied(kept: pl.DataFrame, before: pl.DataFrame, tied: int) -> int:
    """How many rows of the parts before are as unusual as the last that is kept.

    If it is no longer as unusual as the last that was kept before, it is more so, and all rows like it were kept.
    """
    return tied if _as_last(kept, before[-1:]) else _as_last(kept, before)


def _held(model: DensityEstimator, parts: Iterator[pl.DataFrame]) -> Floats | None:
    """How many rows of a table each leaf has by value; ``None`` if that is too much to count."""
    import numpy as np

    from sparsedensity.estimators.evidence import leaf_values
    from sparsedensity.table import Table

    values = None
    for batch in parts:
        placed = _placed(model, batch)
        codes = placed.codes[placed.leaves >= 0]
        found = leaf_values(model.density_, Table.of(model.domain_, codes, np.ones(len(codes))))
        if found is not None:
            values = found if values is None else values + found
    return values


def _scored(model: DensityEstimator, batch: pl.DataFrame, held: Floats | None) -> pl.DataFrame:
    """Where every row is, how unusual, and how common among rows that are as unusual."""
    import polars as pl

    placed = _placed(model, batch)
    return pl.DataFrame(
        {
            "\0leaf": placed.leaves,
            "\0log": placed.log_densities,
            "\0unusualness": placed.unusualness,
            "\0common": placed.commonness(held),
        }
    )


def _placed(model: DensityEstimator, batch: pl.DataFrame) -> Placed:
    from sparsedensity.estimators.answers import encode_rows, place
    from sparsedensity.ingest import open_source

    with warnings.catch_warnings():  # that some lie outside the domain is said once, at the end
        warnings.simplefilter("ignore", DataWarning)
        return place(model, encode_rows(model, open_source(batch).known_to(model.domain_)))


def _parts(model: DensityEstimator, data: str) -> Callable[[], Iterator[pl.DataFrame]]:
    """The columns that a model knows, part by part, to be read more than once."""
    from sparsedensity import datasets
    from sparsedensity.ingest.batches import read_batches

    bundled = data in datasets.NAMES and not Path(data).exists()
    once = [datasets.load(data)] if bundled else list(read_batches(data, model.domain_)) if data == "-" else None
    known: list[str] = []

    def read() -> Iterator[pl.DataFrame]:
        nonlocal known
        for batch in read_batches(data, model.domain_) if once is None else once:
            known = known or known_columns(batch, data, model.domain_).columns
            yield batch.select(known)

    return read
