"""Subtrees that are put together from parts of their own.

A split that does not belong there cuts in two what lies below: both sides then say the same with twice the leaves. No
change of single splits mends that without a loss in between. To leave the split out (raise what is on one side of it)
or to make one of the others first (lift it, and have the rest on both sides) does, and pruning does the rest. Likewise
a value that is on the wrong side of a split can change sides, or a split come above others, if what lies below stays.
"""

import numpy as np

from sparsedensity.kernels import NONE, TWO, bare
from sparsedensity.kernels.anneal_regions import allowed_values, counted_slot, divide_best
from sparsedensity.kernels.anneal_trees import close, has_room, inner_below, split

GROW, RAISE, LIFT, CHANGE, INSERT = (np.int64(kind) for kind in range(5))
"""The kinds of moves: a subtree is grown again; one below it is raised; one of its splits is lifted; its first split is
changed; or another split is inserted above it, or in place of its first."""
MOST_DRAWS, ENOUGH = 20, 0.7
"""How many values are drawn at most until one can be moved, and how often one is enough."""
ANEW = 0.4
"""How often a split of more than two values is not changed value by value, but made anew, shaken."""


@bare
def drawn_kind(t, node, shares, rng):
    """What becomes of a subtree, by the shares of all kinds but the first."""
    turn = rng.random()
    if t.nodes[node].feature >= 0:
        for other in range(len(shares)):
            turn -= shares[other]
            if turn < 0.0:
                return np.int64(other + 1)
    return GROW


@bare
def rearrange(s, t, copy, node, kind, rng):
    """Raise a subtree to a node above it, lift a split to the top of one, or change its first split: if that can be."""
    if kind == CHANGE:
        change(s, t, node, copy, rng)
        return True
    inner = inner_below(copy, node)
    if inner < 2:
        return False
    below = copy.nodes[1 + int(rng.random() * (inner - 1))].stack
    if kind == RAISE:
        close(s, t, node)
        transplant(s, t, node, copy, below, rng)
        return True
    if not has_room(t, (copy.nodes[below].children - 1) * copy.nodes[node].below):
        return False
    close(s, t, node)
    label_as(s, t, node, copy, below, rng)
    put_above(s, t, node, copy.nodes[below].feature, copy, node, rng)
    return True


@bare
def put_above(s, t, node, f, copy, source, rng):
    """Split a leaf by the labels of feature f's values, and all parts as the copy does below some node of its own."""
    if split(s, t, node, f):
        child = t.nodes[node].first
        while child >= 0:
            transplant(s, t, child, copy, source, rng)
            child = t.nodes[child].next


@bare
def move_values(s, region, f, groups, rng):
    """Move one labelled value of a feature, or some, to another group; of an ordered feature to that of a neighbour."""
    cells, feature = s.desk.cells, s.space.features[f]
    for _ in range(MOST_DRAWS):
        drawn, label = feature.start + int(rng.random() * (feature.stop - feature.start)), int(rng.random() * groups)
        if feature.ordered > 0:
            beside = drawn + (1 if rng.random() < 0.5 else -1)
            label = cells[min(max(beside, feature.start), feature.stop - 1)].label
        if s.allowed[region, drawn] > 0 and cells[drawn].label != label:
            cells[drawn].label = label
            if rng.random() < ENOUGH:
                return


@bare
def change(s, t, node, copy, rng):
    """Split a node as the copy does, but for values that change sides; the parts as the copy's are.

    Of two values none can change sides, so nothing is left of the split: its leaves are free for others.
    """
    f, region, groups = copy.nodes[node].feature, t.nodes[node].region, copy.nodes[node].children
    close(s, t, node)
    label_as(s, t, node, copy, node, rng)
    if rng.random() < ANEW and allowed_values(s, region, f) > TWO:
        divide_best(s, region, f, TWO, groups, rng.random(), rng)
    else:
        move_values(s, region, f, groups, rng)
    if split(s, t, node, f):
        for name in range(t.nodes[node].children):
            label = label_of(t, node, name, copy, node)
            if label >= 0:
                transplant(s, t, child_of(t, node, name), copy, child_of(copy, node, label), rng)


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
    counted_slot(s, t.nodes[leaf].region)
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
    """What a split of the copy calls most values of the group that has a name in the tree; -1 if it meets none."""
    best, most = NONE, 0
    for label in range(copy.nodes[like].children):
        common = 0
        for i in range(t.labels.shape[1]):
            common += t.labels[node, i] == name and copy.labels[like, i] == label
        if common > most:
            best, most = np.int64(label), common
    return best


@bare
def child_of(t, node, name):
    """The child of a node for a group of values."""
    child = t.nodes[node].first
    for _ in range(name):
        child = t.nodes[child].next
    return child
