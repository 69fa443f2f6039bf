"""The most unusual rows of a table that need not fit in memory."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sparsedensity.cli.data import known_columns
from sparsedensity.errors import DataError, DataWarning

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from sparsedensity.estimators import DensityEstimator
    from sparsedensity.table import Codes, Floats


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
    import numpy as np
    import polars as pl

    leaves = model.apply(rows)
    logs = np.where(leaves < 0, -np.inf, model.density_.log_densities[leaves])
    unusual = np.where(leaves < 0, 1.0, model.density_.unusualness[leaves])
    return pl.DataFrame({"leaf": leaves, "log_density": logs, "unusualness": unusual})


def most_unusual(model: DensityEstimator, data: str, top: int) -> Top:
    """Read a table part by part, twice: first what its leaves hold, then its most unusual rows.

    Of a tie the rarest within their leaf are kept, then the first.
    """
    import polars as pl

    order, downwards = ["\0unusualness", "\0within", "\0number"], [True, False, False]
    parts = _parts(model, data)
    held = _held(model, parts())
    kept: pl.DataFrame | None = None
    total = 0
    for batch in parts():
        scores = _scored(model, batch, held).with_columns(pl.int_range(total, total + pl.len()).alias("\0number"))
        best = scores.sort(order, descending=downwards).head(top)
        scored = batch[best["\0number"] - total].hstack(best)
        both = scored if kept is None else pl.concat([kept, scored], how="vertical_relaxed")
        kept, total = both.sort(order, descending=downwards).head(top), total + batch.height
    if kept is None:
        raise DataError(f"{data} has no rows.")
    outside = total - int(held.rows.sum())
    rows, numbers = kept.drop(*order, "\0leaf"), kept["\0number"].to_list()
    return Top(rows, numbers, total, outside, _tied(model, kept, held))


class Held(NamedTuple):
    """What the leaves of a model hold of a table."""

    rows: Floats
    """How many rows each leaf has."""
    values: Floats | None
    """How many of them have each value; ``None`` if that is too much to count."""


def _held(model: DensityEstimator, parts: Iterator[pl.DataFrame]) -> Held:
    import numpy as np

    from sparsedensity.estimators.evidence import leaf_values
    from sparsedensity.table import Table

    rows, values = np.zeros(len(model.density_.weights)), None
    for batch in parts:
        leaves, codes = _encoded(model, batch)
        inside = leaves >= 0
        rows += np.bincount(leaves[inside], minlength=len(rows))
        found = leaf_values(model.density_, Table.of(model.domain_, codes[inside], np.ones(int(inside.sum()))))
        if found is not None:
            values = found if values is None else values + found
    return Held(rows, values)


def _scored(model: DensityEstimator, batch: pl.DataFrame, held: Held) -> pl.DataFrame:
    """How unusual every row is, and how common within its leaf."""
    import numpy as np
    import polars as pl

    from sparsedensity.density.within import log_shares

    leaves, codes = _encoded(model, batch)
    inside = leaves >= 0
    within = np.zeros(len(leaves))
    if held.values is not None:
        within[inside] = log_shares(model.domain_, held.values, leaves[inside], codes[inside]).round(9)
    unusual = np.where(inside, model.density_.unusualness[leaves], 1.0)
    return pl.DataFrame({"\0leaf": leaves, "\0unusualness": unusual, "\0within": within})


def _encoded(model: DensityEstimator, batch: pl.DataFrame) -> tuple[NDArray[np.int64], Codes]:
    """The leaf of every row, -1 outside the domain, and its codes."""
    from sparsedensity.estimators.answers import encode_rows
    from sparsedensity.estimators.parameters import jobs_of
    from sparsedensity.ingest import open_source

    with warnings.catch_warnings():  # that some lie outside the domain is said once, at the end
        warnings.simplefilter("ignore", DataWarning)
        encoded = encode_rows(model, open_source(batch).known_to(model.domain_))
    leaves = model.density_.leaf_numbers(encoded.codes, jobs=jobs_of(model.n_jobs))
    leaves[encoded.outside] = -1
    return leaves, encoded.codes


def _tied(model: DensityEstimator, kept: pl.DataFrame, held: Held) -> int:
    """How many rows are as unusual as the last one kept, if they are not all kept; those outside the domain apart."""
    last = kept[-1]
    if last["\0leaf"][0] < 0:
        return 0
    rows = int(held.rows[model.density_.unusualness == last["\0unusualness"][0]].sum())
    shown = kept.filter((kept["\0unusualness"] == last["\0unusualness"][0]) & (kept["\0leaf"] >= 0)).height
    return rows if rows > shown else 0


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
