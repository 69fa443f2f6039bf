"""The regions that trees of few levels can make, and the best such trees.

A tree of at most d levels restricts at most d features on any path. So on a wide table, which has too many regions to
visit all, those that restrict at most d features may still be few. A *state* is a region with the number of levels
that may still lie below it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sparsedensity.domain import Domain
from sparsedensity.engines import Engine, whole_table
from sparsedensity.kernels import exact as kernels
from sparsedensity.kernels.belief import is_even, prepare
from sparsedensity.posterior.trees import prepared_terms, space_of
from sparsedensity.problem import AnyProblem
from sparsedensity.search.trees.exact.best_by_region import Line, NodeTables
from sparsedensity.search.trees.exact.regions import (
    VALUES_PER_STEP,
    Ints,
    SplitFeatures,
    add_up,
    codes_in,
    count_sides,
    has_codes,
    log_sides,
    partings_of,
    single_sides,
)
from sparsedensity.table import Floats, Table

PARTINGS_PER_STEP = 10_000_000


class Counted(NamedTuple):
    """What some regions hold and allow of every value."""

    weights: Floats
    allowed: Floats


@dataclass(frozen=True)
class ShallowLattice(SplitFeatures):
    """The states of trees of at most so many levels, fewer levels first, then in blocks of restricted features."""

    depth: int

    @cached_property
    def sets(self) -> list[tuple[int, ...]]:
        """The sets of features that a region may restrict, smaller ones first."""
        usable = [f for f in self.features if self.domain.sizes[f] > 1]
        return [some for size in range(self.depth + 1) for some in itertools.combinations(usable, size)]

    @cached_property
    def begins(self) -> Ints:
        """Where the regions of each set begin; one more entry for the end."""
        lengths = [math.prod(len(self.sides[f].masks) - 1 for f in some) for some in self.sets]
        return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)

    @cached_property
    def with_levels(self) -> list[int]:
        """How many regions may have 0, 1, .. levels below them: those that restrict few enough features."""
        sizes = np.array([len(some) for some in self.sets])
        return [int(self.begins[np.sum(sizes <= self.depth - levels)]) for levels in range(self.depth + 1)]

    @cached_property
    def offsets(self) -> list[int]:
        """The first state with 0, 1, .. levels."""
        return [0, *itertools.accumulate(self.with_levels)][:-1]

    @property
    def root(self) -> int:
        """The state of the whole domain with all levels."""
        return self.offsets[-1]

    @property
    def regions(self) -> int:
        """How many states there are."""
        return sum(self.with_levels)

    @property
    def points(self) -> int:
        """The most leaves of a tree."""
        sizes = sorted((self.domain.sizes[f] for f in self.features), reverse=True)
        return math.prod(sizes[: self.depth])

    @cached_property
    def partings(self) -> kernels.Partings:
        """All sides and partings as the kernels read them."""
        return partings_of(self.sides, [1] * len(self.domain))

    @cached_property
    def blocks(self) -> kernels.Blocks:
        """The blocks as the kernels read them."""
        number = {some: i for i, some in enumerate(self.sets)}
        shape = len(self.sets), len(self.domain)
        extended, stride = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        features = np.zeros((len(self.sets), max(self.depth, 1)), np.int64)
        for i, some in enumerate(self.sets):
            step = 1
            for place, f in enumerate(some):
                features[i, place], stride[i, f] = f, step
                step *= len(self.sides[f].masks) - 1
            for f in range(len(self.domain)):
                extended[i, f] = number.get(tuple(sorted({*some, f})), -1)
        depth = np.array([len(some) for some in self.sets], np.int64)
        return kernels.Blocks(self.begins[:-1], depth, features, extended, stride)

    def place(self, state: int) -> int:
        """The region of a state."""
        return state - self.offsets[self.levels(state)]

    def levels(self, state: int) -> int:
        """How many levels a state may still have below it."""
        return sum(state >= offset for offset in self.offsets) - 1

    def block_of(self, region: int) -> int:
        """The block that a region lies in."""
        return int(np.searchsorted(self.blocks.begin, region, side="right")) - 1

    def codes(self, state: int, feature: int) -> list[int]:
        """The codes that a state's region allows in a feature."""
        region = self.place(state)
        block = self.block_of(region)
        mask = self.sides[feature].masks[-1]
        if feature in self.sets[block]:
            digit = (region - int(self.begins[block])) // int(self.blocks.stride[block, feature])
            mask = self.sides[feature].masks[digit % (len(self.sides[feature].masks) - 1)]
        return codes_in(mask)

    def weights(self, engine: Engine) -> Floats:
        """The weight in every region, one table of counts for each set of features."""
        table = whole_table(engine)
        columns = self._columns(table)
        return np.concatenate([self._count(some, columns, table.weights) for some in self.sets])

    def leaf_terms(self, problem: AnyProblem, weights: Floats) -> Generator[int, None, Floats]:
        """The term of the leaf model in every region; yields the regions done since the last time, if that is slow."""
        leaf = problem.posterior.leaf
        if is_even(leaf):
            return -weights * self.log_volumes()
        table, terms = whole_table(problem.engine), []
        columns, space = self._columns(table), space_of(self.domain)
        data = prepare(leaf, space)
        for some in self.sets:
            for counted in self._counted(some, columns, table):
                terms.append(prepared_terms(data, space, *counted))
                yield len(counted.weights)
        return np.concatenate(terms)

    def _columns(self, table: Table) -> dict[int, Ints]:
        """For every feature that may be split, the side of each row's value alone."""
        sizes = self.domain.sizes
        return {f: single_sides(self.sides[f], sizes[f])[table.codes[:, f]] for f in self.features}

    def _counted(self, some: tuple[int, ...], columns: dict[int, Ints], table: Table) -> Iterator[Counted]:
        """The regions of one block, some sides of its highest feature at a time: all at once may be too many."""
        proper = self._proper[some[-1]] if some else np.ones((1, 1))
        tables = self._value_tables(some, columns, table)
        _, others, values = tables.shape
        length = max(1, VALUES_PER_STEP // (others * values))
        for begin in range(0, len(proper), length):
            counts = (proper[begin : begin + length] @ tables.reshape(len(tables), -1)).reshape(-1, values)
            yield Counted(counts, self._allowed(some, begin * others, len(counts)))

    def _value_tables(self, some: tuple[int, ...], columns: dict[int, Ints], table: Table) -> Floats:
        """The weight at every value, by the code of a block's highest feature and the sides of all others."""
        others, places = some[-2::-1], np.zeros(len(table), np.int64)
        shape = [self.domain.sizes[some[-1]] if some else 1, *(len(self.sides[f].masks) for f in others)]
        if some:
            places = np.ravel_multi_index((table.codes[:, some[-1]], *(columns[f] for f in others)), shape)
        tables = []
        for f, size in enumerate(self.domain.sizes):
            held = np.bincount(places * size + table.codes[:, f], table.weights, math.prod(shape) * size)
            counts: Floats = held.astype(np.float64).reshape(*shape, size)
            for axis, other in enumerate(others, 1):
                add_up(np.moveaxis(counts, axis, 0), self.sides[other])
            tables.append(counts[:, *(slice(-1) for _ in others)].reshape(shape[0], -1, size))
        return np.concatenate(tables, axis=2)

    def _allowed(self, some: tuple[int, ...], begin: int, count: int) -> Floats:
        """The values that so many regions of one block allow: 1 or 0."""
        allowed, regions, step = np.ones((count, int(self.domain.starts[-1]))), np.arange(begin, begin + count), 1
        for f in some:
            proper = self._proper[f]
            allowed[:, self.domain.span(f)] = proper[regions // step % len(proper)]
            step *= len(proper)
        return allowed

    @cached_property
    def _proper(self) -> list[Floats]:
        """The codes of every side of a feature but the whole."""
        return [has_codes(own, size)[:-1] for own, size in zip(self.sides, self.domain.sizes, strict=True)]

    def _count(self, some: tuple[int, ...], columns: dict[int, Ints], weights: Floats) -> Floats:
        """The weights of one block. The lowest feature is the lowest digit, so the last axis."""
        shape = [len(self.sides[f].masks) for f in reversed(some)]
        cells = np.zeros(len(weights), np.int64)
        for f in reversed(some):
            cells = cells * len(self.sides[f].masks) + columns[f]
        counts: Floats = np.bincount(cells, weights, math.prod(shape)).astype(np.float64).reshape(shape)
        for axis, f in enumerate(reversed(some)):
            add_up(np.moveaxis(counts, axis, 0), self.sides[f])
        return counts[tuple(slice(-1) for _ in some)].reshape(-1)

    def log_volumes(self) -> Floats:
        """The natural log of the volume of every region."""
        logs = [log_sides(feature, own) for feature, own in zip(self.domain, self.sides, strict=True)]
        whole = math.fsum(own[-1] for own in logs)
        blocks = []
        for some in self.sets:
            block = np.array([whole - math.fsum(logs[f][-1] for f in some)])
            for f in some:
                block = (logs[f][:-1, None] + block).reshape(-1)
            blocks.append(block)
        return np.concatenate(blocks)


def count_states(domain: Domain, depth: int) -> tuple[int, int]:
    """How many states there are and how many partings they have together, without listing any."""
    counts = [count_sides(feature) for feature in domain if feature.size > 1]
    regions = [1] + [0] * depth
    for sides, _ in counts:
        for size in range(depth, 0, -1):
            regions[size] += regions[size - 1] * (sides - 1)
    with_levels = list(itertools.accumulate(regions))[::-1]
    return sum(with_levels), sum(with_levels[1:]) * sum(partings for _, partings in counts)


def count_sets(domain: Domain, depth: int) -> int:
    """How many sets of features a tree of so many levels can restrict on one path."""
    usable = sum(size > 1 for size in domain.sizes)
    return sum(math.comb(usable, size) for size in range(depth + 1))


class ShallowTables(NodeTables):
    """The best trees of every state at a price per leaf."""

    def __init__(self, lattice: ShallowLattice, problem: AnyProblem) -> None:
        super().__init__(lattice, problem)
        self.values = [np.empty(regions) for regions in lattice.with_levels]

    def solve(self, price: float) -> Iterator[int]:
        """One pass over all states, fewer levels first."""
        self.price, terms, lattice = math.nan, self.terms, self.lattice
        self.values[0][:] = terms.leaf - price + terms.child[terms.weight]
        yield len(self.values[0])
        best = np.empty((max(len(own.masks) for own in lattice.sides), max(lattice.domain.sizes) + 1))
        length = max(1, PARTINGS_PER_STEP // max(1, len(lattice.partings.first)))
        for below, value in itertools.pairwise(self.values):
            for begin in range(0, len(value), length):
                end = min(begin + length, len(value))
                span = np.int64(begin), np.int64(end)
                kernels.best_shallow(terms, price, (lattice.blocks, lattice.partings), below, span, best, value)
                yield end - begin
        self.price = price

    def own(self, state: int) -> float:
        """A state's best sum, without what it adds as a child."""
        levels, region = self.lattice.levels(state), self.lattice.place(state)
        return float(self.values[levels][region] - self.terms.child[self.terms.weight[region]])

    def lines(self, state: int) -> Iterator[Line]:
        """The lines through a state along every feature."""
        lattice, levels = self.lattice, self.lattice.levels(state)
        if levels == 0:
            return
        region = lattice.place(state)
        block = lattice.block_of(region)
        for feature in lattice.features:
            if lattice.domain.sizes[feature] > 1:
                base, step, digit = map(int, kernels.line_of(region, block, feature, lattice.blocks, lattice.partings))
                yield Line(self.values[levels - 1], lattice, feature, base, step, digit, lattice.offsets[levels - 1])
