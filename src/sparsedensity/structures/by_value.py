"""Numbers by column and value, as JSON that a person can read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from sparsedensity.domain import Domain, Feature
from sparsedensity.errors import DataError, in_short
from sparsedensity.scalars import is_number
from sparsedensity.structures.base import Structure
from sparsedensity.structures.files import value_to_json
from sparsedensity.structures.tree import Tree
from sparsedensity.table import Floats

ByValue = dict[str, dict[str, Any]]
"""For every column the numbers at its values; those that are 0 are left out."""


def to_json(domain: Domain, numbers: Floats) -> ByValue:
    """A number for every value of a domain."""
    return {
        feature.name: {
            _label(feature, code): int(number) if number.is_integer() else number
            for code, number in enumerate(numbers[domain.span(i)].tolist())
            if number
        }
        for i, feature in enumerate(domain)
    }


def from_json(domain: Domain, several: Sequence[ByValue]) -> Floats:
    """What :func:`to_json` wrote, several times: one row each; no number may be below 0."""
    known = [{_label(feature, code): code for code in range(feature.size)} for feature in domain]
    found = np.zeros((len(several), len(domain.measures)))
    for row, columns in zip(found, several, strict=True):
        if strange := [name for name in columns if name not in domain.names]:
            raise DataError(f"{in_short(strange[0])} is not one of its columns.")
        for i, feature in enumerate(domain):
            if feature.name not in columns:
                raise DataError(f"it lacks the values of {feature.name!r}.")
            for label, number in columns[feature.name].items():
                if label not in known[i]:
                    raise DataError(f"{feature.name!r} has no value {in_short(label)}.")
                if not is_number(number) or number < 0:
                    raise DataError(
                        f"{feature.name!r} has {in_short(number)} at {in_short(label)}, not a number from 0."
                    )
                row[domain.starts[i] + known[i][label]] = number
    return found


def leaf_values_from_json(leaves: Sequence[dict[str, Any]], structure: Structure) -> Floats:
    """The weight in every leaf of a tree at every value; those of a column add up to the weight of the leaf."""
    if not isinstance(structure, Tree) or len(leaves) != structure.n_leaves:
        raise DataError("the weights of its leaves do not fit its structure.")
    domain = structure.domain
    weights = from_json(domain, [leaf["values"] for leaf in leaves])
    sums = np.add.reduceat(weights, domain.starts[:-1], axis=1)
    for number, region in enumerate(structure.regions):
        adds_up = np.allclose(sums[number], leaves[number]["weight"], rtol=1e-9, atol=0)
        if not adds_up or weights[number, ~region.mask(domain)].any():
            raise DataError(f"the values of leaf {number} do not fit its conditions and its weight.")
    return weights


def _label(feature: Feature, code: int) -> str:
    """A value as a key: a text as it is, unless it could be taken for JSON; all else as JSON."""
    value = value_to_json(feature, code)
    return value if isinstance(value, str) and not _is_json(value) else json.dumps(value, ensure_ascii=False)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
