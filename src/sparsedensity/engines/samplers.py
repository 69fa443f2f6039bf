"""Some rows of a lazy frame, drawn where they are, by each engine's own means."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from importlib import import_module
from typing import Any

import narwhals as nw
import numpy as np

from sparsedensity.errors import DataError

PRIME = 67_108_859
"""The numbers of rows are scattered modulo this: its square is an exact float."""


def some_rows(frame: nw.LazyFrame[Any], size: float, rows: int, rng: np.random.Generator) -> nw.LazyFrame[Any]:
    """At least so many of the rows of a frame, but for bad luck of one in a million; all if it has no more.

    The same seed gives the same rows, if the engine reads them in the same order; Spark may not after a shuffle.
    """
    share = (size + 5 * math.sqrt(size) + 10) / rows
    seed = int(rng.integers(PRIME))
    if share >= 1:
        return frame
    if frame.implementation.is_duckdb():
        return _of_duckdb(frame, share, seed)
    if frame.implementation.is_pyspark():
        return _lazy(frame.to_native().sample(fraction=share, seed=seed))
    if frame.implementation.is_dask():
        return _lazy(frame.to_native().sample(frac=share, random_state=seed))
    if frame.implementation.is_ibis():
        return _of_ibis(frame, share, seed)
    raise DataError(
        f"Rows of {frame.implementation} cannot be drawn here. Use DuckDB, Spark or Ibis, or collect the table first."
    )


def _of_duckdb(frame: nw.LazyFrame[Any], share: float, seed: int) -> nw.LazyFrame[Any]:
    """The same rows at any number of threads."""
    sql = f"SELECT * FROM some_rows USING SAMPLE {100 * share:.9f} PERCENT (bernoulli, {seed})"  # noqa: S608
    return _lazy(frame.to_native().query("some_rows", sql))


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
        name = free_name("some_rows", table.columns)
        drawn = table.mutate(**{name: scattered}).filter(ibis._[name] < share * PRIME).drop(name)
    return _lazy(drawn)


def free_name(word: str, taken: Iterable[str]) -> str:
    """A name for a column of ours; to many engines names that differ by case are the same.

    >>> free_name("leaf", ["Leaf", "leaf_", "stem"])
    'leaf__'
    """
    others = {name.casefold() for name in taken}
    return next(name for name in (word + "_" * i for i in itertools.count()) if name not in others)


def _lazy(native: Any) -> nw.LazyFrame[Any]:
    frame: nw.LazyFrame[Any] = nw.from_native(native)
    return frame
