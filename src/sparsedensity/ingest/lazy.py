"""Tables that are elsewhere: lazy frames, whose rows stay where they are unless few of them are different."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from sparsedensity.engines import Engine, MemoryEngine
from sparsedensity.engines.drawing import expected_distinct
from sparsedensity.engines.query import QueryEngine
from sparsedensity.errors import ColumnsError, DataError
from sparsedensity.ingest import Reading
from sparsedensity.ingest.parts import read_lazy
from sparsedensity.ingest.queries import open_query

if TYPE_CHECKING:
    from sparsedensity.engines.dask import DaskEngine

SAMPLED = 60_000
"""Rows that tell how many different rows a table has."""
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
        implementation = self.frame.implementation
        if implementation.is_polars():
            return MemoryEngine(read_lazy(self.frame.to_native(), reading, self.weight, rng, say), jobs)
        if implementation.is_dask():
            from sparsedensity.ingest.dask import open_dask

            engine: DaskEngine | QueryEngine = open_dask(self.frame.to_native(), reading, self.weight, rng)
        else:
            engine = open_query(self.frame, reading, self.weight, rng)
        drawn = engine.sample(min(SAMPLED, engine.rows), rng).weights
        few = expected_distinct(np.rint(drawn / drawn.min()), engine.rows) <= MOST_DISTINCT
        table = engine.distinct(MOST_DISTINCT) if few else None
        return engine if table is None else MemoryEngine(table, jobs)


def lazy_table(X: Any, sample_weight: Any) -> LazyTable | None:
    """A table that is elsewhere; ``None`` for one that is in memory."""
    try:
        frame = nw.from_native(X, pass_through=True)
    except nw.exceptions.DuplicateError:  # whoever opens the table says so in a sentence
        return None
    if not isinstance(frame, nw.LazyFrame):
        return None
    if sample_weight is not None and not isinstance(sample_weight, str):
        raise DataError("The rows of this table are elsewhere, and so are their weights: name a column of weights.")
    if sample_weight is not None:
        check_weight_column(sample_weight, frame.collect_schema().names())
    return LazyTable(frame, sample_weight)


def weights_apart(X: Any, sample_weight: Any) -> tuple[Any, Any]:
    """A table in memory and its weights, which may be one of its columns."""
    if not isinstance(sample_weight, str):
        return X, sample_weight
    frame = nw.from_native(X, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        raise DataError(f"sample_weight is the column {sample_weight!r}, but the table is no data frame. Give numbers.")
    check_weight_column(sample_weight, frame.columns)
    return frame.drop(sample_weight).to_native(), frame[sample_weight].to_numpy()


def check_weight_column(name: str, names: list[str]) -> None:
    """Refuse a column of weights that is not there."""
    if name not in names:
        raise ColumnsError(f"There is no column {name!r} to weigh the rows. Columns: {', '.join(map(str, names))}.")
