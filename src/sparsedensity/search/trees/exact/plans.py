"""What can be done with a region, and trees over numbered regions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from sparsedensity.structures import Tree, canonical
from sparsedensity.structures.tree import Division


class Choice(NamedTuple):
    """One thing to do with a region: its parts (none: a leaf), and how much less good that is than the best."""

    loss: float
    feature: int
    parts: tuple[int, ...]


class Plan(NamedTuple):
    """A tree over numbered regions."""

    region: int
    feature: int
    parts: tuple[Plan, ...]

    def leaves(self) -> Iterator[int]:
        """The regions of the leaves."""
        if not self.parts:
            yield self.region
        for part in self.parts:
            yield from part.leaves()

    def features(self) -> int:
        """The features split on, as a bit mask."""
        mask = 1 << self.feature if self.parts else 0
        for part in self.parts:
            mask |= part.features()
        return mask


def best_plan(tables: Any, region: int) -> Plan:
    """The best tree of a region after a pass."""
    choice = tables.choice(region)
    return Plan(region, choice.feature, tuple(best_plan(tables, part) for part in choice.parts))


def tree_of(lattice: Any, plan: Plan) -> Tree:
    """The tree that a plan describes."""

    def divide(part: Plan) -> Division[Plan]:
        branches = [(lattice.codes(below.region, part.feature), below) for below in part.parts]
        return (part.feature, branches) if branches else None

    return Tree.grown(lattice.domain, plan, divide)


def canonical_tree_of(lattice: Any, plan: Plan) -> Tree:
    """The smallest tree with the leaves of a plan."""
    return canonical(tree_of(lattice, plan))
