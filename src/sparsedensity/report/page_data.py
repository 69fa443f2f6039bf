"""What a page needs to look up records by itself: choices, the structure, and every leaf in words."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsedensity import periods
from sparsedensity.density import Density
from sparsedensity.domain import Domain
from sparsedensity.report import words
from sparsedensity.report.explanation import MOST_FACTORS, NOTABLE, SELDOM, TENTH
from sparsedensity.report.kinds import by_difference
from sparsedensity.report.model import Leaf, Report, allowed_values
from sparsedensity.structures import Cells, RuleList, Structure, Tree
from sparsedensity.table import Floats

if TYPE_CHECKING:
    from sparsedensity.posterior.profiles import Profiles

MOST_CHOICES = 200
"""A column with more values offers one choice for all values that the model treats alike."""
MOST_LEAVES = 2000
MOST_TEXT = 250_000
FEW_CONDITIONS = 4
"""If all conditions of all leaves are more text than a page should hold, only the first of each are listed."""
SPECIAL_COLUMNS = 8
SPECIAL_VALUES = 5
"""Of a leaf, the columns that differ most from all records are shown, with their most frequent values."""
MOST_SPECIAL = 1000
"""With many leaves, fewer columns of each, so that the page stays small."""
MOST_FIELDS = 24
MOST_SHARES = 100_000
"""With more pairs of a leaf with a profile and a value, records cannot be looked up: the page would be too large."""
DIGITS = 5
RANKING_DRAWS = 20_000
RANKS = 400
"""How unusual a record is, a page reads from about so many log densities and the mass above each."""


def page_data(report: Report) -> str:
    """Everything as JSON that may stand inside a script element."""
    structure = report.structure
    data: dict[str, Any] = {"leaves": [], "features": [], "structure": None, "special": [], "profiles": None}
    data["weight"] = report.weight_name
    if len(report.leaves) <= MOST_LEAVES:
        data["leaves"] = _leaves(report)
        if can_look_up(report):
            asked = _asked_first(report)
            every = enumerate(_commonest(report))
            data["features"] = [_feature(report, i, code) | {"first": i in asked} for i, code in every]
            data["structure"] = _structure(structure)
            data["profiles"] = None if report.profiles is None else _profiles(report.density, report.profiles)
        if report.profiles is None and report.evidence is not None and report.evidence.weights is not None:
            data["special"] = _special(structure.domain, report.evidence.weights)
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def can_look_up(report: Report) -> bool:
    """Whether what it takes to look up a record is small enough for a page."""
    values, leaves = sum(report.structure.domain.sizes), len(report.leaves)
    if report.profiles is not None:
        return leaves * values <= MOST_SHARES
    return leaves <= MOST_LEAVES and (values <= MOST_LEAVES or not isinstance(report.structure, Cells))


def _asked_first(report: Report) -> set[int]:
    """The columns that a form asks for at once: those in use and, if leaves have profiles, only what matters most."""
    if report.profiles is not None:
        return set(by_difference(report)[:MOST_FIELDS])
    return set(np.flatnonzero(report.density.used).tolist())


def _profiles(density: Density, profiles: Profiles) -> dict[str, Any]:
    """The density of every record: the logs of the leaves' probabilities, and the shares of values inside."""
    measures = profiles.domain.measures
    return {
        "logs": [round(log, 9) if log > -math.inf else None for log in density.log_probabilities.tolist()],
        "inside": [_short(shares) for shares in profiles.inside],
        "overall": _short(profiles.leaf.background),
        "usual": _short(profiles.usual),
        "measures": None if (measures == 1).all() else measures.tolist(),
        "ranking": _ranking(density),
        "notable": NOTABLE,
        "seldom": SELDOM,
        "tenth": TENTH,
        "factors": MOST_FACTORS,
    }


def _ranking(density: Density) -> dict[str, list[float]]:
    """Log densities of records, the highest first, and the share of the mass that is denser than each.

    Between two of them a page interpolates: they are close where the mass is, and both sides of a large step are kept.
    """
    codes, leaves, *_ = density.records(RANKING_DRAWS)
    logs = density.log_densities_at(codes, leaves)
    logs = logs[np.unique(-logs.round(DIGITS), return_index=True)[1]]
    denser = density.unusualness_of(logs)
    even = np.searchsorted(denser, (1 - np.cos(np.linspace(0, np.pi, RANKS))) / 2)  # closer together at both ends
    steps = np.flatnonzero(np.diff(denser) > 1 / RANKS)
    kept = np.unique(np.concatenate([[0, len(logs) - 1], even.clip(max=len(logs) - 1), steps, steps + 1]))
    below_all = 1 - 10.0**-DIGITS
    return {
        "logs": logs[kept].round(DIGITS).tolist(),
        "denser": denser[kept].round(DIGITS).clip(max=below_all).tolist(),
    }


def _short(shares: Floats) -> list[float]:
    return [float(f"{share:.{DIGITS}g}") for share in shares]


def _leaves(report: Report) -> list[dict[str, Any]]:
    conditions = [leaf.phrases for leaf in report.leaves]
    if sum(len(text) for texts in conditions for text in texts) > MOST_TEXT:
        conditions = [_first(texts) for texts in conditions]
    held = [_held(leaf, texts) for leaf, texts in zip(report.leaves, conditions, strict=True)]
    if report.profiles is None:
        return [one | _evenly(leaf) for one, leaf in zip(held, report.leaves, strict=True)]
    return [one | {"name": leaf.name} for one, leaf in zip(held, report.leaves, strict=True)]


def _first(conditions: tuple[str, ...]) -> tuple[str, ...]:
    more = len(conditions) - FEW_CONDITIONS
    if more <= 0:
        return conditions
    return (*conditions[:FEW_CONDITIONS], words.counted(more, "more condition", "more conditions"))


def _held(leaf: Leaf, conditions: tuple[str, ...]) -> dict[str, Any]:
    """What a page says about any leaf."""
    low, high = leaf.interval
    return {
        "conditions": conditions,
        "share": words.of_all_records(leaf.share, leaf.probability),
        "interval": f"{words.percent(low)} to {words.percent(high)}",
        "weight": words.count(leaf.weight),
    }


def _evenly(leaf: Leaf) -> dict[str, Any]:
    """What it says about a leaf all of whose records are as dense, and the numbers it ranks and places them by."""
    return {
        "density": words.density(leaf.log_density),
        "volume": words.sayable(leaf.log_volume) if leaf.log_volume > -math.inf else "0",
        "rarity": words.rarity(leaf.unusualness),
        "unusual": round(leaf.unusualness, 6),
        "log": None if leaf.log_density == -math.inf else round(leaf.log_density, 9),
    }


def _commonest(report: Report) -> list[int]:
    """The codes of the record that a form begins with: the commonest, as far as that is known."""
    structure, evidence = report.structure, report.evidence
    if evidence is not None and evidence.commonest:
        return list(evidence.commonest)
    if report.profiles is not None:
        return _densest(report.density, report.profiles)
    densest = max(report.leaves, key=lambda leaf: leaf.log_density).number
    if isinstance(structure, RuleList):  # a value that a rule allows may be one that the rules above have taken
        box = structure.boxes[densest][0]
        return [int(np.argmax(box[structure.domain.span(i)])) for i in range(len(structure.domain))]
    first = {i: codes[0] for i, codes in allowed_values(structure, densest)}
    return [first.get(i, 0) for i in range(len(structure.domain))]


def _densest(density: Density, profiles: Profiles) -> list[int]:
    """The densest record there is: in its leaf every column has its densest value."""
    domain = profiles.domain
    by_value = profiles.inside / domain.measures
    with np.errstate(divide="ignore"):
        best = np.log(np.maximum.reduceat(by_value, domain.starts[:-1], axis=1)).sum(axis=1)
    leaf = int(np.argmax(density.log_probabilities + best))
    return [int(np.argmax(by_value[leaf, domain.span(i)])) for i in range(len(domain))]


def _feature(report: Report, i: int, start: int) -> dict[str, Any]:
    """What a form needs to ask for a feature; `start` is the value that it begins with."""
    structure, feature = report.structure, report.structure.domain[i]
    field: dict[str, Any] = {"name": words.printable(feature.name), "missing": feature.missing, "size": feature.size}
    field |= {"start": start, "used": bool(report.density.used[i])}
    if feature.kind == "continuous" and len(feature.known) > 0:
        labels = [words.one_value(feature, value) for value in feature.values]
        return field | {"edges": feature.edges.tolist(), "integer": feature.integer, "labels": labels}
    groups: dict[Hashable, list[int]] = {}
    for code in range(feature.size):
        grouped = feature.size > MOST_CHOICES and report.profiles is None
        alike = _treatment(structure, i, code) if grouped else code
        groups.setdefault(alike, []).append(code)
    field["start"] = next(group[0] for group in groups.values() if start in group)
    if feature.period is not None:
        field["begins"] = periods.begins(feature.period, feature.edges)
    return field | {"choices": [[group[0], words.some_values(feature, group)] for group in groups.values()]}


def _treatment(structure: Structure, i: int, code: int) -> Hashable:
    """The same for values of a feature that no part of a structure tells apart."""
    match structure:
        case Tree() as tree:
            places = tree.offset[tree.feature == i]
            return tuple(tree.child[places + code].tolist())
        case RuleList() as rules:
            here = rules.feature == i
            return tuple(((rules.low[here] <= code) & (code <= rules.high[here])).tolist())
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
    special: list[list[Any]] = []
    for shares in _shares(domain, weights):
        distances = np.add.reduceat(np.abs(shares - overall), domain.starts[:-1])
        columns = np.argsort(-distances, kind="stable")[:most].tolist() if shares.any() else []
        special.append(
            [[words.printable(domain[i].name), _special_values(domain, i, shares, overall)] for i in columns]
        )
    return special


def _special_values(domain: Domain, i: int, shares: Floats, overall: Floats) -> list[Any]:
    """The most frequent values of a column in a leaf: the label, its share there, and its share of all records."""
    start, feature = int(domain.starts[i]), domain[i]
    codes = np.argsort(-shares[domain.span(i)], kind="stable")[:SPECIAL_VALUES].tolist()
    labels = [words.one_value(feature, feature.values[code], 30) for code in codes]
    pairs = [(shares[start + code], overall[start + code]) for code in codes]
    return [[label, *(round(float(share), 4) for share in pair)] for label, pair in zip(labels, pairs, strict=True)]


def _shares(domain: Domain, weights: Floats) -> Floats:
    """Weights by value as shares within each feature; 0 if there is no weight."""
    totals = np.repeat(np.add.reduceat(weights, domain.starts[:-1], axis=1), domain.sizes, axis=1)
    shares: Floats = np.divide(weights, totals, out=np.zeros_like(weights), where=totals > 0)
    return shares
