"""Something like the paper's crime data, which the police keep: its columns and values, and a truth we know.

The paper describes 3,739 housebreaks by six features and quotes the densities of its tree. Here is a tree of thirteen
leaves with those densities, where they are quoted, and plausible ones between them: most housebreaks are at residences,
by force through a door or a window, on weekends, with the owner away; few end with the place ransacked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from sparsedensity.datasets.truth import Truth, checked_rng, draw
from sparsedensity.domain import Domain, Feature
from sparsedensity.structures import Tree
from sparsedensity.structures.tree import Split

HOUSEBREAK_ROWS = 3739
VALUES = {
    "location of entry": ("window", "door", "wall", "basement"),
    "means of entry": ("forceful", "open area", "picked lock", "unlocked", "other"),
    "resident inside": ("no", "yes"),
    "ransacked": ("no", "yes"),
    "day": ("weekday", "weekend"),
    "premise": (
        "residence", "work place", "medical", "parking", "social", "storage", "construction site", "street", "church",
    ),
}  # fmt: skip

Branches = Mapping[str, "Node"]
Node = float | tuple[str, Branches]
"""The density of a leaf, or a feature and its branches: values joined by a bar, and ``else`` for those not named."""

BY_FORCE: Node = ("resident inside", {"no": 0.2, "yes": 0.04})
THROUGH_DOOR_OR_WINDOW: Node = (
    "means of entry",
    {"forceful": BY_FORCE, "unlocked": 0.0361, "open area": 0.0068, "picked lock": 0.0011, "other": 0.0020},
)
WEEKEND: Node = ("location of entry", {"door|window": THROUGH_DOOR_OR_WINDOW, "else": 0.0010})
WEEKDAY: Node = ("resident inside", {"no": 0.0046, "yes": 0.0010})
RANSACKED: Node = ("location of entry", {"door": 0.0042, "else": 0.000472})
AT_RESIDENCES: Node = ("ransacked", {"no": ("day", {"weekend": WEEKEND, "weekday": WEEKDAY}), "yes": RANSACKED})
STORY: Node = ("premise", {"residence": AT_RESIDENCES, "work place": 0.000190, "else": 0.0000547})
"""The tree with its densities; that of the rarest leaf makes them integrate to 1, within a ten-thousandth."""


def housebreaks(rows: int = HOUSEBREAK_ROWS, seed: int = 0) -> Truth:
    """Housebreaks as the paper describes them, drawn from a tree that is known.

    >>> truth = housebreaks()
    >>> truth.frame.shape, truth.domain.sizes, truth.tree.n_leaves
    ((3739, 6), (4, 5, 2, 2, 2, 9), 13)
    >>> truth.frame["premise"].value_counts(sort=True)["premise"][0]
    'residence'
    """
    rng = checked_rng(seed, rows=rows)
    domain = Domain(tuple(Feature.nominal(name, values) for name, values in VALUES.items()))
    splits: list[Split] = []
    leaves = list(_read(STORY, domain, splits))
    tree = Tree.of_splits(domain, splits)
    densities = np.empty(tree.n_leaves)
    for node, density in leaves:
        densities[tree.leaf_number[node]] = density
    probabilities = densities * np.exp(tree.log_volumes)
    return draw(tree, probabilities / probabilities.sum(), rows, rng)


def _read(node: Node, domain: Domain, splits: list[Split]) -> Iterator[tuple[int, float]]:
    """Append a node and those below it to the splits; give every leaf with its density."""
    place = len(splits)
    splits.append(None)
    if isinstance(node, float):
        yield place, node
        return
    name, branches = node
    groups = []
    for words, child in branches.items():
        groups.append((_codes(domain[name], words, branches), len(splits)))
        yield from _read(child, domain, splits)
    splits[place] = (domain.index(name), groups)


def _codes(feature: Feature, words: str, branches: Branches) -> list[int]:
    """The values of one branch."""
    if words != "else":
        return [feature.code(word) for word in words.split("|")]
    named = {word for other in branches for word in other.split("|")}
    return [code for code, value in enumerate(feature.values) if value not in named]
