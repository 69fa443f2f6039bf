"""A look ahead: divisions of a region by what they make possible below.

A split that gains next to nothing may tell two kinds of rows apart, and then every other column can be cut closer on
both sides. So a division is judged by what it gains together with the best split of every feature in its two parts,
each taken alone, as far as these pay for their leaf.
"""

from typing import NamedTuple

import numpy as np
from numba import types

from sparsedensity.kernels import NONE, ONE, ZERO, bare, by_type, held, record
from sparsedensity.kernels.anneal_regions import study
from sparsedensity.kernels.belief import NOTHING, head, piece
from sparsedensity.kernels.divisions import CountedRegion, Wish, best_division, sort_by_density

LOOK = record("feature begin end", floats="worth")
"""A division: its feature (-1: none), the places of one part's values in their order, and what it is worth."""
SMALL_PART = 0.03
"""A part of less than this share of the rows is split off by any search; there is no need to look ahead."""
ENOUGH_ROWS = 2000
"""Of more rows, every second, third, .. is counted."""
MANY_VALUES = 64
"""A feature with more values is not looked at."""


class Ahead(NamedTuple):
    """Room to look ahead."""

    pairs: np.ndarray
    """(values of the widest feature, values) the weight at all values beside those of one feature."""
    counts: np.ndarray
    """(2, values) the weight at all values in both parts."""
    allowed: np.ndarray
    """(2, values) the values that both parts allow."""
    order: np.ndarray
    """The values of a feature, densest first, or as they are ordered."""
    looks: np.ndarray
    """(regions, divisions) the best divisions of each region that was looked at, the best first."""
    used: np.ndarray
    """How many regions were looked at; the first place is left free."""


def drawn_look(s, ahead, region, price, forced, rng):
    """Label one of the divisions that look best; its feature, -1 for none.

    If it is not forced, it must be worth more than the best splits of all features of the region, each taken alone.
    """


@by_type(drawn_look)
def _drawn_look(s, ahead, region, price, forced, rng):
    def blind(s, ahead, region, price, forced, rng):
        return NONE

    def seeing(s, ahead, region, price, forced, rng):
        if not is_seen(s, ahead, region, price, rng):
            return NONE
        looks = ahead.looks[s.regions[region].look]
        rank = np.int64(rng.random() ** 2 * (looks.size if forced else 3))
        if looks[rank].feature < 0 or not (forced or looks[rank].worth > worth_alone(s, region, price)):
            return NONE
        m = order_values(s, ahead, region, looks[rank].feature)
        for i in range(m):
            s.desk.cells[ahead.order[i]].label = np.int64(i < looks[rank].begin or i >= looks[rank].end)
        return looks[rank].feature

    return blind if isinstance(ahead, types.NoneType) else seeing


@bare
def worth_alone(s, region, price):
    """What the best splits of all features of a studied region gain beyond the price of a leaf, each taken alone."""
    total, values = 0.0, s.allowed.shape[1]
    for f in range(s.codes.shape[1]):
        total += max(s.counts[s.regions[region].slot, values + f] - price, 0.0)
    return total


@bare
def is_seen(s, ahead, region, price, rng):
    """Look at a region, if nobody did and there is room: whether it was looked at."""
    if s.regions[region].look > 0 or ahead.used[0] == ahead.looks.shape[0]:
        return s.regions[region].look > 0
    study(s, region, rng)
    looks = ahead.looks[ahead.used[0]]
    for i in range(looks.size):
        looks[i].feature, looks[i].worth = -1, NOTHING
    for f in range(s.codes.shape[1]):
        m = order_values(s, ahead, region, f)
        if m > 1 and s.space.features[f].stop - s.space.features[f].start <= MANY_VALUES:
            count_pairs(s, ahead, region, f)
            for end in range(1, m):
                look_at(s, ahead, region, price, (f, m, ZERO, end), rng)
            if s.space.features[f].ordered == 0:
                for at in range(1, m - 1):
                    look_at(s, ahead, region, price, (f, m, at, at + 1), rng)
    s.regions[region].look = ahead.used[0]
    ahead.used[0] += 1
    return True


@bare
def order_values(s, ahead, region, f):
    """Order the allowed values of a feature, nominal ones by density, densest first: how many."""
    cells, feature, slot, m = s.desk.cells, s.space.features[f], s.regions[region].slot, ZERO
    for value in range(feature.start, feature.stop):
        if s.allowed[region, value] > 0:
            cells[value].density = s.counts[slot, value] / s.space.values[value].measure
            cells[m].order = value
            m += 1
    if feature.ordered == 0:
        sort_by_density(cells, m)
    for i in range(m):
        ahead.order[i] = cells[i].order
    return m


@bare
def count_pairs(s, ahead, region, f):
    """Weigh all values beside every value of feature f, on enough rows; beside the commonest by difference."""
    own, start, stop = s.regions[region], s.space.features[f].start, s.space.features[f].stop
    pairs, counts, common, step = ahead.pairs, s.counts[own.slot], start, own.length // ENOUGH_ROWS + 1
    for value in range(start, stop):
        common = value if counts[value] > counts[common] else common
    pairs[: stop - start] = 0.0
    scale = weight_scale(s, region, step)
    for i in range(own.begin, own.begin + own.length, step):
        row = s.rows[i]
        at, weight = np.int64(s.columns[f, row]), scale * s.weights[row]
        if start + at != common:
            for g in range(s.codes.shape[1]):
                pairs[at, s.space.features[g].start + s.codes[row, g]] += weight
    for other in range(s.allowed.shape[1]):
        rest = counts[other]
        for at in range(stop - start):
            rest -= pairs[at, other]
        pairs[common - start, other] = max(rest, 0.0)
    s.used[0].work += own.length // step * s.codes.shape[1] + (stop - start) * s.allowed.shape[1]


@bare
def weight_scale(s, region, step):
    """What the weights of every so many rows must be multiplied by to weigh as much as all."""
    own, weight = s.regions[region], 0.0
    if step == 1:
        return 1.0
    for i in range(own.begin, own.begin + own.length, step):
        weight += s.weights[s.rows[i]]
    return own.weight / weight


@bare
def look_at(s, ahead, region, price, division, rng):
    """Judge one division of feature f, a run of its m ordered values against the others, and keep it if it is good."""
    (f, m, begin, end), total, weight, share, whole = division, s.regions[region].weight, 0.0, 0.0, 0.0
    for i in range(m):
        value = ahead.order[i]
        whole += s.space.values[value].measure
        if begin <= i < end:
            weight += s.counts[s.regions[region].slot, value]
            share += s.space.values[value].measure
    if min(weight, total - weight) < SMALL_PART * total:
        return
    part_counts(s, ahead, region, division)
    share /= whole
    gain = head(s.belief, total, 2) + piece(s.belief, weight, share) + piece(s.belief, total - weight, 1.0 - share)
    below = worth_below(s, ahead, (ZERO, weight), price, rng) + worth_below(s, ahead, (ONE, total - weight), price, rng)
    keep_look(ahead, (f, begin, end), gain - price + below)
    s.used[0].work += 80 * s.allowed.shape[1]


@bare
def part_counts(s, ahead, region, division):
    """The counts and the allowed values of both parts."""
    (f, m, begin, end), values, slot = division, s.allowed.shape[1], s.regions[region].slot
    counts, allowed, start = ahead.counts, ahead.allowed, s.space.features[f].start
    for value in range(values):
        counts[0, value] = 0.0
        allowed[0, value] = allowed[1, value] = min(s.allowed[region, value], 1)
    for i in range(m):
        inside = begin <= i < end
        allowed[1 if inside else 0, ahead.order[i]] = 0
        if inside:
            for value in range(values):
                counts[0, value] += ahead.pairs[ahead.order[i] - start, value]
    for value in range(values):
        counts[1, value] = max(s.counts[slot, value] - counts[0, value], 0.0)


@bare
def worth_below(s, ahead, side, price, rng):
    """What the best splits of all features of one part gain beyond the price of a leaf, each taken alone."""
    (which, weight), total = side, 0.0
    view = held(CountedRegion(ahead.allowed[which], ahead.counts[which], weight, 0.0, None))
    wish = Wish(2, s.belief.most_branches, 0.0, 0.0, 0.0)
    for f in range(s.codes.shape[1]):
        total += max(best_division(s.belief, s.space, s.desk, view, f, wish, rng) - price, 0.0)
    return total


@bare
def keep_look(ahead, division, worth):
    """Keep a division among the best, which are in order."""
    looks = ahead.looks[ahead.used[0]]
    at = looks.size
    while at > 0 and looks[at - 1].worth < worth:
        if at < looks.size:
            looks[at] = looks[at - 1]
        at -= 1
    if at < looks.size:
        looks[at].feature, looks[at].begin, looks[at].end = division
        looks[at].worth = worth
