"""Rows explained: the path in words, how unusual a row is, and the change that would make it most ordinary."""

from __future__ import annotations

import math
from typing import Any

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
    found = explain_codes(density, encoded.codes[inside], source, inside)
    explained = dict(zip(inside.tolist(), found, strict=True))
    for row, values in strange.items():
        explained[row] = _outside(density, encoded.codes[row], values, **_called(source, row))
    return [explained[row] for row in range(len(encoded.codes))]


def explain_codes(density: Density, codes: Codes, source: Source, rows: NDArray[np.int64]) -> list[Explanation]:
    """An explanation for rows of codes; `rows` says which rows of their table they are."""
    leaves = density.leaf_numbers(codes)
    logs = density.log_densities_at(codes, leaves)
    unusual = density.unusualness_of(logs)
    paths = {leaf: model.path_of(density.structure, leaf) for leaf in np.unique(leaves).tolist()}
    best, shares = changes.best_changes(density, codes, logs), density.weights / density.weights.sum()
    return [
        Explanation(
            leaf=leaf,
            path=paths[leaf],
            probability=float(density.probabilities[leaf]),
            log_density=log,
            unusualness=rarity,
            observed=float(shares[leaf]),
            **_called(source, row),
            change=None if change is None else _in_words(density, change, log),
        )
        for row, leaf, log, rarity, change in zip(
            rows.tolist(), leaves.tolist(), logs.tolist(), unusual.tolist(), best, strict=True
        )
    ]


def _called(source: Source, row: int) -> dict[str, Any]:
    """The number of a row and, if its table has a word for it instead, its name."""
    label = source.label(row)
    if type(label) is int:
        return {"row": label}
    return {"row": row, "name": f"Row {words.printable(label)}"}


def _outside(density: Density, codes: Codes, found: list[tuple[int, object]], **called: Any) -> Explanation:
    """A row with values that the domain does not have. One such value can be changed, of several none alone."""
    feature, value = found[0]
    change = None
    if len(found) == 1:
        floor: Floats = np.array([-np.inf])
        (best,) = changes.best_changes(density, codes[None], floor, [feature])
        change = None if best is None else _in_words(density, best, -math.inf)
    name = density.structure.domain[feature].name
    return Explanation(
        leaf=None,
        path=(),
        probability=0.0,
        log_density=-math.inf,
        unusualness=1.0,
        unknown=(name, value),
        change=change,
        **called,
    )


def _in_words(density: Density, change: changes.BestChange, log: float) -> Change:
    feature, after = density.structure.domain[change.feature], change.log_density
    unusualness = float(density.unusualness_of(np.array([after]))[0])
    return Change(feature.name, words.some_values(feature, change.codes), after, unusualness, after - log)


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
