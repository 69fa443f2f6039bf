"""What a page needs to look up records by itself: choices, the structure, and every leaf in words."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable
from typing import Any

import numpy as np

from sparsedensity.domain import Domain, Feature
from sparsedensity.report import words
from sparsedensity.report.model import Leaf, Report, conditions_in_words
from sparsedensity.report.picture import dense_text
from sparsedensity.structures import Cells, RuleList, Structure, Tree
from sparsedensity.table import Floats

MOST_CHOICES = 200
"""A column with more values offers one choice for all values that the model treats alike."""
MOST_LEAVES = 2000
MOST_TEXT = 250_000
FEW_CONDITIONS = 4
"""Where all conditions of all leaves are more text than a page should hold, only the first of each are told."""
SPECIAL_COLUMNS = 8
SPECIAL_VALUES = 5
"""Of a leaf, the columns that differ most from all records are shown, with their most frequent values."""
MOST_SPECIAL = 1000
"""Where there are many leaves, fewer columns of each, so that the page stays small."""


def page_data(report: Report) -> str:
    """Everything as JSON that may stand inside a script element."""
    structure = report.structure
    known = structure is not None and len(report.leaves) <= MOST_LEAVES
    data: dict[str, Any] = {"leaves": [], "features": [], "structure": None, "special": []}
    if known and structure is not None:
        data["leaves"] = _leaves(structure, report.leaves)
        if sum(structure.domain.sizes) <= MOST_LEAVES or not isinstance(structure, Cells):
            data["features"] = [_feature(structure, i) for i in range(len(structure.domain))]
            data["structure"] = _structure(structure)
        if report.evidence is not None and report.evidence.weights is not None:
            data["special"] = _special(structure.domain, report.evidence.weights)
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _leaves(structure: Structure, leaves: tuple[Leaf, ...]) -> list[dict[str, Any]]:
    conditions = [conditions_in_words(structure, leaf.number) for leaf in leaves]
    if sum(len(text) for own in conditions for text in own) > MOST_TEXT:
        conditions = [_first(own) for own in conditions]
    return [_leaf(leaf, own) for leaf, own in zip(leaves, conditions, strict=True)]


def _first(conditions: tuple[str, ...]) -> tuple[str, ...]:
    more = len(conditions) - FEW_CONDITIONS
    return conditions if more <= 0 else (*conditions[:FEW_CONDITIONS], words.counted(more, "condition", "conditions"))


def _leaf(leaf: Leaf, conditions: tuple[str, ...]) -> dict[str, Any]:
    low, high = leaf.interval
    return {
        "conditions": conditions,
        "probability": words.percent(leaf.probability),
        "interval": f"{words.percent(low)} to {words.percent(high)}",
        "density": dense_text(leaf.log_density),
        "volume": words.from_log(leaf.log_volume),
        "count": words.count(leaf.weight),
        "unusual": round(leaf.unusualness, 6),
        "log": None if leaf.log_density == -math.inf else round(leaf.log_density, 9),
    }


def _feature(structure: Structure, i: int) -> dict[str, Any]:
    feature = structure.domain[i]
    own: dict[str, Any] = {"name": words.printable(feature.name), "missing": feature.missing, "size": feature.size}
    if feature.kind == "continuous" and len(feature.known) > 0:
        ends = feature.edges
        own |= {"edges": ends.tolist(), "integer": feature.integer}
        return own
    groups = _alike(structure, i) if feature.size > MOST_CHOICES else [[code] for code in range(feature.size)]
    own["choices"] = [[group[0], words.some_values(feature, group)] for group in groups]
    return own


def _alike(structure: Structure, i: int) -> list[list[int]]:
    """The values of a feature that no part of a structure tells apart, together."""
    groups: dict[Hashable, list[int]] = {}
    for code in range(structure.domain.sizes[i]):
        groups.setdefault(_treatment(structure, i, code), []).append(code)
    return list(groups.values())


def _treatment(structure: Structure, i: int, code: int) -> Hashable:
    match structure:
        case Tree() as tree:
            places = tree.offset[tree.feature == i]
            return tuple(tree.child[places + code].tolist())
        case RuleList() as rules:
            own = rules.feature == i
            return tuple(((rules.low[own] <= code) & (code <= rules.high[own])).tolist())
    return code


def _structure(structure: Structure) -> dict[str, Any]:
    match structure:
        case Tree() as tree:
            arrays = (tree.feature, tree.offset, tree.child, tree.leaf_number)
            return dict(zip(("feature", "offset", "child", "number"), (a.tolist() for a in arrays), strict=True))
        case RuleList() as rules:
            return {"rules": [list(map(list, rule)) for rule in rules.rules]}
        case Cells() as cells:
            return {"cells": cells.codes.tolist()}
    raise TypeError(f"{type(structure).__name__} cannot be looked up on a page.")


def _special(domain: Domain, weights: Floats) -> list[list[Any]]:
    """For every leaf the columns whose values differ most from those of all records."""
    overall = _shares(domain, weights.sum(axis=0, keepdims=True))[0]
    most = max(1, min(SPECIAL_COLUMNS, MOST_SPECIAL // len(weights)))
    return [[] if not own.any() else _special_columns(domain, own, overall, most) for own in _shares(domain, weights)]


def _special_columns(domain: Domain, own: Floats, overall: Floats, most: int) -> list[Any]:
    distances = np.add.reduceat(np.abs(own - overall), domain.starts[:-1])
    columns = [int(i) for i in np.argsort(-distances, kind="stable")[:most]]
    return [[words.printable(domain[i].name), _special_values(domain, i, own, overall)] for i in columns]


def _special_values(domain: Domain, i: int, own: Floats, overall: Floats) -> list[Any]:
    start, feature = int(domain.starts[i]), domain[i]
    codes = np.argsort(-own[domain.span(i)], kind="stable")[:SPECIAL_VALUES]
    return [_value(feature, int(code), own[start + code], overall[start + code]) for code in codes]


def _value(feature: Feature, code: int, own: float, overall: float) -> list[Any]:
    label = words.one_value(feature, feature.values[code], 30)
    return [label, round(float(own), 4), round(float(overall), 4)]


def _shares(domain: Domain, weights: Floats) -> Floats:
    """Weights by value as shares within each feature; 0 where there is no weight."""
    totals = np.repeat(np.add.reduceat(weights, domain.starts[:-1], axis=1), domain.sizes, axis=1)
    shares: Floats = np.divide(weights, totals, out=np.zeros_like(weights), where=totals > 0)
    return shares
