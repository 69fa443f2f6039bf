"""Rows scored part by part with the code for tables in memory: how Polars and Dask score a lazy frame."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from sparsedensity.density.placed import Placed
from sparsedensity.ingest import encode, open_source
from sparsedensity.models.scoring import EXPLANATION, LEAF, LOG_DENSITY, UNUSUALNESS, Scoring

TYPES: dict[str, Any] = {LEAF: pl.Int64, LOG_DENSITY: pl.Float64, UNUSUALNESS: pl.Float64, EXPLANATION: pl.String}
LARGEST = float(np.finfo(np.float64).max)


def with_scored_parts(frame: nw.LazyFrame[Any], scoring: Scoring) -> nw.LazyFrame[Any]:
    """A lazy frame of Polars or Dask with new columns; no other columns are read than these need."""
    native, scorer = frame.to_native(), PartScorer(scoring)
    scored: nw.LazyFrame[Any] = nw.from_native(
        scorer.in_polars(native) if isinstance(native, pl.LazyFrame) else scorer.in_dask(native)
    )
    return scored


@dataclass(frozen=True, eq=False)
class PartScorer:
    """Scores any part of a table, in any thread or process."""

    scoring: Scoring

    def in_polars(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        """The frame with new columns: a function of one row is all that Polars has to know of them."""
        scored = pl.struct(self.scoring.domain.names).map_batches(
            self.of_struct, pl.Struct(self._types), is_elementwise=True
        )
        return frame.with_columns(scored.struct.unnest())

    def in_dask(self, frame: Any) -> Any:
        """The frame with new columns, scored partition by partition."""
        read = frame[list(self.scoring.domain.names)]
        scored = read.map_partitions(self.of_pandas, meta=self.of_pandas(read._meta))
        return frame.assign(**{column: scored[column] for column in self._types})

    @property
    def _types(self) -> dict[str, Any]:
        return {self.scoring.prefix + column: TYPES[column] for column in self.scoring.columns}

    def of_struct(self, rows: pl.Series) -> pl.Series:
        """The new columns of a part that Polars gives as one column, as one column."""
        return pl.DataFrame(self.of(rows.struct.unnest()), schema=self._types).to_struct(rows.name)

    def of_pandas(self, part: Any) -> Any:
        """The new columns of a pandas frame, as another with the same index."""
        scored = part[[]].assign(**self.of(part))
        return scored.astype({name: str for name, dtype in self._types.items() if dtype == pl.String})

    def of(self, part: Any) -> dict[str, NDArray[Any]]:
        """The new columns of a part, which has the columns to be read and no others."""
        placed = self._place(part)
        return {self.scoring.prefix + column: self._answer(placed, column) for column in self.scoring.columns}

    def _answer(self, placed: Placed, column: str) -> NDArray[Any]:
        if column == EXPLANATION:
            return np.array(self.scoring.texts, object)[placed.leaves]
        if column == LEAF:
            return placed.leaves
        return placed.log_densities if column == LOG_DENSITY else placed.unusualness

    def _place(self, part: Any) -> Placed:
        """Where rows are. Warnings about unknown values would come once per part, so there are none."""
        density, features = self.scoring.density, self.scoring.features
        codes = np.zeros((len(part), len(density.structure.domain)), density.structure.domain.code_type)
        if not len(part):
            return Placed(density, codes, np.empty(0, np.int64))
        source, used = open_source(_finite(part)), density.used[features]
        encoded = encode(source, self.scoring.domain, nearest=self.scoring.nearest, used=used)
        codes[:, features] = encoded.codes
        leaves = density.leaf_numbers(codes)
        leaves[encoded.outside] = -1
        return Placed(density, codes, leaves)


def _finite(part: Any) -> nw.DataFrame[Any]:
    """A part with the largest number in place of infinity, which lies outside every range just so."""
    frame: nw.DataFrame[Any] = nw.from_native(part, eager_only=True)
    floats = [name for name, dtype in frame.schema.items() if dtype.is_float()]
    return frame.with_columns(*map(_finite_column, floats))


def _finite_column(name: str) -> nw.Expr:
    """Neither by order nor by clip: some libraries put NaN above all numbers, others take it for one."""
    x = nw.col(name).cast(nw.Float64)
    low = nw.when(x == -math.inf).then(nw.lit(-LARGEST)).otherwise(x)
    return nw.when(x == math.inf).then(nw.lit(LARGEST)).otherwise(low).alias(name)
