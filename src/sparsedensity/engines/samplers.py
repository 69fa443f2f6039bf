"""Some rows of a lazy frame, drawn where they are, by each engine's own means."""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any

import narwhals as nw
import numpy as np

from sparsedensity.errors import DataError

PRIME = 67_108_859
"""The numbers of rows are scattered modulo this: its square is an exact float."""


def some_rows(frame: nw.LazyFrame[Any], size: float, rows: int, rng: np.random.Generator) -> nw.LazyFrame[Any]:
    """At least so many of the rows of a frame, but for bad luck of one in a million; all if it has no more.

    The same seed gives the same rows, if the engine reads them in the same order; on Spark, in the same partitions.
    """
    share = (size + 5 * math.sqrt(size) + 10) / rows
    seed = int(rng.integers(PRIME))
    if share >= 1:
        return frame
    if frame.implementation.is_duckdb():
        return _of_duckdb(frame, share, seed)
    if frame.implementation.is_pyspark():
        return _of_spark(frame, share, seed)
    if frame.implementation.is_ibis():
        return _of_ibis(frame, share, seed)
    raise DataError(
        f"Rows of {frame.implementation} cannot be drawn here. Use DuckDB, Spark or Ibis, or collect the table first."
    )


def _of_duckdb(frame: nw.LazyFrame[Any], share: float, seed: int) -> nw.LazyFrame[Any]:
    """The same rows at any number of threads."""
    sql = f"SELECT * FROM some_rows USING SAMPLE {100 * share:.9f} PERCENT (bernoulli, {seed})"  # noqa: S608
    return _lazy(frame.to_native().query("some_rows", sql))


def _of_spark(frame: nw.LazyFrame[Any], share: float, seed: int) -> nw.LazyFrame[Any]:
    """By the places of rows in their partition, which are settled first: rows that were shuffled come in any order."""
    functions, rows = import_module("pyspark.sql.functions"), frame.to_native()
    settled = rows.sortWithinPartitions(functions.xxhash64(*(rows[name] for name in frame.collect_schema().names())))
    return _lazy(settled.sample(fraction=share, seed=seed))


def _of_ibis(frame: nw.LazyFrame[Any], share: float, seed: int) -> nw.LazyFrame[Any]:
    """By the sampler of the backend; if that takes no seed, as SQLite's, by the numbers of the rows, scattered."""
    table, unsupported = frame.to_native(), import_module("ibis.common.exceptions").UnsupportedOperationError
    try:
        drawn = table.sample(share, seed=seed)
        table.get_backend().compile(drawn)
    except unsupported:
        ibis = import_module("ibis")
        step, start = np.random.default_rng(seed).integers(PRIME // 4, PRIME, size=2).tolist()
        place = (ibis.row_number() * step + start) % PRIME
        scattered = (place * place + start) % PRIME
        drawn = table.mutate(some_rows=scattered).filter(ibis._.some_rows < share * PRIME).drop("some_rows")
    return _lazy(drawn)


def _lazy(native: Any) -> nw.LazyFrame[Any]:
    frame: nw.LazyFrame[Any] = nw.from_native(native)
    return frame
