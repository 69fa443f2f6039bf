"""Rows scored by expressions: how DuckDB, Spark, Ibis and every other engine of queries score a lazy frame.

A query numbers the leaf of each row and, if that is not enough, its value in each column; all else is looked up by
these numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from sparsedensity.density import Density
from sparsedensity.engines.conditions import Columns
from sparsedensity.engines.look_up import Entry, lists_of, look_up, step_function, with_entries
from sparsedensity.errors import DataError
from sparsedensity.models.scoring import EXPLANATION, HIDDEN, LEAF, LOG_DENSITY, UNUSUALNESS, Scoring
from sparsedensity.structures import Cells, RuleList, Tree
from sparsedensity.table import Floats

POINT = "point"
OUTSIDE = -1
MOST_ENTRIES = 10_000
"""Entries of tables that are looked up by comparisons, at most: engines take long to read more."""

LARGEST_POINT = 2**62
STEP_BY_STEP = ("duckdb", "pyspark", "pyspark_connect")
"""Engines that compute the numbers of a step once, however often the next step uses them."""

Step: TypeAlias = Mapping[str, nw.Expr] | Mapping[str, Entry]
"""Columns to add at once."""


def with_scored_queries(frame: nw.LazyFrame[Any], scoring: Scoring) -> nw.LazyFrame[Any]:
    """A lazy frame with new columns, one made of the other, so that no number is computed twice."""
    names, density = frame.collect_schema().names(), scoring.density
    if density.profiles is not None or isinstance(density.structure, Cells):
        _check_engine(frame)
        _check_size(density, lists=lists_of(frame) is not None)
    for step in ScoringQuery(scoring, Columns.of(frame.select(scoring.domain.names))).steps():
        entries = {HIDDEN + name: entry for name, entry in step.items() if isinstance(entry, Entry)}
        expressions = [of.alias(HIDDEN + name) for name, of in step.items() if isinstance(of, nw.Expr)]
        if entries or expressions:  # there are none by feature if every feature has one value only
            frame = with_entries(frame, entries) if entries else frame.with_columns(*expressions)
    return frame.select(*names, *(_hidden(name).alias(scoring.prefix + name) for name in scoring.columns))


def _check_engine(frame: nw.LazyFrame[Any]) -> None:
    """Refuse an engine that puts one step of a query into the other: with many numbers that never ends."""
    of = frame.implementation
    name = frame.to_native().get_backend().name if of.is_ibis() else of.name.lower()
    if name not in STEP_BY_STEP:
        raise DataError(
            f"The model is a table of numbers, too large for a query of {name}. Read the rows into memory, or into "
            "DuckDB, Spark, Polars or Dask."
        )


def _check_size(density: Density, *, lists: bool) -> None:
    """Refuse a model with more numbers than can be looked up by comparisons."""
    match density.structure:
        case Cells() as cells:
            entries, fits = 2 * len(cells.codes), cells.n_points < LARGEST_POINT
        case other:
            entries, fits = (0 if lists else other.n_leaves * len(other.domain.measures)), True
    if entries > MOST_ENTRIES or not fits:
        raise DataError(
            f"The model is a table of {entries:,} numbers, and a query takes {MOST_ENTRIES:,} at most. Fit fewer "
            "leaves, or score the rows in memory, part by part."
        )


@dataclass(frozen=True, eq=False)
class ScoringQuery:
    """The expressions of the new columns."""

    scoring: Scoring
    columns: Columns

    def steps(self) -> Iterator[Step]:
        """Columns to add, each made of those of the steps before: numbers are looked up by plain columns."""
        density, wanted = self.scoring.density, self.scoring.columns
        profiled, by_point = density.profiles is not None, isinstance(density.structure, Cells)
        if profiled or by_point:
            yield {_code(feature): self._code_of(feature) for feature in self._divided}
        if by_point:
            yield {POINT: self._point()}
        yield {LEAF: self._leaf()}
        if LOG_DENSITY in wanted or (profiled and UNUSUALNESS in wanted):
            yield from self._log_density()
        if UNUSUALNESS in wanted:
            yield {UNUSUALNESS: self._unusualness()}
        if EXPLANATION in wanted:
            *texts, outside = self.scoring.texts
            yield {EXPLANATION: _by_leaf(np.array(texts, object), outside)}

    @property
    def _divided(self) -> list[int]:
        """The features of more than one value."""
        return [feature for feature, size in enumerate(self.scoring.density.structure.domain.sizes) if size > 1]

    def _code_of(self, feature: int) -> nw.Expr:
        return self.columns.code(self.scoring.density.structure.domain[feature]).cast(nw.Int64)

    def _leaf(self) -> nw.Expr:
        """The leaf of a row; -1 for one with an unknown value that matters."""
        density, columns = self.scoring.density, self.columns
        match density.structure:
            case Tree() | RuleList() as structure:
                leaf = columns.leaf_number(structure, weights=density.weights, all_known=True)
            case Cells() as cells:
                leaf = self._leaf_of_point(cells)
            case other:
                raise TypeError(f"No query is known for {type(other).__name__}.")
        used = [density.structure.domain[feature] for feature in np.flatnonzero(density.used).tolist()]
        known = [columns.known(feature, self.scoring.nearest) for feature in used]
        inside = nw.all_horizontal(known or [nw.lit(True)], ignore_nulls=False)
        return nw.when(inside).then(leaf).otherwise(nw.lit(OUTSIDE)).cast(nw.Int64)

    @property
    def _strides(self) -> NDArray[np.int64]:
        """How much a step of each feature adds to the number of a point."""
        sizes = np.array(self.scoring.density.structure.domain.sizes, np.int64)
        return np.append(np.cumprod(sizes[:0:-1])[::-1], 1)

    def _point(self) -> nw.Expr:
        """The number of a row among all points of the domain."""
        return _sum([nw.lit(0), *(_hidden(_code(feature)) * int(self._strides[feature]) for feature in self._divided)])

    def _leaf_of_point(self, cells: Cells) -> nw.Expr:
        points, rest = cells.codes.astype(np.int64) @ self._strides, len(cells.codes)
        steps: list[int] = []
        leaves = [rest]
        for leaf in np.argsort(points).tolist():
            point = int(points[leaf])
            if steps[-1:] == [point]:  # the point before is occupied as well
                steps.pop()
                leaves.pop()
            steps += [point, point + 1]
            leaves += [leaf, rest]
        return step_function(_hidden(POINT), steps, leaves)

    def _log_density(self) -> Iterator[Step]:
        """By leaf; with profiles what the value of each feature adds, then the sum."""
        density, domain = self.scoring.density, self.scoring.density.structure.domain
        if density.profiles is None:
            yield {LOG_DENSITY: _by_leaf(density.log_densities, -math.inf)}
            return
        tables = [density.profiles.log_densities[:, domain.span(feature)] for feature in range(len(domain))]
        alike = sum(table[:, 0] for table in tables if table.shape[1] == 1)
        inside = nw.when(_hidden(LEAF) < 0).then(nw.lit(0)).otherwise(_hidden(LEAF))
        yield {_place(f): inside * domain.sizes[f] + _hidden(_code(f)) for f in self._divided}
        yield {_term(f): Entry(HIDDEN + _place(f), _filled(tables[f].ravel())) for f in self._divided}
        terms = [_hidden(_term(feature)) for feature in self._divided]
        yield {LOG_DENSITY: _sum([_by_leaf(density.log_probabilities + alike, -math.inf), *terms])}

    def _unusualness(self) -> nw.Expr:
        density = self.scoring.density
        if density.profiles is None:
            return _by_leaf(density.unusualness_of(density.log_densities), 1.0)
        ranking, log = density.ranking, _hidden(LOG_DENSITY)
        steps, shares = ranking.coarse()
        rarer = 1.0 - ranking.rarest / (1.0 + float(ranking.logs[-1]) - log)
        ranked = step_function(log, steps.tolist(), shares.tolist())
        return nw.when(log < ranking.lowest).then(rarer).otherwise(ranked)


def _hidden(name: str) -> nw.Expr:
    return nw.col(HIDDEN + name)


def _code(feature: int) -> str:
    return f"code_{feature}"


def _place(feature: int) -> str:
    """Where a table of the feature, leaf after leaf, has the value of a row."""
    return f"place_{feature}"


def _term(feature: int) -> str:
    return f"term_{feature}"


def _by_leaf(values: NDArray[Any], outside: Any) -> nw.Expr:
    """What belongs to the leaf of a row, or to no leaf."""
    return look_up(_hidden(LEAF), np.concatenate([np.array([outside], values.dtype), values]), begin=OUTSIDE)


def _sum(terms: Sequence[nw.Expr]) -> nw.Expr:
    total, *others = terms
    for term in others:
        total = total + term
    return total


def _filled(logs: Floats) -> Floats:
    """A table without minus infinity, which stands where no row of a leaf can be: fewer steps say the same."""
    finite = np.isfinite(logs)
    last = np.maximum.accumulate(np.where(finite, np.arange(len(logs)), 0))
    filled: Floats = np.where(finite, logs, logs[np.maximum(last, finite.argmax())])
    return filled
