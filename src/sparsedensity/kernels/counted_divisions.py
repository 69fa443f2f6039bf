"""Divisions for leaf models that look at the weights of all values in a child.

There is no order of the values in which the best groups are runs, so one value (of an ordered feature: one run) after
the other is separated from the rest, and values are exchanged while that pays.
"""

from sparsedensity.kernels import bare
from sparsedensity.kernels.belief import NOTHING, evidence, head, term

MOST_SWEEPS = 10


@bare
def counted_piece(belief, space, desk, region, f, label, least_weight):
    """What the child with a label adds to the gain of a split: its counts are sums of pair counts."""
    counts, allowed, cells, weight = desk.part[0], desk.part[1], desk.cells, 0.0
    for value in range(counts.size):
        counts[value], allowed[value] = 0.0, min(region.allowed[value], 1)
    for value in range(space.features[f].start, space.features[f].stop):
        if region.allowed[value] == 0 or cells[value].label != label:
            allowed[value] = 0.0
            continue
        weight += region.counts[value]
        for other in range(counts.size):
            counts[other] += region.pairs[value, other]
    if weight > 0.0 and weight < least_weight:
        return NOTHING
    return evidence(belief, weight) + term(belief.leaf, counts, allowed, space)


@bare
def grown_division(belief, space, desk, region, f, wish, rng):
    """The best division found by separating and exchanging: its gain; the labels are written."""
    (least, most, noise, least_weight), cells, m = wish, desk.cells, 0
    for value in range(space.features[f].start, space.features[f].stop):
        cells[value].label = 0
        m += region.allowed[value] > 0
    if min(most, m) < 2:
        return NOTHING
    cells[0].piece = counted_piece(belief, space, desk, region, f, 0, 0.0)
    best, total = NOTHING, cells[0].piece - region.term
    for b in range(2, min(most, m) + 1):
        change = separate(belief, space, desk, region, f, (b - 1, noise, least_weight), rng)
        if change <= 0.5 * NOTHING:
            break
        total += change + exchange(belief, space, desk, region, f, (b, least_weight))
        gain = total + head(belief, region.weight, b)
        if b > least and gain <= best:
            for value in range(space.features[f].start, space.features[f].stop):  # take the last separation back
                cells[value].label = cells[value].before
            break
        best = gain
    return best


@bare
def separate(belief, space, desk, region, f, wish, rng):
    """Give a new label to the value, or the run, whose separation gains most: the change of the pieces."""
    (new, noise, least_weight), cells = wish, desk.cells
    best, which, most = NOTHING, -1, NOTHING
    for value in range(space.features[f].start, space.features[f].stop):
        cells[value].before = cells[value].label
    for value in range(space.features[f].start, space.features[f].stop):
        old = cells[value].label
        if region.allowed[value] > 0 and relabel(space, desk, region, f, value, new):
            change = counted_piece(belief, space, desk, region, f, old, least_weight) - cells[old].piece
            change += counted_piece(belief, space, desk, region, f, new, least_weight)
            shaken = change - noise * rng.random() if noise > 0.0 else change
            if shaken > most:
                best, which, most = change, value, shaken
        for other in range(space.features[f].start, space.features[f].stop):
            cells[other].label = cells[other].before
    if which < 0:
        return NOTHING
    relabel(space, desk, region, f, which, new)
    update_pieces(belief, space, desk, region, f, cells[which].before, new)
    return best


@bare
def relabel(space, desk, region, f, value, new):
    """Label a value, or the run that begins with it; False if nothing would be left with the old label."""
    cells, missing = desk.cells, space.features[f].missing
    run, old, left = space.features[f].ordered > 0 and value != missing, cells[value].label, 0
    for other in range(space.features[f].start, space.features[f].stop):
        if region.allowed[other] > 0 and cells[other].label == old:
            if other == value or (run and other > value and other != missing):
                cells[other].label = new
            else:
                left += 1
    return left > 0


@bare
def update_pieces(belief, space, desk, region, f, one, other):
    """Count the pieces of two labels anew."""
    desk.cells[one].piece = counted_piece(belief, space, desk, region, f, one, 0.0)
    desk.cells[other].piece = counted_piece(belief, space, desk, region, f, other, 0.0)


@bare
def exchange(belief, space, desk, region, f, wish):
    """Move single values to other groups while that pays: the change of the pieces."""
    (b, least_weight), cells, total = wish, desk.cells, 0.0
    for _ in range(MOST_SWEEPS):
        moved = False
        for value in range(space.features[f].start, space.features[f].stop):
            free = space.features[f].ordered == 0 or value == space.features[f].missing
            if region.allowed[value] == 0 or not free:
                continue
            for target in range(b):
                old = cells[value].label
                if old == target or not is_shared(space, desk, region, f, value):
                    continue
                cells[value].label = target
                change = counted_piece(belief, space, desk, region, f, old, least_weight) - cells[old].piece
                change += counted_piece(belief, space, desk, region, f, target, least_weight) - cells[target].piece
                if change > 1e-9:
                    update_pieces(belief, space, desk, region, f, old, target)
                    total, moved = total + change, True
                else:
                    cells[value].label = old
        if not moved:
            break
    return total


@bare
def is_shared(space, desk, region, f, value):
    """Whether another allowed value has the same label."""
    for other in range(space.features[f].start, space.features[f].stop):
        same = desk.cells[other].label == desk.cells[value].label
        if other != value and region.allowed[other] > 0 and same:
            return True
    return False
