"""The compiled blocks of moves that change a tree: the paper's moves on single splits, and subtrees rebuilt."""

import math
from typing import NamedTuple

import numpy as np

from sparsedensity.kernels import ONE, TWO, bare, kernel, part, record
from sparsedensity.kernels.anneal_regions import count, divide_best, divide_blindly, group, study
from sparsedensity.kernels.anneal_transplants import transplanted
from sparsedensity.kernels.anneal_trees import cheapest, close, copy, features_change, split, teach
from sparsedensity.kernels.belief import NOTHING

EXPAND, SHRINK, REGROUP, MERGE, STRUCTURE, EXCHANGE, REBUILD = (np.int64(kind) for kind in range(7))
KIND = record("proposed accepted better")
"""The record of one kind of move: how many were proposed, accepted, and led to a new best tree."""
NONE, ROOT = np.int64(-1), np.int64(0)


class Settings(NamedTuple):
    """How a block of moves is made."""

    steps: int
    most_work: int
    """The block ends early after so much work."""
    hot: float
    """The temperature, in nats."""
    limit: int
    """The most leaves."""
    structural: float
    """The share of structural changes among the paper's moves (the paper's epsilon)."""
    blindly: float
    """The share of the paper's moves whose division is drawn, not the best of a feature."""
    merging: float
    """The share of merges among rearrangements; the others move one value."""
    sideways: float
    """How often a step down to a split above leaves goes on to the next sibling."""
    noise: float
    """How much the gains are shaken while a subtree is grown again, at most."""
    wild: float
    """How often values are divided by shaken densities then."""
    slack: float
    """Splits must gain this share of their price to be tried."""
    trust: float
    """How often a subtree follows the best one known."""
    trusting: float
    """The share of rebuilt subtrees that trust at all."""
    drawn: float
    """How often the first split of those is drawn, whatever it gains,"""
    blind: float
    """and how often it is blind."""
    at_leaf: float
    """How often such a subtree begins at a leaf."""
    outward: float
    """How often the price of a leaf is that of one more, not of one fewer."""
    taught: int
    """Up to so many leaves, every move teaches the whole tree."""
    raising: float
    """How often a subtree is not grown again, but one below it takes its place,"""
    lifting: float
    """and how often one of its splits is made first, and the others below."""


@bare
def remember(t, best, moves, kind):
    """Keep the tree if it is the best so far."""
    if t.state[0].score > best.state[0].score + 1e-9:
        copy(t, best)
        moves[kind].better += 1


@bare
def keep_limit(s, t, limit, rng):
    """Back to the limit: close the cheapest splits, then make the best ones while they pay."""
    nodes, state, by_leaves = t.nodes, t.state[0], s.belief.by_leaves
    while state.leaves > limit:
        close(s, t, cheapest(t)[1])
    while state.leaves < limit:
        best, where, change = 0.0, NONE, by_leaves[state.leaves + 1] - by_leaves[state.leaves]
        for i in range(state.leaves):
            region = nodes[nodes[i].leaf_at].region
            if s.regions[region].best < 0:
                if s.regions[region].weight <= 0.0 and change <= 0.0:
                    continue
                study(s, region, rng)
            if s.regions[region].best_gain + change > best:
                best, where = s.regions[region].best_gain + change, nodes[i].leaf_at
        if where < 0:
            return
        region = nodes[where].region
        f = s.regions[region].best
        study(s, region, rng)
        divide_best(s, region, f, TWO, min(s.belief.most_branches, limit + 1 - state.leaves), 0.0, rng)
        if not split(s, t, where, f):
            return


@bare
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


@part
def regrow(s, t, node, going, settings, rng):
    """Split below a node while it pays: as the best known subtree does, or by shaken gains.

    `going` is the price of a leaf, how much gains are shaken, and how often to trust what is known; with any trust the
    first split is mostly drawn, whatever it gains.
    """
    nodes, room, (price, _, trust) = t.nodes, t.nodes.shape[0] // 2 - 16, going
    first = trust > 0.0 and rng.random() < settings.drawn
    nodes[0].stack = node
    m = 1
    while m > 0:
        m -= 1
        leaf = nodes[m].stack
        region = nodes[leaf].region
        if t.state[0].leaves >= room or (s.regions[region].weight <= 0.0 and price >= 0.0):
            continue
        f = chosen_division(s, region, leaf == node and first, going, settings, rng)
        if f >= 0 and split(s, t, leaf, f):
            child = nodes[leaf].first
            while child >= 0:
                nodes[m].stack = child
                m += 1
                child = nodes[child].next


@part
def chosen_division(s, region, forced, going, settings, rng):
    """Label the values of a feature to split a region by; the feature, -1 for no split."""
    slot, values, (price, shake, trust) = study(s, region, rng), s.allowed.shape[1], going
    own, known = s.regions[region], s.regions[region].known_leaves
    f = drawn_feature(s, slot, shake, rng)
    if f < 0:
        return f
    if forced and rng.random() < settings.blind:
        f = np.int64(rng.random() * s.codes.shape[1])
        if s.counts[slot, values + f] == NOTHING:
            return NONE
        divide_blindly(s, region, f, rng)
    elif not forced and known > 0 and own.known_gain > price * (known - 1) and rng.random() < trust:
        f = own.known_feature
        for value in range(s.space.features[f].start, s.space.features[f].stop):
            s.desk.cells[value].label = np.int64(s.allowed[region, value]) - 1
    elif forced or s.counts[slot, values + f] > price - (1.0 - settings.slack) * abs(price):
        shaken = shake if rng.random() < settings.wild else 0.0
        divide_best(s, region, f, TWO, s.belief.most_branches, shaken, rng)
    else:
        return NONE
    return f


@kernel
def rebuild(s, t, spare, best, moves, settings, rng):
    """Remove a subtree, grow it again, prune it, and keep the result by Metropolis; first of all, keep to the limit."""
    state, limit = t.state[0], settings.limit
    if state.leaves > limit:
        keep_limit(s, t, limit, rng)
        remember(t, best, moves, REBUILD)
    for _ in range(settings.steps):
        copy(t, spare)
        moves[REBUILD].proposed += 1
        s.used[0].work += 10 * state.high + 2000
        rebuild_once(s, t, spare, settings, rng)
        delta = state.score - spare.state[0].score
        if delta >= 0.0 or rng.random() < math.exp(delta / settings.hot):
            moves[REBUILD].accepted += delta != 0.0
            remember(t, best, moves, REBUILD)
        else:
            copy(spare, t)
        if s.used[0].full > 0 or s.used[0].work > settings.most_work:
            return


@part
def rebuild_once(s, t, spare, settings, rng):
    """Remove one subtree and grow it again at the going price of a leaf, or out of parts of the copy."""
    nodes, state, by_leaves = t.nodes, t.state[0], s.belief.by_leaves
    by = 1 if rng.random() < settings.outward or state.leaves < 2 else -1
    price = -by * (by_leaves[state.leaves + by] - by_leaves[state.leaves])
    limited = state.leaves >= settings.limit - 1 and state.inner > 0
    if limited:
        price = max(price, cheapest(t)[0])
    trust, node = settings.trust if rng.random() < settings.trusting else 0.0, ROOT
    if trust > 0.0 and rng.random() < settings.at_leaf:
        node = nodes[int(rng.random() * state.leaves)].leaf_at
    elif state.inner > 0:
        node = nodes[int(rng.random() * state.inner)].inner_at
    if not transplanted(s, t, spare, node, (settings.raising, settings.lifting), rng):
        close(s, t, node)
        regrow(s, t, node, (price, settings.noise * rng.random() ** 2, trust), settings, rng)
    if state.leaves <= settings.taught:
        teach(s, t, ROOT, price, NOTHING)
    teach(s, t, node, price, 0.0)
    if limited or state.leaves > settings.limit:
        keep_limit(s, t, settings.limit, rng)


@bare
def rearrange(s, t, node, settings, rng):
    """Label the values of a split as they are, but two children merged or one value moved."""
    cells, f, b = s.desk.cells, t.nodes[node].feature, t.nodes[node].children
    one, two = int(rng.random() * b), int(rng.random() * (b - 1))
    two += two >= one
    merge, held, start = b > 2 and rng.random() < settings.merging, 0, s.space.features[f].start
    for value in range(start, s.space.features[f].stop):
        name = np.int64(t.labels[node, value - start])
        cells[value].label = one if merge and name == two else name
        held += name >= 0
    if not merge:
        target = int(rng.random() * min(b + 1, held, s.belief.most_branches))
        which = int(rng.random() * held)
        for value in range(start, s.space.features[f].stop):
            if t.labels[node, value - start] >= 0:
                if which == 0:
                    cells[value].label = target
                which -= 1


@part
def drawn_move(t, settings, rng):
    """A kind of move and the node it changes."""
    nodes, state, quarter, turn = t.nodes, t.state[0], (1.0 - settings.structural) / 4.0, rng.random()
    kind = SHRINK if turn < quarter else EXPAND if turn < 2 * quarter else REGROUP if turn < 3 * quarter else MERGE
    if turn >= 4 * quarter:
        kind = STRUCTURE
    if kind == EXPAND or state.inner == 0:
        kind, node = EXPAND, nodes[int(rng.random() * state.leaves)].leaf_at
    else:
        node = nodes[int(rng.random() * state.inner)].inner_at
    while kind == SHRINK and nodes[node].leafy != nodes[node].children:  # down to a split above leaves
        node = nodes[node].first
        while nodes[node].feature < 0 or (nodes[node].next >= 0 and rng.random() < settings.sideways):
            node = nodes[node].next if nodes[node].next >= 0 else nodes[nodes[node].parent].first
    return kind, node


@part
def drawn_split(s, t, node, kind, settings, rng):
    """A new split of a node: its gain (NOTHING for none), feature, groups, and whether its labels are written."""
    region, values, most = t.nodes[node].region, s.allowed.shape[1], s.belief.most_branches
    slot = study(s, region, rng)
    f = t.nodes[node].feature if kind == MERGE else np.int64(rng.random() * s.codes.shape[1])
    gain = s.counts[slot, values + f]
    if gain == NOTHING:
        return NOTHING, f, 2, False
    if kind == MERGE or rng.random() < settings.blindly:
        if kind == MERGE:
            rearrange(s, t, node, settings, rng)
        else:
            divide_blindly(s, region, f, rng)
        gain, b = group(s, region, f)
        return NOTHING if abs(gain - t.nodes[node].worth) < 1e-9 else gain, f, b, True
    if most > 2:
        room = settings.limit + t.nodes[node].below - t.state[0].leaves
        if divide_best(s, region, f, TWO, min(most, room), 0.0, rng) == NOTHING:
            return NOTHING, f, 2, True
        gain, b = group(s, region, f)
        return gain, f, b, True
    return gain, f, 2, False


@part
def exchanged(t, node, rng):
    """At the limit another split is closed in exchange: a drawn one above leaves, -1 if it cannot be."""
    other = t.nodes[int(rng.random() * t.state[0].inner)].inner_at
    if t.nodes[other].leafy != t.nodes[other].children or other == t.nodes[node].parent:
        return NONE
    return other


@kernel
def anneal(s, t, best, moves, settings, rng):
    """The paper's moves: expand, shrink, regroup, merge siblings, structural change.

    Each replaces what is below a node by nothing or by one split, and is scored before anything changes.
    """
    nodes, state, by_leaves, before = t.nodes, t.state[0], s.belief.by_leaves, 0.0
    s.used[0].work += 400 * settings.steps
    for _ in range(settings.steps):
        before = state.score
        kind, node = drawn_move(t, settings, rng)
        leaves, delta, f, b, labelled, other = nodes[node].below, 0.0, NONE, 1, False, NONE
        if leaves > 1 and leaves == nodes[node].children:
            delta += features_change(s, t, nodes[node].feature, -ONE)
        if kind != SHRINK and kind != STRUCTURE:
            gain, f, b, labelled = drawn_split(s, t, node, kind, settings, rng)
            if gain == NOTHING:
                continue
            delta = gain if kind == MERGE else delta + gain + features_change(s, t, f, ONE)
        room = settings.limit - (state.leaves + b - leaves)
        if room < 0 and kind == EXPAND and state.inner > 0:
            other = exchanged(t, node, rng)
            if other < 0:
                continue
            kind, room = EXCHANGE, room + nodes[other].children - 1
            delta += features_change(s, t, nodes[other].feature, -ONE) - nodes[other].gain
            leaves += nodes[other].children - 1
        if room < 0:
            continue
        delta += by_leaves[state.leaves + b - leaves] - by_leaves[state.leaves] - nodes[node].worth
        moves[kind].proposed += 1
        if delta < 0.0 and rng.random() >= math.exp(delta / settings.hot):
            continue
        moves[kind].accepted += 1
        replace(s, t, node, f, other, labelled, rng)
        if state.score > before:
            remember(t, best, moves, kind)
        if s.used[0].full > 0 or s.used[0].work > settings.most_work:
            return


@part
def replace(s, t, node, f, other, labelled, rng):
    """Close what is below a node, and another split in exchange; then split the node, if a feature is given."""
    if other >= 0:
        close(s, t, other)
    close(s, t, node)
    if f >= 0:
        if not labelled:
            divide_best(s, t.nodes[node].region, f, TWO, s.belief.most_branches, 0.0, rng)
        split(s, t, node, f)


@kernel
def graft(s, t, node, f, labels):
    """Split a leaf by the given labels of feature f's values."""
    if s.regions[t.nodes[node].region].slot < 0:
        count(s, t.nodes[node].region)
    for i in range(labels.size):
        s.desk.cells[s.space.features[f].start + i].label = labels[i]
    split(s, t, node, f)
