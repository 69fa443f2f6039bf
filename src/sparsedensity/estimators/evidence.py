"""What a table says about a fitted model: unusual records, held-out scores, the path, what each leaf holds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsedensity.density import Density
from sparsedensity.density.forest import independent
from sparsedensity.domain import Domain
from sparsedensity.engines import MemoryEngine
from sparsedensity.estimators.explaining import explain_codes
from sparsedensity.estimators.folds import folds_of
from sparsedensity.ingest import Source, check_weights, encode, open_source
from sparsedensity.posterior import FullHistogram
from sparsedensity.report import words
from sparsedensity.report.evidence import Evidence, Record, Score
from sparsedensity.structures import Cells
from sparsedensity.table import Codes, Floats, Table

if TYPE_CHECKING:
    from sparsedensity.estimators.base import DensityEstimator

MOST_RECORDS = 12
UNUSUAL = 0.9
"""A record is worth telling if it is more unusual than this share of what the model expects."""
MOST_COUNTS = 2_000_000
"""Beyond so many pairs of a leaf and a value, what each leaf holds is not counted."""

LogDensities = Callable[[Codes], Floats]


def gather(
    model: DensityEstimator, X: Any, sample_weight: Any = None, *, cv: int | None = 5, source: str = ""
) -> Evidence:
    """Everything a report shows beside the model. Without folds (``cv=None``) nothing is fitted again."""
    from sparsedensity.estimators.paths import PathEstimator

    opened = open_source(X)
    codes, weights, rows = _inside(model, opened, sample_weight)
    path = None
    if isinstance(model, PathEstimator) and model.found_.archive:
        path = model.sparsity_path(X, cv, sample_weight)
    return Evidence(
        words.printable(source),
        _unusual(model.density_, opened, codes, weights, rows),
        () if cv is None else held_out_scores(model, codes, weights, cv),
        cv or 0,
        path,
        _counts(model.density_, codes, weights),
    )


def held_out_scores(model: DensityEstimator, codes: Codes, weights: Floats, cv: int) -> tuple[Score, ...]:
    """The cross-validated log-likelihood per row of a model, of the full histogram and of independent columns."""
    ways: dict[str, Callable[[Table], LogDensities]] = {
        model.title: lambda table: _refitted(model, table),
        "Full histogram": _histogram,
        "Independent columns": lambda table: independent(table).log_densities,
    }
    found: dict[str, list[float]] = {name: [] for name in ways}
    for train, test in folds_of(weights, cv):
        learned, held = train > 0, test > 0
        table = Table.of(model.domain_, codes[learned], train[learned])
        for name, way in ways.items():
            found[name].append(float(test[held] @ way(table)(codes[held]) / test.sum()))
    return tuple(Score(name, float(np.mean(each)), standard_error(each)) for name, each in found.items())


def encoded_rows(model: DensityEstimator, X: Any, sample_weight: Any = None) -> tuple[Codes, Floats]:
    """The rows of a table that lie inside a model's domain and have weight, with their weights."""
    codes, weights, _ = _inside(model, open_source(X), sample_weight)
    return codes, weights


def _inside(model: DensityEstimator, source: Source, sample_weight: Any) -> tuple[Codes, Floats, Any]:
    """Codes and weights of the rows that count, and their numbers."""
    model._check_columns(source)
    given = check_weights(sample_weight, source.n_rows)
    encoded = encode(source, model.domain_, nearest=model.unknown == "nearest")
    weights = np.ones(source.n_rows) if given is None else given
    rows = np.flatnonzero(~encoded.outside & (weights > 0))
    return encoded.codes[rows], weights[rows], rows


def _refitted(model: DensityEstimator, table: Table) -> LogDensities:
    """The same model learned from other rows of the same domain."""
    engine = MemoryEngine(table, model._jobs())
    structure = model._learn(engine, []).structure
    return _of_density(model._density(structure, engine.leaf_weights(structure)))


def _histogram(table: Table) -> LogDensities:
    cells, weights = Cells(table.domain, table.codes), np.append(table.weights, 0.0)
    return _of_density(Density(cells, weights, FullHistogram().log_probabilities(cells, weights)))


def _of_density(density: Density) -> LogDensities:
    return lambda codes: density.log_densities[density.leaf_numbers(codes)]


def standard_error(values: Sequence[float]) -> float:
    """The standard error of a mean; not a number where a value is infinite, or for fewer than two values."""
    if len(values) < 2:
        return math.nan
    with np.errstate(invalid="ignore"):
        return float(np.std(values, ddof=1) / np.sqrt(len(values)))


def _unusual(density: Density, source: Source, codes: Codes, weights: Floats, rows: Any) -> tuple[Record, ...]:
    """The most unusual records, each once: of equals first those that occur least."""
    table = Table.of(density.structure.domain, codes, weights)
    unusualness = density.unusualness[density.leaf_numbers(table.codes)]
    chosen = np.lexsort([table.weights, -unusualness])[:MOST_RECORDS]
    chosen = chosen[unusualness[chosen] >= min(UNUSUAL, unusualness[chosen].max())]
    first = np.array([int(np.argmax((codes == table.codes[i]).all(axis=1))) for i in chosen])
    explained = explain_codes(density, codes[first], rows[first])
    values = _values(source, density.structure.domain, rows[first].tolist())
    return tuple(
        Record(own, explanation, float(table.weights[i]))
        for own, explanation, i in zip(values, explained, chosen, strict=True)
    )


def _values(source: Source, domain: Domain, rows: list[int]) -> list[tuple[tuple[str, str], ...]]:
    """Some rows of a table in words, a pair of column and value each."""
    by_column = [
        [(words.printable(feature.name), words.plain_value(column.value(row))) for row in rows]
        for feature, column in zip(domain, source, strict=True)
    ]
    return [tuple(pairs) for pairs in zip(*by_column, strict=True)]


def _counts(density: Density, codes: Codes, weights: Floats) -> Floats | None:
    """The weight in every leaf by every value of the domain."""
    domain, leaves = density.structure.domain, density.structure.n_leaves
    if leaves * int(domain.starts[-1]) > MOST_COUNTS:
        return None
    leaf = density.leaf_numbers(codes)
    counts = np.zeros((leaves, int(domain.starts[-1])))
    for feature, size in enumerate(domain.sizes):
        place = leaf * size + codes[:, feature]
        counts[:, domain.span(feature)] = np.bincount(place, weights, leaves * size).reshape(leaves, size)
    return counts
