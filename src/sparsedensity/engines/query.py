"""Rows in a database or on a cluster, counted there by queries: only counts and a sample come home."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from sparsedensity.domain import Domain, Feature
from sparsedensity.engines.base import CountedOnce
from sparsedensity.engines.conditions import Columns
from sparsedensity.engines.memory import MemoryEngine
from sparsedensity.engines.samplers import free_name, some_rows
from sparsedensity.structures import RuleList, Structure, Tree
from sparsedensity.table import Codes, Floats, Table

MOST_SUMS = 64
"""A feature with more values is counted by a query of its own, grouped by value."""
PAIRED = 1 << 31
"""Two counts of fewer rows fit into one sum: the second is counted in steps of this."""
MOST_UNEVEN = 10
"""Rows of uneven weights: at most so many times as many are drawn, so that the heavy ones do not stand for too much."""


@dataclass(frozen=True, eq=False)
class QueryEngine(CountedOnce):
    """Counts the rows of a lazy frame, all of which count and lie in the domain."""

    frame: nw.LazyFrame[Any]
    domain: Domain
    rows: int
    n: float
    """The total weight."""
    encode: Callable[[Any], Codes]
    """The codes of a frame of the same columns that was brought home."""
    weight: str | None = None
    """The column of weights, which are all above 0,"""
    step: float = 1.0
    """and the step of the grid on which they are added up."""

    def leaf_weights(self, structure: Structure) -> Floats:
        """The weight in every leaf of a structure."""
        return self._summed(structure, [])[:, 0]

    def leaf_value_weights(self, structure: Structure) -> Floats:
        """The weight in every leaf of a structure at every value of every feature.

        The last value of a feature has what the others leave of the leaf's weight.
        """
        few = [i for i, size in enumerate(self.domain.sizes) if size <= MOST_SUMS]
        counted = [(i, code) for i in few for code in range(self.domain.sizes[i] - 1)]
        conditions = [self._columns.is_one_of(self.domain[i], {code}, nearest=True) for i, code in counted]
        summed = self._summed(structure, conditions)
        out = np.zeros((structure.n_leaves, int(self.domain.starts[-1])))
        out[:, [self.domain.starts[i] + code for i, code in counted]] = summed[:, 1:]
        for i in range(len(self.domain)):
            values = out[:, self.domain.span(i)]
            if i in few:
                values[:, -1] = summed[:, 0] - values.sum(axis=1)
            else:
                values[...] = self._by_value(structure, self.domain[i])
        return out

    def sample(self, size: int, rng: np.random.Generator) -> Table:
        """Rows drawn by the engine, then at home by weight; the same for a seed in whatever order they come."""
        uneven = 1.0 if self.weight is None else min(self._unevenness(), MOST_UNEVEN)
        drawn = some_rows(self._rows, uneven * size, self.rows, rng).collect("pyarrow")
        weights = None if self.weight is None else _numbers(drawn[self._name("weight")])
        codes = self.encode(drawn.select(self.domain.names))
        home = MemoryEngine(Table.of(self.domain, codes, weights).in_order())
        table = home.table if len(codes) <= size else home.sample(size, rng)
        return Table(self.domain, table.codes, table.weights * (self.n / table.n))

    def collapsed(self) -> None:
        """Nothing: whoever opened the table would have brought home few distinct rows."""

    def distinct(self, most: int) -> Table | None:
        """The distinct rows with their weights, unless there are more than so many."""
        keys = [f"key {i}" for i in range(len(self.domain))]
        asked = {key: self._key(feature) for key, feature in zip(keys, self.domain, strict=True)}
        counted = self._rows.with_columns(**asked).group_by(keys).agg(self._total().alias("total"))
        found = counted.head(most + 1).collect("pyarrow")
        if len(found) > most:
            return None
        codes = [self._codes_of_keys(feature, found[key]) for key, feature in zip(keys, self.domain, strict=True)]
        weights = _numbers(found["total"]) * self.step
        return Table.of(self.domain, np.stack(codes, axis=1), weights).in_order()

    @cached_property
    def _columns(self) -> Columns:
        return Columns.of(self.frame.select(self.domain.names))

    @cached_property
    def _rows(self) -> nw.LazyFrame[Any]:
        """The columns of the domain, and the weights as whole numbers of steps."""
        if self.weight is None:
            return self.frame.select(self.domain.names)
        weight = on_grid(self.weight, self.step).alias(self._name("weight"))
        return self.frame.select(*self.domain.names, weight)

    def _name(self, word: str) -> str:
        """A name for a column of ours that no feature has."""
        return free_name(word, self.domain.names)

    def _total(self) -> nw.Expr:
        return nw.len() if self.weight is None else nw.col(self._name("weight")).sum()

    def _sum_if(self, condition: nw.Expr) -> nw.Expr:
        """What the rows weigh of which a condition is true. Only DuckDB can add up truth values, and does so fast."""
        if self.weight is not None:
            return nw.when(condition).then(nw.col(self._name("weight"))).otherwise(nw.lit(0)).sum()
        return condition.sum() if self.frame.implementation.is_duckdb() else condition.cast(nw.Int32).sum()

    def _with_leaf(self, structure: Structure) -> nw.LazyFrame[Any]:
        assert isinstance(structure, Tree | RuleList)
        leaf = self._columns.leaf_number(structure, weights=self._expected(structure), all_known=True)
        return self._rows.with_columns(leaf.alias(self._name("leaf")))

    def _expected(self, structure: Structure) -> Floats | None:
        """What leaves would weigh if columns were independent."""
        if not isinstance(structure, Tree) or structure.n_leaves == 1:
            return None
        starts = self.domain.starts[:-1]
        shares = np.add.reduceat(structure.masks * (self.value_weights() / self.n), starts, axis=1)
        expected: Floats = shares.prod(axis=1)
        return expected

    def _summed(self, structure: Structure, conditions: Sequence[nw.Expr]) -> Floats:
        """The weight in every leaf, then the weight at which each of some conditions is true: leaves by conditions."""
        paired = self.weight is None and self.rows < PAIRED and self.frame.implementation.is_pyspark()
        sums = [self._total(), *(_in_pairs(conditions) if paired else map(self._sum_if, conditions))]
        named = [each.alias(f"sum {i}") for i, each in enumerate(sums)]
        leaf = self._name("leaf")
        found = self._with_leaf(structure).group_by(leaf).agg(*named).collect("pyarrow")
        total, *counts = [found[f"sum {i}"] for i in range(len(sums))]
        each = _from_pairs(counts)[: len(conditions)] if paired else list(map(_numbers, counts))
        out = np.zeros((structure.n_leaves, 1 + len(conditions)))
        out[found[leaf].to_numpy()] = np.stack([_numbers(total), *each], axis=1)
        return out * self.step

    def _by_value(self, structure: Structure, feature: Feature) -> Floats:
        """The weight in every leaf at every value of one feature."""
        leaf, key = self._name("leaf"), self._name("key")
        keyed = self._with_leaf(structure).with_columns(self._key(feature).alias(key))
        found = keyed.group_by(leaf, key).agg(self._total().alias("total")).collect("pyarrow")
        out = np.zeros((structure.n_leaves, feature.size))
        np.add.at(out, (found[leaf].to_numpy(), self._codes_of_keys(feature, found[key])), _numbers(found["total"]))
        return out * self.step

    def _key(self, feature: Feature) -> nw.Expr:
        """What rows are grouped by: the code, or the value itself if there are many to compare with."""
        has_code = feature.binned or feature.size <= MOST_SUMS
        return self._columns.code(feature) if has_code else self._columns.value(feature.name)

    def _codes_of_keys(self, feature: Feature, keys: nw.Series[Any]) -> NDArray[np.int64]:
        if feature.binned or feature.size <= MOST_SUMS:
            return keys.to_numpy().astype(np.int64)
        place = {value: code for code, value in enumerate(feature.known)}
        return np.array([place.get(key, feature.missing) for key in keys.to_list()], np.int64)

    def _unevenness(self) -> float:
        """How many times as many rows of such weights tell as much as rows of equal weight."""
        weight = nw.col(self._name("weight")).cast(nw.Float64)
        found = self._rows.select(weight.mean().alias("mean"), (weight * weight).mean().alias("square"))
        (mean, square), *_ = found.collect("pyarrow").rows()
        return float(square / mean**2)


def on_grid(weight: str, step: float) -> nw.Expr:
    """Weights above 0 as whole numbers of steps, at least one."""
    column = nw.col(weight)
    if step != 1:
        column = nw.max_horizontal((column.cast(nw.Float64) / step).round(), nw.lit(1.0))
    return column.cast(nw.Int64)


def _in_pairs(conditions: Sequence[nw.Expr]) -> list[nw.Expr]:
    """How often conditions are true, two in one sum: half as many sums take Spark about a seventh less time."""
    first = [nw.when(condition).then(nw.lit(1)).otherwise(nw.lit(0)) for condition in conditions[::2]]
    second = [nw.when(condition).then(nw.lit(PAIRED)).otherwise(nw.lit(0)) for condition in conditions[1::2]]
    both = [one + other for one, other in zip(first, second, strict=False)]
    return [pair.sum() for pair in (*both, *first[len(second) :])]


def _from_pairs(sums: Sequence[nw.Series[Any]]) -> list[Floats]:
    """The counts of such sums, in the order of their conditions."""
    whole = [np.asarray(each.to_numpy(), np.int64) for each in sums]
    return [part.astype(np.float64) for pair in whole for part in (pair % PAIRED, pair // PAIRED)]


def _numbers(sums: nw.Series[Any]) -> Floats:
    """Sums of whole numbers, of whatever type an engine gives them; they are exact floats."""
    return np.asarray(sums.cast(nw.Float64).to_numpy(), np.float64)
