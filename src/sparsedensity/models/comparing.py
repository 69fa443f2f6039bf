"""Two tables side by side, by the leaves of a model of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import narwhals as nw
import numpy as np

from sparsedensity.density.comparison import LeafComparison, same_shares
from sparsedensity.engines.samplers import free_name
from sparsedensity.errors import ColumnsError, DataError, ParameterError
from sparsedensity.ingest import Source, check_weights, open_source
from sparsedensity.ingest.decode import kind_of
from sparsedensity.ingest.joining import join
from sparsedensity.ingest.lazy import LazyTable, lazy_table, weights_apart
from sparsedensity.ingest.weighing import Weighing
from sparsedensity.models.answers import read_rows
from sparsedensity.models.base import DensityModel
from sparsedensity.models.fitting import fit_source
from sparsedensity.models.folds import are_counts
from sparsedensity.models.leaf_sparse import LeafSparseTree
from sparsedensity.models.parameters import generator
from sparsedensity.models.plain import unfitted
from sparsedensity.models.pushdown import LazilyPlaced
from sparsedensity.report.comparison import FRACTIONAL, Comparison, of_tables
from sparsedensity.scalars import is_whole
from sparsedensity.table import Floats

READABLE_LEAVES = 12
MOST_PERMUTATIONS = 10_000_000


def compare(
    before: Any,
    after: Any,
    *,
    model: DensityModel | None = None,
    weights_before: Any = None,
    weights_after: Any = None,
    permutations: int | None = None,
    random_state: Any = 0,
    names: tuple[str, str] = ("", ""),
) -> Comparison:
    """Where two tables differ, and whether chance alone could do that.

    The leaves are fitted to both tables together, without looking at which row is whose. So if both came from the same
    source, every division of the rows is as likely as this one, and a p-value below 0.05 comes up once in twenty times.

    Parameters
    ----------
    before, after
        Two tables with the same columns: whatever an estimator can be fitted to; lazy frames of one engine are counted
        there. Their domain is that of both together.
    model
        An estimator that is not fitted, which chooses the leaves; ``LeafSparseTree(max_leaves=12)`` by default.
    weights_before, weights_after
        One weight per row, or the column that holds it. Whole numbers count rows; with others there is no p-value.
    permutations
        How many random divisions of the rows to compare with: p is (1 + those that differ as much) / (1 + all). By
        default the chi-square distribution if every leaf expects 5 rows or more in both tables, else 9,999.
    random_state
        The same number gives the same divisions.
    names
        What the two tables are called.

    Examples
    --------
    >>> from sparsedensity import compare, datasets
    >>> people = datasets.load("titanic")
    >>> women, men = people.filter(people["sex"] == "female"), people.filter(people["sex"] == "male")
    >>> compare(women.drop("sex"), men.drop("sex")).p_value < 0.001
    True
    """
    if permutations is not None and not (is_whole(permutations) and 1 <= permutations <= MOST_PERMUTATIONS):
        raise ParameterError("permutations", permutations, f"a whole number from 1 to {MOST_PERMUTATIONS:,}, or None")
    rng, fitted = generator(random_state), _unfitted(model)
    fitted.check_parameters()
    sides = lazy_table(before, weights_before), lazy_table(after, weights_after)
    if any(sides):
        first, second, whole = _count_elsewhere(fitted, *sides)
    else:
        tables = _TwoTables.of(before, after, weights_before, weights_after)
        fit_source(fitted, tables.source, tables.weights, kind_of(before), in_order=True)
        first, second = tables.by_leaf(fitted)
        whole = tables.weights is None or are_counts(tables.weights)
    outcome = same_shares(first, second, permutations, rng) if whole else FRACTIONAL
    return of_tables(fitted.report(), LeafComparison(first / first.sum(), first, second), outcome, names)


@dataclass(frozen=True, eq=False)
class _TwoTables:
    """The rows of two tables, one below the other."""

    source: Source
    weights: Floats | None
    n: int
    """How many rows the first table has."""

    @classmethod
    def of(cls, before: Any, after: Any, weights_before: Any, weights_after: Any) -> Self:
        """Two tables with their weights; ``None`` if every row counts once."""
        before, weights_before = weights_apart(before, weights_before)
        after, weights_after = weights_apart(after, weights_after)
        first, second = open_source(before), open_source(after)
        one = check_weights(weights_before, first.n_rows, "weights_before")
        other = check_weights(weights_after, second.n_rows, "weights_after")
        source = join(first, second)
        if one is None and other is None:
            return cls(source, None, first.n_rows)
        sides = ((one, first.n_rows), (other, second.n_rows))
        weights = np.concatenate([np.ones(rows) if side is None else side for side, rows in sides])
        weighing = Weighing.of(weights)
        weighing.check("weights_before or weights_after")
        return cls(source, weights if weighing.whole else weighing.on_grid(weights) * weighing.step, first.n_rows)

    def by_leaf(self, model: DensityModel) -> list[Floats]:
        """The weight of each table in every leaf of a model of both."""
        rows = read_rows(model, self.source, self.weights)
        of_first = rows.numbers < self.n
        counts = [rows.weighing(np.where(side, rows.weights, 0.0)).by_leaf(model) for side in (of_first, ~of_first)]
        for name, count in zip(("first", "second"), counts, strict=True):
            _check_any(name, count)
        return counts


def _count_elsewhere(
    model: DensityModel, first: LazyTable | None, second: LazyTable | None
) -> tuple[Floats, Floats, bool]:
    """Fit a model to two lazy frames together; the weight of each in every leaf, and whether weights count rows."""
    if first is None or second is None or first.frame.implementation != second.frame.implementation:
        raise DataError("Two tables are compared in memory or in one engine. Give both to the same one.")
    if sorted(first.names) != sorted(second.names):
        odd = sorted(set(first.names) ^ set(second.names))
        raise ColumnsError(f"Only one of the tables has a column {odd[0]!r}. Compare tables with the same columns.")
    weighed = first.weight is not None or second.weight is not None
    weight = free_name("weight", first.names) if weighed else None
    both = nw.concat([_weighed(side, first.names, weight) for side in (first, second)])
    model.fit(both.to_native(), sample_weight=weight)
    counts = [LazilyPlaced(model, side).counted() for side in (first, second)]
    for name, count in zip(("first", "second"), counts, strict=True):
        _check_any(name, count.weights)
    return counts[0].weights, counts[1].weights, counts[0].whole and counts[1].whole


def _weighed(table: LazyTable, names: Sequence[str], weight: str | None) -> nw.LazyFrame[Any]:
    """Some columns of a table and, if there are weights, its weights as one more of this name."""
    given = nw.lit(1.0) if table.weight is None else nw.col(table.weight).cast(nw.Float64)
    return table.frame.select(*names, *([] if weight is None else [given.alias(weight)]))


def _check_any(name: str, weights: Floats) -> None:
    if not weights.any():
        raise DataError(f"Every row of the {name} table has a missing value. Use missing='category'.")


def _unfitted(model: DensityModel | None) -> DensityModel:
    """A copy of the estimator that chooses the leaves; one that could know which row is whose is refused."""
    if model is None:
        return LeafSparseTree(max_leaves=READABLE_LEAVES)
    if not isinstance(model, DensityModel):
        raise ParameterError("model", model, "an estimator such as LeafSparseTree(max_leaves=12), or None")
    honest, start = (getattr(model, name, None) for name in ("honest", "warm_start_from"))
    if honest is not None:
        raise ParameterError("honest", honest, "None if two tables are compared")
    if start not in (None, "greedy"):
        raise ParameterError("warm_start_from", start, "None or 'greedy' if two tables are compared")
    return unfitted(model)
