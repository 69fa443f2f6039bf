"""Lazy frames read part by part, so that no more than a part is ever in memory as it was given.

A first pass over the rows tells the domain, a second encodes them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sparsedensity.domain import Domain
from sparsedensity.engines.drawing import expected_distinct, places
from sparsedensity.errors import DataError, RowError
from sparsedensity.ingest import Reading, Source, check_rows_left, encode, open_source, rows_to_use
from sparsedensity.ingest.batches import batches_of
from sparsedensity.ingest.columns import Rows
from sparsedensity.ingest.infer import Asked
from sparsedensity.ingest.storing import stored
from sparsedensity.ingest.summaries import ColumnSummary, added_up, domain_of, summarise
from sparsedensity.ingest.weighing import Weighing, as_floats, weigh
from sparsedensity.search.interrupts import Quit, asked_to_stop
from sparsedensity.table import Codes, Floats, Table

DRAWN = 100_000
"""Rows that tell quantiles, drawn at equal steps: of the share of the rows in a bin half a percent may be amiss."""
FEW_ROWS = 1 << 22
"""So many rows are told apart at a time, which takes a second and 64 MB; of no more, all are, as in memory."""
SAMPLED = 1 << 18
"""Of more rows, so many tell whether to tell all of them apart:"""
WORTHWHILE = 0.25
"""it is done if at most this share is expected to be different. Else it would take more memory than it saves."""

WEIGHTS = "sample_weight"

Say = Callable[[str], None]
Answer = TypeVar("Answer")


class Part(NamedTuple):
    """Some rows that follow each other."""

    batch: pl.DataFrame
    weights: Floats | None
    begin: int
    """How many rows come before them."""

    def source(self) -> Source:
        """Their columns."""
        return open_source(self.batch).counting(None if self.weights is None else self.weights > 0)


@dataclass(frozen=True)
class Parts:
    """A lazy frame in parts."""

    frame: pl.LazyFrame
    weight: str | None
    """The column of weights."""
    weighing: Weighing
    rows: int
    say: Say

    @classmethod
    def of(cls, frame: pl.LazyFrame, weight: str | None, say: Say) -> Parts:
        """Count the rows, and weigh them."""
        if weight is None:
            rows = int(frame.select(pl.len()).collect().item())
            weighing = Weighing(rows, float(rows), 1.0)
        else:
            rows, weighing = 0, Weighing()
            for batch, some in _each(frame.select(weight), lambda batch, _: (batch, _weighed(batch[weight]))):
                rows, weighing = rows + len(batch), weighing + some
        parts = cls(frame, weight, weighing, rows, say)
        if not rows or not parts.names:
            open_source(frame.select(parts.names).head(0).collect())  # says what is lacking
        weighing.check(WEIGHTS)
        return parts

    @property
    def names(self) -> tuple[str, ...]:
        """The columns without the weights."""
        return tuple(name for name in self.frame.collect_schema().names() if name != self.weight)

    def without(self, names: Collection[str]) -> Parts:
        """The same table without those of these columns that it has."""
        kept = [name for name in self.frame.collect_schema().names() if name == self.weight or name not in names]
        return replace(self, frame=self.frame.select(kept))

    def each(self, ask: Callable[[Part], Answer]) -> Iterator[Answer]:
        """Ask something of every part, in their order."""
        read = 0

        def answer(batch: pl.DataFrame, begin: int) -> Answer:
            nonlocal read
            read = begin + len(batch)
            self.say(f"{read:,} of {self.rows:,} rows")
            if read > self.rows:
                raise _other_rows()
            return ask(self._part(batch, begin))

        yield from _each(self.frame, answer)
        if read < self.rows:
            raise _other_rows()

    def _part(self, batch: pl.DataFrame, begin: int) -> Part:
        if self.weight is None:
            return Part(batch, None, begin)
        weights = self.weighing.on_grid(as_floats(batch[self.weight], WEIGHTS)) * self.weighing.step
        return Part(batch.drop(self.weight), weights, begin)


def read_lazy(
    frame: pl.LazyFrame, reading: Reading, weight: str | None, rng: np.random.Generator, say: Say = lambda _: None
) -> Table:
    """The rows of a lazy frame with their weights: the distinct ones, unless they are too many.

    The domain is that of the collected frame, but for quantiles: some of the rows tell them.
    """
    parts = Parts.of(frame, weight, say)
    domain = reading.domain or _infer(parts, reading, rng)
    weights = None if weight is None else np.empty(parts.rows)
    codes = stored(_encoded(parts.without(domain.left_out), domain, reading, weights), domain, parts.rows)
    return _as_table(domain, codes, None if weights is None else weights[: len(codes)], rng)


def _infer(parts: Parts, reading: Reading, rng: np.random.Generator) -> Domain:
    """The domain of the rows to use. No row is dropped because it lacks an identifier."""
    asked, chosen = Asked.of(parts.names, reading.kinds, reading.bins), _at_equal_steps(parts.rows, DRAWN, rng)
    kept, crowded = 0, dict[str, ColumnSummary]()

    def in_brief(part: Part) -> dict[str, ColumnSummary]:
        nonlocal kept
        source = part.source()
        keep = rows_to_use(source, reading, part.weights)
        kept += int(keep.sum())
        texts = _texts_in_brief(part.batch, keep, asked, crowded) if keep.any() else {}
        crowded.update((name, brief) for name, brief in texts.items() if brief.crowded)
        drawn, weights = _drawn(part, keep, chosen)
        others = summarise(source.without(texts), asked, drawn, weights * (parts.rows / len(chosen)), keep)
        return {name: texts[name] if name in texts else others[name] for name in source.names}

    summaries = added_up(parts.each(in_brief))
    check_rows_left(kept)
    domain = domain_of(summaries, asked)
    if not domain.left_out or reading.missing != "drop" or kept == parts.rows:
        return domain
    again = _infer(parts.without(domain.left_out), reading, rng)
    return replace(again, left_out=(*domain.left_out, *again.left_out))


def _texts_in_brief(
    batch: pl.DataFrame, keep: Rows, asked: Asked, crowded: Mapping[str, ColumnSummary]
) -> dict[str, ColumnSummary]:
    """Every column of text in brief, from its different values alone, which Polars finds faster than codes.

    Columns that are crowded by the parts before are not looked at again.
    """
    texts = (batch if keep.all() else batch.filter(keep)).select(pl.col(pl.String))
    found = {name: brief for name, brief in crowded.items() if name in texts.columns}
    for different in texts.drop(found).select(pl.all().unique().implode()):
        alone = open_source(different.explode().to_frame())
        found |= summarise(alone, asked, np.empty(0, np.intp), np.empty(0))
    return {name: replace(brief, rows=len(texts), missing=texts[name].null_count()) for name, brief in found.items()}


def _drawn(part: Part, keep: Rows, chosen: NDArray[np.intp]) -> tuple[NDArray[np.intp], Floats]:
    """Which of the rows to keep are among some rows of the whole table, and what they weigh."""
    begin, end = np.searchsorted(chosen, [part.begin, part.begin + len(keep)])
    drawn = np.zeros(len(keep), bool)
    drawn[chosen[begin:end] - part.begin] = True
    weights = np.ones(len(keep)) if part.weights is None else part.weights
    return np.flatnonzero(drawn[keep]), weights[drawn & keep]


def _encoded(parts: Parts, domain: Domain, reading: Reading, weights: Floats | None) -> Iterator[Codes]:
    """The codes of the rows to use, part by part; their weights are filled in."""
    kept = 0

    def codes_of(part: Part) -> Codes:
        nonlocal kept
        source = part._replace(batch=_with_known_texts(part.batch, domain)).source()
        keep = rows_to_use(source, reading, part.weights)
        source.check_names(domain.names)
        codes = encode(source, domain, nearest=reading.unknown == "nearest", strict=True, keep=keep).codes
        if weights is not None and part.weights is not None:
            weights[kept : kept + keep.sum()] = part.weights[keep]
        kept += int(keep.sum())
        return codes if keep.all() else codes[keep]

    yield from parts.each(codes_of)
    check_rows_left(kept)


def _with_known_texts(batch: pl.DataFrame, domain: Domain) -> pl.DataFrame:
    """Text that a domain knows as categories, which are codes already; a column that holds other text is as it was."""
    texts = [feature for feature in domain if feature.known and batch.schema.get(feature.name) == pl.String]
    known = {feature.name: [value for value in feature.known if isinstance(value, str)] for feature in texts}
    typed = batch.select(pl.col(name).cast(pl.Enum(values), strict=False) for name, values in known.items())
    return batch.with_columns(column for column in typed if column.null_count() == batch[column.name].null_count())


def _as_table(domain: Domain, codes: Codes, weights: Floats | None, rng: np.random.Generator) -> Table:
    """Equal rows are collapsed if there are few rows, or few different ones among them."""
    if len(codes) > FEW_ROWS:
        sample = Table.of(domain, codes[_at_equal_steps(len(codes), SAMPLED, rng)])
        if expected_distinct(sample.weights, len(codes)) > WORTHWHILE * len(codes):
            whole = Table.of_equal_weights(domain, codes)
            return whole if weights is None else replace(whole, weights=weights)
    return Table.of_parts(domain, codes, weights, FEW_ROWS)


def _at_equal_steps(rows: int, size: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """The numbers of some rows, at equal steps from a random start; all if they are no more."""
    return places(float(rows), min(size, rows), rng.random()).astype(np.intp)


def _each(frame: pl.LazyFrame, ask: Callable[[pl.DataFrame, int], Answer]) -> Iterator[Answer]:
    """Ask something of every batch, given the number of its first row; a bad row is called by its number in all."""
    begin = 0
    for batch in batches_of(frame):
        if asked_to_stop():
            raise Quit
        try:
            yield ask(batch, begin)
        except RowError as error:
            raise RowError(error.what, error.row + begin, error.way_out) from None
        begin += len(batch)


def _weighed(weights: pl.Series) -> Weighing:
    return weigh(as_floats(weights, WEIGHTS), WEIGHTS)


def _other_rows() -> DataError:
    return DataError(
        "The lazy frame had more or fewer rows when it was read again. If it draws them at random, or if its files "
        "change, collect it first."
    )
