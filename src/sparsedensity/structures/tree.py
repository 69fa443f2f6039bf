"""A tree: multiway splits on groups of a feature's values.

A finished tree is three arrays. Node 0 is the root, children come after their parents, and an inner node has one
entry in ``child`` for every value of its feature: the child that takes the value, or ``NOWHERE`` if the path
to the node has already excluded it.

>>> from sparsedensity.domain import Domain, Feature
>>> domain = Domain((Feature.nominal("class", ("1st", "2nd", "3rd", "crew")), Feature.nominal("sex", ("f", "m"))))
>>> tree = Tree.leaf(domain).split(0, 0, [{0, 1, 2}, {3}])
>>> [sorted(leaf.region.allowed[0]) for leaf in tree.leaves()]
[[0, 1, 2], [3]]
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from sparsedensity.domain import Domain
from sparsedensity.region import Region
from sparsedensity.structures.base import in_threads
from sparsedensity.table import Codes, Floats

LEAF = -1
NOWHERE = -1

Place = TypeVar("Place")
Division: TypeAlias = tuple[int, Sequence[tuple[Collection[int], Place]]] | None
"""How something divides: ``None`` for a leaf, else the feature and, for each branch, its codes and where it leads."""
Split: TypeAlias = Division[int]
"""The division of a node, which leads to the numbers of its children."""


@dataclass(frozen=True)
class Node:
    """A reader's place in a tree."""

    tree: Tree
    index: int
    region: Region
    depth: int
    group: frozenset[int] | None
    """The values of the parent's feature that lead here; ``None`` for the root."""
    parent: int | None

    @property
    def feature(self) -> int | None:
        """The feature it splits on; ``None`` for a leaf."""
        feature = int(self.tree.feature[self.index])
        return None if feature == LEAF else feature

    @property
    def is_leaf(self) -> bool:
        """Whether the tree ends here."""
        return self.feature is None

    @property
    def number(self) -> int:
        """The number of this leaf."""
        return int(self.tree.leaf_number[self.index])

    @property
    def children(self) -> list[Node]:
        """The nodes below, in the order of their first values."""
        feature = self.feature
        if feature is None:
            return []
        return [
            Node(self.tree, child, self.region.only(feature, codes), self.depth + 1, codes, self.index)
            for child, codes in self.tree.groups(self.index).items()
        ]


@dataclass(frozen=True, eq=False)
class Tree:
    """A division of the domain by splits on groups of values."""

    domain: Domain
    feature: NDArray[np.int32]
    offset: NDArray[np.int32]
    child: NDArray[np.int32]

    @classmethod
    def leaf(cls, domain: Domain) -> Tree:
        """The tree of one leaf."""
        return cls(domain, np.array([LEAF], np.int32), np.zeros(1, np.int32), np.zeros(0, np.int32))

    @classmethod
    def of_splits(cls, domain: Domain, splits: Sequence[Split]) -> Tree:
        """Build from the split of every node."""
        feature = np.array([LEAF if split is None else split[0] for split in splits], np.int32)
        lengths = np.array([0 if split is None else domain.sizes[split[0]] for split in splits], np.int32)
        offset = np.cumsum(lengths, dtype=np.int32) - lengths
        child = np.full(int(lengths.sum()), NOWHERE, np.int32)
        for begin, split in zip(offset.tolist(), splits, strict=True):
            for codes, node in split[1] if split is not None else ():
                child[begin + np.fromiter(codes, np.intp, len(codes))] = node
        return cls(domain, feature, offset, child)

    @classmethod
    def grown(cls, domain: Domain, root: Place, divide: Callable[[Place], Division[Place]]) -> Tree:
        """Build from the top, asking of every place how it divides."""
        splits: list[Split] = [None]
        stack = [(root, 0)]
        while stack:
            place, node = stack.pop()
            division = divide(place)
            if division is not None:
                feature, branches = division
                splits[node] = feature, [(codes, len(splits) + i) for i, (codes, _) in enumerate(branches)]
                stack += [(below, len(splits) + i) for i, (_, below) in enumerate(branches)]
                splits += [None] * len(branches)
        return cls.of_splits(domain, splits)

    def split(self, node: int, feature: int, groups: Sequence[Collection[int]]) -> Tree:
        """The tree with one leaf split on a feature, one new leaf for every group of codes."""
        splits = self.splits()
        if splits[node] is not None:
            raise ValueError(f"Node {node} is already split.")
        splits[node] = (feature, [(group, len(splits) + i) for i, group in enumerate(groups)])
        return Tree.of_splits(self.domain, splits + [None] * len(groups))

    def splits(self) -> list[Split]:
        """One entry per node, as :meth:`of_splits` takes them."""
        return [
            None if of == LEAF else (int(of), [(codes, child) for child, codes in self.groups(node).items()])
            for node, of in enumerate(self.feature)
        ]

    def groups(self, node: int) -> dict[int, frozenset[int]]:
        """The children of an inner node with the codes that lead to each, in the order of their first codes."""
        size = self.domain.sizes[self.feature[node]]
        targets = self.child[self.offset[node] : self.offset[node] + size].tolist()
        groups: dict[int, set[int]] = {}
        for code, target in enumerate(targets):
            if target != NOWHERE:
                groups.setdefault(target, set()).add(code)
        return {target: frozenset(codes) for target, codes in groups.items()}

    def root(self) -> Node:
        """A reader's place at the top."""
        return Node(self, 0, self.domain.everything(), 0, None, None)

    def walk(self) -> Iterator[Node]:
        """Every node, parents before children, in reading order."""
        stack = [self.root()]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def leaves(self) -> Iterator[Node]:
        """Every leaf, in reading order, which is the order of their numbers."""
        return (node for node in self.walk() if node.is_leaf)

    @cached_property
    def leaf_number(self) -> NDArray[np.int64]:
        """The number of each leaf, by node; -1 for inner nodes. Leaves are numbered in reading order."""
        numbers = np.full(len(self.feature), -1, np.int64)
        stack, found = [0], 0
        while stack:
            node = stack.pop()
            if self.feature[node] == LEAF:
                numbers[node] = found
                found += 1
            else:
                stack.extend(reversed(self.groups(node)))
        return numbers

    @property
    def n_nodes(self) -> int:
        """How many nodes there are, inner ones and leaves."""
        return len(self.feature)

    @cached_property
    def n_leaves(self) -> int:
        """How many leaves there are."""
        return int(np.sum(self.feature == LEAF))

    @cached_property
    def branches(self) -> NDArray[np.int64]:
        """How many children each inner node has."""
        inner = np.flatnonzero(self.feature != LEAF)
        above = np.repeat(inner, np.array(self.domain.sizes)[self.feature[inner]])
        taken = self.child != NOWHERE
        parent = np.zeros(self.n_nodes, np.int64)
        parent[self.child[taken]] = above[taken]
        return np.bincount(parent[1:], minlength=self.n_nodes)[inner]

    @property
    def n_features_used(self) -> int:
        """How many features some split asks about."""
        return len(set(self.feature[self.feature != LEAF].tolist()))

    @cached_property
    def regions(self) -> tuple[Region, ...]:
        """The region of every leaf, by number."""
        return tuple(leaf.region for leaf in self.leaves())

    @cached_property
    def masks(self) -> NDArray[np.bool_]:
        """Which values every leaf allows: one row per leaf, over all values of the domain."""
        return np.array([region.mask(self.domain) for region in self.regions])

    @cached_property
    def log_volumes(self) -> Floats:
        """The natural log of the volume of every leaf."""
        return np.array([region.log_volume(self.domain) for region in self.regions])

    def leaf_numbers(self, codes: Codes, *, jobs: int = 1) -> NDArray[np.int64]:
        """The leaf of every encoded row."""
        from sparsedensity.kernels import route  # the compiler takes long to load, and readers route nothing

        tree = self.feature, self.offset, self.child, self.leaf_number
        return in_threads(lambda rows, out: route.route_tree(rows, *tree, out), codes, jobs)

    def merged(self) -> Tree:
        """The same leaves, with chains of splits on one feature drawn as one multiway split."""
        return Tree.grown(self.domain, 0, self._division)

    def _division(self, node: int) -> Split:
        """The split of a node, where a child that splits on the same feature is replaced by its branches."""
        if self.feature[node] == LEAF:
            return None
        branches: list[tuple[frozenset[int], int]] = []
        stack = list(self.groups(node).items())
        while stack:
            child, codes = stack.pop()
            if self.feature[child] == self.feature[node]:
                stack.extend(self.groups(child).items())
            else:
                branches.append((codes, child))
        return int(self.feature[node]), sorted(branches, key=lambda branch: min(branch[0]))
