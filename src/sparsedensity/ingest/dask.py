"""Dask data frames: their domain from the partitions in brief, then their rows as blocks of codes on the workers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import dask
import narwhals as nw
import numpy as np
from dask import delayed
from dask.base import get_scheduler
from dask.delayed import Delayed
from numpy.typing import NDArray

from sparsedensity.domain import Domain
from sparsedensity.engines.dask import DaskEngine, reduced
from sparsedensity.engines.drawing import places, rows_at
from sparsedensity.errors import DataError, RowError
from sparsedensity.ingest import Reading, check_rows_left, encode, open_source, rows_to_use
from sparsedensity.ingest.columns import Rows
from sparsedensity.ingest.infer import Asked
from sparsedensity.ingest.sources import Source
from sparsedensity.ingest.summaries import ColumnSummary, added_up, domain_of, summarise
from sparsedensity.ingest.weighing import Weighing, as_floats, weigh
from sparsedensity.table import Floats, Table

DRAWN = 60_000
"""So many rows, of all partitions together, tell the quantiles of the columns."""
MOST_HELD = 1 << 30
"""Bytes of codes that are held in memory without a cluster; the workers of a cluster put on disk what is too much."""


def open_dask(frame: Any, reading: Reading, weight: str | None, rng: np.random.Generator) -> DaskEngine:
    """What counts the rows of a Dask data frame, given the column that weighs them, if there is one.

    The codes stay on the workers, a byte or two per value; if there are too many, every pass encodes the rows anew.
    """
    parts = frame.to_delayed()
    names = tuple(name for name in frame.columns if name != weight)
    domain, look = _domain(Partitions(names, reading, weight), parts, rng)
    read = delayed(Partitions(names, replace(reading, domain=domain), weight), traverse=False)
    blocks = tuple(delayed(_block)(read, part, number, look.weighing) for number, part in enumerate(parts))
    held = _on_cluster() or look.weighing.rows * len(domain) * domain.code_type.itemsize <= MOST_HELD
    return DaskEngine(domain, dask.persist(*blocks) if held else blocks, look.weighing.rows)


class Look(NamedTuple):
    """A part of a table in brief."""

    weighing: Weighing = Weighing()
    """What its rows weigh,"""
    dropped: int = 0
    """how many more were dropped,"""
    columns: dict[str, ColumnSummary] | None = None
    """and what its columns hold, if it has rows and their domain is not declared."""

    @staticmethod
    def together(looks: Sequence[Look]) -> Look:
        """Some parts as one."""
        weighing = sum((look.weighing for look in looks), Weighing())
        columns = [look.columns for look in looks if look.columns]
        return Look(weighing, sum(look.dropped for look in looks), added_up(columns) if columns else None)


@dataclass(frozen=True)
class Partitions:
    """How partitions are read."""

    names: tuple[Any, ...]
    reading: Reading
    weight: str | None

    @property
    def asked(self) -> Asked:
        """What was asked of the columns."""
        return Asked.of(tuple(map(str, self.names)), self.reading.kinds, self.reading.bins)

    def without(self, names: Sequence[str]) -> Partitions:
        """The same without some columns."""
        return replace(self, names=tuple(name for name in self.names if str(name) not in names))

    def open(self, part: Any) -> tuple[Source, Floats, Rows]:
        """The columns of a partition, the weights of its rows, and which of them count."""
        weights = np.ones(len(part)) if self.weight is None else _weights(part, self.weight)
        source = open_source(part[list(self.names)]).counting(None if self.weight is None else weights > 0)
        source = source if self.reading.domain is None else source.known_to(self.reading.domain)
        return source, weights, rows_to_use(source, self.reading, weights)


def _domain(partitions: Partitions, parts: Sequence[Delayed], rng: np.random.Generator) -> tuple[Domain, Look]:
    """The declared or inferred domain, and all partitions in brief; no row is dropped for lack of an identifier."""
    sent, some = delayed(partitions, traverse=False), -(-DRAWN // len(parts))
    starts = rng.random(len(parts)).tolist()
    looks = [
        delayed(_look)(sent, part, i, some, start) for i, (part, start) in enumerate(zip(parts, starts, strict=True))
    ]
    look: Look = reduced(Look.together, looks)
    _check_rows(partitions, look)
    if partitions.reading.domain is not None:
        return partitions.reading.domain, look
    assert look.columns is not None
    domain = domain_of(look.columns, partitions.asked)
    if not domain.left_out or not look.dropped:
        return domain, look
    again, look = _domain(partitions.without(domain.left_out), parts, rng)
    return replace(again, left_out=(*domain.left_out, *again.left_out)), look


def _weights(part: Any, name: str) -> Floats:
    """The weights of a partition."""
    weights = as_floats(nw.from_native(part)[name].to_numpy(), name)
    weigh(weights, name)
    return weights


def _look(partitions: Partitions, part: Any, number: int, some: int, start: float) -> Look:
    """A partition in brief, by so many of its rows."""
    if not len(part):
        return Look()
    with _naming(number):
        source, weights, keep = partitions.open(part)
        kept = weights[keep]
        look = Look(Weighing.of(kept), int(np.count_nonzero(weights)) - len(kept))
        if partitions.reading.domain is not None or not len(kept):
            return look
        return look._replace(columns=summarise(source, partitions.asked, *_drawn(kept, some, start), keep))


def _drawn(weights: Floats, some: int, start: float) -> tuple[NDArray[np.intp], Floats]:
    """So many rows and what each of them stands for; all of them if there are no more."""
    if len(weights) <= some:
        return np.arange(len(weights)), weights
    total = float(weights.sum())
    rows, times = rows_at(places(total, some, start), weights)
    return rows, times * (total / some)


def _block(partitions: Partitions, part: Any, number: int, weighing: Weighing) -> Table:
    """The distinct rows of a partition; their weights lie on the grid of all partitions."""
    domain = partitions.reading.domain
    assert domain is not None
    if not len(part):
        return Table(domain, np.empty((0, len(domain)), domain.code_type), np.empty(0))
    with _naming(number):
        source, weights, keep = partitions.open(part)
        source.check_names(domain.names)
        encoded = encode(source, domain, nearest=partitions.reading.unknown == "nearest", strict=True, keep=keep)
    return Table.of(domain, encoded.codes[keep], weighing.on_grid(weights[keep]) * weighing.step)


def _check_rows(partitions: Partitions, look: Look) -> None:
    """Refuse a table of which no row counts, or whose weights cannot be added up."""
    if look.dropped:
        check_rows_left(look.weighing.rows)
    if partitions.weight is not None:
        look.weighing.check(partitions.weight)
    elif not look.weighing.rows:
        raise DataError("The table has no rows.")


@contextmanager
def _naming(number: int) -> Iterator[None]:
    """Name the partition that has a bad row, which is counted from its beginning."""
    try:
        yield
    except RowError as error:
        raise RowError(f"{error.what} in partition {number}", error.row, error.way_out) from None


def _on_cluster() -> bool:
    """Whether a client hands the work to a cluster; schedulers on this machine are plain functions."""
    return hasattr(get_scheduler(), "__self__")
