"""Rows explained: the path in words, how unusual a row is, and the change that would make it most ordinary."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsedensity.density import Density
from sparsedensity.density.changes import best_changes
from sparsedensity.density.factors import factors
from sparsedensity.density.placed import Placed
from sparsedensity.ingest import Encoded, Source
from sparsedensity.ingest.encode import UNKNOWN, encode_column
from sparsedensity.ingest.lazy import lazy_table
from sparsedensity.models.answers import encode_rows, open_rows
from sparsedensity.models.pushdown import LazilyPlaced
from sparsedensity.report import model, words
from sparsedensity.report.explanation import Change, Explanation, Factor
from sparsedensity.structures import Cells
from sparsedensity.table import Codes

if TYPE_CHECKING:
    from sparsedensity.models.base import DensityModel


def explain(model: DensityModel, X: Any) -> Any:
    """An explanation for every row of a table: a list, or new columns if the rows are elsewhere."""
    lazy = lazy_table(X, None)
    return explain_rows(model, X) if lazy is None else LazilyPlaced.of(model, lazy).explanations


def explain_rows(model: DensityModel, X: Any) -> list[Explanation]:
    """An explanation for every row of a table; one outside the domain says which value put it there."""
    density, source = model.density_, open_rows(model, X)
    encoded = encode_rows(model, source)
    strange = _unknowns(source, density, encoded, model.unknown == "nearest")
    inside = np.flatnonzero(~encoded.outside)
    names = None if isinstance(density.structure, Cells) else [leaf.name for leaf in model.leaves_]
    found = explain_codes(density, encoded.codes[inside], source, inside, names)
    explained = dict(zip(inside.tolist(), found, strict=True))
    for row, values in strange.items():
        explained[row] = _outside(density, encoded.codes[row], values, **_called(source, row))
    return [explained[row] for row in range(len(encoded.codes))]


def explain_codes(
    density: Density, codes: Codes, source: Source, rows: NDArray[np.int64], names: Sequence[str] | None = None
) -> list[Explanation]:
    """An explanation for rows of codes; `rows` says which rows of their table they are, `names` what its leaves are."""
    placed = Placed(density, codes, density.leaf_numbers(codes))
    paths = {leaf: model.path_of(density.structure, leaf) for leaf in np.unique(placed.leaves).tolist()}
    shares = density.weights / density.weights.sum()
    numbers = (rows, placed.leaves, placed.log_densities, placed.unusualness)
    found = zip(*(each.tolist() for each in numbers), _changes(placed), _factors(placed), strict=True)
    return [
        Explanation(
            leaf=leaf,
            path=paths[leaf],
            probability=float(density.probabilities[leaf]),
            log_density=log,
            unusualness=unusualness,
            observed=float(shares[leaf]),
            **_called(source, row),
            change=change,
            factors=against,
            kind=names[leaf] if names else "",
        )
        for row, leaf, log, unusualness, change, against in found
    ]


def _changes(placed: Placed, features: list[int] | None = None) -> list[Change | None]:
    """For every row the single change, in some features or in all, that would make it most ordinary."""
    density, before = placed.density, placed.log_densities
    best = best_changes(density, placed.codes, before, features)
    after = np.array([-np.inf if change is None else change.log_density for change in best])
    in_words = cache(lambda feature, codes: words.some_values(density.structure.domain[feature], codes))
    found: list[Change | None] = [None] * len(best)
    for row, unusualness in enumerate(density.unusualness_of(after).tolist()):
        if (change := best[row]) is not None:
            name, values = density.structure.domain.names[change.feature], in_words(change.feature, change.codes)
            found[row] = Change(name, values, change.log_density, unusualness, float(after[row] - before[row]))
    return found


def _factors(placed: Placed) -> list[tuple[Factor, ...]]:
    """For every row its values in words, those that speak most against it first."""
    profiles, domain = placed.density.profiles, placed.density.structure.domain
    if profiles is None:
        return [()] * len(placed.codes)
    in_words = cache(lambda feature, code: words.some_values(domain[feature], [code]))
    found, names, usual = factors(placed.density, profiles, placed.codes), domain.names, profiles.usual.tolist()
    numbers = (each.tolist() for each in (found.order, placed.codes, found.shares, found.overall))
    return [
        tuple(Factor(names[f], in_words(f, codes[f]), shares[f], overall[f], usual[f]) for f in order)
        for order, codes, shares, overall in zip(*numbers, strict=True)
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
        (change,) = _changes(Placed(density, codes[None], np.array([-1])), [feature])
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
