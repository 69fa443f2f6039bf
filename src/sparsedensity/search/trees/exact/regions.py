"""All regions of a domain, numbered, and every way to part each of them in two.

A region allows in every feature one of that feature's *sides*: any set of nominal values; of ordered ones a run, with
missing joined to it or alone. Sides are numbered with smaller ones first, and the number of a region is written in
mixed radix with the numbers of its sides as digits. So every part of a region has a smaller number than the region,
and plain order is an order in which dynamic programs may run.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsedensity.domain import Domain, Feature
from sparsedensity.engines import Engine, whole_table
from sparsedensity.kernels import exact as kernels
from sparsedensity.kernels.belief import is_even, prepare
from sparsedensity.posterior.trees import space_of
from sparsedensity.problem import AnyProblem
from sparsedensity.table import Floats, Table

Ints = NDArray[np.int64]
VALUES_PER_STEP = 4_000_000
"""How many values of regions are counted before a time limit or Ctrl-C is looked at."""


class Sides(NamedTuple):
    """What a region may allow in one feature: bit masks of codes, smaller ones first, and all partings in two.

    The partings of side s are ``first[start[s]:start[s + 1]]`` with ``rest`` likewise: the numbers of the side that
    holds the lowest code, and of what remains. Taking such a first part again and again reaches every grouping once.
    """

    masks: list[int]
    start: Ints
    first: Ints
    rest: Ints

    @property
    def sizes(self) -> Ints:
        """How many codes each side has."""
        return np.array([mask.bit_count() for mask in self.masks], np.int64)


def sides_of(feature: Feature) -> Sides:
    """The sides of a feature by its kind."""
    return _runs(feature) if feature.ordered else _subsets(feature.size)


def whole_side(feature: Feature) -> Sides:
    """The one side of a feature that may not be split."""
    none = np.zeros(0, np.int64)
    return Sides([(1 << feature.size) - 1], np.zeros(2, np.int64), none, none)


def count_sides(feature: Feature) -> tuple[int, int]:
    """How many sides a feature has and how many partings they have together, without listing any.

    >>> count_sides(Feature.nominal("class", ("1st", "2nd", "3rd", "crew")))
    (15, 25)
    """
    if not feature.ordered:
        return 2**feature.size - 1, (3**feature.size - 2 ** (feature.size + 1) + 1) // 2
    q = len(feature.known)
    runs, cuts = q * (q + 1) // 2, (q + 1) * q * (q - 1) // 6
    return (runs, cuts) if feature.missing is None else (2 * runs + 1, 3 * cuts + runs)


def count_regions(domain: Domain) -> tuple[int, int]:
    """The regions of a domain and their partings."""
    counts = [count_sides(feature) for feature in domain]
    regions = math.prod(sides for sides, _ in counts)
    return regions, sum(partings * (regions // sides) for sides, partings in counts)


def _subsets(size: int) -> Sides:
    """Every non-empty set of codes; set s is the mask s + 1, so that a part comes before the whole."""
    firsts = [_parts_with_lowest(mask) for mask in range(1, 1 << size)]
    start = np.concatenate([[0], np.cumsum([len(part) for part in firsts])]).astype(np.int64)
    first = np.concatenate(firsts)
    masks = np.arange(1, 1 << size)
    rest = np.repeat(masks, np.diff(start)) - first
    return Sides(masks.tolist(), start, first - 1, rest - 1)


def _parts_with_lowest(mask: int) -> Ints:
    """Every proper part of a set that has its lowest code."""
    lowest = mask & -mask
    parts, others = np.array([lowest], np.int64), mask ^ lowest
    while others:
        bit = others & -others
        parts, others = np.concatenate([parts, parts | bit]), others ^ bit
    return parts[:-1]


def _runs(feature: Feature) -> Sides:
    """Every run of the known codes, alone and with missing, and missing alone."""
    q = len(feature.known)
    runs = [((1 << high) - 1) ^ ((1 << low) - 1) for low in range(q) for high in range(low + 1, q + 1)]
    missing = 0 if feature.missing is None else 1 << feature.missing
    every = {run | joined for run in [0, *runs] for joined in {0, missing}} - {0}
    masks = sorted(every, key=lambda mask: (mask.bit_count(), mask))
    number = {mask: i for i, mask in enumerate(masks)}
    start, first, rest = [0], [], []
    for mask in masks:
        for part in _first_runs(mask, missing):
            first.append(number[part])
            rest.append(number[mask ^ part])
        start.append(len(first))
    return Sides(masks, *(np.array(part, np.int64) for part in (start, first, rest)))


def _first_runs(mask: int, missing: int) -> Iterator[int]:
    """Every proper first part of a run: some of its lowest codes, with or without missing."""
    known, run = mask & ~missing, 0
    while known:
        run |= known & -known
        known &= known - 1
        for joined in {0, mask & missing}:
            if run | joined != mask:
                yield run | joined


def partings_of(sides: list[Sides], strides: list[int]) -> kernels.Partings:
    """The partings of every feature, in steps of region numbers."""
    bases = np.concatenate([[0], np.cumsum([len(own.first) for own in sides])])
    starts = [own.start[:-1] + base for own, base in zip(sides, bases, strict=False)]
    counts, steps = [len(own.masks) for own in sides], list(zip(sides, strides, strict=True))
    return kernels.Partings(
        order=np.argsort(strides, kind="stable"),
        stride=np.array(strides, np.int64),
        digits=np.array(counts, np.int64),
        side=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        size=np.concatenate([own.sizes for own in sides]),
        start=np.concatenate([*starts, bases[-1:]]).astype(np.int64),
        first=np.concatenate([own.first * stride for own, stride in steps]),
        rest=np.concatenate([own.rest * stride for own, stride in steps]),
        rest_size=np.concatenate([own.sizes[own.rest] for own in sides]),
    )


@dataclass(frozen=True)
class SplitFeatures:
    """A domain, and those of its features that may be split; the others allow everything."""

    domain: Domain
    features: tuple[int, ...]

    @cached_property
    def sides(self) -> list[Sides]:
        """The sides of every feature."""
        chosen = set(self.features)
        return [sides_of(own) if i in chosen else whole_side(own) for i, own in enumerate(self.domain)]


@dataclass(frozen=True)
class Lattice(SplitFeatures):
    """The regions of a domain that splits on some of its features can make."""

    @cached_property
    def counts(self) -> list[int]:
        """How many sides each feature has."""
        return [len(own.masks) for own in self.sides]

    @cached_property
    def order(self) -> list[int]:
        """The features, most sides first: the first is the lowest digit, whose lines lie together in memory."""
        return sorted(range(len(self.counts)), key=lambda f: -self.counts[f])

    @cached_property
    def strides(self) -> list[int]:
        """What one step of a feature's digit adds to the number of a region."""
        strides, stride = [0] * len(self.counts), 1
        for feature in self.order:
            strides[feature] = stride
            stride *= self.counts[feature]
        return strides

    @property
    def regions(self) -> int:
        """How many regions there are. The last one is the whole domain."""
        return math.prod(self.counts)

    @property
    def root(self) -> int:
        """The number of the whole domain."""
        return self.regions - 1

    @property
    def points(self) -> int:
        """How many regions cannot be parted."""
        return math.prod(self.domain.sizes[f] for f in self.features)

    @cached_property
    def partings(self) -> kernels.Partings:
        """All sides and partings as the kernels read them: feature after feature, in steps of region numbers."""
        return partings_of(self.sides, self.strides)

    def digit(self, region: int, feature: int) -> int:
        """The number of the side that a region allows in a feature."""
        return region // self.strides[feature] % self.counts[feature]

    def codes(self, region: int, feature: int) -> list[int]:
        """The codes that a region allows in a feature."""
        return codes_in(self.sides[feature].masks[self.digit(region, feature)])

    def place(self, state: int) -> int:
        """The region of a state: without a limit on levels, the same."""
        return state

    def weights(self, engine: Engine) -> Floats:
        """The weight in every region."""
        table = whole_table(engine)
        return self._add_rows(table.codes, table.weights)

    def _add_rows(self, codes: NDArray[Any], row_weights: Floats) -> Floats:
        """The weight of some rows in every region: at the points, then added up one feature at a time."""
        weights = np.zeros(self.regions)
        np.add.at(weights, self._points_of(codes), row_weights)
        for sides, stride, count in zip(self.sides, self.strides, self.counts, strict=True):
            add_up(weights.reshape(-1, count, stride).swapaxes(0, 1), sides)
        return weights

    def leaf_terms(self, problem: AnyProblem, weights: Floats) -> Generator[int, None, Floats]:
        """The term of the leaf model in every region; yields the regions done since the last time, if that is slow."""
        leaf = problem.posterior.leaf
        if is_even(leaf):
            terms = self.log_volumes()
            terms *= -weights
            return terms
        terms = np.empty(self.regions)
        places, space = self._value_places(whole_table(problem.engine), weights), space_of(self.domain)
        length, data = max(1, VALUES_PER_STEP // len(space.values)), prepare(leaf, space)
        for begin in range(0, self.regions, length):
            end = min(begin + length, self.regions)
            kernels.counted_terms(data, places, self.partings, space, (np.int64(begin), np.int64(end)), terms)
            yield end - begin
        return terms

    def _value_places(self, table: Table, weights: Floats) -> kernels.ValuePlaces:
        """Where to find what a region holds of a value; of a feature that is never split, each is counted."""
        held, row, alone = [weights], np.zeros(int(self.domain.starts[-1]), np.int64), []
        for f, (sides, stride, size) in enumerate(zip(self.sides, self.strides, self.domain.sizes, strict=True)):
            if len(sides.masks) == 1 < size:
                row[self.domain.span(f)] = len(held) + np.arange(size)
                held += [self._add_rows(table.codes[at], table.weights[at]) for at in each_value(table, f)]
                alone.append(np.zeros(size, np.int64))
            else:
                alone.append(single_sides(sides, size) * stride)
        has = np.zeros((sum(self.counts), max(self.domain.sizes)), np.uint8)
        for start, sides, size in zip(self.partings.side, self.sides, self.domain.sizes, strict=False):
            has[start : start + len(sides.masks), :size] = has_codes(sides, size)
        rows = weights[None] if len(held) == 1 else np.stack(held)
        return kernels.ValuePlaces(rows, row, np.concatenate(alone), has)

    def points_sum(self, terms: Floats) -> float:
        """The sum over the regions that cannot be parted."""
        places = np.zeros(1, np.int64)
        for f in self.features:
            alone = single_sides(self.sides[f], self.domain.sizes[f]) * self.strides[f]
            places = (places[:, None] + alone).reshape(-1)
        return float(terms[places].sum())

    def _points_of(self, codes: NDArray[Any]) -> Ints:
        """The number of the smallest region that holds each row."""
        found = np.zeros(len(codes), np.int64)
        for column, (own, stride) in enumerate(zip(self.sides, self.strides, strict=True)):
            if len(own.masks) > 1:
                found += stride * single_sides(own, self.domain.sizes[column])[codes[:, column]]
        return found

    def log_volumes(self) -> Floats:
        """The natural log of the volume of every region."""
        logs = np.zeros(1)
        for feature in self.order:
            logs = (log_sides(self.domain[feature], self.sides[feature])[:, None] + logs).reshape(-1)
        return logs


def single_sides(sides: Sides, size: int) -> Ints:
    """The side of each code alone."""
    number = {mask: i for i, mask in enumerate(sides.masks)}
    return np.array([number[1 << code] for code in range(size)], np.int64)


def has_codes(sides: Sides, size: int) -> Floats:
    """Whether each side has each code: 1 or 0."""
    return np.array([[mask >> code & 1 for code in range(size)] for mask in sides.masks], np.float64)


def each_value(table: Table, feature: int) -> Iterator[NDArray[np.bool_]]:
    """For every value of a feature, the rows that have it."""
    return (table.codes[:, feature] == code for code in range(table.domain.sizes[feature]))


def add_up(lines: Floats, sides: Sides) -> None:
    """Fill in the weight of every side, the first axis, from those of its parts."""
    for side in np.flatnonzero(np.diff(sides.start)):
        parting = sides.start[side]
        lines[side] = lines[sides.first[parting]] + lines[sides.rest[parting]]


def log_sides(feature: Feature, sides: Sides) -> Floats:
    """The natural log of the measure of every side."""
    own = feature.measures
    return np.array([math.log(math.fsum(own[code] for code in codes_in(mask))) for mask in sides.masks])


def codes_in(mask: int) -> list[int]:
    """The codes of a bit mask."""
    return [code for code in range(mask.bit_length()) if mask >> code & 1]
