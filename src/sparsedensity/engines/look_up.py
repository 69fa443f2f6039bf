"""Tables in queries: what belongs to a number that a row has.

Any engine can choose by comparisons, log n of them for n entries; some can hold a table as a list.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple, TypeAlias

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from sparsedensity.table import Floats


class Entry(NamedTuple):
    """The entry of a table at the whole number that a row has in a column, counted from 0."""

    column: str
    table: Floats


Lists: TypeAlias = Callable[[Any, Mapping[str, Entry]], Any]
"""Gives a native frame new columns of entries."""


def look_up(key: nw.Expr, table: NDArray[Any], begin: int = 0) -> nw.Expr:
    """The entry of a table at a whole number; the first entry belongs to `begin`.

    >>> import polars as pl
    >>> frame = nw.from_native(pl.DataFrame({"leaf": [2, 0, 1]}))
    >>> frame.select(look_up(nw.col("leaf"), np.array([0.5, 0.25, 0.25])).alias("x"))["x"].to_list()
    [0.25, 0.5, 0.25]
    """
    changes = np.flatnonzero(table[1:] != table[:-1]) + 1
    return step_function(key, (begin + changes).tolist(), table[[0, *changes]].tolist())


def step_function(x: nw.Expr, steps: Sequence[float], values: Sequence[Any]) -> nw.Expr:
    """The first value below the first step, the second from there to the next, and so on; steps ascend."""
    if not steps:
        return nw.lit(values[0])
    half = len(steps) // 2
    below = step_function(x, steps[:half], values[: half + 1])
    return nw.when(x < steps[half]).then(below).otherwise(step_function(x, steps[half + 1 :], values[half + 1 :]))


def with_entries(frame: nw.LazyFrame[Any], entries: Mapping[str, Entry]) -> nw.LazyFrame[Any]:
    """A lazy frame with new columns, each the entry of a table."""
    lists = lists_of(frame)
    if lists is None:
        return frame.with_columns(*(look_up(nw.col(key), table).alias(name) for name, (key, table) in entries.items()))
    found: nw.LazyFrame[Any] = nw.from_native(lists(frame.to_native(), entries))
    return found


def lists_of(frame: nw.LazyFrame[Any]) -> Lists | None:
    """How the engine of a frame holds tables as lists, if it can: they may be long, and take no time to read."""
    if frame.implementation.is_duckdb():
        return _in_duckdb
    return _in_spark if frame.implementation.is_pyspark() or frame.implementation.is_pyspark_connect() else None


def _in_duckdb(relation: Any, entries: Mapping[str, Entry]) -> Any:
    duckdb = import_module("duckdb")

    def at(entry: Entry) -> Any:
        place = duckdb.ColumnExpression(entry.column) + duckdb.ConstantExpression(1)
        return duckdb.FunctionExpression("list_extract", duckdb.ConstantExpression(entry.table.tolist()), place)

    return relation.select(duckdb.StarExpression(), *(at(entry).alias(name) for name, entry in entries.items()))


def _in_spark(frame: Any, entries: Mapping[str, Entry]) -> Any:
    expr = import_module("pyspark.sql.functions").expr

    def at(entry: Entry) -> Any:
        numbers = ", ".join(f"{number!r}D" for number in entry.table.tolist())
        return expr(f"element_at(array({numbers}), int(`{entry.column}`) + 1)")

    return frame.select("*", *(at(entry).alias(name) for name, entry in entries.items()))
