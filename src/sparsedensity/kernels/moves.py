"""A tree as arrays of nodes, and the compiled blocks of moves that change it."""

import math
from typing import NamedTuple

import numpy as np

from sparsedensity.kernels import inner, kernel
from sparsedensity.kernels.regions import (
    BEST,
    BEST_GAIN,
    FULL,
    GROUPS,
    KNOWN_FEATURE,
    KNOWN_GAIN,
    KNOWN_LEAVES,
    LABEL,
    LOG_ODDS,
    MOST,
    NOTHING,
    REGIONS,
    START,
    STOP,
    TWO,
    USED,
    WEIGHT,
    WORK,
    ask,
    draw,
    group,
    learn,
    log_gamma,
    region_of,
    runs,
)

# Columns of a tree's nodes; LEAF_LIST, INNER_LIST and STACK are lists of nodes that begin in row 0.
REGION, FEATURE, FIRST, NEXT, PARENT, PLACE, CHILDREN, LEAFY, BELOW, LEAF_LIST, INNER_LIST, STACK = range(12)
NODE_COLUMNS = 12
# Columns of a tree's gains; WORTH (with BELOW leaves) is that of the whole subtree, and the log posterior is in row 0
# of SCORE.
GAIN, WORTH, SCORE = 0, 1, 2
# Places in a tree's `meta`: leaves, inner nodes, features in use, nodes ever used, the first free node; then the
# number of splits on each feature.
LEAVES, INNER, FEATURES, HIGH, FREE, USES = 0, 1, 2, 3, 4, 5
# Kinds of moves and the columns of their record.
EXPAND, SHRINK, REGROUP, MERGE, STRUCTURE, EXCHANGE, REBUILD = (np.int64(kind) for kind in range(7))
PROPOSED, ACCEPTED, BETTER = 0, 1, 2
# Places in `knobs`.
STEPS, HOT, EPSILON, LIMIT, NOISE, WILD, SLACK, TRUST, BLIND = 0, 1, 2, 3, 4, 5, 6, 7, 8
NONE, ROOT = np.int64(-1), np.int64(0)


class Grown(NamedTuple):
    """A tree."""

    nodes: np.ndarray
    gains: np.ndarray
    labels: np.ndarray
    """(nodes, values of the widest feature) the child that each value of an inner node's feature goes to."""
    meta: np.ndarray


@inner
def prior_change(s, t, f, by):
    """Change of ln C(p, d) + d ln g + (p - d) ln(1 - g) when one split on f is added (by = 1) or removed (-1)."""
    odds = s.belief[LOG_ODDS]
    if math.isnan(odds) or t.meta[USES + f] != (1 if by < 0.0 else 0):
        return 0.0
    d, p = float(t.meta[FEATURES]), float(s.codes.shape[1])
    more = d + by
    return by * odds + log_gamma(d + 1.0) + log_gamma(p - d + 1.0) - log_gamma(more + 1.0) - log_gamma(p - more + 1.0)


@inner
def split(s, t, node, f):
    """Split a counted leaf by the labels of feature f's values. False: the labels make no split, or no room."""
    nodes, gains, meta, region = t.nodes, t.gains, t.meta, t.nodes[node, REGION]
    gain, b = group(s, region, f), s.ints[USED, GROUPS]
    if gain == NOTHING:
        return False
    if s.ints[USED, REGIONS] + b > s.regions.shape[0] or meta[HIGH] + b > nodes.shape[0]:
        s.ints[USED, FULL] = 1
        return False
    gains[0, SCORE] += gain + prior_change(s, t, f, 1.0) + s.sizes[meta[LEAVES] + b - 1] - s.sizes[meta[LEAVES]]
    meta[USES + f] += 1
    meta[FEATURES] += meta[USES + f] == 1
    start, stop = s.features[f, START], s.features[f, STOP]
    for i in range(t.labels.shape[1]):
        inside = start + i < stop and s.allowed[region, start + i] > 0
        t.labels[node, i] = s.ints[LABEL, start + i] if inside else -1
    old = nodes[node, PLACE]
    nodes[meta[INNER], INNER_LIST], nodes[node, PLACE] = node, meta[INNER]
    meta[INNER] += 1
    nodes[node, FEATURE], nodes[node, CHILDREN], nodes[node, LEAFY], gains[node, GAIN] = f, b, b, gain
    if nodes[node, PARENT] >= 0:
        nodes[nodes[node, PARENT], LEAFY] -= 1
    below = -1
    for name in range(b - 1, -1, -1):
        child = meta[FREE]
        if child >= 0:
            meta[FREE] = nodes[child, NEXT]
        else:
            child = meta[HIGH]
            meta[HIGH] += 1
        place = meta[LEAVES]
        if name == 0:  # takes its parent's place in the list of leaves
            place = old
        else:
            meta[LEAVES] += 1
        nodes[child, REGION] = region_of(s, region, f, name)
        nodes[child, FEATURE], nodes[child, FIRST], nodes[child, NEXT], nodes[child, PARENT] = -1, -1, below, node
        nodes[child, CHILDREN] = nodes[child, LEAFY] = 0
        nodes[child, BELOW], gains[child, WORTH] = 1, 0.0
        nodes[place, LEAF_LIST], nodes[child, PLACE] = child, place
        below = child
    nodes[node, FIRST] = below
    while node >= 0:
        gains[node, WORTH] += gain
        nodes[node, BELOW] += b - 1
        node = nodes[node, PARENT]
    s.ints[USED, WORK] += 500
    return True


@inner
def close(s, t, node):
    """Make a node a leaf: remove everything below it, deepest first."""
    nodes, meta, at = t.nodes, t.meta, node
    while nodes[node, FEATURE] >= 0:
        child = nodes[at, FIRST]
        while child >= 0 and nodes[child, FEATURE] < 0:
            child = nodes[child, NEXT]
        if child >= 0:
            at = child
            continue
        f, leaves = nodes[at, FEATURE], meta[LEAVES]
        change = s.sizes[leaves + 1 - nodes[at, CHILDREN]] - s.sizes[leaves]
        t.gains[0, SCORE] += prior_change(s, t, f, -1.0) + change - t.gains[at, GAIN]
        meta[USES + f] -= 1
        meta[FEATURES] -= meta[USES + f] == 0
        child = nodes[at, FIRST]
        while child >= 0:
            meta[LEAVES] -= 1
            last, place, after = nodes[meta[LEAVES], LEAF_LIST], nodes[child, PLACE], nodes[child, NEXT]
            nodes[place, LEAF_LIST], nodes[last, PLACE] = last, place
            nodes[child, NEXT], meta[FREE] = meta[FREE], child
            child = after
        meta[INNER] -= 1
        last, place = nodes[meta[INNER], INNER_LIST], nodes[at, PLACE]
        nodes[place, INNER_LIST], nodes[last, PLACE] = last, place
        nodes[meta[LEAVES], LEAF_LIST], nodes[at, PLACE] = at, meta[LEAVES]
        meta[LEAVES] += 1
        nodes[at, FEATURE] = nodes[at, FIRST] = -1
        nodes[at, CHILDREN] = nodes[at, LEAFY] = 0
        above, fewer = nodes[at, PARENT], nodes[at, BELOW] - 1
        if above >= 0:
            nodes[above, LEAFY] += 1
        while above >= 0:
            t.gains[above, WORTH] -= t.gains[at, GAIN]
            nodes[above, BELOW] -= fewer
            above = nodes[above, PARENT]
        nodes[at, BELOW], t.gains[at, WORTH] = 1, 0.0
        at = nodes[at, PARENT] if at != node else node


@inner
def inner_below(t, node):
    """List the inner nodes of a subtree in STACK, parents before children; how many."""
    nodes, m, i = t.nodes, 0, 0
    if nodes[node, FEATURE] >= 0:
        nodes[0, STACK] = node
        m = 1
    while i < m:
        child = nodes[nodes[i, STACK], FIRST]
        while child >= 0:
            if nodes[child, FEATURE] >= 0:
                nodes[m, STACK] = child
                m += 1
            child = nodes[child, NEXT]
        i += 1
    return m


@inner
def teach(s, t, node, price, pruning):
    """Remember, for every region of a subtree, the best way to split it seen so far at this price per leaf.

    The gain of a subtree depends on its region alone, so what one tree learned serves every later one: this is
    dynamic programming in the order in which the search meets the regions. With `pruning` above 0, splits that do
    not pay are closed.
    """
    nodes, gains = t.nodes, t.gains
    for i in range(inner_below(t, node) - 1, -1, -1):
        at = nodes[i, STACK]
        gain, leaves = gains[at, WORTH], nodes[at, BELOW]
        worth, region, f = gain - price * (leaves - 1), nodes[at, REGION], nodes[at, FEATURE]
        if worth <= 0.0:
            if pruning > 0.0:
                close(s, t, at)
            continue
        known = s.regions[region, KNOWN_LEAVES]
        if known > 0 and worth <= s.worths[region, KNOWN_GAIN] - price * (known - 1) + 1e-9:
            continue
        for value in range(s.features[f, START], s.features[f, STOP]):
            s.ints[LABEL, value] = t.labels[at, value - s.features[f, START]]
        learn(s, region, f, gain, leaves)


@inner
def copy(t, to):
    """Overwrite one tree with another; nodes that neither ever used are left alone."""
    for i in range(max(t.meta[HIGH], to.meta[HIGH])):
        for column in range(NODE_COLUMNS):
            to.nodes[i, column] = t.nodes[i, column]
        for value in range(t.labels.shape[1]):
            to.labels[i, value] = t.labels[i, value]
        to.gains[i, GAIN], to.gains[i, WORTH] = t.gains[i, GAIN], t.gains[i, WORTH]
    for i in range(t.meta.size):
        to.meta[i] = t.meta[i]
    to.gains[0, SCORE] = t.gains[0, SCORE]


@inner
def remember(t, best, moves, kind):
    """Keep the tree if it is the best so far."""
    if t.gains[0, SCORE] > best.gains[0, SCORE] + 1e-9:
        copy(t, best)
        moves[kind, BETTER] += 1


@inner
def cheapest(t):
    """The split above leaves only that loses least per leaf when it is closed."""
    least, where = 1.0e300, NONE
    for i in range(t.meta[INNER]):
        node = t.nodes[i, INNER_LIST]
        if t.nodes[node, LEAFY] == t.nodes[node, CHILDREN]:
            loss = t.gains[node, GAIN] / (t.nodes[node, CHILDREN] - 1)
            if loss < least:
                least, where = loss, node
    return least, where


@inner
def settle(s, t, limit, rng):
    """Back to the limit: close the cheapest splits, then make the best ones while they pay."""
    nodes, meta = t.nodes, t.meta
    while meta[LEAVES] > limit:
        close(s, t, cheapest(t)[1])
    while meta[LEAVES] < limit:
        best, where, change = 0.0, NONE, s.sizes[meta[LEAVES] + 1] - s.sizes[meta[LEAVES]]
        for i in range(meta[LEAVES]):
            region = nodes[nodes[i, LEAF_LIST], REGION]
            if s.regions[region, BEST] < 0:
                if s.worths[region, WEIGHT] <= 0.0 and change <= 0.0:
                    continue
                ask(s, region, rng)
            if s.worths[region, BEST_GAIN] + change > best:
                best, where = s.worths[region, BEST_GAIN] + change, nodes[i, LEAF_LIST]
        if where < 0:
            return
        region = nodes[where, REGION]
        f = s.regions[region, BEST]
        ask(s, region, rng)
        runs(s, region, f, TWO, min(np.int64(s.belief[MOST]), limit + 1 - meta[LEAVES]), 0.0, rng)
        if not split(s, t, where, f):
            return


@inner
def drawn_feature(s, slot, shake, rng):
    """The feature that gains most after shaking the gains; -1 where nothing can be split."""
    best, which, values = NOTHING, NONE, s.allowed.shape[1]
    for f in range(s.codes.shape[1]):
        gain = s.counts[slot, values + f]
        if shake > 0.0 and gain != NOTHING:
            gain = gain * rng.random() ** shake if gain > 0.0 else gain - 5.0 * rng.random()
        if gain > best:
            best, which = gain, f
    return which


@inner
def regrow(s, t, node, price, shake, trust, knobs, rng):
    """Split below a node while it pays: as the best known subtree does, or by shaken gains.

    With `trust` above 0 the first split is mostly drawn, whatever it gains.
    """
    nodes, values, most = t.nodes, s.allowed.shape[1], np.int64(s.belief[MOST])
    room, least = nodes.shape[0] // 2 - 16, price - (1.0 - knobs[SLACK]) * abs(price)
    first = trust > 0.0 and rng.random() < 0.7
    nodes[0, STACK] = node
    m = 1
    while m > 0:
        m -= 1
        leaf = nodes[m, STACK]
        region = nodes[leaf, REGION]
        if t.meta[LEAVES] >= room or (s.worths[region, WEIGHT] <= 0.0 and price >= 0.0):
            continue
        slot = ask(s, region, rng)
        forced, known = leaf == node and first, s.regions[region, KNOWN_LEAVES]
        f = drawn_feature(s, slot, shake, rng)
        if f < 0:
            continue
        if forced and rng.random() < knobs[BLIND]:
            f = np.int64(rng.random() * s.codes.shape[1])
            if s.counts[slot, values + f] == NOTHING:
                continue
            draw(s, region, f, rng)
        elif not forced and known > 0 and s.worths[region, KNOWN_GAIN] > price * (known - 1) and rng.random() < trust:
            f = s.regions[region, KNOWN_FEATURE]
            for value in range(s.features[f, START], s.features[f, STOP]):
                s.ints[LABEL, value] = np.int64(s.allowed[region, value]) - 1
        elif forced or s.counts[slot, values + f] > least:
            runs(s, region, f, TWO, most, shake if rng.random() < knobs[WILD] else 0.0, rng)
        else:
            continue
        if split(s, t, leaf, f):
            child = nodes[leaf, FIRST]
            while child >= 0:
                nodes[m, STACK] = child
                m += 1
                child = nodes[child, NEXT]


@kernel
def rebuild(s, t, spare, best, moves, knobs, rng):
    """Remove a subtree, grow it again, prune it, and keep the result by Metropolis; first of all, keep to the limit."""
    limit, nodes, meta = np.int64(knobs[LIMIT]), t.nodes, t.meta
    if meta[LEAVES] > limit:
        settle(s, t, limit, rng)
        remember(t, best, moves, REBUILD)
    for _ in range(int(knobs[STEPS])):
        copy(t, spare)
        moves[REBUILD, PROPOSED] += 1
        s.ints[USED, WORK] += 10 * meta[HIGH] + 2000
        by = 1 if rng.random() < 0.7 or meta[LEAVES] < 2 else -1
        price = -by * (s.sizes[meta[LEAVES] + by] - s.sizes[meta[LEAVES]])
        limited = meta[LEAVES] >= limit - 1 and meta[INNER] > 0
        if limited:
            price = max(price, cheapest(t)[0])
        trust, node = knobs[TRUST] if rng.random() < 0.5 else 0.0, ROOT
        if trust > 0.0 and rng.random() < 0.25:
            node = nodes[int(rng.random() * meta[LEAVES]), LEAF_LIST]
        elif meta[INNER] > 0:
            node = nodes[int(rng.random() * meta[INNER]), INNER_LIST]
        close(s, t, node)
        regrow(s, t, node, price, knobs[NOISE] * rng.random() ** 2, trust, knobs, rng)
        if meta[LEAVES] <= 300:
            teach(s, t, ROOT, price, 0.0)
        teach(s, t, node, price, 1.0)
        if limited or meta[LEAVES] > limit:
            settle(s, t, limit, rng)
        delta = t.gains[0, SCORE] - spare.gains[0, SCORE]
        if delta >= 0.0 or rng.random() < math.exp(delta / knobs[HOT]):
            moves[REBUILD, ACCEPTED] += delta != 0.0
            remember(t, best, moves, REBUILD)
        else:
            copy(spare, t)
        if s.ints[USED, FULL] > 0:
            return


@inner
def rearrange(s, t, node, rng):
    """Label the values of a split as they are, but two children merged or one value moved."""
    f, b = t.nodes[node, FEATURE], t.nodes[node, CHILDREN]
    one, two = int(rng.random() * b), int(rng.random() * (b - 1))
    two += two >= one
    merge, held, start = b > 2 and rng.random() < 0.5, 0, s.features[f, START]
    for value in range(start, s.features[f, STOP]):
        name = np.int64(t.labels[node, value - start])
        s.ints[LABEL, value] = one if merge and name == two else name
        held += name >= 0
    if not merge:
        target = int(rng.random() * min(b + 1, held, int(s.belief[MOST])))
        which = int(rng.random() * held)
        for value in range(start, s.features[f, STOP]):
            if t.labels[node, value - start] >= 0:
                if which == 0:
                    s.ints[LABEL, value] = target
                which -= 1


@kernel
def anneal(s, t, best, moves, knobs, rng):
    """The paper's moves: expand, shrink, regroup, merge siblings, structural change.

    Each replaces what is below a node by nothing or by one split, and is scored before anything changes.
    """
    limit, p, values, nodes, meta = int(knobs[LIMIT]), s.codes.shape[1], s.allowed.shape[1], t.nodes, t.meta
    most, quarter = np.int64(s.belief[MOST]), (1.0 - knobs[EPSILON]) / 4.0
    s.ints[USED, WORK] += 400 * int(knobs[STEPS])
    for _ in range(int(knobs[STEPS])):
        before, turn = t.gains[0, SCORE], rng.random()
        kind = SHRINK if turn < quarter else EXPAND if turn < 2 * quarter else REGROUP if turn < 3 * quarter else MERGE
        if turn >= 4 * quarter:
            kind = STRUCTURE
        if kind == EXPAND or meta[INNER] == 0:
            kind, node = EXPAND, nodes[int(rng.random() * meta[LEAVES]), LEAF_LIST]
        else:
            node = nodes[int(rng.random() * meta[INNER]), INNER_LIST]
        while kind == SHRINK and nodes[node, LEAFY] != nodes[node, CHILDREN]:  # down to a split above leaves
            node = nodes[node, FIRST]
            while nodes[node, FEATURE] < 0 or (nodes[node, NEXT] >= 0 and rng.random() < 0.3):
                node = nodes[node, NEXT] if nodes[node, NEXT] >= 0 else nodes[nodes[node, PARENT], FIRST]
        old, leaves, delta, f, b, blind, other = t.gains[node, WORTH], nodes[node, BELOW], 0.0, NONE, 1, False, NONE
        if leaves > 1 and leaves == nodes[node, CHILDREN]:
            delta += prior_change(s, t, nodes[node, FEATURE], -1.0)
        if kind != SHRINK and kind != STRUCTURE:
            region = nodes[node, REGION]
            slot = ask(s, region, rng)
            f = nodes[node, FEATURE] if kind == MERGE else np.int64(rng.random() * p)
            gain, b = s.counts[slot, values + f], 2
            if gain == NOTHING:
                continue
            blind = kind == MERGE or rng.random() < 0.5
            if blind:
                if kind == MERGE:
                    rearrange(s, t, node, rng)
                else:
                    draw(s, region, f, rng)
                gain, b = group(s, region, f), s.ints[USED, GROUPS]
                if gain == NOTHING or abs(gain - old) < 1e-9:
                    continue
            elif most > 2:
                if runs(s, region, f, TWO, min(most, limit + leaves - meta[LEAVES]), 0.0, rng) == NOTHING:
                    continue
                gain, b, blind = group(s, region, f), s.ints[USED, GROUPS], True
            delta = delta + gain + prior_change(s, t, f, 1.0) if kind != MERGE else gain
        room = limit - (meta[LEAVES] + b - leaves)
        if room < 0 and kind == EXPAND and meta[INNER] > 0:  # at the limit: another split is closed in exchange
            other = nodes[int(rng.random() * meta[INNER]), INNER_LIST]
            if nodes[other, LEAFY] != nodes[other, CHILDREN] or other == nodes[node, PARENT]:
                continue
            kind, room = EXCHANGE, room + nodes[other, CHILDREN] - 1
            delta += prior_change(s, t, nodes[other, FEATURE], -1.0) - t.gains[other, GAIN]
            leaves += nodes[other, CHILDREN] - 1
        if room < 0:
            continue
        delta += s.sizes[meta[LEAVES] + b - leaves] - s.sizes[meta[LEAVES]] - old
        moves[kind, PROPOSED] += 1
        if delta < 0.0 and rng.random() >= math.exp(delta / knobs[HOT]):
            continue
        moves[kind, ACCEPTED] += 1
        if other >= 0:
            close(s, t, other)
        close(s, t, node)
        if f >= 0:
            if not blind:
                runs(s, nodes[node, REGION], f, TWO, most, 0.0, rng)
            split(s, t, node, f)
        if t.gains[0, SCORE] > before:
            remember(t, best, moves, kind)
        if s.ints[USED, FULL] > 0:
            return


@kernel
def graft(s, t, node, f, labels, rng):
    """Split a leaf by the given labels of feature f's values."""
    ask(s, t.nodes[node, REGION], rng)
    for i in range(labels.size):
        s.ints[LABEL, s.features[f, START] + i] = labels[i]
    split(s, t, node, f)
