"""The compiled moves that change a tree: a subtree is removed, grown again, pruned, and kept or not."""

import math
from typing import NamedTuple

import numpy as np

from sparsedensity.kernels import NONE, TWO, ZERO, bare, record
from sparsedensity.kernels.anneal_lifts import lift
from sparsedensity.kernels.anneal_regions import (
    allowed_values,
    counted_slot,
    divide_best,
    divide_blindly,
    known_of,
    study,
)
from sparsedensity.kernels.anneal_transplants import (
    GROW,
    INSERT,
    LIFT,
    child_of,
    drawn_kind,
    put_above,
    rearrange,
)
from sparsedensity.kernels.anneal_trees import cheapest, close, copy, has_room, split, teach, weakest
from sparsedensity.kernels.belief import NOTHING

KIND = record("proposed accepted better")
"""The record of one kind of move: how many were proposed, accepted, and led to a new best tree."""
ROOT, FORCED = np.int64(0), np.bool_(True)
MOST_LOST = 0.5
"""What a hasty split may lose, as a share of the price of a leaf: those below it may make good for that."""


class Settings(NamedTuple):
    """How a block of moves is made."""

    steps: int
    most_work: int
    """The block ends early after so much work."""
    hot: float
    """The temperature, in nats."""
    limit: int
    """The most leaves."""
    noise: float
    """How much the gains are shaken while a subtree is grown again, at most."""
    wild: float
    """How often values are divided by shaken densities then."""
    strange: float
    """How often a feature is drawn as if by another region, whose gains decide: one that pays there may pay here, too,
    once more splits are below it."""
    hasty: bool
    """Whether that happens, where it can, without a look at the region itself: that takes long if parts are counted."""
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
    upward: float
    """How much more often a subtree is large than if all were drawn alike, as a power of its leaves."""
    outward: float
    """How often the price of a leaf is that of one more, not of one fewer."""
    taught: int
    """Up to so many leaves, every move teaches the whole tree."""
    shares: tuple[float, ...]
    """How often a subtree is not grown again, but put together from parts: one for every other kind of move."""


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
        where = best_leaf(s, t, by_leaves[state.leaves] - by_leaves[state.leaves + 1], rng)
        if where < 0:
            return
        region = nodes[where].region
        study(s, region, rng)
        f = s.regions[region].best
        divide_best(s, region, f, TWO, min(s.belief.most_branches, limit + 1 - state.leaves), 0.0, rng)
        if not split(s, t, where, f):
            return


@bare
def best_leaf(s, t, price, rng):
    """The leaf whose best split gains most, if that is more than a price; else -1."""
    best, where = price, NONE
    for i in range(t.state[0].leaves):
        region = t.nodes[t.nodes[i].leaf_at].region
        if s.regions[region].best_gain > best and s.regions[region].best < 0:
            study(s, region, rng)
        if s.regions[region].best_gain > best:
            best, where = s.regions[region].best_gain, t.nodes[i].leaf_at
    return where


@bare
def drawn_feature(s, slot, shake, rng):
    """The feature that gains most after shaking the gains; -1 if nothing can be split."""
    best, which, values = NOTHING, NONE, s.allowed.shape[1]
    for f in range(s.space.features.size):
        gain = s.counts[slot, values + f]
        if shake > 0.0 and gain != NOTHING:
            gain = gain * rng.random() ** shake if gain > 0.0 else gain - 5.0 * rng.random()
        if gain > best:
            best, which = gain, f
    return which


@bare
def regrow(s, t, node, going, settings, rng):
    """Split below a node while it pays: as the best known subtree does, or by shaken gains.

    `going` is the price of a leaf, how much gains are shaken, and how often to trust what is known; with any trust the
    first split is mostly drawn, whatever it gains.
    """
    nodes, (price, _, trust) = t.nodes, going
    first = trust > 0.0 and rng.random() < settings.drawn
    nodes[0].stack = node
    m = 1
    while m > 0:
        m -= 1
        leaf = nodes[m].stack
        region = nodes[leaf].region
        if not has_room(t, ZERO) or (s.regions[region].weight <= 0.0 and price >= 0.0):
            continue
        f = chosen_division(s, region, leaf == node and first, going, settings, rng)
        if f >= 0 and split(s, t, leaf, f):
            child = nodes[leaf].first
            while child >= 0:
                nodes[m].stack = child
                m += 1
                child = nodes[child].next


@bare
def is_known(s, region, price):
    """Whether a subtree is known that pays at this price."""
    known = known_of(s, region)
    return known.leaves > 0 and known.gain > price * (known.leaves - 1)


@bare
def known_division(s, region):
    """Label the values of a feature as the best known subtree does; the feature."""
    counted_slot(s, region)
    f, at = known_of(s, region).feature, s.places[region]
    start = s.space.features[f].start
    for value in range(start, s.space.features[f].stop):
        s.desk.cells[value].label = np.int64(s.labels[at, value - start]) - 1
    return f


@bare
def chosen_division(s, region, forced, going, settings, rng):
    """Label the values of a feature to split a region by; the feature, -1 for no split."""
    values, (price, shake, trust) = s.allowed.shape[1], going
    least = price - (1.0 - settings.slack) * abs(price)
    if not forced:
        if is_known(s, region, price) and rng.random() < trust:
            return known_division(s, region)
        if s.regions[region].best_gain <= least:
            return NONE
    strange = rng.random() < settings.strange
    if strange and settings.hasty and not forced and s.regions[region].best < 0:
        return hasty_division(s, region, (price, least), shake, rng)
    slot = study(s, region, rng)
    if strange:
        slot = int(rng.random() * s.used[0].slots)
    f = drawn_feature(s, slot, shake, rng)
    if f < 0 or allowed_values(s, region, f) < TWO:
        return NONE
    if forced and rng.random() < settings.blind:
        f = np.int64(rng.random() * s.space.features.size)
        if s.counts[slot, values + f] == NOTHING:
            return NONE
        divide_blindly(s, region, f, rng)
    elif forced or s.counts[slot, values + f] > least:
        shaken = shake if rng.random() < settings.wild else 0.0
        divide_best(s, region, f, TWO, s.belief.most_branches, shaken, rng)
    else:
        return NONE
    return f


@bare
def hasty_division(s, region, prices, shake, rng):
    """Label the values of a feature that pays in another region, unless it loses much here; -1 if there is none."""
    counted_slot(s, region)
    (price, least), slot = prices, int(rng.random() * s.used[0].slots)
    f = drawn_feature(s, slot, shake, rng)
    if f < 0 or allowed_values(s, region, f) < TWO or s.counts[slot, s.allowed.shape[1] + f] <= least:
        return NONE
    gain = divide_best(s, region, f, TWO, s.belief.most_branches, 0.0, rng)
    return f if gain > -MOST_LOST * price else NONE


@bare
def rebuild(s, t, spare, best, moves, settings, rng):
    """Remove a subtree, grow it again, prune it, and keep the result by Metropolis; first of all, keep to the limit."""
    state, limit = t.state[0], settings.limit
    if state.leaves > limit:
        keep_limit(s, t, limit, rng)
        remember(t, best, moves, GROW)
    for _ in range(settings.steps):
        copy(t, spare)
        s.used[0].work += 10 * state.high + 2000
        kind = rebuild_once(s, t, spare, settings, rng)
        moves[kind].proposed += 1
        delta = state.score - spare.state[0].score
        if delta >= 0.0 or rng.random() < math.exp(delta / settings.hot):
            moves[kind].accepted += delta != 0.0
            remember(t, best, moves, kind)
        else:
            copy(spare, t)
        if s.used[0].full > 0 or s.used[0].work > settings.most_work:
            return


@bare
def insert(s, t, copy, node, going, settings, rng):
    """Put a drawn split above a subtree, or in place of its first split, the largest part of which stays."""
    source = node
    if rng.random() < 0.5:
        for name in range(copy.nodes[node].children):
            child = child_of(copy, node, name)
            if source == node or copy.nodes[child].below > copy.nodes[source].below:
                source = child
    close(s, t, node)
    if not has_room(t, 2 * copy.nodes[source].below):
        return
    f = chosen_division(s, t.nodes[node].region, FORCED, going, settings, rng)
    if f >= 0:
        put_above(s, t, node, f, copy, source, rng)


@bare
def transplanted(s, t, spare, node, kind, going, rng):
    """Put a subtree together from parts: if that can be."""
    if kind == LIFT and lift(s, t, spare, node, going, rng):
        return True
    return rearrange(s, t, spare, node, kind, rng)


@bare
def drawn_inner(t, upward, rng):
    """Draw an inner node: with a chance that grows with this power of the leaves below it."""
    while True:
        node = t.nodes[int(rng.random() * t.state[0].inner)].inner_at
        if rng.random() < (t.nodes[node].below / t.state[0].leaves) ** upward:
            return node


@bare
def rebuild_once(s, t, spare, settings, rng):
    """Remove one subtree and grow it again at the going price of a leaf, or out of parts of the copy: which of both."""
    nodes, state, by_leaves = t.nodes, t.state[0], s.belief.by_leaves
    by = 1 if rng.random() < settings.outward or state.leaves < 2 else -1
    price = -by * (by_leaves[state.leaves + by] - by_leaves[state.leaves])
    limited = state.leaves >= settings.limit - 1 and state.inner > 0
    if limited:
        price = max(price, weakest(t))
    trust, node = settings.trust if rng.random() < settings.trusting else 0.0, ROOT
    if trust > 0.0 and rng.random() < settings.at_leaf:
        node = nodes[int(rng.random() * state.leaves)].leaf_at
    elif state.inner > 0:
        node = drawn_inner(t, settings.upward, rng)
    kind = drawn_kind(t, node, settings.shares, rng)
    going = (price, settings.noise * rng.random() ** 2, trust)
    if kind == INSERT:
        insert(s, t, spare, node, going, settings, rng)
    elif kind == GROW or not transplanted(s, t, spare, node, kind, (price, settings.hot), rng):
        kind = GROW
        close(s, t, node)
        regrow(s, t, node, going, settings, rng)
    if state.leaves <= settings.taught:
        teach(s, t, ROOT, price, NOTHING)
    teach(s, t, node, price, 0.0)
    if limited or state.leaves > settings.limit:
        keep_limit(s, t, settings.limit, rng)
    return kind
