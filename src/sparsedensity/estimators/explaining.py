"""Rows explained: the path in words, how unusual a row is, and the change that would make it most ordinary."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sparsedensity.density import Density, changes
from sparsedensity.ingest import Encoded, Source
from sparsedensity.ingest.encode import UNKNOWN, encode_column
from sparsedensity.report import model, words
from sparsedensity.report.explanation import Change, Explanation
from sparsedensity.table import Codes, Floats


def explain_rows(density: Density, source: Source, encoded: Encoded, nearest: bool) -> list[Explanation]:
    """An explanation for every row of a table; one outside the domain says which value put it there."""
    strange = _unknowns(source, density, encoded, nearest)
    inside = np.flatnonzero(~encoded.outside)
    explained = dict(zip(inside.tolist(), explain_codes(density, encoded.codes[inside], inside), strict=True))
    for row, found in strange.items():
        explained[row] = _outside(density, row, encoded.codes[row], found)
    return [explained[row] for row in range(len(encoded.codes))]


def explain_codes(density: Density, codes: Codes, rows: NDArray[np.int64]) -> list[Explanation]:
    """An explanation for rows of codes; `rows` are the numbers they go by."""
    leaves = density.leaf_numbers(codes)
    logs = density.log_densities[leaves]
    paths = {leaf: model.path_of(density.structure, leaf) for leaf in np.unique(leaves).tolist()}
    best = changes.best_changes(density, codes, logs)
    return [
        Explanation(
            row,
            leaf,
            paths[leaf],
            float(density.probabilities[leaf]),
            log,
            float(density.unusualness[leaf]),
            change=None if change is None else _in_words(density, change, log),
        )
        for row, leaf, log, change in zip(rows.tolist(), leaves.tolist(), logs.tolist(), best, strict=True)
    ]


def _outside(density: Density, row: int, codes: Codes, found: list[tuple[int, object]]) -> Explanation:
    """A row with values that the domain does not have. One such value can be changed, of several none alone."""
    feature, value = found[0]
    change = None
    if len(found) == 1:
        floor: Floats = np.array([-np.inf])
        (best,) = changes.best_changes(density, codes[None], floor, [feature])
        change = None if best is None else _in_words(density, best, -math.inf)
    name = density.structure.domain[feature].name
    return Explanation(row, None, (), 0.0, -math.inf, 1.0, (name, value), change)


def _in_words(density: Density, change: changes.BestChange, log: float) -> Change:
    feature = density.structure.domain[change.feature]
    after = float(density.log_densities[change.leaf])
    return Change(
        feature.name,
        words.some_values(feature, change.codes),
        after,
        float(density.unusualness[change.leaf]),
        after - log,
    )


def _unknowns(source: Source, density: Density, encoded: Encoded, nearest: bool) -> dict[int, list[tuple[int, object]]]:
    """For every row outside the domain, the columns and values that put it there."""
    strange: dict[int, list[tuple[int, object]]] = {}
    if not encoded.outside.any():
        return strange
    for i, (feature, column) in enumerate(zip(density.structure.domain, source, strict=True)):
        if density.used[i]:
            for row in np.flatnonzero(encode_column(column, feature, nearest) == UNKNOWN).tolist():
                strange.setdefault(row, []).append((i, column.value(row)))
    return strange
