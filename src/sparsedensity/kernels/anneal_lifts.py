"""Which split should come first in a subtree, if all others stay as they are on both sides of it.

A split that comes first cuts every part of the subtree in two. How many rows are on either side of a part, and what it
adds there, is known from when the part was counted: so every split that may come first is weighed, with all that is
below it pruned at the going price, before one is made, and no row is read.
"""

import math

import numpy as np

from sparsedensity.kernels import NONE, TWO, ZERO, bare, by_type, record
from sparsedensity.kernels.anneal_regions import allowed_values, counted_slot, divide_best, group, study
from sparsedensity.kernels.anneal_transplants import label_as, put_above
from sparsedensity.kernels.anneal_trees import close, has_room
from sparsedensity.kernels.belief import NOTHING, Uniform, evidence, head, model_of

SKETCH = record("node region feature above first children", floats="log_volume share log_share weight piece worth")
"""A node of a sketched subtree: its region, the feature it splits on, where its parent is, where its children begin and
how many there are; the log of its volume, if that of the subtree is 1; and, for the side of a split weighed last, its
share of the volume and the log of that, the weight there, its piece, and what its subtree is worth (``NOTHING`` if none
of it is on that side)."""


@bare
def lift(s, t, copy, node, going, rng):
    """Make a split the first one of a subtree, by what it is worth at the going price and temperature: if it can be."""
    if not has_room(t, copy.nodes[node].below) or not is_known(s.belief, s, copy, node, rng):
        return False
    f = drawn_first(s, copy, node, sketch(s, copy, node, rng), going, rng)
    if f < 0:
        return False
    close(s, t, node)
    counted_slot(s, t.nodes[node].region)
    put_above(s, t, node, f, copy, node, rng)
    return True


def is_known(belief, s, t, node, rng):
    """Whether a split, drawn from all of a tree, is one of which is known what the parts of all regions add."""


@by_type(is_known)
def _is_known(belief, s, t, node, rng):
    def uniform(belief, s, t, node, rng):
        return True

    def counted(belief, s, t, node, rng):
        drawn = t.nodes[int(rng.random() * t.state[0].inner)].inner_at
        return allowed_values(s, t.nodes[node].region, t.nodes[drawn].feature) == TWO

    return uniform if model_of(belief) is Uniform else counted


@bare
def sketch(s, t, node, rng):
    """Sketch a subtree, children side by side behind their parents: how many nodes; 0 if there is no room for it."""
    sketched, m, i = s.sketch, 1, 0
    sketched[0].node, sketched[0].above, sketched[0].log_volume = node, 0, 0.0
    while i < m:
        own, at = sketched[i], t.nodes[sketched[i].node]
        own.region, own.feature, own.first, own.children = at.region, at.feature, m, at.children
        look(s.belief, s, own, sketched[own.above], rng)
        child = at.first
        while child >= 0:
            sketched[m].node, sketched[m].above = child, i
            m += 1
            child = t.nodes[child].next
        i += 1
    for j in range(m):
        if s.regions[sketched[j].region].slot < 0:  # it was forgotten to make room for others
            return 0
    return m


def look(belief, s, own, above, rng):
    """Look at a sketched region as closely as its pieces ask for."""


@by_type(look)
def _look(belief, s, own, above, rng):
    def uniform(belief, s, own, above, rng):
        counted_slot(s, own.region)
        inside, whole = 0.0, 0.0
        for value in range(s.space.features[above.feature].start, s.space.features[above.feature].stop):
            whole += s.space.values[value].measure * (s.allowed[above.region, value] > 0)
            inside += s.space.values[value].measure * (s.allowed[own.region, value] > 0)
        own.log_volume = above.log_volume + math.log(inside / whole)

    def counted(belief, s, own, above, rng):
        if s.regions[own.region].weight > 0.0:
            study(s, own.region, rng)
        else:
            counted_slot(s, own.region)

    return uniform if model_of(belief) is Uniform else counted


@bare
def drawn_first(s, t, node, m, going, rng):
    """Label the values of a feature by a split to come first in a sketched subtree; the feature, -1 for none.

    Every split that is tried is drawn with a chance that grows with what it is worth.
    """
    (price, hot), cells, best, which = going, s.desk.cells, NOTHING, NONE
    for i in range(3 * s.space.features.size if m > 0 else 0):
        f, b = label_first(s.belief, s, t, node, m, i, rng)
        if b < TWO:
            continue
        worth = worth_first(s, m, f, b, price) - hot * math.log(-math.log(rng.random()))
        if worth > best:
            best, which = worth, f
            for value in range(s.space.features[f].start, s.space.features[f].stop):
                cells[value].kept = cells[value].label
    if which >= 0:
        for value in range(s.space.features[which].start, s.space.features[which].stop):
            cells[value].label = cells[value].kept
    return which


def label_first(belief, s, t, node, m, i, rng):
    """Label the values of a feature by the split that is tried as the i-th: the feature and how many parts; 0 for none.

    Tried are the best division of every feature, one that is found when gains are shaken, and about as many splits that
    are drawn from the subtree. If parts must be counted, only divisions of two values are known in all regions.
    """


@by_type(label_first)
def _label_first(belief, s, t, node, m, i, rng):
    def uniform(belief, s, t, node, m, i, rng):
        region, b, f = t.nodes[node].region, TWO, np.int64(i // 2)
        if f >= s.space.features.size:
            drawn = s.sketch[int(rng.random() * m)]
            f = drawn.feature
            if f < 0 or allowed_values(s, region, f) == TWO:
                return f, ZERO
            label_as(s, t, node, t, drawn.node, rng)
            gain, b = group(s, region, f)
        else:
            many = allowed_values(s, region, f)
            if many < TWO or (many == TWO and (i % 2 > 0 or f == t.nodes[node].feature)):
                return f, ZERO
            gain = divide_best(s, region, f, TWO, TWO, rng.random() if i % 2 > 0 else 0.0, rng)
        return f, b if gain != NOTHING else ZERO

    def counted(belief, s, t, node, m, i, rng):
        region, f, label = t.nodes[node].region, np.int64(i), ZERO
        if f >= s.space.features.size or f == t.nodes[node].feature or allowed_values(s, region, f) != TWO:
            return f, label
        for value in range(s.space.features[f].start, s.space.features[f].stop):
            if s.allowed[region, value] > 0:
                s.desk.cells[value].label = label
                label += 1
        return f, label

    return uniform if model_of(belief) is Uniform else counted


@bare
def worth_first(s, m, f, b, price):
    """What a sketched subtree is worth, but for its term, if it is first split by the labels of feature f's values."""
    worth = head(s.belief, s.regions[s.sketch[0].region].weight, b) - price * (b - 1)
    for label in range(b):
        for i in range(m - 1, -1, -1):
            weigh_inside(s, s.sketch[i], f, label, price)
        worth += s.sketch[0].piece + s.sketch[0].worth
    s.used[0].work += b * m * (12 + 3 * (s.space.features[f].stop - s.space.features[f].start))
    return worth


@bare
def weigh_inside(s, own, f, label, price):
    """Weigh a sketched node where the values of feature f have a label, and its subtree, pruned at a price per leaf."""
    inside, whole = 0.0, 0.0
    own.weight, own.worth = 0.0, NOTHING
    for value in range(s.space.features[f].start, s.space.features[f].stop):
        if s.allowed[own.region, value] > 0:
            whole += s.space.values[value].measure
            if s.desk.cells[value].label == label:
                inside += s.space.values[value].measure
                own.weight += s.counts[s.regions[own.region].slot, value]
    if inside == 0.0:
        return
    own.worth, own.piece = 0.0, piece_inside(s.belief, s, own, f, label, inside / whole)
    parts, worth, only = 0, 0.0, 0.0
    for j in range(own.first, own.first + own.children):
        part = s.sketch[j]
        if part.worth > NOTHING:
            parts += 1
            worth += part.piece + part.worth
            only = part.worth
    if parts > 1:
        term = own.piece - evidence(s.belief, own.weight)
        own.worth = max(worth + head(s.belief, own.weight, parts) - term - price * (parts - 1), 0.0)
    elif parts == 1:  # the split divides nothing here
        own.worth = only


def piece_inside(belief, s, own, f, label, share):
    """What a region adds to the gain of a split where the values of feature f have a label."""


@by_type(piece_inside)
def _piece_inside(belief, s, own, f, label, share):
    def uniform(belief, s, own, f, label, share):
        if share != own.share:
            own.share, own.log_share = share, math.log(share)
        return evidence(belief, own.weight) - own.weight * (own.log_volume + own.log_share)

    def counted(belief, s, own, f, label, share):
        region, values, many = s.regions[own.region], s.allowed.shape[1], s.space.features.size
        if share == 1.0 or region.weight == 0.0:
            return evidence(belief, own.weight) + region.term
        first = s.counts[region.slot, values + many + f]
        if label == 0:
            return first
        return s.counts[region.slot, values + f] - head(belief, region.weight, TWO) + region.term - first

    return uniform if model_of(belief) is Uniform else counted
