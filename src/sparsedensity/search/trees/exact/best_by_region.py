"""The best trees of every region at a price per leaf.

At a fixed price per leaf every posterior adds up: over the leaves, if only they matter, or over the nodes. One pass
over all regions, parts before wholes, then knows the best tree of each. What a pass leaves behind also tells how much
any other choice at any region loses, which is all that near-optimal trees and open numbers of leaves need.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from operator import attrgetter
from typing import Any

import numpy as np
from scipy.special import gammaln

from sparsedensity.kernels import exact as kernels
from sparsedensity.problem import AnyProblem
from sparsedensity.search.trees.exact.plans import Choice, Plan
from sparsedensity.search.trees.exact.regions import Ints, Lattice
from sparsedensity.table import Floats

PARTINGS_PER_STEP = 20_000_000
"""How many partings are tried before a time limit or Ctrl-C is looked at."""

ROUNDING = 1e-10
"""Sums this close may be the same one, added up in another order."""


class LeafTables:
    """The sum over leaves, for posteriors to which only leaves matter. Two groups at a time reach every tree."""

    def __init__(self, lattice: Lattice, problem: AnyProblem) -> None:
        self.lattice, self.problem, self.price = lattice, problem, math.nan
        self.leaf: Floats
        self.value: Floats
        """Filled by a pass; takes the place of the weights."""

    def count(self) -> Iterator[int]:
        """Weigh all regions, before any pass; yields those done since the last time, if that is slow."""
        self.value = self.lattice.weights(self.problem.engine)
        self.leaf = yield from self.lattice.leaf_terms(self.problem, self.value)
        self.leaf += self.problem.posterior.leaf_evidence(self.value)

    def solve(self, price: float) -> Iterator[int]:
        """One pass over all regions."""
        self.price = math.nan
        for begin, end in blocks(self.lattice):
            kernels.best_sums(self.leaf, price, self.lattice.partings, begin, end, self.value)
            yield int(end - begin)
        self.price = price

    @property
    def best(self) -> float:
        """The best sum for the whole domain."""
        return float(self.value[-1])

    @property
    def as_leaf(self) -> float:
        """What the whole domain is worth as one leaf."""
        return float(self.leaf[-1])

    def choice(self, region: int) -> Choice:
        """The best thing to do with a region."""
        return min(self.choices(region, ROUNDING), key=attrgetter("loss"))

    def choices(self, region: int, slack: float) -> Iterator[Choice]:
        """A leaf, and every parting in two."""
        best, partings = self.value[region], self.lattice.partings
        if (loss := best - (self.leaf[region] - self.price)) <= slack:
            yield Choice(float(loss), -1, ())
        for feature in self.lattice.features:
            base, span = _line(self.lattice, region, feature)
            first, rest = base + partings.first[span], base + partings.rest[span]
            losses = best - (self.value[first] + self.value[rest])
            for i in np.flatnonzero(losses <= slack):
                yield Choice(float(losses[i]), feature, (int(first[i]), int(rest[i])))


class LeafCounts:
    """The same for every number of leaves at once: the best sum of each region with 1, 2, .. leaves."""

    def __init__(self, tables: LeafTables, most: int) -> None:
        self.leaf, self.lattice = tables.leaf, tables.lattice
        self.sums = np.empty((tables.lattice.regions, most + 1))

    def solve(self) -> Iterator[int]:
        """One pass over all regions."""
        for begin, end in blocks(self.lattice, self.sums.shape[1] ** 2 / 4):
            kernels.best_by_leaves(self.leaf, self.lattice.partings, begin, end, self.sums)
            yield int(end - begin)

    def best(self, leaves: int) -> float:
        """The best sum for the whole domain with so many leaves."""
        return float(self.sums[self.lattice.root, leaves])

    def plan(self, region: int, leaves: int) -> Plan:
        """The best tree of a region with so many leaves."""
        if leaves == 1:
            return Plan(region, -1, ())
        best, parts = -math.inf, (0, 0, 0, 0)
        for feature in self.lattice.features:
            base, span = _line(self.lattice, region, feature)
            first, rest = base + self.lattice.partings.first[span], base + self.lattice.partings.rest[span]
            totals = self.sums[first, 1:leaves] + self.sums[rest, leaves - 1 : 0 : -1]
            if totals.size and totals.max() > best:
                place, share = divmod(int(totals.argmax()), leaves - 1)
                best, parts = totals.max(), (feature, int(first[place]), int(rest[place]), share + 1)
        feature, one, other, share = parts
        return Plan(region, feature, (self.plan(one, share), self.plan(other, leaves - share)))


def node_terms(problem: AnyProblem, weights: Floats, leaf: Floats) -> kernels.Terms:
    """The terms of a posterior, given those of its leaf model; if only leaves matter, splits add nothing."""
    posterior, widest = problem.posterior, max(problem.domain.sizes)
    if posterior.only_leaves:
        nothing = np.zeros((1, widest + 1))
        return kernels.Terms(
            leaf + posterior.leaf_evidence(weights), np.zeros(len(weights), np.int32), nothing, np.zeros(1)
        )
    distinct, of = np.unique(weights, return_inverse=True)
    groups = np.arange(2, widest + 1)
    head = np.zeros((len(distinct), widest + 1))
    head[:, 2:] = posterior.by_branches(groups) - gammaln(distinct[:, None] + posterior.totals(groups))
    return kernels.Terms(leaf, of.astype(np.int32), head, gammaln(distinct + posterior.pseudocount))


class NodeTables(ABC):
    """The choices of a region where splits into more than two groups are one thing: chains along each feature."""

    def __init__(self, lattice: Any, problem: AnyProblem) -> None:
        self.lattice, self.problem, self.price = lattice, problem, math.nan
        self.terms: kernels.Terms

    def count(self) -> Iterator[int]:
        """Weigh all regions, before any pass; yields those done since the last time, if that is slow."""
        weights = self.lattice.weights(self.problem.engine)
        leaf = yield from self.lattice.leaf_terms(self.problem, weights)
        self.terms = node_terms(self.problem, weights, leaf)

    @abstractmethod
    def solve(self, price: float) -> Iterator[int]:
        """One pass over all regions at a price per leaf; yields the number of regions done since the last time."""

    @abstractmethod
    def own(self, region: int) -> float:
        """A region's best sum, without what it adds as a child."""

    @abstractmethod
    def lines(self, region: int) -> Iterator[Line]:
        """The lines through a region along every feature."""

    @property
    def best(self) -> float:
        """The best sum for the whole domain."""
        return self.own(self.lattice.root)

    @property
    def as_leaf(self) -> float:
        """What the whole domain is worth as one leaf."""
        return float(self.terms.leaf[self.lattice.place(self.lattice.root)])

    def choice(self, region: int) -> Choice:
        """The best thing to do with a region."""
        best, own = self._leaf(region), self.own(region)
        for line in self.lines(region):
            for groups, total in self._totals(region, line):
                if own - total < best.loss - ROUNDING:
                    best = Choice(own - total, line.feature, line.best_grouping(groups))
        return best

    def choices(self, region: int, slack: float) -> Iterator[Choice]:
        """A leaf, and every grouping along every feature."""
        own = self.own(region)
        if (leaf := self._leaf(region)).loss <= slack:
            yield leaf
        for line in self.lines(region):
            for groups, total in self._totals(region, line):
                if (loss := own - total) <= slack:
                    for extra, parts in line.groupings(line.digit, groups, slack - loss):
                        yield Choice(loss + extra, line.feature, parts)

    def _leaf(self, region: int) -> Choice:
        return Choice(self.own(region) - float(self.terms.leaf[self.lattice.place(region)] - self.price), -1, ())

    def _totals(self, region: int, line: Line) -> Iterator[tuple[int, float]]:
        """The best sum with each number of groups along a line."""
        head = self.terms.head[self.terms.weight[self.lattice.place(region)]]
        for groups in range(2, line.size + 1):
            yield groups, float(line.chains[line.digit, groups] + head[groups])


class BranchTables(NodeTables):
    """The sum over nodes."""

    def __init__(self, lattice: Lattice, problem: AnyProblem) -> None:
        super().__init__(lattice, problem)
        self.value = np.empty(lattice.regions)

    def solve(self, price: float) -> Iterator[int]:
        """One pass over all regions."""
        self.price, chains = math.nan, _chains(self.lattice)
        for begin, end in blocks(self.lattice):
            kernels.best_branches(self.terms, price, self.lattice.partings, chains, (begin, end), self.value)
            yield int(end - begin)
        self.price = price

    def own(self, region: int) -> float:
        """A region's best sum, without what it adds as a child."""
        return float(self.value[region] - self.terms.child[self.terms.weight[region]])

    def lines(self, region: int) -> Iterator[Line]:
        """The lines through a region along every feature that may be split."""
        lattice = self.lattice
        for feature in lattice.features:
            digit, step = lattice.digit(region, feature), lattice.strides[feature]
            yield Line(self.value, lattice, feature, region - digit * step, step, digit)


Tables = LeafTables | NodeTables
"""The best trees of all regions at one price per leaf."""


class NodeCounts:
    """The same for every number of leaves at once: the best sum of each region with 1, 2, .. leaves."""

    def __init__(self, tables: BranchTables, most: int) -> None:
        self.terms, self.lattice = tables.terms, tables.lattice
        self.sums = np.empty((tables.lattice.regions, most + 1))
        """Each with what the region adds as a child."""
        sides, groups = max(tables.lattice.counts), max(tables.lattice.domain.sizes) + 1
        self.lines = np.empty((sides, groups, most + 1))

    def solve(self) -> Iterator[int]:
        """One pass over all regions."""
        for begin, end in blocks(self.lattice, self.sums.shape[1] ** 2 / 4):
            kernels.best_nodes_by_leaves(self.terms, self.lattice.partings, (begin, end), self.lines, self.sums)
            yield int(end - begin)

    def best(self, leaves: int) -> float:
        """The best sum for the whole domain with so many leaves."""
        return self._own(self.lattice.root, leaves)

    def plan(self, region: int, leaves: int) -> Plan:
        """The best tree of a region with so many leaves."""
        if leaves == 1:
            return Plan(region, -1, ())
        own, head = self._own(region, leaves), self.terms.head[self.terms.weight[region]]
        for feature in self.lattice.features:
            digit = self.lattice.digit(region, feature)
            base = region - digit * self.lattice.strides[feature]
            kernels.line_chains_by_leaves(self.sums, base, self.lattice.partings, feature, digit, self.lines)
            for groups in range(2, self.lattice.sides[feature].masks[digit].bit_count() + 1):
                if self.lines[digit, groups, leaves] + head[groups] >= own - ROUNDING * max(1.0, abs(own)):
                    parts = self._parts(feature, digit, groups, leaves)
                    step = self.lattice.strides[feature]
                    return Plan(region, feature, tuple(self.plan(base + side * step, k) for side, k in parts))
        raise AssertionError("a region of several points has a best split")

    def _own(self, region: int, leaves: int) -> float:
        return float(self.sums[region, leaves] - self.terms.child[self.terms.weight[region]])

    def _parts(self, feature: int, side: int, groups: int, leaves: int) -> list[tuple[int, int]]:
        """The sides of the best grouping along a line, with their leaves; what remains is the last of them."""
        sides, parts = self.lattice.sides[feature], []
        for left in range(groups, 1, -1):
            places = np.arange(sides.start[side], sides.start[side + 1])
            places = places[sides.sizes[sides.rest[places]] >= left - 1]
            first, rest = sides.first[places], sides.rest[places]
            totals = self.lines[first, 1, 1:leaves] + self.lines[rest, left - 1, leaves - 1 : 0 : -1]
            place, share = divmod(int(totals.argmax()), leaves - 1)
            parts.append((int(first[place]), share + 1))
            side, leaves = int(rest[place]), leaves - share - 1
        return [*parts, (side, leaves)]


def counts_of(tables: Tables, most: int) -> LeafCounts | NodeCounts:
    """The tables over the number of leaves that go with those at a price."""
    if isinstance(tables, LeafTables):
        return LeafCounts(tables, most)
    assert isinstance(tables, BranchTables)
    return NodeCounts(tables, most)


class Line:
    """All regions that differ from one in a single feature, with the best chains of groups among them."""

    def __init__(
        self, value: Floats, lattice: Any, feature: int, base: int, step: int, digit: int, offset: int = 0
    ) -> None:
        self.sides, self.feature, self.digit = lattice.sides[feature], feature, digit
        self.base, self.step = base + offset, step
        self.size = self.sides.masks[digit].bit_count()
        self.chains = np.full((digit + 1, self.sides.masks[-1].bit_count() + 1), -np.inf)
        kernels.line_chains(value, base, step, lattice.partings, feature, digit, self.chains)

    def best_grouping(self, groups: int) -> tuple[int, ...]:
        """The best division of the region itself into so many groups."""
        side, parts = self.digit, []
        for left in range(groups, 1, -1):
            first, rest = self._partings(side)
            place = np.argmax(self.chains[first, 1] + self.chains[rest, left - 1])
            parts.append(self._part(first[place]))
            side = int(rest[place])
        return (*parts, self._part(side))

    def groupings(self, side: int, groups: int, slack: float) -> Iterator[tuple[float, tuple[int, ...]]]:
        """Every division of a side into so many groups that loses at most some slack to the best of them."""
        if groups == 1:
            yield 0.0, (self._part(side),)
            return
        first, rest = self._partings(side)
        losses = self.chains[side, groups] - (self.chains[first, 1] + self.chains[rest, groups - 1])
        for i in np.flatnonzero(losses <= slack):
            loss = float(losses[i])
            for extra, others in self.groupings(int(rest[i]), groups - 1, slack - loss):
                yield loss + extra, (self._part(first[i]), *others)

    def _partings(self, side: int) -> tuple[Ints, Ints]:
        span = slice(self.sides.start[side], self.sides.start[side + 1])
        return self.sides.first[span], self.sides.rest[span]

    def _part(self, side: int) -> int:
        return self.base + int(side) * self.step


def blocks(lattice: Lattice, per_parting: float = 1.0) -> Iterator[tuple[np.int64, np.int64]]:
    """The regions in runs that take a fraction of a second each, by the steps that a parting takes."""
    per_region = per_parting * sum(len(own.first) / len(own.masks) for own in lattice.sides)
    length = max(1, int(PARTINGS_PER_STEP / max(per_region, 1.0)))
    for begin in range(0, lattice.regions, length):
        yield np.int64(begin), np.int64(min(begin + length, lattice.regions))


def _line(lattice: Lattice, region: int, feature: int) -> tuple[int, slice]:
    """The region number with a feature's digit at 0, and the place of the partings of its side."""
    digit, partings = lattice.digit(region, feature), lattice.partings
    side = partings.side[feature] + digit
    return region - digit * lattice.strides[feature], slice(partings.start[side], partings.start[side + 1])


def _chains(lattice: Lattice) -> kernels.Chains:
    """Room for the chains of every feature; those of two values are never read again."""
    counts = zip(lattice.domain.sizes, lattice.strides, lattice.counts, strict=True)
    block: Ints = np.array([stride * count if size > 2 else 1 for size, stride, count in counts], np.int64)
    width: Ints = np.maximum(np.array(lattice.domain.sizes, np.int64) - 1, 1)
    ends = np.cumsum(block * width)
    return kernels.Chains(np.empty(ends[-1]), ends - block * width, width, block)
