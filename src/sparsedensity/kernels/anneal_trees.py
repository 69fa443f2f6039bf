"""A tree that changes: its nodes as records, and splitting, closing and copying them."""

from typing import NamedTuple

import numpy as np

from sparsedensity.kernels import ONE, bare, record
from sparsedensity.kernels.anneal_regions import group, known_of, learn, region_of
from sparsedensity.kernels.belief import NOTHING

NODE = record("region feature first next parent place children leafy below leaf_at inner_at stack", floats="gain worth")
"""A node: its region, the feature it splits on (-1: a leaf), its first child, next sibling and parent; its place in the
list of leaves or of inner nodes; how many children it has, how many of them are leaves, and how many leaves are
below it; the gain of its split, and that of its whole subtree. ``leaf_at``, ``inner_at`` and ``stack`` are lists of
nodes that begin with node 0."""
STATE = record("leaves inner features high free", floats="score")
"""A whole tree: leaves, inner nodes and features in use; nodes ever used, the first free one; its log posterior."""


class Growing(NamedTuple):
    """A tree."""

    nodes: np.ndarray
    labels: np.ndarray
    """(nodes, values of the widest feature) the child that each value of an inner node's feature goes to."""
    state: np.ndarray
    uses: np.ndarray
    """How many splits there are on each feature."""


@bare
def features_change(s, t, f, by):
    """What the prior of the features adds when one split on f is made (by = 1) or removed (by = -1)."""
    if s.belief.by_features.size == 0 or t.uses[f] != (1 if by < 0 else 0):
        return 0.0
    d = t.state[0].features
    return s.belief.by_features[d + by] - s.belief.by_features[d]


@bare
def split(s, t, node, f):
    """Split a counted leaf by the labels of feature f's values. False: the labels make no split, or no room."""
    own, state, region = t.nodes[node], t.state[0], t.nodes[node].region
    gain, b = group(s, region, f)
    if gain == NOTHING:
        return False
    if s.used[0].regions + b > s.regions.shape[0] or state.high + b > t.nodes.shape[0]:
        s.used[0].full = 1
        return False
    by_leaves = s.belief.by_leaves
    state.score += gain + features_change(s, t, f, ONE) + by_leaves[state.leaves + b - 1] - by_leaves[state.leaves]
    t.uses[f] += 1
    state.features += t.uses[f] == 1
    start, stop = s.space.features[f].start, s.space.features[f].stop
    for i in range(t.labels.shape[1]):
        inside = start + i < stop and s.allowed[region, start + i] > 0
        t.labels[node, i] = s.desk.cells[start + i].label if inside else -1
    old = own.place
    t.nodes[state.inner].inner_at, own.place = node, state.inner
    state.inner += 1
    own.feature, own.children, own.leafy, own.gain = f, b, b, gain
    if own.parent >= 0:
        t.nodes[own.parent].leafy -= 1
    below = -ONE
    for name in range(b - 1, -1, -1):
        below = add_leaf(s, t, node, f, name, old, below)
    own.first = below
    while node >= 0:
        t.nodes[node].worth += gain
        t.nodes[node].below += b - 1
        node = t.nodes[node].parent
    s.used[0].work += 1000
    return True


@bare
def add_leaf(s, t, parent, f, name, place, sibling):
    """A new leaf for one group of its parent's values; the first takes the parent's place in the list of leaves."""
    nodes, state = t.nodes, t.state[0]
    child = state.free
    if child >= 0:
        state.free = nodes[child].next
    else:
        child = state.high
        state.high += 1
    if name > 0:
        place = state.leaves
        state.leaves += 1
    own = nodes[child]
    own.region = region_of(s, nodes[parent].region, f, name)
    own.feature, own.first, own.next, own.parent = -1, -1, sibling, parent
    own.children = own.leafy = 0
    own.below, own.worth = 1, 0.0
    nodes[place].leaf_at, own.place = child, place
    return child


@bare
def close(s, t, node):
    """Make a node a leaf: remove everything below it, deepest first."""
    nodes, at = t.nodes, node
    while nodes[node].feature >= 0:
        child = nodes[at].first
        while child >= 0 and nodes[child].feature < 0:
            child = nodes[child].next
        if child >= 0:
            at = child
            continue
        close_split(s, t, at)
        at = nodes[at].parent if at != node else node


@bare
def close_split(s, t, node):
    """Make a node whose children are all leaves a leaf itself."""
    nodes, own, state, by_leaves = t.nodes, t.nodes[node], t.state[0], s.belief.by_leaves
    change = by_leaves[state.leaves + 1 - own.children] - by_leaves[state.leaves]
    state.score += features_change(s, t, own.feature, -ONE) + change - own.gain
    t.uses[own.feature] -= 1
    state.features -= t.uses[own.feature] == 0
    child = own.first
    while child >= 0:
        state.leaves -= 1
        last, place, after = nodes[state.leaves].leaf_at, nodes[child].place, nodes[child].next
        nodes[place].leaf_at, nodes[last].place = last, place
        nodes[child].next, state.free = state.free, child
        child = after
    state.inner -= 1
    last, place = nodes[state.inner].inner_at, own.place
    nodes[place].inner_at, nodes[last].place = last, place
    nodes[state.leaves].leaf_at, own.place = node, state.leaves
    state.leaves += 1
    own.feature = own.first = -1
    own.children = own.leafy = 0
    above, fewer = own.parent, own.below - 1
    if above >= 0:
        nodes[above].leafy += 1
    while above >= 0:
        nodes[above].worth -= own.gain
        nodes[above].below -= fewer
        above = nodes[above].parent
    own.below, own.worth = 1, 0.0


@bare
def has_room(t, more):
    """Whether a tree has room for so many more leaves, and for what may come of them until it is pruned."""
    return t.state[0].leaves + more < t.nodes.shape[0] // 2 - 16


@bare
def inner_below(t, node):
    """List the inner nodes of a subtree in the stack, parents before children; how many."""
    nodes, m, i = t.nodes, 0, 0
    if nodes[node].feature >= 0:
        nodes[0].stack = node
        m = 1
    while i < m:
        child = nodes[nodes[i].stack].first
        while child >= 0:
            if nodes[child].feature >= 0:
                nodes[m].stack = child
                m += 1
            child = nodes[child].next
        i += 1
    return m


@bare
def teach(s, t, node, price, pruned):
    """Remember, for every region of a subtree, the best way to split it seen so far at this price per leaf.

    The gain of a subtree depends on its region alone, so what one tree learned serves every later one: this is
    dynamic programming in the order in which the search meets the regions. Splits worth no more than `pruned` are
    closed.
    """
    nodes = t.nodes
    for i in range(inner_below(t, node) - 1, -1, -1):
        at = nodes[i].stack
        gain, leaves, region, f = nodes[at].worth, nodes[at].below, nodes[at].region, nodes[at].feature
        worth = gain - price * (leaves - 1)
        if worth <= pruned:
            close(s, t, at)
        if worth <= 0.0:
            continue
        known = known_of(s, region)
        if known.leaves > 0 and worth <= known.gain - price * (known.leaves - 1) + 1e-9:
            continue
        start = s.space.features[f].start
        for value in range(start, s.space.features[f].stop):
            s.desk.cells[value].label = t.labels[at, value - start]
        learn(s, region, f, (gain, nodes[at].gain), leaves)


@bare
def copy(t, to):
    """Overwrite one tree with another; nodes that neither ever used are left alone."""
    for i in range(max(t.state[0].high, to.state[0].high)):
        to.nodes[i] = t.nodes[i]
        for value in range(t.labels.shape[1]):
            to.labels[i, value] = t.labels[i, value]
    for f in range(t.uses.size):
        to.uses[f] = t.uses[f]
    to.state[0] = t.state[0]


@bare
def cheapest(t):
    """The split above leaves only that loses least per leaf when it is closed: that loss and the node."""
    least, where = 1.0e300, np.int64(-1)
    for i in range(t.state[0].inner):
        node = t.nodes[i].inner_at
        if t.nodes[node].leafy == t.nodes[node].children:
            loss = t.nodes[node].gain / (t.nodes[node].children - 1)
            if loss < least:
                least, where = loss, node
    return least, where


@bare
def weakest(t):
    """What the subtree that gains least per leaf gains per leaf: what a leaf is worth elsewhere, at the limit."""
    least = 1.0e300
    for i in range(t.state[0].inner):
        node = t.nodes[t.nodes[i].inner_at]
        least = min(least, node.worth / (node.below - 1))
    return least
