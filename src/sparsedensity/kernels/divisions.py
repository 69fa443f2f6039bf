"""Divisions of a region along one feature: what a given one gains, the best one, and a blind one.

The values of a feature are labelled on a desk. A nominal feature may have any groups, an ordered one only runs of
neighbours, and its missing value may join any of them. For even leaf models the best division is found among runs of
values sorted by density (for values of equal measure no other is better) by a dynamic program. For any other leaf
model every child must be counted (:mod:`~sparsedensity.kernels.counted_divisions`).
"""

from typing import Any, NamedTuple

import numpy as np

from sparsedensity.kernels import ZERO, bare, by_type, held, kernel, record
from sparsedensity.kernels.belief import EVEN, NOTHING, head, model_of, piece
from sparsedensity.kernels.counted_divisions import divided_gain, grown_division
from sparsedensity.kernels.counted_parts import MOST_GROUPS, Dividing

CELL = record(
    "label order name atom group before kept key", floats="density weight share weight_before measure_before piece"
)
"""A cell of a desk. By value: ``label``, the group it is put in, and ``density``. By place in an order: ``order``, the
value, and what all values before it weigh and measure. By label: its ``name``, groups numbered by their first values.
By name: the ``key``, ``weight`` and ``share`` of the volume of a group. If children are counted: ``atom`` by value; by
atom its ``weight``, its ``group``, those it had ``before`` the change that is tried and in the division that is
``kept``, and in ``density`` what it gains alone; ``piece`` by group."""


RUN = record("back", floats="sum")
"""The best runs up to some place: their pieces together, and the place where the last run begins."""


class Desk(NamedTuple):
    """Room to work in."""

    cells: np.ndarray
    runs: np.ndarray
    """(groups, 2 places + 2) the best division of the first values into so many runs, without and with missing."""
    parts: Any
    """Room for children that are counted; None for even leaf models."""
    few_groups: int
    """More than MOST_GROUPS values are divided into so many groups at most,"""
    many_values: int
    """and more than so many values into two."""


class CountedRegion(NamedTuple):
    """A counted region."""

    allowed: np.ndarray
    counts: np.ndarray
    """Its weight at every value of every feature."""
    weight: float
    term: float
    """Its term, if the leaf model is not even."""
    rows: Any
    """Its rows, if the leaf model is not even; else None."""


class Wish(NamedTuple):
    """What division is looked for."""

    least: int
    """The fewest groups,"""
    most: int
    """and the most."""
    shake: float
    """How much the order of the values is disturbed,"""
    noise: float
    """and the pieces, in nats."""
    least_weight: float
    """The least weight of a group that is not empty."""


class Look(NamedTuple):
    """Which features are looked at, and what is known before."""

    features: np.ndarray
    gain: float
    """What a split must gain more than."""
    least_weight: float
    """The least weight of a group that is not empty."""


@bare
def name_groups(space, desk, region, f, key):
    """Number the labelled groups of feature f by their first values: how many, 0 if an ordered feature's are no runs.

    Leaves the weight, the share of the volume and the key of each group in the cells.
    """
    cells, missing = desk.cells, space.features[f].missing
    b, before, whole = 0, -1, 0.0
    for i in range(space.features[f].stop - space.features[f].start + 1):
        cells[i].name = -1
    for value in range(space.features[f].start, space.features[f].stop):
        if region.allowed[value] == 0:
            continue
        in_order, name = space.features[f].ordered > 0 and value != missing, cells[cells[value].label].name
        if name < 0:
            name = b
            b += 1
            cells[cells[value].label].name = name
            cells[name].key = 0
            cells[name].weight = cells[name].share = 0.0
        elif in_order and name != before:
            return 0
        if in_order:
            before = name
        cells[value].label = name
        cells[name].key ^= space.values[value].key
        cells[name].weight += region.counts[value]
        cells[name].share += space.values[value].measure
        key ^= space.values[value].key
        whole += space.values[value].measure
    for name in range(b):
        cells[name].key ^= key
        cells[name].share /= whole
    return b


def split_gain(belief, space, desk, region, f, b):
    """The gain of a division of feature f into b named groups, the children taken as leaves."""


@by_type(split_gain)
def _split_gain(belief, space, desk, region, f, b):
    def even(belief, space, desk, region, f, b):
        gain = head(belief, region.weight, b)
        for name in range(b):
            gain += piece(belief, desk.cells[name].weight, desk.cells[name].share)
        return gain

    def counted(belief, space, desk, region, f, b):
        return divided_gain(held(Dividing(belief, space, desk, region, f, 0.0)), b)

    return even if model_of(belief) in EVEN else counted


def best_division(belief, space, desk, region, f, wish, rng):
    """The best division of feature f's values that was found: its gain; the labels are written."""


@by_type(best_division)
def _best_division(belief, space, desk, region, f, wish, rng):
    def even(belief, space, desk, region, f, wish, rng):
        return best_runs(belief, space, desk, region, f, wish, rng)

    def counted(belief, space, desk, region, f, wish, rng):
        task = held(Dividing(belief, space, desk, region, f, wish.least_weight))
        return grown_division(task, (wish.least, min(wish.most, MOST_GROUPS), wish.noise), rng)

    return even if model_of(belief) in EVEN else counted


@bare
def best_runs(belief, space, desk, region, f, wish, rng):
    """The best division into runs of sorted values, by a dynamic program over the number of groups."""
    many, one, other = 0, ZERO, ZERO
    for value in range(space.features[f].start, space.features[f].stop):
        if region.allowed[value] > 0:
            many, one, other = many + 1, other, np.int64(value)
    if many < 2:
        return NOTHING
    if many == 2:
        return parted(belief, space, desk, region, (one, other), wish)
    top, at = lay_runs(belief, space, desk, region, f, wish, rng)
    if top < 2:
        return NOTHING
    best, b = NOTHING, ZERO
    for k in range(min(wish.least, top), top + 1):
        gain = desk.runs[k, at].sum + head(belief, region.weight, k)
        if gain > best:
            best, b = gain, k
    label_runs(space, desk, f, b, at)
    return best if b > 0 else NOTHING


@bare
def parted(belief, space, desk, region, pair, wish):
    """Divide a feature of which a region allows two values, which can be done in one way."""
    (one, other), whole = pair, space.values[pair[0]].measure + space.values[pair[1]].measure
    desk.cells[one].label, desk.cells[other].label = 0, 1
    gain = head(belief, region.weight, np.int64(2))
    for value in pair:  # a loop, because that is compiled once
        gain += run_piece(belief, region.counts[value], space.values[value].measure / whole, wish)
    return max(gain, NOTHING) if wish.most >= 2 else NOTHING


@bare
def lay_runs(belief, space, desk, region, f, wish, rng):
    """Find the best runs for each number of groups: the most groups there can be, and the place where all runs end."""
    m, extra, measure = sort_values(space, desk, region, f, wish, rng)
    reach = MOST_GROUPS if m <= MOST_GROUPS else desk.few_groups if m <= desk.many_values else 2
    top = min(wish.most, m + extra, reach)
    if top < 2:
        return 0, 0
    lost_weight, lost_measure = 0.0, 0.0
    if extra:
        lost = space.features[f].missing
        lost_weight, lost_measure = region.counts[lost], space.values[lost].measure
    fill_sums(belief, desk, wish, (m, top, measure), (extra, lost_weight, lost_measure), rng)
    return top, 2 * m + extra


@bare
def label_runs(space, desk, f, b, at):
    """Label the values of feature f by the best b runs."""
    for k in range(b, 0, -1):
        before = desk.runs[k, at].back
        if before < 0 or (at % 2 == 1 and before % 2 == 0):
            desk.cells[space.features[f].missing].label = k - 1
        for i in range(max(before, 0) // 2, at // 2):
            desk.cells[desk.cells[i].order].label = k - 1
        at = before


@bare
def sort_values(space, desk, region, f, wish, rng):
    """Order the allowed values, nominal ones by (shaken) density; the missing value of an ordered feature stays apart.

    How many there are, whether missing is beside them (0 or 1), and the measure of all.
    """
    cells, ordered, missing = desk.cells, space.features[f].ordered > 0, space.features[f].missing
    m, extra, measure = np.int64(0), 0, 0.0
    for value in range(space.features[f].start, space.features[f].stop):
        if region.allowed[value] == 0:
            continue
        measure += space.values[value].measure
        if ordered and value == missing:
            extra = 1
            continue
        density = region.counts[value] / space.values[value].measure
        if wish.shake > 0.0 and not ordered:
            density = (density + 0.01 * region.weight / measure) * rng.random() ** (2.0 * wish.shake)
        cells[value].density, cells[m].order = density, value
        m += 1
    if not ordered:
        sort_by_density(cells, m)
    cells[0].weight_before = cells[0].measure_before = 0.0
    for i in range(m):
        value = cells[i].order
        cells[i + 1].weight_before = cells[i].weight_before + region.counts[value]
        cells[i + 1].measure_before = cells[i].measure_before + space.values[value].measure
    return m, extra, measure


@bare
def sort_by_density(cells, m):
    """Sort values by density, densest first; of equals the lower value is first (Shell sort)."""
    gap = 1
    while gap < m // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, m):
            value = cells[i].order
            density, j = cells[value].density, i
            while j >= gap:
                before = cells[j - gap].order
                if cells[before].density > density or (cells[before].density == density and before < value):
                    break
                cells[j].order = before
                j -= gap
            cells[j].order = value
        gap //= 3


@bare
def fill_sums(belief, desk, wish, shape, missing, rng):
    """The best k runs of the first j values, at runs[k, 2 j] without and at runs[k, 2 j + 1] with the missing value."""
    (m, top, measure), (extra, lost_weight, lost_measure), cells, runs = shape, missing, desk.cells, desk.runs
    for k in range(top + 1):
        for j in range(2 * m + 2):
            runs[k, j].sum = NOTHING
    runs[0, 0].sum = 0.0
    if extra:
        runs[1, 1].sum, runs[1, 1].back = run_piece(belief, lost_weight, lost_measure / measure, wish), -1
    for j in range(1, m + 1):
        first = 1 if j == m and extra == 0 else 0  # all values in one run are no division
        for i in range(first, j if top > 2 or j == m else 1):  # two groups: the first run, then the last
            w = cells[j].weight_before - cells[i].weight_before
            u = cells[j].measure_before - cells[i].measure_before
            plain, joined = run_piece(belief, w, u / measure, wish), NOTHING
            if extra:
                joined = run_piece(belief, w + lost_weight, (u + lost_measure) / measure, wish)
            if wish.noise > 0.0:
                plain -= wish.noise * rng.random()
            for k in range(1, top + 1):
                take(runs, k, 2 * j, 2 * i, plain)
                if extra:
                    take(runs, k, 2 * j + 1, 2 * i + 1, plain)
                    take(runs, k, 2 * j + 1, 2 * i, joined)


@bare
def run_piece(belief, weight, share, wish):
    """The piece of a run; none if it is neither empty nor large enough."""
    if weight > 0.0 and weight < wish.least_weight:
        return NOTHING
    return piece(belief, weight, share)


@bare
def take(runs, k, at, before, gain):
    """Take a last run that is better than the best so far."""
    total = runs[k - 1, before].sum + gain
    if total > runs[k, at].sum:
        runs[k, at].sum, runs[k, at].back = total, before


@kernel
def best_split(belief, space, desk, region, look, first, rng):
    """The feature looked at whose best division in two gains most, and that gain; `first` marks the first group.

    -1 if none gains more than what is known already.
    """
    best, which, wish = look.gain, np.int64(-1), Wish(2, 2, 0.0, 0.0, look.least_weight)
    for f in look.features:
        gain = best_division(belief, space, desk, region, f, wish, rng)
        if gain > best:
            best, which = gain, f
            first[:] = False
            for value in range(space.features[f].start, space.features[f].stop):
                first[value] = region.allowed[value] > 0 and desk.cells[value].label == 0
    return best, which


class BestDivisions(NamedTuple):
    """The best division of a region for each number of groups."""

    gain: np.ndarray
    feature: np.ndarray
    labels: np.ndarray
    """(groups + 1, values) the group of every value that the region allows, -1 for all others."""


def divide_each(belief, space, desk, region, f, rng, found):
    """Take the divisions of feature f that gain more than those found: the best for each number of groups.

    If every child must be counted, only the one of them that gains most.
    """


@by_type(divide_each)
def _divide_each(belief, space, desk, region, f, rng, found):
    def even(belief, space, desk, region, f, rng, found):
        top, at = lay_runs(belief, space, desk, region, f, Wish(2, MOST_GROUPS, 0.0, 0.0, 0.0), rng)
        for b in range(2, top + 1):
            gain = desk.runs[b, at].sum + head(belief, region.weight, b)
            if gain > found.gain[b]:
                label_runs(space, desk, f, b, at)
                keep_labels(space, desk, region, (f, b, gain), found)

    def counted(belief, space, desk, region, f, rng, found):
        task = held(Dividing(belief, space, desk, region, f, 0.0))
        gain = grown_division(task, (2, min(belief.most_branches, MOST_GROUPS), 0.0), rng)
        if gain > 0.5 * NOTHING:
            b = name_groups(space, desk, region, f, 0)
            if b > 1 and gain > found.gain[b]:
                keep_labels(space, desk, region, (f, b, gain), found)

    return even if model_of(belief) in EVEN else counted


@bare
def keep_labels(space, desk, region, division, found):
    """Note a labelled division as the best one of its number of groups."""
    f, b, gain = division
    found.gain[b], found.feature[b] = gain, f
    for value in range(found.labels.shape[1]):
        inside = space.features[f].start <= value < space.features[f].stop and region.allowed[value] > 0
        found.labels[b, value] = desk.cells[value].label if inside else -1


@kernel
def best_divisions(belief, space, desk, region, features, rng, found):
    """For each number of groups the division, along one of some features, that gains most."""
    for f in features:
        divide_each(belief, space, desk, region, f, rng, found)
