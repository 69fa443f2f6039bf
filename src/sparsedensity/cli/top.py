"""The most unusual rows of a table that need not fit in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sparsedensity.cli.scoring import placed_parts
from sparsedensity.cli.tables import Data

if TYPE_CHECKING:
    import polars as pl

    from sparsedensity.density.placed import Placed
    from sparsedensity.models import DensityModel
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


def most_unusual(model: DensityModel, table: Data, top: int) -> Top:
    """Read a table part by part and keep its most unusual rows.

    Of a tie the rarest within their leaf are kept, then the first. If leaves are even, the table is read twice: first
    for what its leaves hold.
    """
    import polars as pl

    order, downwards = ["\0unusualness", "\0common", "\0number"], [True, False, False]
    held = None if model.density_.profiles is not None else _held(model, table)
    kept: pl.DataFrame | None = None
    total = outside = tied = 0
    for batch, placed, _ in placed_parts(model, table):
        scores = _scored(placed, held).with_columns(pl.int_range(total, total + pl.len()).alias("\0number"))
        best = scores.sort(order, descending=downwards).head(top)
        scored = batch[best["\0number"] - total].hstack(best)
        before = kept
        both = scored if before is None else pl.concat([before, scored], how="vertical_relaxed")
        kept = both.sort(order, descending=downwards).head(top)
        tied = _as_last(kept, scores) + (0 if before is None else _still_tied(kept, before, tied))
        total, outside = total + batch.height, outside + int((scores["\0leaf"] < 0).sum())
    assert kept is not None
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


def _held(model: DensityModel, table: Data) -> Floats | None:
    """How many rows of a table each leaf has by value; ``None`` if that is too much to count."""
    import numpy as np

    from sparsedensity.models.evidence import leaf_values
    from sparsedensity.table import Table

    values = None
    for _, placed, _ in placed_parts(model, table):
        codes = placed.codes[placed.leaves >= 0]
        found = leaf_values(model.density_, Table.of(model.domain_, codes, np.ones(len(codes))))
        if found is not None:
            values = found if values is None else values + found
    return values


def _scored(placed: Placed, held: Floats | None) -> pl.DataFrame:
    """Where every row is, how unusual, and how common among rows that are as unusual."""
    import polars as pl

    return pl.DataFrame(
        {
            "\0leaf": placed.leaves,
            "\0log": placed.log_densities,
            "\0unusualness": placed.unusualness,
            "\0common": placed.commonness(held),
        }
    )
