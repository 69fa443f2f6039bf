"""The regions of a tree, and what they hold on all rows: enough to tell what its splits gain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sparsedensity.problem import AnyProblem
from sparsedensity.structures import Tree
from sparsedensity.structures.tree import LEAF
from sparsedensity.table import Floats

Key: TypeAlias = bytes
"""A region: for every value 1 if it is allowed, else 0."""
SplitRegions: TypeAlias = tuple[int, tuple[Key, ...]]
"""The feature of a split, and its parts."""


class CountedRegions(NamedTuple):
    """What the leaves of a counted tree and the regions above them hold."""

    posterior: Any
    held: Mapping[Key, Floats]
    """The weight at every value."""
    weights: Mapping[Key, float]
    terms: Mapping[Key, float]
    """What each would add as a leaf."""

    @classmethod
    def of(cls, problem: AnyProblem, tree: Tree, by_value: Floats, splits: Sequence[SplitRegions]) -> CountedRegions:
        """Add up the leaves of a tree over some splits, those below first."""
        held = dict(zip((bytes(mask) for mask in tree.masks), by_value, strict=True))
        for _, parts in splits:
            held[joined(parts)] = np.sum([held[part] for part in parts], axis=0)
        allowed, counts = np.array([allowed_in(region) for region in held]), np.array(list(held.values()))
        weights = counts[:, problem.domain.span(0)].sum(axis=1).tolist()
        terms = problem.posterior.region_terms(problem.domain, allowed, counts).tolist()
        return cls(problem.posterior, held, dict(zip(held, weights, strict=True)), dict(zip(held, terms, strict=True)))

    def gain(self, parts: Sequence[Key]) -> float:
        """What a split into these parts adds to the log posterior, beside the number of leaves and of features."""
        below = np.array([self.weights[part] for part in parts])
        terms = sum(self.terms[part] for part in parts) - self.terms[joined(parts)]
        return float(self.posterior.log_split(below) + terms)


def allowed_in(region: Key) -> NDArray[np.uint8]:
    """Which values a region allows."""
    return np.frombuffer(region, np.uint8)


def joined(parts: Sequence[Key]) -> Key:
    """The region that is divided into these parts."""
    return bytes(np.bitwise_or.reduce([allowed_in(part) for part in parts]))


def regions_of(tree: Tree) -> list[Key]:
    """The region of every node."""
    regions = [b""] * tree.n_nodes
    for node in reversed(range(tree.n_nodes)):
        below = [regions[child] for child in tree.groups(node)] if tree.feature[node] != LEAF else []
        regions[node] = joined(below) if below else bytes(tree.masks[tree.leaf_number[node]])
    return regions


def splits_of(tree: Tree) -> list[SplitRegions]:
    """The feature and the parts of every split, those below first.

    If some children are leaves, they may also be divided after the others.
    """
    regions, splits = regions_of(tree), list[SplitRegions]()
    for node in reversed(range(tree.n_nodes)):
        feature = int(tree.feature[node])
        if feature == LEAF:
            continue
        children = list(tree.groups(node))
        parts = tuple(regions[child] for child in children)
        splits.append((feature, parts))
        for siblings in neighbouring_leaves(tree, feature, children):
            some = tuple(regions[child] for child in siblings)
            others = tuple(part for part in parts if part not in some)
            splits += [(feature, some), (feature, (*others, joined(some)))]
    return splits


def neighbouring_leaves(tree: Tree, feature: int, children: list[int]) -> Iterator[list[int]]:
    """The leaves among the children of a split that could be one leaf together: several, but not all of them."""
    ordered = tree.domain[feature].ordered
    line = children if ordered else sorted(children, key=lambda child: int(tree.feature[child]))
    for is_leaf, siblings in groupby(line, key=lambda child: bool(tree.feature[child] == LEAF)):
        some = list(siblings)
        if is_leaf and 2 <= len(some) < len(children):
            yield some
