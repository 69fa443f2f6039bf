"""Subtrees that are put together from their own parts: one below takes the place of all, or a split comes first.

A split that does not belong there cuts in two what lies below: both sides then say the same with twice the leaves. No
change of single splits mends that without a loss in between. To leave the split out (raise what is on one side of it)
or to make one of the others first (lift it, and have the rest on both sides) does, and pruning does the rest.
"""

import numpy as np

from sparsedensity.kernels import NONE, bare
from sparsedensity.kernels.anneal_regions import count
from sparsedensity.kernels.anneal_trees import close, inner_below, split

GROW, RAISE, LIFT = (np.int64(kind) for kind in range(3))
"""The kinds of moves: a subtree is grown again, raised, or one of its splits is lifted."""


@bare
def transplanted(s, t, copy, node, shares, rng):
    """Now and then, raise a subtree to a node above it, or lift a split to the top of one: which, or to grow it."""
    if shares[0] + shares[1] <= 0.0 or t.nodes[node].feature < 0:
        return GROW
    turn, inner = rng.random(), inner_below(copy, node)
    if turn >= shares[0] + shares[1] or inner < 2:
        return GROW
    below = copy.nodes[1 + int(rng.random() * (inner - 1))].stack
    if turn < shares[0]:
        close(s, t, node)
        transplant(s, t, node, copy, below, rng)
        return RAISE
    more = (copy.nodes[below].children - 1) * copy.nodes[node].below
    if t.state[0].leaves + more >= t.nodes.shape[0] // 2 - 16:
        return GROW
    close(s, t, node)
    label_as(s, t, node, copy, below, rng)
    if split(s, t, node, copy.nodes[below].feature):
        child = t.nodes[node].first
        while child >= 0:
            transplant(s, t, child, copy, node, rng)
            child = t.nodes[child].next
    return LIFT


@bare
def transplant(s, t, node, copy, source, rng):
    """Split a leaf, and what comes of it, as the copy does below some node of its own."""
    nodes, m = t.nodes, 2
    nodes[0].stack, nodes[1].stack = node, source
    while m > 0:
        m -= 2
        leaf, like = nodes[m].stack, nodes[m + 1].stack
        f = copy.nodes[like].feature
        if f < 0:
            continue
        label_as(s, t, leaf, copy, like, rng)
        only = common_label(s, nodes[leaf].region, f)
        if only >= 0:  # the split divides nothing here
            nodes[m].stack, nodes[m + 1].stack = leaf, child_of(copy, like, only)
            m += 2
        elif split(s, t, leaf, f):
            for name in range(nodes[leaf].children):
                label = label_of(t, leaf, name, copy, like)
                if label >= 0:
                    nodes[m].stack, nodes[m + 1].stack = child_of(t, leaf, name), child_of(copy, like, label)
                    m += 2


@bare
def label_as(s, t, leaf, copy, like, rng):
    """Label the values of a leaf as a split of the copy does; those that the split never meets go to a drawn group."""
    if s.regions[t.nodes[leaf].region].slot < 0:
        count(s, t.nodes[leaf].region)
    feature, stray = s.space.features[copy.nodes[like].feature], np.int64(rng.random() * copy.nodes[like].children)
    for value in range(feature.start, feature.stop):
        label = np.int64(copy.labels[like, value - feature.start])
        s.desk.cells[value].label = label if label >= 0 else stray


@bare
def common_label(s, region, f):
    """The label that all allowed values of feature f have; -1 if there are several."""
    common = NONE
    for value in range(s.space.features[f].start, s.space.features[f].stop):
        if s.allowed[region, value] > 0:
            label = s.desk.cells[value].label
            if common >= 0 and label != common:
                return NONE
            common = label
    return common


@bare
def label_of(t, node, name, copy, like):
    """What a split of the copy calls the group that has a name in the tree; -1 if it never meets its values."""
    for i in range(t.labels.shape[1]):
        if t.labels[node, i] == name and copy.labels[like, i] >= 0:
            return np.int64(copy.labels[like, i])
    return NONE


@bare
def child_of(t, node, name):
    """The child of a node for a group of values."""
    child = t.nodes[node].first
    for _ in range(name):
        child = t.nodes[child].next
    return child
