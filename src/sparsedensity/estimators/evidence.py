"""What a table says about a fitted model: unusual records, held-out scores, the path, what each leaf holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsedensity.density import Density
from sparsedensity.density.forest import independent
from sparsedensity.domain import Domain
from sparsedensity.engines import MemoryEngine
from sparsedensity.errors import SearchWarning, warn
from sparsedensity.estimators.answers import Rows, open_rows, read_rows
from sparsedensity.estimators.explaining import explain_codes
from sparsedensity.estimators.folds import standard_error
from sparsedensity.estimators.paths import learn_folds, path_on, per_row
from sparsedensity.estimators.progress import telling
from sparsedensity.ingest import Source
from sparsedensity.posterior import FullHistogram
from sparsedensity.report import words
from sparsedensity.report.evidence import Evidence, Record, Score
from sparsedensity.structures import Cells
from sparsedensity.table import Floats, Table

if TYPE_CHECKING:
    from sparsedensity.estimators.base import DensityEstimator

MOST_RECORDS = 12
UNUSUAL = 0.9
"""A record is worth showing if this share of expected records is more common."""
MOST_COUNTS = 2_000_000
"""Beyond so many pairs of leaf and value, what each leaf holds is not counted."""


def gather(
    model: DensityEstimator, X: Any, sample_weight: Any = None, *, cv: int | None = 5, source: str = ""
) -> Evidence:
    """Everything a report shows beside the model. Without folds (``cv=None``) nothing is fitted again.

    Ctrl-C ends the gathering: what is there by then is shown.
    """
    gathered: dict[str, Any] = {"source": words.printable(source)}
    try:
        gathered.update(_parts(model, X, sample_weight, cv))  # one by one, so that what is there stays
    except KeyboardInterrupt:
        gathered["interrupted"] = True
        warn("The report was interrupted: it shows what was there by then.", SearchWarning)
    return Evidence(**gathered)


def _parts(model: DensityEstimator, X: Any, sample_weight: Any, cv: int | None) -> Iterator[tuple[str, Any]]:
    """What a report shows, by its name in the evidence, the quickest first.

    Each fold is searched once: the path and the scores are about the same folds.
    """
    with telling(model.progress, "gathering the report") as say:
        rows = read_rows(model, X, sample_weight)
        held = model.held_out_
        weighing = rows if held is None else rows.weighing(held.divide(rows.weights).test)
        yield "weights", _counts(model.density_, weighing)
        say("looking for unusual records")
        yield "records", _unusual(model.density_, open_rows(model, X), rows)
        by_size, scores = [], []
        for fold in () if cv is None else learn_folds(model, rows, cv, say):
            by_size.append(fold.by_size())
            scores.append({model.title: fold.score(), **_baselines(fold.train, fold.test)})
        yield "folds", cv or 0
        yield "scores", _summarised(scores)
        say("scoring every size")
        if model.unit is not None and model.found_.archive:
            yield "path", path_on(model, rows, by_size)


def _baselines(train: Table, test: Table) -> dict[str, float]:
    """The scores of the full histogram and of columns that are independent of each other."""
    cells, weights = Cells(train.domain, train.codes), np.append(train.weights, 0.0)
    histogram = Density(cells, weights, FullHistogram().log_probabilities(cells, weights))
    columns = independent(train).log_densities(test.codes)
    return {
        "Full histogram": per_row(histogram, test),
        "Independent columns": float(test.weights @ columns / test.n),
    }


def _summarised(scores: list[dict[str, float]]) -> tuple[Score, ...]:
    """The mean and the standard error of every score over the folds."""
    each = {name: [fold[name] for fold in scores] for name in (scores[0] if scores else ())}
    return tuple(Score(name, float(np.mean(values)), standard_error(values)) for name, values in each.items())


def _unusual(density: Density, source: Source, rows: Rows) -> tuple[Record, ...]:
    """The most unusual records, each once: of equals first those that occur least."""
    table = rows.table(density.structure.domain)
    unusualness = density.unusualness[density.leaf_numbers(table.codes)]
    chosen = np.lexsort([table.weights, -unusualness])[:MOST_RECORDS]
    chosen = chosen[unusualness[chosen] >= min(UNUSUAL, unusualness[chosen].max())]
    first = np.array([int(np.argmax((rows.codes == table.codes[i]).all(axis=1))) for i in chosen])
    explained = explain_codes(density, rows.codes[first], rows.numbers[first])
    records = _in_words(source, density.structure.domain, rows.numbers[first].tolist())
    return tuple(
        Record(record, explanation, float(table.weights[i]))
        for record, explanation, i in zip(records, explained, chosen, strict=True)
    )


def _in_words(source: Source, domain: Domain, rows: list[int]) -> list[tuple[tuple[str, str], ...]]:
    """Some rows of a table in words: pairs of column and value."""
    by_column = [
        [(words.printable(feature.name), words.plain_value(column.value(row))) for row in rows]
        for feature, column in zip(domain, source, strict=True)
    ]
    return [tuple(pairs) for pairs in zip(*by_column, strict=True)]


def _counts(density: Density, rows: Rows) -> Floats | None:
    """The weight in every leaf by every value of the domain."""
    structure = density.structure
    if structure.n_leaves * int(structure.domain.starts[-1]) > MOST_COUNTS:
        return None
    return MemoryEngine(rows.table(structure.domain)).leaf_value_weights(structure)
