"""Regions as annealing meets them: found again by a key, counted once, with the best division of every feature.

Keys have 62 random bits, so two of m regions share one with a probability below m^2 / 2^63: 5e-9 for 200,000 regions.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import types

from sparsedensity.kernels import TWO, bare, by_type, held, record, whole
from sparsedensity.kernels.belief import NOTHING, Belief, Space, Uniform, evidence, head, model_of, term
from sparsedensity.kernels.counted_parts import MOST_GROUPS
from sparsedensity.kernels.divisions import (
    CountedRegion,
    Desk,
    Wish,
    best_division,
    name_groups,
    split_gain,
)
from sparsedensity.kernels.row_bits import Rows, Uncommon, add_commonest
from sparsedensity.kernels.slots import slot_of

REGION = record("key slot origin begin length best", floats="weight term best_gain")
"""A region: its key; where its counts are (-1: not counted); the region it was split off; its list of rows (length -1:
not listed); the feature whose best division gains most, and that gain (-1: not scored, what it gains at most)."""
KNOWN = record("region leaves feature", floats="gain first")
"""What a chain knows of a region: leaves, first feature and gain of the best subtree it saw, and what its first split
gains; 0 leaves: nothing."""
USED = record("regions slots rows work full")
"""How much of the memory is used: regions, slots of counts, places in lists of rows; work done since
somebody looked; whether there is no room left."""


WORK_PER_ROW = 4
"""What a row costs beside its values when it is counted, in nanoseconds."""


class Memory(NamedTuple):
    """The rows, what is believed, and what is known of regions: by all chains that share them, and by one."""

    columns: np.ndarray
    """The codes, one feature after the other."""
    uncommon: Uncommon
    weights: np.ndarray
    units: np.ndarray
    """The same weights in units,"""
    unit: float
    """and what a unit weighs."""
    space: Space
    belief: Belief
    regions: np.ndarray
    allowed: np.ndarray
    """(regions, values) Whether a value is allowed: 1, else 0."""
    counts: np.ndarray
    """(slots, values + features) the weight at every value, then the best gain of every feature; if parts are counted,
    one more for every feature: what the first of two parts adds to that."""
    rows: np.ndarray
    """Lists of rows; the first list is all rows."""
    table: np.ndarray
    """The slots of regions by their keys."""
    used: np.ndarray
    desk: Desk
    sketch: np.ndarray
    """Room to sketch a tree."""
    places: np.ndarray
    """Where it is noted what the chain at work knows of every region; 0: nowhere. This and what follows is its own."""
    known: np.ndarray
    """What it knows, in the order in which it met the regions; the first place stands for nothing."""
    labels: np.ndarray
    """(places, values of the widest feature) 1 + the group of the value in the best split it knows; 0: not allowed."""
    learned: np.ndarray
    """Of how many regions it knows something."""


class Walks(NamedTuple):
    """How regions are explored without a tree."""

    trials: int
    blind: float
    """The share of blind divisions."""
    shake: float
    studies: int
    """Other divisions that are considered at every step back."""


@bare
def counted(s, region):
    """A counted region as divisions read it."""
    own = s.regions[region]
    return CountedRegion(
        s.allowed[region], s.counts[own.slot], own.weight, own.term, listed_rows(s, s.desk.parts, region)
    )


def listed_rows(s, parts, region):
    """The rows of a counted region; without room for parts (the leaf model is even) nobody asks for them."""


@by_type(listed_rows)
def _listed_rows(s, parts, region):
    def even(s, parts, region):
        return None

    def listed(s, parts, region):
        own = s.regions[region]
        which = s.rows[own.begin : own.begin + own.length]
        return Rows(s.columns, s.units, s.unit, whole(s.uncommon), which, region)

    return even if isinstance(parts, types.NoneType) else listed


@bare
def book(s, parts):
    """Book the work that was done to count and score the parts of a region."""
    if parts is None:
        return
    s.used[0].work += parts.work[0]
    parts.work[0] = 0


@bare
def group(s, region, f):
    """The gain of splitting a counted region by the labels of feature f's values, the children taken as leaves.

    Also the number of groups; their weights, shares and keys are left on the desk. NOTHING when there is one group
    only, or when the groups of an ordered feature are not runs.
    """
    view = held(counted(s, region))
    b = name_groups(s.space, s.desk, view, f, s.regions[region].key)
    if b < 2:
        return NOTHING, b
    gain = known_gain(s, s.desk.parts, region, b)
    if gain == NOTHING:
        gain = split_gain(s.belief, s.space, s.desk, view, f, b)
        book(s, s.desk.parts)
    return gain, b


@bare
def known_gain(s, parts, region, b):
    """The gain of a division into named groups all of which were counted as regions before, else NOTHING.

    Without parts (the leaf model is even) it is found as fast as they are.
    """
    if parts is None:
        return NOTHING
    gain = head(s.belief, s.regions[region].weight, b) - s.regions[region].term
    for name in range(b):
        part = np.int64(s.table[find(s, s.desk.cells[name].key)]) - 1
        if part < 0 or s.regions[part].slot < 0:
            return NOTHING
        gain += evidence(s.belief, s.regions[part].weight) + s.regions[part].term
    return gain


@bare
def divide_best(s, region, f, least, most, shake, rng):
    """Label the values of f by the best division into so many groups, or a shaken one: its gain."""
    noise = 0.0
    if shake > 0.0:
        noise = shake * (1.0 + abs(s.counts[s.regions[region].slot, s.allowed.shape[1] + f]))
    wish = Wish(least, most, shake, noise, 0.0)
    gain = best_division(s.belief, s.space, s.desk, held(counted(s, region)), f, wish, rng)
    book(s, s.desk.parts)
    return gain


@bare
def allowed_values(s, region, f):
    """How many values of feature f a region allows."""
    many = 0
    for value in range(s.space.features[f].start, s.space.features[f].stop):
        many += s.allowed[region, value] > 0
    return many


@bare
def divide_blindly(s, region, f, rng):
    """Label the allowed values of f at random, in runs if it is ordered."""
    cells, feature, m, at = s.desk.cells, s.space.features[f], allowed_values(s, region, f), 0
    wanted = 2 + int(rng.random() * (min(m, s.belief.most_branches) - 1))
    for value in range(feature.start, feature.stop):
        if s.allowed[region, value] == 0:
            continue
        if feature.ordered == 0 or value == feature.missing:
            cells[value].label = int(rng.random() * wanted)
        else:  # every boundary is a cut with the chance that gives `wanted` runs on average
            at += at + 1 < wanted and rng.random() * (m - 1) < wanted - 1
            cells[value].label = at


@bare
def has_key(regions, region, key):
    """Whether a region has this key."""
    return regions[region].key == key


@bare
def find(s, key):
    """The slot of the region with this key, or the free one where it belongs."""
    return slot_of(s.table, key ^ (key >> 29), has_key, s.regions, key)


def most_gain(belief, s, region):
    """What a split of a region gains at most, by its weight alone; nobody knows unless leaves are uniform."""


@by_type(most_gain)
def _most_gain(belief, s, region):
    def uniform(belief, s, region):
        widest = 1.0
        for f in range(s.space.features.size):
            whole, least = 0.0, 1.0e300
            for value in range(s.space.features[f].start, s.space.features[f].stop):
                if s.allowed[region, value] > 0:
                    whole += s.space.values[value].measure
                    least = min(least, s.space.values[value].measure)
            widest = max(widest, whole / least)
        return belief.most_added + s.regions[region].weight * math.log(widest)

    def unknown(belief, s, region):
        return 1.0e300

    return uniform if model_of(belief) is Uniform else unknown


@bare
def region_of(s, parent, f, name):
    """The region of a group that `group` found; made if it is new."""
    key = s.desk.cells[name].key
    at = find(s, key)
    if s.table[at] != 0:
        return np.int64(s.table[at]) - 1
    region = s.used[0].regions
    s.used[0].regions += 1
    s.table[at] = region + 1
    for value in range(s.allowed.shape[1]):
        s.allowed[region, value] = s.allowed[parent, value]
    for value in range(s.space.features[f].start, s.space.features[f].stop):
        if s.desk.cells[value].label != name:
            s.allowed[region, value] = 0
    new = s.regions[region]
    new.key, new.slot, new.origin = key, -1, parent
    new.length = new.best = -1
    new.weight = s.desk.cells[name].weight
    new.best_gain = most_gain(s.belief, s, region)
    return region


@bare
def forget(s):
    """Drop all counts, gains and lists of rows but the root's; they are taken again when they are asked for."""
    for region in range(1, s.used[0].regions):
        s.regions[region].slot = s.regions[region].length = s.regions[region].best = -1
    s.used[0].slots, s.used[0].rows = 1, s.weights.size


@bare
def differing_features(s, region, above):
    """List on the desk the features in which a region allows less than one above it: how many."""
    many = 0
    for f in range(s.space.features.size):
        for value in range(s.space.features[f].start, s.space.features[f].stop):
            if s.allowed[above, value] > 0 and s.allowed[region, value] == 0:
                s.desk.cells[many].order = f
                many += 1
                break
    return many


@bare
def count(s, region):
    """List the rows of a region from the list of the nearest region above it, and count them."""
    above = region
    while s.regions[above].length < 0:
        above = s.regions[above].origin
    if s.used[0].slots == s.counts.shape[0] or s.used[0].rows + 2 * s.regions[above].length > s.rows.size:
        forget(s)
        above = np.int64(0)
    own, upper, slot = s.regions[region], s.regions[above], s.used[0].slots
    s.used[0].slots += 1
    own.slot = slot
    if own.weight == upper.weight:
        own.begin, own.length = upper.begin, upper.length
        for value in range(s.allowed.shape[1]):
            s.counts[slot, value] = s.counts[upper.slot, value]
    else:
        own.begin, own.length, features = s.used[0].rows, 0, differing_features(s, region, above)
        if own.weight > 0.0:
            own.length = list_rows(s, region, above, features)
        count_lighter(s, region, above)
        s.used[0].rows += own.length
        if own.weight > 0.0 and features == 1:
            count_rest(s, s.desk.parts, region, above)
    take_term(s, s.desk.parts, region)
    return slot


def count_rest(s, parts, region, above):
    """Count the other part of a region that was divided in two, too: its rows are listed behind those of this one.

    Not if parts are counted: then to count it would be to take its term.
    """


@by_type(count_rest)
def _count_rest(s, parts, region, above):
    def even(s, parts, region, above):
        list_rest(s, region, above)

    def counted(s, parts, region, above):
        return None

    return even if isinstance(parts, types.NoneType) else counted


@bare
def list_rest(s, region, above):
    """List the rows of the other part of a region that was divided in two, and count them, unless that was done."""
    own, upper, feature = s.regions[region], s.regions[above], s.space.features[s.desk.cells[0].order]
    key = own.key
    for value in range(feature.start, feature.stop):
        if s.allowed[above, value] > 0:
            key ^= s.space.values[value].key
    rest = np.int64(s.table[find(s, key)]) - 1
    if rest < 0 or s.regions[rest].slot >= 0 or s.used[0].slots == s.counts.shape[0]:
        return
    other = s.regions[rest]
    other.slot, other.begin, other.length = s.used[0].slots, s.used[0].rows, upper.length - own.length
    s.used[0].slots += 1
    for i in range(other.length):
        s.rows[other.begin + i] = s.rows[own.begin + upper.length + i]
    s.used[0].rows += other.length
    for value in range(s.allowed.shape[1]):
        s.counts[other.slot, value] = s.counts[upper.slot, value] - s.counts[own.slot, value]


@bare
def counted_slot(s, region):
    """The slot with a region's counts, counted if nobody asked before."""
    return s.regions[region].slot if s.regions[region].slot >= 0 else count(s, region)


@bare
def list_rows(s, region, above, features):
    """List the rows of a region that are among those of one above, and behind them the others; how many are inside.

    The features in which the two differ are listed on the desk.
    """
    begin, length, to = s.regions[above].begin, s.regions[above].length, s.used[0].rows
    behind = to + length
    for j in range(features):
        f = s.desk.cells[j].order
        allowed = s.allowed[region, s.space.features[f].start : s.space.features[f].stop]
        s.used[0].work += length
        found = listed_inside(s.rows, s.columns[f], allowed, (begin, length), (to, behind))
        begin, behind, length = to, behind + length - found, found
    return length


@bare
def listed_inside(rows, codes, allowed, listed, to):
    """List some listed rows anew, those with allowed codes at one place and the others at another: how many of those.

    Places without a sign, because those that might be counted from the end take twice the time.
    """
    begin, inside, outside = np.uint64(listed[0]), np.uint64(to[0]), np.uint64(to[1])
    for i in range(begin, begin + np.uint64(listed[1])):
        row = rows[i]
        rows[inside] = rows[outside] = row
        is_inside = np.uint64(allowed[codes[row]] > 0)
        inside += is_inside
        outside += np.uint64(1) - is_inside
    return np.int64(inside) - to[0]


@bare
def count_lighter(s, region, above):
    """Count the lighter part, a region or what it lacks of the one above, whose rows are listed one behind the other.

    Weights lie on a grid on which differences are exact, so that both ways give the same counts.
    """
    own, upper = s.regions[region], s.regions[above]
    counts, inside = s.counts[own.slot], 2.0 * own.weight <= upper.weight
    for value in range(s.allowed.shape[1]):
        counts[value] = 0.0
    begin, end, weight, read = own.begin, own.begin + own.length, own.weight, 0
    if not inside:
        begin, end = own.begin + upper.length, own.begin + 2 * upper.length - own.length
        weight = upper.weight - own.weight
    first, places = s.uncommon.first, s.uncommon.places
    for i in range(begin, end):
        row = s.rows[i]
        read += WORK_PER_ROW + np.int64(first[row + 1] - first[row])
        for j in range(first[row], first[row + 1]):
            counts[places[j]] += s.weights[row]
    add_commonest(s.uncommon.commonest, s.space.features, counts, weight)
    if not inside:
        for value in range(s.allowed.shape[1]):
            counts[value] = s.counts[upper.slot, value] - counts[value]
    s.used[0].work += read + s.allowed.shape[1]


@bare
def take_term(s, parts, region):
    """Note the term of a region that was just counted; without parts (the leaf model is even) there is none."""
    if parts is None:
        return
    counts, allowed = s.counts[s.regions[region].slot], s.allowed[region]
    s.regions[region].term = term(s.belief.leaf, counts[: allowed.size], allowed, s.space)


@bare
def study(s, region, rng):
    """The slot with a region's counts and best gains, counted and scored if nobody asked before."""
    slot, values, best = s.regions[region].slot, s.allowed.shape[1], 0
    if slot >= 0 and s.regions[region].best >= 0:
        return slot
    slot = counted_slot(s, region)
    for f in range(s.space.features.size):
        s.counts[slot, values + f] = divide_best(s, region, f, TWO, s.belief.most_branches, 0.0, rng)
        keep_piece(s, s.desk.parts, slot, f)
        if s.counts[slot, values + f] > s.counts[slot, values + best]:
            best = f
    s.regions[region].best, s.regions[region].best_gain = best, s.counts[slot, values + best]
    s.used[0].work += 30 * values
    return slot


@bare
def keep_piece(s, parts, slot, f):
    """Keep what the first part of a division adds; without parts (the leaf model is even) that is found anew."""
    if parts is None:
        return
    s.counts[slot, s.allowed.shape[1] + s.space.features.size + f] = s.desk.cells[0].piece


@bare
def known_of(s, region):
    """What the chain at work knows of a region."""
    return s.known[s.places[region]]


@bare
def learn(s, region, f, gains, leaves):
    """Remember a division of a region by the labels of feature f's values as the best known way to begin a subtree."""
    if s.places[region] == 0:
        s.learned[0] += 1
        s.places[region] = s.learned[0]
    at, start, stop = s.places[region], s.space.features[f].start, s.space.features[f].stop
    own = s.known[at]
    (own.gain, own.first), own.region, own.leaves, own.feature = gains, region, leaves, f
    for i in range(s.labels.shape[1]):
        inside = start + i < stop and s.allowed[region, start + i] > 0
        s.labels[at, i] = s.desk.cells[start + i].label + 1 if inside else 0


@bare
def consider(s, region, f, price):
    """Take a division by the labels of feature f, with what is known of its parts, as the best known one if it is.

    The gain of the best subtree depends on the region alone, so this is dynamic programming without a tree.
    """
    first, b = group(s, region, f)
    gain, leaves, known = first, np.int64(0), known_of(s, region)
    if gain == NOTHING:
        return
    for name in range(b):
        part, below = np.int64(s.table[find(s, s.desk.cells[name].key)]) - 1, s.known[0]
        if part >= 0:
            below = known_of(s, part)
        if below.leaves > 0 and below.gain > price * (below.leaves - 1):
            gain += below.gain
            leaves += below.leaves
        else:
            leaves += 1
    worth = gain - price * (leaves - 1)
    if worth > 0.0 and (known.leaves == 0 or worth > known.gain - price * (known.leaves - 1) + 1e-9):
        learn(s, region, f, (gain, first), leaves)


@bare
def divide(s, region, walks, rng):
    """Draw a division of a counted region: blind, or runs of a drawn number; its feature, -1 if there is none."""
    f = np.int64(rng.random() * s.space.features.size)
    if s.counts[s.regions[region].slot, s.allowed.shape[1] + f] == NOTHING:
        return np.int64(-1)
    if rng.random() < walks.blind:
        divide_blindly(s, region, f, rng)
    else:
        wanted = np.int64(2 + rng.random() * (s.belief.most_branches - 1))
        divide_best(s, region, f, wanted, wanted, walks.shake, rng)
    return f


@bare
def explore(s, path, price, walks, rng):
    """Walk down drawn divisions from the root to a small region; on the way back, learn what they are worth.

    `path` has a row for every step down: the labels, then the region and the feature that was divided.
    """
    values = s.allowed.shape[1]
    for _ in range(walks.trials):
        depth = walk_down(s, path, walks, rng)
        for step in range(depth - 1, -1, -1):
            region, f = path[step, values], path[step, values + 1]
            study(s, region, rng)
            for value in range(s.space.features[f].start, s.space.features[f].stop):
                s.desk.cells[value].label = path[step, value]
            consider(s, region, f, price)
            for _ in range(walks.studies):
                f = divide(s, region, walks, rng)
                if f >= 0:
                    consider(s, region, f, price)
        s.used[0].work += 500 * depth * (walks.studies + 2)


@bare
def walk_down(s, path, walks, rng):
    """Draw one division below the other and note them; how many."""
    depth, region, values = 0, np.int64(0), s.allowed.shape[1]
    while depth < path.shape[0] and s.used[0].regions + MOST_GROUPS < s.regions.shape[0]:
        study(s, region, rng)
        f = divide(s, region, walks, rng)
        if f < 0:
            break
        gain, b = group(s, region, f)
        if gain == NOTHING:
            break
        path[depth, values], path[depth, values + 1] = region, f
        for value in range(s.space.features[f].start, s.space.features[f].stop):
            path[depth, value] = s.desk.cells[value].label
        depth += 1
        region = region_of(s, region, f, np.int64(rng.random() * b))
        if s.regions[region].weight <= 0.0:
            break
    return depth
