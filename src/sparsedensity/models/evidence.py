"""What a table says about a fitted model: unusual records, held-out scores, the path, what each leaf holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsedensity.density import EQUALLY_DENSE, Density
from sparsedensity.density.placed import Placed
from sparsedensity.engines import MemoryEngine
from sparsedensity.errors import SearchWarning, warn
from sparsedensity.ingest import Source, open_source
from sparsedensity.ingest.lazy import at_home
from sparsedensity.models.answers import Rows, read_rows
from sparsedensity.models.explaining import explain_codes
from sparsedensity.models.paths import path_on, score_folds
from sparsedensity.models.progress import telling
from sparsedensity.report import words
from sparsedensity.report.evidence import Evidence, Record
from sparsedensity.table import Floats, Table

if TYPE_CHECKING:
    from sparsedensity.models.base import DensityModel

MOST_RECORDS = 12
UNUSUAL = 0.9
"""A record is worth showing if this share of expected records is more common."""
MOST_COUNTS = 2_000_000
"""Beyond so many pairs of leaf and value, what each leaf holds is not counted."""


def gather(model: DensityModel, X: Any, sample_weight: Any = None, *, cv: int | None = 5, source: str = "") -> Evidence:
    """Everything a report shows beside the model. Without folds (``cv=None``) nothing is fitted again.

    Ctrl-C ends the gathering: what is there by then is shown.
    """
    gathered: dict[str, Any] = {"source": words.printable(source, words.LONGEST_HINT)}
    try:
        gathered.update(_parts(model, X, sample_weight, cv))  # one by one, so that what is there stays
    except KeyboardInterrupt:
        gathered["interrupted"] = True
        warn("The report was interrupted: it shows what was there by then.", SearchWarning)
    return Evidence(**gathered)


def _parts(model: DensityModel, X: Any, sample_weight: Any, cv: int | None) -> Iterator[tuple[str, Any]]:
    """What a report shows, by its name in the evidence, the quickest first.

    Each fold is searched once: the path and the scores are about the same folds.
    """
    with telling(model.progress, "gathering the report") as say:
        X, sample_weight = at_home(X, sample_weight, "The report shows")
        rows, density, held = read_rows(model, X, sample_weight), model.density_, model.held_out_
        rows.check_any()
        table = rows.table(model.domain_)
        values = leaf_values(density, table)
        weighing = table if held is None else rows.weighing(held.divide(rows.weights).test).table(model.domain_)
        yield "weights", values if held is None else leaf_values(density, weighing)
        say("looking for unusual records")
        placed = Placed(density, table.codes, density.leaf_numbers(table.codes))
        unusualness, order = placed.unusualness, _ranked(placed, table, values)
        chosen = order[:MOST_RECORDS]
        chosen = chosen[unusualness[chosen] >= min(UNUSUAL, unusualness[chosen].max())]
        yield "commonest", tuple(table.codes[order[-1]].tolist())
        yield "tied", _tied(placed.log_densities, table, chosen)
        yield "records", _records(density, open_source(X), rows, table, chosen)
        by_size, scores = score_folds(model, rows, cv, say)
        yield "folds", cv or 0
        yield "scores", scores
        say("scoring every size")
        if model.unit is not None and model.found_.archive:
            yield "path", path_on(model, rows, by_size)


def _ranked(placed: Placed, table: Table, weights: Floats | None) -> NDArray[np.intp]:
    """The order of records: the most unusual first, of a tie the rarest within its leaf."""
    return np.lexsort([table.weights, placed.commonness(weights), -placed.unusualness])


def _tied(logs: Floats, table: Table, chosen: NDArray[np.intp]) -> float:
    """The weight of the records that are as unusual as the last of some, if there are more than these."""
    tie = np.isclose(logs, logs[chosen[-1]], rtol=0, atol=EQUALLY_DENSE)
    return float(table.weights[tie].sum()) if tie.sum() > tie[chosen].sum() else 0.0


def _records(
    density: Density, source: Source, rows: Rows, table: Table, chosen: NDArray[np.intp]
) -> tuple[Record, ...]:
    """Records in words, with why they are as unusual as they are."""
    first = np.array([int(np.argmax((rows.codes == table.codes[i]).all(axis=1))) for i in chosen])
    domain, numbers = density.structure.domain, rows.numbers[first]
    known = source.known_to(domain)
    others = source.without(known.names)
    explained = explain_codes(density, rows.codes[first], known, numbers)
    values, identifiers = _in_words(known, domain.names, numbers), _in_words(others, others.names, numbers)
    return tuple(map(Record, values, explained, table.weights[chosen].tolist(), identifiers))


def _in_words(source: Source, names: Sequence[str], rows: NDArray[np.intp]) -> list[tuple[tuple[str, str], ...]]:
    """Some rows of a table in words: pairs of column and value."""
    pairs: list[list[tuple[str, str]]] = [[] for _ in rows]
    for name, column in zip(names, source, strict=True):
        for record, row in zip(pairs, rows.tolist(), strict=True):
            record.append((words.printable(name), words.plain_value(column.value(row))))
    return [tuple(record) for record in pairs]


def leaf_values(density: Density, table: Table) -> Floats | None:
    """The weight in every leaf by every value of the domain; ``None`` if that is too much to count."""
    structure = density.structure
    if structure.n_leaves * int(structure.domain.starts[-1]) > MOST_COUNTS:
        return None
    return MemoryEngine(table).leaf_value_weights(structure)
