"""One tree for one set of leaves.

The leaf-sparse posterior sees only the leaves, and many trees have the same ones. The canonical tree is the one to
show: chains of splits on one feature drawn as one multiway split, then as few inner nodes as possible, then the
lowest column first.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from sparsedensity.structures.tree import Tree

MOST_LEAVES = 150
"""Larger trees are shown as they were found: nobody reads all of them."""
LARGEST_SEARCH = 20_000
"""How many sets of leaves to look at before the tree is taken as it was found."""
MOST_PARTS = 5
"""Up to this many parts of a feature's values, all ways to group them are tried."""

Branch = tuple[frozenset[int], frozenset[int]]
"""The codes of a branch and the leaves in it."""
Plan = tuple[int, list[Branch]]
"""How to split a set of leaves: the feature and the branches."""


def canonical(tree: Tree) -> Tree:
    """The tree with the same leaves that is shown."""
    merged = tree.merged()
    if tree.n_leaves > MOST_LEAVES:
        return merged
    search = _Search(tree)
    try:
        count = search.inner_nodes(frozenset(range(tree.n_leaves)))
    except _TooLargeError:
        return merged
    return search.tree() if count <= merged.n_nodes - merged.n_leaves else merged


class _TooLargeError(Exception):
    """The search for the smallest tree has taken too long."""


class _Search:
    """The smallest number of inner nodes for every set of leaves met, and the split that attains it."""

    def __init__(self, source: Tree) -> None:
        self.domain = source.domain
        self.allowed = [region.allowed for region in source.regions]
        self.plans: dict[frozenset[int], tuple[int, Plan | None]] = {}

    def inner_nodes(self, leaves: frozenset[int]) -> int:
        """The least number of inner nodes of a tree with these leaves."""
        if len(leaves) == 1:
            return 0
        if leaves in self.plans:
            return self.plans[leaves][0]
        if len(self.plans) >= LARGEST_SEARCH:
            raise _TooLargeError
        best, plan = len(leaves), None
        for split in self._splits(leaves):
            count = 1
            for _, below in split[1]:
                count += self.inner_nodes(below)
                if count >= best:
                    break
            if count < best:
                best, plan = count, split
        self.plans[leaves] = best, plan
        return best

    def tree(self) -> Tree:
        """The tree that the plans describe."""
        everything = frozenset(range(len(self.allowed)))
        plan_of = {leaves: plan for leaves, (_, plan) in self.plans.items()}
        return Tree.grown(self.domain, everything, plan_of.get).merged()

    def _splits(self, leaves: frozenset[int]) -> Iterator[Plan]:
        """Every split that cuts no leaf, lowest column first, finest first."""
        for feature in range(len(self.domain)):
            parts = self._parts(leaves, feature)
            if len(parts) < 2:
                continue
            for grouping in _groupings(len(parts)):
                branches = [_joined([parts[i] for i in group]) for group in grouping]
                if self._keeps_order(feature, [codes for codes, _ in branches]):
                    yield feature, branches

    def _keeps_order(self, feature: int, groups: list[frozenset[int]]) -> bool:
        """Whether the groups of an ordered feature are runs; missing may join any of them."""
        if not self.domain[feature].ordered:
            return True
        owner = {code: i for i, group in enumerate(groups) for code in group - {self.domain[feature].missing}}
        runs = [i for i, _ in itertools.groupby(owner[code] for code in sorted(owner))]
        return len(runs) == len(set(runs))

    def _parts(self, leaves: frozenset[int], feature: int) -> list[Branch]:
        """The finest groups of a feature's values that no leaf bridges, each with its leaves, by lowest value."""
        parts: list[Branch] = []
        for leaf in leaves:
            codes, members = self.allowed[leaf][feature], frozenset([leaf])
            apart = []
            for part in parts:
                if part[0] & codes:
                    codes, members = codes | part[0], members | part[1]
                else:
                    apart.append(part)
            parts = [*apart, (codes, members)]
        return sorted(parts, key=lambda part: min(part[0]))


def _joined(branches: list[Branch]) -> Branch:
    codes, leaves = zip(*branches, strict=True)
    return frozenset[int]().union(*codes), frozenset[int]().union(*leaves)


def _groupings(parts: int) -> list[list[list[int]]]:
    """Ways to group parts into two or more branches: all of them for few parts, else one branch per part."""
    if parts > MOST_PARTS:
        return [[[i] for i in range(parts)]]
    groups_of: list[tuple[int, ...]] = [(0,)]  # every part joins one of the groups before it or begins the next
    for _ in range(1, parts):
        groups_of = [(*own, group) for own in groups_of for group in range(max(own) + 2)]
    several = sorted((own for own in groups_of if max(own) > 0), key=lambda own: -max(own))
    return [[[i for i in range(parts) if own[i] == group] for group in range(max(own) + 1)] for own in several]
