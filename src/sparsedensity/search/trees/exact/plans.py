"""What can be done with a region, and trees over numbered regions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

from sparsedensity.domain import Domain
from sparsedensity.structures import Tree
from sparsedensity.structures.tree import Division


class Choice(NamedTuple):
    """One thing to do with a region: its parts (none: a leaf), and how much less good that is than the best."""

    loss: float
    feature: int
    parts: tuple[int, ...]


class NumberedRegions(Protocol):
    """Numbered regions, parts before wholes."""

    @property
    def domain(self) -> Domain:
        """The whole domain."""

    @property
    def root(self) -> int:
        """The number of the whole domain."""

    @property
    def points(self) -> int:
        """The most leaves of a tree."""

    def place(self, state: int) -> int:
        """What tells one region from another, where a region has several numbers."""

    def codes(self, region: int, feature: int) -> list[int]:
        """The codes that a region allows in a feature."""


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


class Tables(Protocol):
    """The best trees of all regions at one price per leaf."""

    price: float

    @property
    def lattice(self) -> NumberedRegions:
        """The regions."""

    def solve(self, price: float) -> Iterator[int]:
        """Find the best trees at a price; yields the number of regions done since the last time."""

    @property
    def best(self) -> float:
        """The best sum for the whole domain, the price of its leaves taken off."""

    @property
    def as_leaf(self) -> float:
        """What the whole domain is worth as one leaf, without the price."""

    def choice(self, region: int) -> Choice:
        """The best thing to do with a region: of equals a leaf, then the lowest column."""

    def choices(self, region: int, slack: float) -> Iterator[Choice]:
        """Everything to do with a region that loses at most some slack."""


def best_plan(tables: Tables, region: int) -> Plan:
    """The best tree of a region after a pass."""
    choice = tables.choice(region)
    return Plan(region, choice.feature, tuple(best_plan(tables, part) for part in choice.parts))


def tree_of(lattice: NumberedRegions, plan: Plan) -> Tree:
    """The tree that a plan describes."""

    def divide(part: Plan) -> Division[Plan]:
        branches = [(lattice.codes(below.region, part.feature), below) for below in part.parts]
        return (part.feature, branches) if branches else None

    return Tree.grown(lattice.domain, plan, divide)
