"""A table that lives in a database or on a cluster: what has to be known of it is asked for by queries.

Some rows are brought home first. They tell most of every column; one query over all rows then tells what they lack:
extremes, missing values, values that were not drawn.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from typing import Any

import narwhals as nw
import numpy as np

from sparsedensity.domain import MAX_VALUES, Domain, Feature
from sparsedensity.engines.conditions import Columns
from sparsedensity.engines.query import MOST_SUMS, QueryEngine, on_grid
from sparsedensity.engines.samplers import some_rows
from sparsedensity.errors import ColumnsError, DataError
from sparsedensity.ingest import Reading, check_rows_left
from sparsedensity.ingest.columns import column_of_series
from sparsedensity.ingest.encode import encode, of_other_type, other_type, unknown_value
from sparsedensity.ingest.infer import Asked
from sparsedensity.ingest.joining import join_columns
from sparsedensity.ingest.sources import name_difference, open_source
from sparsedensity.ingest.summaries import ColumnSummary, different, domain_of, summarise, tell
from sparsedensity.ingest.weighing import Weighing
from sparsedensity.table import Codes

DRAWN = 60_000
"""Rows that are brought home to tell the columns."""

Lazy = nw.LazyFrame[Any]


def open_query(frame: Lazy, reading: Reading, weight: str | None, rng: np.random.Generator) -> QueryEngine:
    """An engine that counts the rows of a lazy frame where they are, in the declared or inferred domain."""
    rows, nearest = _Rows.of(frame, weight), reading.unknown == "nearest"
    if reading.domain is None:
        rows, domain = rows.with_domain(reading, rng)
    else:
        domain, rows = reading.domain, rows.without(reading.domain.left_out)
        if rows.names != domain.names:
            raise ColumnsError(name_difference(rows.names, domain.names))
        rows = rows.without_missing(reading)
        rows.check_known(domain, nearest)
    return rows.engine(domain, nearest)


@dataclass(frozen=True)
class _Rows:
    """The rows that count, and the columns that may be features."""

    frame: Lazy
    names: tuple[str, ...]
    weight: str | None
    weighing: Weighing

    @classmethod
    def of(cls, frame: Lazy, weight: str | None) -> _Rows:
        """All rows but those of weight 0, and all columns but the weights."""
        names = tuple(name for name in frame.collect_schema().names() if name != weight)
        weighing = _weigh(frame, weight, len(names))
        return cls(frame if weight is None else frame.filter(nw.col(weight) > 0), names, weight, weighing)

    @cached_property
    def columns(self) -> Columns:
        """What can be asked of the columns."""
        return Columns.of(self.frame.select(self.names))

    def without(self, names: Collection[str]) -> _Rows:
        """The same rows without some columns."""
        return replace(self, names=tuple(name for name in self.names if name not in names))

    def without_missing(self, reading: Reading) -> _Rows:
        """The rows without a missing value, if that was asked for; they may be refused instead."""
        if reading.missing == "category":
            return self
        gone = self.count_by_column({name: self.columns.missing(name) for name in self.names})
        if not gone:
            return self
        if reading.missing == "error":
            name, rows = next(iter(gone.items()))
            ways = "Fill it in, or use missing='category' or missing='drop'."
            raise DataError(f"{name!r} is missing in {rows:,} of {self.weighing.rows:,} rows. {ways}")
        kept = self.frame.filter(*(~self.columns.missing(name) for name in gone))
        check_rows_left(kept.select(nw.len().alias("rows")).collect("pyarrow")["rows"][0])
        return replace(self, frame=kept, weighing=_weigh(kept, self.weight, len(self.names)))

    def count_by_column(self, conditions: Mapping[str, nw.Expr]) -> dict[str, int]:
        """In how many rows a condition is true, column by column, if in any: one query for all."""
        named = [test.cast(nw.Int32).sum().alias(f"rows {i}") for i, test in enumerate(conditions.values())]
        (found,) = self.frame.select(*named).collect("pyarrow").rows()
        return {name: int(rows) for name, rows in zip(conditions, found, strict=True) if rows}

    def with_domain(self, reading: Reading, rng: np.random.Generator) -> tuple[_Rows, Domain]:
        """The rows to use and their domain. No row is dropped because it lacks an identifier."""
        kept = self.without_missing(reading)
        domain = _infer(kept, reading, rng)
        if kept is self or not domain.left_out:
            return kept.without(domain.left_out), domain
        rows, again = self.without(domain.left_out).with_domain(reading, rng)
        return rows, replace(again, left_out=(*domain.left_out, *again.left_out))

    def check_known(self, domain: Domain, nearest: bool) -> None:
        """Raise if a value lies outside a declared domain."""
        strange = {feature.name: ~self.columns.known(feature, nearest) for feature in domain}
        for name in self.count_by_column(strange):
            feature, found = domain[name], self.frame.filter(strange[name]).select(name).head(1).collect("pyarrow")
            column = column_of_series(name, found[name], None)
            raise (
                other_type(column, feature)
                if of_other_type(column, feature)
                else unknown_value(feature, column.value(0), nearest)
            )

    def engine(self, domain: Domain, nearest: bool) -> QueryEngine:
        """What counts the rows."""
        total, step = self.weighing.total, self.weighing.step
        if self.weight is not None and step != 1:
            summed = self.frame.select(on_grid(self.weight, step).sum().alias("total")).collect("pyarrow")
            total = float(summed["total"][0]) * step
        encode_home = partial(_codes, domain, nearest)
        return QueryEngine(self.frame, domain, self.weighing.rows, total, encode_home, self.weight, step)


def _codes(domain: Domain, nearest: bool, home: Any) -> Codes:
    return encode(open_source(home), domain, nearest=nearest, strict=True).codes


def _infer(rows: _Rows, reading: Reading, rng: np.random.Generator) -> Domain:
    """The domain of all rows, from some of them and one query, or a few."""
    asked = Asked.of(rows.names, reading.kinds, reading.bins)
    wanted = [*rows.names, *([] if rows.weight is None else [rows.weight])]
    drawn = some_rows(rows.frame.select(wanted), DRAWN, rows.weighing.rows, rng).collect("pyarrow")
    home = drawn.select(rows.names)
    for name in rows.names:
        if home.schema[name].is_float():
            _check_finite(name, home[name].drop_nulls().to_list())
    weights = np.ones(len(home)) if rows.weight is None else drawn[rows.weight].cast(nw.Float64).to_numpy()
    some = summarise(open_source(home), asked, np.arange(len(home)), weights)
    if len(home) < rows.weighing.rows:
        some = _Completing(rows, asked, some).all_columns()
    return domain_of(some, asked)


@dataclass(frozen=True)
class _Completing:
    """Columns that are known by some of their rows, completed by what all rows tell."""

    rows: _Rows
    asked: Asked
    some: Mapping[str, ColumnSummary]

    def all_columns(self) -> dict[str, ColumnSummary]:
        """Every column of the whole table in brief."""
        asked = {(word, name): test for name in self.some for word, test in self._questions(name).items()}
        named = [test.alias(f"{i}") for i, test in enumerate(asked.values())]
        found = self.rows.frame.select(*named).collect("pyarrow")
        answers = {key: found[f"{i}"] for i, key in enumerate(asked)}
        return {
            name: self._completed(summary, {word: answers[word, of] for word, of in answers if of == name})
            for name, summary in self.some.items()
        }

    def _questions(self, name: str) -> dict[str, nw.Expr]:
        """What the query over all rows is asked about a column: sums, and values to be told."""
        columns, summary = self.rows.columns, self.some[name]
        missing = columns.missing(name)
        questions = {"missing": missing.cast(nw.Int32).sum()}
        levels = self._levels(summary)
        if self._may_lack_values(summary) and levels.size <= MOST_SUMS:
            questions["strange"] = (~columns.known(levels)).cast(nw.Int32).sum()
        if summary.told.labels is None:
            value = columns.value(name) if columns.types[name] == "moment" else nw.col(name)
            value = nw.when(~missing).then(value)
            questions |= {"low": value.min(), "high": value.max()}
            if columns.types[name] == "float":
                questions["odd"] = nw.when(value.round() != value).then(value).max()
            elif columns.types[name] == "moment":
                clock = value.dt.hour() + value.dt.minute() + value.dt.second()
                questions["odd"] = nw.when(clock != 0).then(value).max()
        return questions

    def _completed(self, summary: ColumnSummary, answers: Mapping[str, nw.Series[Any]]) -> ColumnSummary:
        told, name, missing = summary.told, summary.told.name, int(answers["missing"][0])
        found = [answers[word].drop_nulls() for word in ("low", "high", "odd") if word in answers]
        if self.rows.columns.types[name] == "float":
            _check_finite(name, [float(value) for series in found for value in series.to_list()])
        if self._may_lack_values(summary) and ("strange" not in answers or answers["strange"][0]):
            found.append(self._other_values(summary))
        pieces = [told, *(column_of_series(name, series, None) for series in found if len(series))]
        if missing:
            pieces.append(replace(told.only(np.zeros(1, np.intp)), missing=np.ones(1, bool)))
        most = len(different(told, summary.most)) if self._has_too_many(summary) else summary.most
        whole = tell(reduce(join_columns, pieces), most)
        return replace(summary, told=whole, rows=self.rows.weighing.rows, missing=missing, most=most)

    def _may_lack_values(self, summary: ColumnSummary) -> bool:
        """Whether a value that was not drawn would change the feature; of dates and times only extremes count."""
        is_moment = summary.told.type in ("date", "time")
        return not (is_moment or summary.told.declared or summary.many or self._has_too_many(summary))

    def _has_too_many(self, summary: ColumnSummary) -> bool:
        """Whether a text that may be left out has more values than a feature can have.

        No text with as many values as possible would show so many different ones in the drawn rows.
        """
        is_free = summary.told.type == "text" and self.asked.kind(summary.told) is None and len(self.some) > 1
        shown = MAX_VALUES * -math.expm1(-(summary.rows - summary.missing) / MAX_VALUES)
        return is_free and len(summary.told.labels or ()) > shown + 5 * math.sqrt(shown)

    def _levels(self, summary: ColumnSummary) -> Feature:
        """The values told of a column as a feature, missing among them."""
        told = summary.told if summary.told.missing is None else summary.told.only(~summary.told.missing)
        values = [told.value(int(row)) for row in different(told, summary.most)]
        return Feature.nominal(told.name, values, missing=True)  # type: ignore[arg-type]

    def _other_values(self, summary: ColumnSummary) -> nw.Series[Any]:
        """Values that were not drawn, if those drawn are few; else all of them, as far as they are kept."""
        name, levels, columns = summary.told.name, self._levels(summary), self.rows.columns
        known = columns.known(levels) if levels.size <= MOST_SUMS else columns.missing(name)
        others = self.rows.frame.filter(~known).group_by(name).agg(nw.len().alias(f"rows of {name}"))
        return others.head(summary.most).collect("pyarrow")[name]


def _check_finite(name: str, numbers: Iterable[float]) -> None:
    infinite = next((number for number in numbers if math.isinf(number)), None)
    if infinite is not None:
        ways = "Replace it with a finite number or with NaN, which counts as missing."
        raise DataError(f"{name!r} holds infinity ({infinite}). {ways}")


def _weigh(frame: Lazy, weight: str | None, width: int) -> Weighing:
    """What the rows weigh, by one query, or one sentence about what is wrong with it."""
    if weight is None:
        rows = int(frame.select(nw.len().alias("rows")).collect("pyarrow")["rows"][0])
        weighing = Weighing(rows, float(rows), 1.0)
    else:
        weighing = _weigh_column(frame, weight)
    if not weighing.rows:
        found = f"Found array with 0 sample(s) (shape=(0, {width})) while a minimum of 1 is required"
        raise DataError(f"{found}: the table has no rows.")
    return weighing


def _weigh_column(frame: Lazy, weight: str) -> Weighing:
    dtype = frame.collect_schema()[weight]
    if not dtype.is_numeric():
        raise DataError(f"{weight!r} is of type {dtype}. Weights must be real numbers.")
    missing = Columns.of(frame.select(weight)).missing(weight)
    number = nw.when(~missing).then(nw.col(weight).cast(nw.Float64))
    found = frame.select(
        nw.len().alias("rows"),
        missing.cast(nw.Int32).sum().alias("missing"),
        number.min().alias("low"),
        number.max().alias("high"),
        number.sum().alias("total"),
        (number > 0).cast(nw.Int32).sum().alias("positive"),
        (number.round() != number).cast(nw.Int32).sum().alias("broken"),
    ).collect("pyarrow")
    return _checked(weight, found.rows(named=True)[0])


def _checked(weight: str, found: Mapping[str, Any]) -> Weighing:
    """The weights as they were found, which must be finite and not negative."""
    rule = "Weights must be finite and not negative."
    if not found["rows"]:
        return Weighing()
    if found["missing"]:
        raise DataError(f"{weight!r} is missing in {found['missing']:,} of {found['rows']:,} rows. {rule}")
    for extreme in (found["low"], found["high"]):
        if extreme < 0 or math.isinf(extreme):
            raise DataError(f"{weight!r} is {extreme} in some row. {rule}")
    weighing = Weighing(int(found["positive"]), float(found["total"]), float(found["high"]), not found["broken"])
    weighing.check(repr(weight))
    return weighing
