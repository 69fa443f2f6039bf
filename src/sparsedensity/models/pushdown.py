"""Rows that stay where they are: a lazy frame is scored and counted by its own engine.

Polars and Dask run the code for tables in memory on part after part, all others compute expressions. New columns come
back as a lazy frame of the same kind: nothing is read before its user asks for rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import narwhals as nw
import numpy as np

from sparsedensity.engines.conditions import Columns
from sparsedensity.errors import ColumnsError, DataError, ParameterError
from sparsedensity.ingest.encode import check_type
from sparsedensity.ingest.lazy import LazyTable
from sparsedensity.models.scored_parts import LARGEST, with_scored_parts
from sparsedensity.models.scored_queries import with_scored_queries
from sparsedensity.models.scoring import EXPLANATION, HIDDEN, LEAF, LOG_DENSITY, UNUSUALNESS, Scoring
from sparsedensity.report.explanation import leaf_in_words
from sparsedensity.report.model import path_of
from sparsedensity.structures import Cells
from sparsedensity.table import Floats

if TYPE_CHECKING:
    from sparsedensity.models.base import DensityModel

IN_WORDS = {
    "text": "text",
    "boolean": "true or false",
    "integer": "a number",
    "float": "a number",
    "date": "a date",
    "moment": "a date",
    "time": "a time of day",
}
"""What a column of a type holds."""
WEIGHT, STRANGE, FRACTION = HIDDEN + "weight", HIDDEN + "strange", HIDDEN + "fraction"
LARGEST_WHOLE = 2.0**52
"""Larger numbers are whole."""


class Counted(NamedTuple):
    """A table by the leaves of a model."""

    weights: Floats
    """The weight in every leaf,"""
    outside: float
    """and outside the domain."""
    whole: bool
    """Whether weights are whole numbers, so that they count rows."""


@dataclass(frozen=True, eq=False)
class LazilyPlaced:
    """The rows of a table that is elsewhere, in the leaves of a model."""

    model: DensityModel
    table: LazyTable

    @classmethod
    def of(cls, model: DensityModel, table: LazyTable) -> Self:
        """The rows of a table that the model was not fitted to, so that they may have unknown values."""
        if model.unknown == "error":
            raise ParameterError("unknown", "error", "'zero' or 'nearest' for rows that stay where they are")
        return cls(model, table)

    @property
    def leaves(self) -> Any:
        """The table with the number of the leaf of every row."""
        return self._given(LEAF)

    @property
    def log_densities(self) -> Any:
        """The table with the log density of every row."""
        return self._given(LOG_DENSITY)

    @property
    def unusualness(self) -> Any:
        """The table with the share of the mass that is denser than every row."""
        return self._given(UNUSUALNESS)

    @property
    def explanations(self) -> Any:
        """The table with all that can be told of a row by its leaf."""
        return self._given(LEAF, LOG_DENSITY, UNUSUALNESS, EXPLANATION)

    def log_likelihood(self) -> float:
        """The sum of the log densities; rows of weight 0 do not count, whatever their density."""
        density = self.model.density_
        if density.profiles is None:
            by_leaf, outside, _ = self.counted()
            held = by_leaf > 0
            return -math.inf if outside > 0 else float(by_leaf[held] @ density.log_densities[held])
        rows = self._weighed(LOG_DENSITY).filter(nw.col(WEIGHT) + nw.col(STRANGE) > 0)
        log = nw.col(WEIGHT) * nw.col(LOG_DENSITY)
        found = _collected(rows.with_columns(log.alias(LOG_DENSITY)).select(nw.col(LOG_DENSITY, WEIGHT, STRANGE).sum()))
        self._check_weights(found)
        return float(found[LOG_DENSITY].item())

    def counted(self) -> Counted:
        """The weight in every leaf."""
        found = _collected(self._weighed(LEAF).group_by(LEAF).agg(nw.col(WEIGHT, STRANGE, FRACTION).sum()))
        self._check_weights(found)
        by_leaf = np.zeros(self.model.density_.structure.n_leaves + 1)
        by_leaf[found[LEAF].to_numpy()] = found[WEIGHT].to_numpy()
        return Counted(by_leaf[:-1], float(by_leaf[-1]), not found[FRACTION].sum())

    def _given(self, *columns: str) -> Any:
        """The table as it came, with new columns."""
        return _scored(self.table.frame, self._scoring(columns)).to_native()

    def _scoring(self, columns: Sequence[str], prefix: str = "") -> Scoring:
        texts = leaf_texts(self.model) if EXPLANATION in columns else ()
        return Scoring(self.model.density_, columns, self.model.unknown == "nearest", texts, prefix)

    def _weighed(self, column: str) -> nw.LazyFrame[Any]:
        """The rows with one new column, and their weights."""
        scoring, weight, frame = self._scoring([column], HIDDEN), self.table.weight, self.table.frame
        _check_columns(frame, scoring)
        needed = dict.fromkeys([*scoring.domain.names, *([] if weight is None else [weight])])
        scored, answer = _scored(frame.select(*needed), scoring), nw.col(HIDDEN + column).alias(column)
        if weight is None:
            ones = nw.lit(1.0).alias(WEIGHT), nw.lit(0).alias(STRANGE), nw.lit(0).alias(FRACTION)
            return scored.with_columns(*ones).select(answer, WEIGHT, STRANGE, FRACTION)
        if not frame.collect_schema()[weight].is_numeric():
            raise DataError(f"The weights in {weight!r} must be real numbers, one for every row.")
        given = nw.col(weight).cast(nw.Float64)
        good = ((given >= 0) & (given <= LARGEST)).fill_null(False)
        weights = nw.when(good).then(given).otherwise(nw.lit(0.0)).alias(WEIGHT)
        strange = nw.when(good).then(nw.lit(0)).otherwise(nw.lit(1)).alias(STRANGE)
        small = nw.when(nw.col(WEIGHT) < LARGEST_WHOLE).then(nw.col(WEIGHT)).otherwise(nw.lit(0.0))
        fraction = nw.when(small.cast(nw.Int64).cast(nw.Float64) == small).then(nw.lit(0)).otherwise(nw.lit(1))
        rows = scored.with_columns(weights, strange).with_columns(fraction.alias(FRACTION))
        return rows.select(answer, WEIGHT, STRANGE, FRACTION)

    def _check_weights(self, found: nw.DataFrame[Any]) -> None:
        weight = self.table.weight
        if found[STRANGE].sum():
            raise DataError(f"Some weights in {weight!r} are missing, negative or infinite. Give every row a weight.")
        if not len(found) or not found[WEIGHT].sum():
            if weight is None:
                raise DataError("The table has no rows.")
            raise DataError(f"{weight!r} is zero in every row. Give at least one row a positive weight.")


def leaf_texts(model: DensityModel) -> list[str]:
    """What is told of the rows of every leaf and, last, of those outside the domain."""
    density = model.density_
    structure, shares, probabilities = density.structure, density.weights / density.weights.sum(), density.probabilities
    names = [""] * structure.n_leaves if isinstance(structure, Cells) else [leaf.name for leaf in model.leaves_]
    numbers = zip(names, shares.tolist(), probabilities.tolist(), strict=True)
    texts = [leaf_in_words(leaf, path_of(structure, leaf), *told) for leaf, told in enumerate(numbers)]
    return [*texts, "outside the domain"]


def _scored(frame: nw.LazyFrame[Any], scoring: Scoring) -> nw.LazyFrame[Any]:
    """A lazy frame with new columns, none of which it may have already."""
    _check_columns(frame, scoring)
    new = [scoring.prefix + column for column in scoring.columns]
    for name in frame.collect_schema().names():
        if name.casefold() in new:  # to many engines names of other case are the same
            raise ColumnsError(f"The table has a column {name!r} already. Rename it, or leave it out.")
    in_parts = frame.implementation.is_polars() or frame.implementation.is_dask()
    return with_scored_parts(frame, scoring) if in_parts else with_scored_queries(frame, scoring)


def _check_columns(frame: nw.LazyFrame[Any], scoring: Scoring) -> None:
    """Refuse a table that lacks a column that matters, or has it in another type; others may be there or not."""
    schema = frame.collect_schema()
    lacking = [name for name in scoring.domain.names if name not in schema]
    if lacking:
        raise ColumnsError(
            f"The table has no column {lacking[0]!r}, which the model asks for. Columns: {', '.join(schema.names())}."
        )
    told = {name: schema[name] for name in scoring.domain.names if schema[name] not in (nw.Object, nw.Categorical)}
    for name, held in Columns(told).types.items():
        check_type(scoring.domain[name], IN_WORDS[held])


def _collected(frame: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
    """What an engine counted, in memory; Polars reads no more than a part of the rows at a time."""
    return frame.collect("polars", **({"engine": "streaming"} if frame.implementation.is_polars() else {}))
