"""Any table part by part, whatever engine holds it: each part is a Polars frame."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from sparsedensity.engines.samplers import some_rows
from sparsedensity.extras import need

ROWS = 1 << 17
"""Rows of a part."""


def batches_of(table: Any, rows: int = ROWS) -> Iterator[pl.DataFrame]:
    """The rows of a table in parts, in the order of its engine."""
    if isinstance(table, pl.DataFrame):
        yield from table.iter_slices(rows)
    elif isinstance(table, pl.LazyFrame):
        yield from _of_polars(table, rows)
    else:
        for batch in READERS[library_of(table)](table, rows):
            part = pl.from_arrow(batch)
            assert isinstance(part, pl.DataFrame)
            yield part


def is_lazy(table: Any) -> bool:
    """Whether the rows of a table are elsewhere until they are asked for."""
    return not isinstance(table, pl.DataFrame)


def count_rows(table: Any) -> int:
    """How many rows a table has."""
    return int(nw.from_native(table).lazy().select(nw.len()).collect().item())


def first_rows(table: Any, rows: int) -> pl.DataFrame:
    """The first rows of a table."""
    return _collected(nw.from_native(table).lazy().head(rows).to_native())


def sample_rows(table: Any, rows: int, seed: int = 0) -> tuple[pl.DataFrame, int]:
    """Some rows of a table, each as likely as any other, or all if there are no more; and how many there are."""
    held = total = count_rows(table)
    rng = np.random.default_rng(seed)
    if library_of(table) != "polars":  # others draw a few more than are asked for where they are
        table = _collected(some_rows(nw.from_native(table), rows, total, rng).to_native())
        held = table.height
    drawn = np.sort(rng.choice(held, min(rows, held), replace=False))
    kept, before = [first_rows(table, 0)], 0
    for part in batches_of(table):
        inside = slice(*np.searchsorted(drawn, [before, before + part.height]))
        kept.append(part[drawn[inside] - before])
        before += part.height
    return pl.concat(kept, how="vertical_relaxed"), total


def library_of(table: Any) -> str:
    """The library that a table is of."""
    return type(table).__module__.partition(".")[0].lstrip("_")


def _collected(table: Any) -> pl.DataFrame:
    found: pl.DataFrame = nw.from_native(table).lazy().collect("polars").to_native()
    return found


def _of_polars(frame: pl.LazyFrame, rows: int) -> Iterator[pl.DataFrame]:
    """The rows of a lazy frame in parts, in their order.

    A Parquet file is read by slices, which takes a quarter of the memory: else Polars reads groups of rows ahead, and a
    group may be large. In other plans every slice would have to be searched for from the first row on.
    """
    plan = frame.slice(1, rows).explain()
    if not (plan.lstrip().startswith("Parquet SCAN") and "SLICE" in plan):
        yield from frame.collect_batches(chunk_size=rows)
        return
    begin, batch = 0, frame.head(rows).collect()
    while len(batch):
        yield batch
        begin += rows
        batch = frame.slice(begin, rows).collect()


def _of_duckdb(table: Any, rows: int) -> Iterable[Any]:
    need("pyarrow", "rows from DuckDB")
    read = table.to_arrow_reader if hasattr(table, "to_arrow_reader") else table.fetch_arrow_reader  # its older name
    batches: Iterable[Any] = read(rows)
    return batches


def _of_ibis(table: Any, rows: int) -> Iterable[Any]:
    need("pyarrow", "rows from Ibis")
    batches: Iterable[Any] = table.to_pyarrow_batches(chunk_size=rows)
    return batches


def _of_spark(table: Any, _rows: int) -> Iterator[Any]:
    """Batches as Spark has them, each packed into one value, so that they come one by one and not as rows."""
    arrow = need("pyarrow", "rows from Spark")

    def packed(batches: Iterable[Any]) -> Iterator[Any]:  # sent to the workers, so all that it needs is in it
        for batch in batches:
            sink = arrow.BufferOutputStream()
            with arrow.ipc.new_stream(sink, batch.schema) as stream:
                stream.write_batch(batch)
            yield arrow.record_batch([arrow.array([sink.getvalue().to_pybytes()], arrow.binary())], names=["part"])

    for row in table.mapInArrow(packed, "part binary").toLocalIterator(prefetchPartitions=True):
        yield from arrow.ipc.open_stream(bytes(row["part"]))


READERS: dict[str, Callable[[Any, int], Iterable[Any]]] = {
    "duckdb": _of_duckdb,
    "ibis": _of_ibis,
    "pyspark": _of_spark,
}
