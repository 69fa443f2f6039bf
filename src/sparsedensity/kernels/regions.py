"""Regions as a search meets them: found again by a key, counted once, with the best grouping of every feature.

A split of a region of weight n into b children gains `head(n, b) + sum of piece(n_c, V_c / V)`, for both posteriors;
what the number of leaves adds beyond that is in `sizes`. Few arrays with named columns: numba compiles them fast.
"""

import math
from typing import NamedTuple

import numpy as np

from sparsedensity.kernels import inner, kernel

NOTHING = -1.0e300
TWO, MOST_GROUPS, FEW_GROUPS, MANY_VALUES = np.int64(2), np.int64(12), np.int64(6), np.int64(64)
# Columns of `features`.
START, STOP, ORDERED, MISSING = 0, 1, 2, 3
# Places in `belief`.
BRANCHY, RATE, PSEUDOCOUNT, LOG_ODDS, LOG_GAMMA_A, MOST = 0, 1, 2, 3, 4, 5
# Columns of `regions` and of `worths`.
KEY, SLOT, ORIGIN, BEGIN, LENGTH, BEST, KNOWN_LEAVES, KNOWN_FEATURE = 0, 1, 2, 3, 4, 5, 6, 7
WEIGHT, BEST_GAIN, KNOWN_GAIN = 0, 1, 2
# Rows of `ints` and `floats`: room to work in.
USED, LABEL, ORDER, NAMES, PART_KEY, PATH, BACK = 0, 1, 2, 3, 4, 5, 21
DEEPEST, STUDIES = BACK - PATH, 4
DENSITY, PART_WEIGHT, PART_SPACE, WEIGHTS, SPACES, SUMS = 0, 1, 2, 3, 4, 5
# Places in ints[USED].
REGIONS, SLOTS, ROWS, READ, WORK, GROUPS, FULL, FORGOTTEN = 0, 1, 2, 3, 4, 5, 6, 7


class Space(NamedTuple):
    """The rows, what is believed, and the memory of regions."""

    codes: np.ndarray
    weights: np.ndarray
    features: np.ndarray
    keys: np.ndarray
    """A random number for every value; a region's key is the exclusive or of those it allows."""
    measures: np.ndarray
    belief: np.ndarray
    sizes: np.ndarray
    """What each number of leaves adds to the log posterior."""
    regions: np.ndarray
    worths: np.ndarray
    allowed: np.ndarray
    """(regions, values) 0: not allowed; else 1 + the group of the value in the best known split."""
    counts: np.ndarray
    """(slots, values + features) the weight at every value, then the best gain of every feature."""
    rows: np.ndarray
    """Lists of rows; the first list is all rows."""
    table: np.ndarray
    """A hash table of regions by their keys: 1 + the region, 0 where there is none."""
    ints: np.ndarray
    floats: np.ndarray


@inner
def log_gamma(x):
    """Stirling's series, after shifting small arguments up; relative error below 1e-13."""
    shift = 1.0
    while x < 9.0:
        shift *= x
        x += 1.0
    y = 1.0 / (x * x)
    tail = (1 / 12.0 - y * (1 / 360.0 - y * (1 / 1260.0 - y * (1 / 1680.0 - y / 1188.0)))) / x
    return (x - 0.5) * math.log(x) - x + 0.9189385332046727 + tail - math.log(shift)


@inner
def head(belief, weight, b):
    """The part of a split's gain that depends on the parent's weight and the number of children b only.

    I: -(b - 1) lnG(a) - lnG(n + a). II: b (ln lam - lam) - ln b! + lnG(b a) - b lnG(a) - lnG(n + b a).
    """
    a = belief[PSEUDOCOUNT]
    if belief[BRANCHY] == 0.0:
        return -(b - 1.0) * belief[LOG_GAMMA_A] - log_gamma(weight + a)
    shape = b * (math.log(belief[RATE]) - belief[RATE]) - log_gamma(b + 1.0)
    return shape + log_gamma(b * a) - b * belief[LOG_GAMMA_A] - log_gamma(weight + b * a)


@inner
def piece(belief, weight, share):
    """The part of a split's gain that belongs to one child: lnG(n_c + a) - n_c ln(V_c / V)."""
    if weight <= 0.0:
        return belief[LOG_GAMMA_A]
    return log_gamma(weight + belief[PSEUDOCOUNT]) - weight * math.log(share)


@inner
def group(s, region, f):
    """The gain of splitting a counted region by the labels of feature f's values, the children taken as leaves.

    Groups are renumbered by their first values; their weights, shares of volume and keys are left in PART_WEIGHT,
    PART_SPACE and PART_KEY, their number in GROUPS. NOTHING when there is one group only, or when the groups of an
    ordered feature are not runs (missing may join any).
    """
    ints, floats = s.ints, s.floats
    start, stop, slot, missing = (
        s.features[f, START],
        s.features[f, STOP],
        s.regions[region, SLOT],
        s.features[f, MISSING],
    )
    b, before, whole, rest = 0, -1, 0.0, s.regions[region, KEY]
    for i in range(stop - start + 1):
        ints[NAMES, i] = -1
    for value in range(start, stop):
        if s.allowed[region, value] == 0:
            continue
        in_order, name = s.features[f, ORDERED] > 0 and value != missing, ints[NAMES, ints[LABEL, value]]
        if name < 0:
            name = b
            b += 1
            ints[NAMES, ints[LABEL, value]] = name
            ints[PART_KEY, name] = 0
            floats[PART_WEIGHT, name] = floats[PART_SPACE, name] = 0.0
        elif in_order and name != before:
            return NOTHING
        if in_order:
            before = name
        ints[LABEL, value] = name
        ints[PART_KEY, name] ^= s.keys[value]
        floats[PART_WEIGHT, name] += s.counts[slot, value]
        floats[PART_SPACE, name] += s.measures[value]
        rest ^= s.keys[value]
        whole += s.measures[value]
    ints[USED, GROUPS] = b
    if b < 2:
        return NOTHING
    gain = head(s.belief, s.worths[region, WEIGHT], float(b))
    for name in range(b):
        ints[PART_KEY, name] ^= rest
        floats[PART_SPACE, name] /= whole
        gain += piece(s.belief, floats[PART_WEIGHT, name], floats[PART_SPACE, name])
    return gain


@inner
def runs(s, region, f, least, most, shake, rng):
    """The best division of feature f's values into least..most runs of sorted values: its gain; labels are written.

    Nominal values are sorted by density, ordered ones keep their order and missing joins a run or stands alone. With
    `shake` above 0 both the order and the gains are disturbed. sums[k, 2 j + t]: the best k runs of the first j
    values, without (t = 0) or with (t = 1) the missing value.
    """
    ints, floats, belief = s.ints, s.floats, s.belief
    label, order, density, weights, spaces = ints[LABEL], ints[ORDER], floats[DENSITY], floats[WEIGHTS], floats[SPACES]
    sums, back = floats[SUMS:], ints[BACK:]
    slot, n, missing, ordered = (
        s.regions[region, SLOT],
        s.worths[region, WEIGHT],
        s.features[f, MISSING],
        s.features[f, ORDERED] > 0,
    )
    m, extra, v = 0, 0, 0.0
    for value in range(s.features[f, START], s.features[f, STOP]):
        if s.allowed[region, value] == 0:
            continue
        v += s.measures[value]
        if ordered and value == missing:
            extra = 1
            continue
        density[value] = s.counts[slot, value] / s.measures[value]
        if shake > 0.0 and not ordered:
            density[value] = (density[value] + 0.01 * n / v) * rng.random() ** (2.0 * shake)
        at = m
        while at > 0 and not ordered and density[order[at - 1]] < density[value]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = value
        m += 1
    top = min(most, m + extra, MOST_GROUPS if m <= MOST_GROUPS else FEW_GROUPS if m <= MANY_VALUES else 2)
    if top < 2:
        return NOTHING
    lost_weight = s.counts[slot, missing] if extra else 0.0
    lost_space = s.measures[missing] if extra else 0.0
    noise = shake * (1.0 + abs(s.counts[slot, s.allowed.shape[1] + f])) if shake > 0.0 else 0.0
    weights[0] = spaces[0] = 0.0
    for i in range(m):
        weights[i + 1] = weights[i] + s.counts[slot, order[i]]
        spaces[i + 1] = spaces[i] + s.measures[order[i]]
    for k in range(top + 1):
        for j in range(2 * m + 2):
            sums[k, j] = NOTHING
    sums[0, 0] = 0.0
    if extra:
        sums[1, 1], back[1, 1] = piece(belief, lost_weight, lost_space / v), -1
    for j in range(1, m + 1):
        for i in range(j if top > 2 or extra or j == m else 1):  # two groups: the first run, then the last
            w, u = weights[j] - weights[i], spaces[j] - spaces[i]
            plain = piece(belief, w, u / v)
            joined = piece(belief, w + lost_weight, (u + lost_space) / v) if extra else NOTHING
            if noise > 0.0:
                plain -= noise * rng.random()
            for k in range(1, top + 1):
                if sums[k - 1, 2 * i] + plain > sums[k, 2 * j]:
                    sums[k, 2 * j], back[k, 2 * j] = sums[k - 1, 2 * i] + plain, 2 * i
                if extra:
                    if sums[k - 1, 2 * i + 1] + plain > sums[k, 2 * j + 1]:
                        sums[k, 2 * j + 1], back[k, 2 * j + 1] = sums[k - 1, 2 * i + 1] + plain, 2 * i + 1
                    if sums[k - 1, 2 * i] + joined > sums[k, 2 * j + 1]:
                        sums[k, 2 * j + 1], back[k, 2 * j + 1] = sums[k - 1, 2 * i] + joined, 2 * i
    best, b, at = NOTHING, 0, 2 * m + extra
    for k in range(min(least, top), top + 1):
        gain = sums[k, at] + head(belief, n, float(k))
        if gain > best:
            best, b = gain, k
    for k in range(b, 0, -1):
        before = back[k, at]
        if before < 0 or (at % 2 == 1 and before % 2 == 0):
            label[missing] = k - 1
        for i in range(max(before, 0) // 2, at // 2):
            label[order[i]] = k - 1
        at = before
    return best if b > 0 else NOTHING


@inner
def draw(s, region, f, rng):
    """Label the allowed values of f blindly, runs if it is ordered."""
    label, m = s.ints[LABEL], 0
    start, stop, missing = s.features[f, START], s.features[f, STOP], s.features[f, MISSING]
    for value in range(start, stop):
        m += s.allowed[region, value] > 0
    most = min(m, int(s.belief[MOST]))
    wanted, at = 2 + int(rng.random() * (most - 1)), 0
    for value in range(start, stop):
        if s.allowed[region, value] == 0:
            continue
        if s.features[f, ORDERED] == 0 or value == missing:
            label[value] = int(rng.random() * wanted)
        else:  # every boundary is a cut with the chance that gives `wanted` runs on average
            at += at + 1 < wanted and rng.random() * (m - 1) < wanted - 1
            label[value] = at


@inner
def find(s, key):
    """Where the region with this key stands in the hash table, or the free place where it belongs."""
    last = s.table.size - 1
    at = (key ^ (key >> 29)) & last
    while s.table[at] != 0 and s.regions[s.table[at] - 1, KEY] != key:
        at = (at + 1) & last
    return at


@inner
def region_of(s, parent, f, name):
    """The region of a group that `group` found; made if it is new."""
    key = s.ints[PART_KEY, name]
    at = find(s, key)
    if s.table[at] != 0:
        return np.int64(s.table[at]) - 1
    region = s.ints[USED, REGIONS]
    s.ints[USED, REGIONS] += 1
    s.table[at] = region + 1
    for value in range(s.allowed.shape[1]):
        s.allowed[region, value] = min(s.allowed[parent, value], 1)
    for value in range(s.features[f, START], s.features[f, STOP]):
        if s.ints[LABEL, value] != name:
            s.allowed[region, value] = 0
    s.regions[region, KEY], s.regions[region, SLOT], s.regions[region, ORIGIN] = key, -1, parent
    s.regions[region, LENGTH], s.regions[region, KNOWN_LEAVES], s.regions[region, BEST] = -1, 0, -1
    s.worths[region, WEIGHT] = s.floats[PART_WEIGHT, name]
    return region


@inner
def forget(s):
    """Drop all counts and lists of rows but the root's; they are read again when they are asked for."""
    for region in range(1, s.ints[USED, REGIONS]):
        s.regions[region, SLOT] = s.regions[region, LENGTH] = -1
    s.ints[USED, SLOTS], s.ints[USED, ROWS] = 1, s.weights.size
    s.ints[USED, FORGOTTEN] += 1


@inner
def count(s, region):
    """List the rows of a region from the list of the nearest region above it, and count them.

    The lighter part is counted, the region or what it lacks of the one above; weights lie on a grid on which
    differences are exact, so that both ways give the same counts.
    """
    p, values, differ, many = s.codes.shape[1], s.allowed.shape[1], s.ints[ORDER], 0
    above = region
    while s.regions[above, LENGTH] < 0:
        above = s.regions[above, ORIGIN]
    begin, end = s.regions[above, BEGIN], s.regions[above, BEGIN] + s.regions[above, LENGTH]
    if s.ints[USED, SLOTS] == s.counts.shape[0] or s.ints[USED, ROWS] + end - begin > s.rows.size:
        forget(s)
        above, begin, end = 0, 0, s.weights.size
    for f in range(p):
        for value in range(s.features[f, START], s.features[f, STOP]):
            if s.allowed[above, value] > 0 and s.allowed[region, value] == 0:
                differ[many] = f
                many += 1
                break
    slot, to, found = s.ints[USED, SLOTS], s.ints[USED, ROWS], 0
    s.ints[USED, SLOTS] += 1
    counted_inside = 2.0 * s.worths[region, WEIGHT] <= s.worths[above, WEIGHT]
    for value in range(values):
        s.counts[slot, value] = 0.0
    if s.worths[region, WEIGHT] <= 0.0:
        end = begin
    for i in range(begin, end):
        row, inside = s.rows[i], True
        for j in range(many):
            f = differ[j]
            if s.allowed[region, s.features[f, START] + s.codes[row, f]] == 0:
                inside = False
                break
        if inside:
            s.rows[to + found] = row
            found += 1
        if inside == counted_inside:
            for f in range(p):
                s.counts[slot, s.features[f, START] + s.codes[row, f]] += s.weights[row]
    if not counted_inside:
        before = s.regions[above, SLOT]
        for value in range(values):
            s.counts[slot, value] = s.counts[before, value] - s.counts[slot, value]
    counted = found if counted_inside else end - begin - found
    s.ints[USED, READ] += end - begin + counted * p
    s.ints[USED, WORK] += 2 * (end - begin) + counted * p
    s.regions[region, BEGIN], s.regions[region, LENGTH], s.regions[region, SLOT] = to, found, slot
    s.ints[USED, ROWS] = to + found
    return slot


@inner
def ask(s, region, rng):
    """The slot with a region's counts and best gains, counted and scored if nobody asked before."""
    slot, values, best, most = s.regions[region, SLOT], s.allowed.shape[1], 0, np.int64(s.belief[MOST])
    if slot >= 0 and s.regions[region, BEST] >= 0:
        return slot
    if slot < 0:
        slot = count(s, region)
    for f in range(s.codes.shape[1]):
        s.counts[slot, values + f] = runs(s, region, f, TWO, most, 0.0, rng)
        if s.counts[slot, values + f] > s.counts[slot, values + best]:
            best = f
    s.regions[region, BEST], s.worths[region, BEST_GAIN] = best, s.counts[slot, values + best]
    s.ints[USED, WORK] += 60 * values
    return slot


@inner
def learn(s, region, f, gain, leaves):
    """Remember a division of a region by the labels of feature f as the best known way to begin a subtree."""
    s.worths[region, KNOWN_GAIN], s.regions[region, KNOWN_LEAVES], s.regions[region, KNOWN_FEATURE] = gain, leaves, f
    for value in range(s.features[f, START], s.features[f, STOP]):
        if s.allowed[region, value] > 0:
            s.allowed[region, value] = s.ints[LABEL, value] + 1


@inner
def consider(s, region, f, price):
    """Take a division by the labels of feature f, with what is known of its parts, as the best known one if it is.

    The gain of the best subtree depends on the region alone, so this is dynamic programming without a tree.
    """
    gain, leaves, known = group(s, region, f), 0, s.regions[region, KNOWN_LEAVES]
    if gain == NOTHING:
        return
    for name in range(s.ints[USED, GROUPS]):
        part, below = np.int64(s.table[find(s, s.ints[PART_KEY, name])]) - 1, 0
        if part >= 0:
            below = s.regions[part, KNOWN_LEAVES]
        if below > 0 and s.worths[part, KNOWN_GAIN] > price * (below - 1):
            gain += s.worths[part, KNOWN_GAIN]
            leaves += below
        else:
            leaves += 1
    worth = gain - price * (leaves - 1)
    if worth > 0.0 and (known == 0 or worth > s.worths[region, KNOWN_GAIN] - price * (known - 1) + 1e-9):
        learn(s, region, f, gain, leaves)


@inner
def divide(s, region, shake, rng):
    """Draw a division of a counted region: blind, or runs of a drawn number; its feature, -1 where there is none."""
    f = np.int64(rng.random() * s.codes.shape[1])
    if s.counts[s.regions[region, SLOT], s.allowed.shape[1] + f] == NOTHING:
        return np.int64(-1)
    if rng.random() < 0.5:
        draw(s, region, f, rng)
    else:
        wanted = np.int64(2 + rng.random() * (s.belief[MOST] - 1))
        runs(s, region, f, wanted, wanted, shake, rng)
    return f


@kernel
def dream(s, price, trials, rng):
    """Walk down drawn divisions from the root to a small region; on the way back, learn what they are worth."""
    path, values = s.ints[PATH:], s.allowed.shape[1]
    for _ in range(trials):
        depth, region = 0, np.int64(0)
        while depth < DEEPEST and s.ints[USED, REGIONS] + MOST_GROUPS < s.regions.shape[0]:
            ask(s, region, rng)
            f = divide(s, region, 1.0, rng)
            if f < 0 or group(s, region, f) == NOTHING:
                break
            path[depth, values], path[depth, values + 1] = region, f
            for value in range(s.features[f, START], s.features[f, STOP]):
                path[depth, value] = s.ints[LABEL, value]
            depth += 1
            region = region_of(s, region, f, np.int64(rng.random() * s.ints[USED, GROUPS]))
            if s.worths[region, WEIGHT] <= 0.0:
                break
        for step in range(depth - 1, -1, -1):
            region, f = path[step, values], path[step, values + 1]
            ask(s, region, rng)
            for value in range(s.features[f, START], s.features[f, STOP]):
                s.ints[LABEL, value] = path[step, value]
            consider(s, region, f, price)
            for _ in range(STUDIES):
                f = divide(s, region, 1.0, rng)
                if f >= 0:
                    consider(s, region, f, price)
        s.ints[USED, WORK] += 500 * depth * (STUDIES + 2)
