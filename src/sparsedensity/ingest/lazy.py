"""Tables that are elsewhere: lazy frames, whose rows stay where they are unless few of them are different."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from sparsedensity.domain import Domain
from sparsedensity.engines import Engine, MemoryEngine
from sparsedensity.engines.drawing import expected_distinct
from sparsedensity.engines.query import QueryEngine
from sparsedensity.errors import ColumnsError, DataError, warn
from sparsedensity.ingest import Reading, domain_in_memory
from sparsedensity.ingest.batches import sample_rows
from sparsedensity.ingest.parts import lazy_domain, read_lazy
from sparsedensity.ingest.queries import open_query
from sparsedensity.ingest.sources import as_frame

if TYPE_CHECKING:
    from sparsedensity.engines.dask import DaskEngine

SAMPLED = 60_000
"""Rows that tell how many different rows a table has."""
AT_HOME = 200_000
"""Rows that are brought home for what needs rows, such as cross-validation."""
MOST_DISTINCT = 200_000
"""Different rows up to which all of them are brought home: there every search and every count is exact."""


@dataclass(frozen=True)
class LazyTable:
    """A lazy frame, and the column that weighs its rows if there is one."""

    frame: nw.LazyFrame[Any]
    weight: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Its columns without the weights."""
        return tuple(name for name in self.frame.collect_schema().names() if name != self.weight)

    def open(self, reading: Reading, rng: np.random.Generator, jobs: int, say: Callable[[str], None]) -> Engine:
        """What counts its rows: in memory if they are read anyway or few are different, else where they are."""
        if self.frame.implementation.is_polars():
            return MemoryEngine(read_lazy(self.frame.to_native(), reading, self.weight, rng, say), jobs)
        say("the values of every column")
        engine = self._elsewhere(reading, rng)
        say(f"some of {engine.rows:,} rows")
        size = min(SAMPLED, engine.rows)
        times = engine.sample(size, rng).weights * (size / engine.n)
        few = expected_distinct(np.rint(times), engine.rows) <= MOST_DISTINCT
        if few:
            say(f"the different ones of {engine.rows:,} rows")
        table = engine.distinct(MOST_DISTINCT) if few else None
        return engine if table is None else MemoryEngine(table, jobs)

    def domain(self, reading: Reading, rng: np.random.Generator) -> Domain:
        """The space its rows live in."""
        if self.frame.implementation.is_polars():
            return lazy_domain(self.frame.to_native(), reading, self.weight, rng)
        return self._elsewhere(reading, rng).domain

    def _elsewhere(self, reading: Reading, rng: np.random.Generator) -> DaskEngine | QueryEngine:
        """What counts its rows where they are."""
        if self.frame.implementation.is_dask():
            from sparsedensity.ingest.dask import open_dask

            return open_dask(self.frame.to_native(), reading, self.weight, rng)
        return open_query(self.frame, reading, self.weight, rng)


def infer_domain(X: Any, reading: Reading, sample_weight: Any = None) -> Domain:
    """The domain of a table, wherever it is."""
    lazy = lazy_table(X, sample_weight)
    if lazy is None:
        rows, weights = weights_apart(X, sample_weight)
        return domain_in_memory(rows, reading, weights)
    return lazy.domain(reading, np.random.default_rng(0))


def lazy_table(X: Any, sample_weight: Any) -> LazyTable | None:
    """A table that is elsewhere; ``None`` for one that is in memory."""
    frame = as_frame(X)
    if not isinstance(frame, nw.LazyFrame):
        return None
    if sample_weight is not None and not isinstance(sample_weight, str):
        raise DataError("The rows of this table are elsewhere, and so are their weights: name a column of weights.")
    if sample_weight is not None:
        check_weight_column(sample_weight, frame.collect_schema().names())
    return LazyTable(frame, sample_weight)


def at_home(X: Any, sample_weight: Any, what: str) -> tuple[Any, Any]:
    """Rows in memory and their weights: of a table that is elsewhere some that are drawn, and it is said for what."""
    lazy = lazy_table(X, sample_weight)
    if lazy is None:
        return weights_apart(X, sample_weight)
    rows, total = sample_rows(lazy.frame.to_native(), AT_HOME)
    if rows.height < total:
        warn(f"{what} {rows.height:,} of {total:,} rows, drawn at random: the table stays where it is.")
    return weights_apart(rows, lazy.weight)


def weights_apart(X: Any, sample_weight: Any) -> tuple[Any, Any]:
    """A table in memory and its weights, which may be one of its columns."""
    if not isinstance(sample_weight, str):
        return X, sample_weight
    frame = as_frame(X)
    if not isinstance(frame, nw.DataFrame):
        raise DataError(f"sample_weight is the column {sample_weight!r}, but the table is no data frame. Give numbers.")
    check_weight_column(sample_weight, frame.columns)
    return frame.drop(sample_weight).to_native(), frame[sample_weight].to_numpy()


def check_weight_column(name: str, names: list[str]) -> None:
    """Refuse a column of weights that is not there."""
    if name not in names:
        raise ColumnsError(f"There is no column {name!r} to weigh the rows. Columns: {', '.join(map(str, names))}.")
