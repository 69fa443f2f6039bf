"""Divisions for leaf models that look at the weights of all values in a child.

There is no order of the values in which the best groups are runs, so one atom (of an ordered feature: one run) after
the other is separated from the rest, and atoms are exchanged while that pays. Into two groups a few atoms are divided
in every way, and so are those of an ordered feature; if there are more, they gather by what is likely beside them, as
in k-means, before they are exchanged.
"""

import numpy as np

from sparsedensity.kernels import ONE, TWO, ZERO, bare
from sparsedensity.kernels.belief import NOTHING, evidence, head, ready
from sparsedensity.kernels.counted_parts import MOVED, REST, count_atoms, lay_out, name_atoms, piece_of
from sparsedensity.kernels.filling import fill
from sparsedensity.kernels.logarithms import natural_log

MOST_SWEEPS, MOST_EXCHANGED = 10, 4000
"""How often all atoms are tried in other groups: at most so many times, and so many atoms altogether."""
MOST_ROUNDS = 8
"""How often atoms gather at most."""
FEW_ATOMS = 6
"""So many are divided in two in every way: that takes no longer than to exchange them."""


@bare
def grown_division(task, wish, rng):
    """The best division found by separating and exchanging: its gain; the labels are written."""
    (least, most, noise), cells, region, best = wish, task.desk.cells, task.region, NOTHING
    m = name_atoms(task)
    if most >= 2 and m == 2:
        return parted(task)
    if min(most, m) >= 2:
        lay_out(task, m)
        total = cells[0].piece - region.term
        for b in range(2, min(most, m) + 1):
            change = separated_in_two(task, m, noise, rng) if b == 2 else separate(task, m, b - 1, noise, rng)
            if change <= 0.5 * NOTHING:
                break
            total += change + exchange(task, m, b)
            gain = total + head(task.belief, region.weight, b)
            if b > least and gain <= best:
                put_back(cells, m)
                break
            best = gain
        for value in range(task.space.features[task.f].start, task.space.features[task.f].stop):
            cells[value].label = cells[cells[value].atom].group if region.allowed[value] > 0 else 0
    return best


@bare
def parted(task):
    """Divide two atoms, which can be done in one way: the gain; the labels are written."""
    cells = task.desk.cells
    for value in range(task.space.features[task.f].start, task.space.features[task.f].stop):
        cells[value].label = cells[value].atom if task.region.allowed[value] > 0 else 0
    return max(divided_gain(task, TWO), NOTHING)


@bare
def divided_gain(task, b):
    """The gain of a division into b named groups, the children taken as leaves: all but the heaviest are counted."""
    cells, region, counts, heaviest = task.desk.cells, task.region, task.desk.parts.counts, ZERO
    ready(task.belief.leaf, region.allowed, task.space, region.rows.name, task.f)
    for value in range(task.space.features[task.f].start, task.space.features[task.f].stop):
        cells[value].atom = cells[value].label
    for name in range(b):
        cells[name].group = name
        if cells[name].weight > cells[heaviest].weight:
            heaviest = name
    gain = head(task.belief, region.weight, b) - region.term
    for value in range(counts.shape[1]):
        task.desk.parts.allowed[value] = region.allowed[value]
        counts[REST, value] = region.counts[value]
    for name in range(b):
        if name != heaviest:
            count_atoms(task, (np.int64(name), np.int64(name + 1)), -ONE, counts[MOVED : MOVED + 1])
            for value in range(counts.shape[1]):
                counts[REST, value] -= counts[MOVED, value]
            cells[name].piece = piece_of(task, name, MOVED)
            gain += cells[name].piece
    cells[heaviest].piece = piece_of(task, heaviest, REST)
    return gain + cells[heaviest].piece


@bare
def separated_in_two(task, m, noise, rng):
    """Divide all atoms in two: the change of the pieces.

    If they are many and have no order, the best atom against the rest is one start, and the best one of those that end
    up in the other group is another.
    """
    cells, ordered = task.desk.cells, task.space.features[task.f].ordered > 0
    if not ordered and 3 < m <= FEW_ATOMS:
        return divided_in_every_way(task, m, noise, rng)
    first = separate(task, m, ONE, noise, rng)
    if ordered or m <= FEW_ATOMS or first <= 0.5 * NOTHING:
        return first
    first = gathered(task, m, first)
    which = best_alone(cells, m, -ONE)
    which = best_alone(cells, m, cells[which].group)
    for atom in range(m):
        cells[atom].kept, cells[atom].group = cells[atom].group, 1 if atom == which else 0
    second = gathered(task, m, grouped(task, m))
    if second >= first:
        return second
    for atom in range(m):
        cells[atom].group = cells[atom].kept
    return grouped(task, m)


@bare
def gathered(task, m, change):
    """Let every atom go where the other values are most like its own, over and over: the change of the pieces.

    That takes a logarithm for every value, not a term for every atom. What is no better is undone.
    """
    cells, parts, feature = task.desk.cells, task.desk.parts, task.space.features[task.f]
    for atom in range(m):
        cells[atom].before = cells[atom].group
    moved, rounds = 1, 0
    while moved > 0 and rounds < MOST_ROUNDS:
        compare(parts.counts, feature)
        moved = regroup(task, m)
        if moved > 0:
            count_groups(task, m)
        rounds += 1
    if rounds == 1:
        return change
    after = taken(task)
    if after > change:
        return after
    put_back(cells, m)
    return grouped(task, m)


@bare
def compare(counts, feature):
    """Write the log of how much likelier every value of the other features is in the second of two groups."""
    for value in range(counts.shape[1]):
        counts[REST, value] = natural_log((counts[1, value] + 0.5) / (counts[0, value] + 0.5))
    for value in range(feature.start, feature.stop):
        counts[REST, value] = 0.0


@bare
def regroup(task, m):
    """Let every atom go where its values are likelier, while that leaves another one there: how many moved."""
    cells, counts, pairs, weight, moved = task.desk.cells, task.desk.parts.counts, task.desk.parts.pairs, 0.0, 0
    for value in range(task.space.features[task.f].start, task.space.features[task.f].stop):
        weight += counts[1, value]
    usual = (task.space.features.size - 1) * natural_log((weight + 0.5) / (task.region.weight - weight + 0.5))
    for atom in range(m):
        likelier = -usual * cells[atom].weight
        for value in range(counts.shape[1]):
            likelier += pairs[atom, value] * counts[REST, value]
        target = 1 if likelier > 0.0 else 0
        if cells[atom].weight > 0.0 and cells[atom].group != target and is_shared(cells, m, atom):
            cells[atom].group = target
            moved += 1
    return moved


@bare
def best_alone(cells, m, group):
    """The atom outside a group whose separation from all others gains most."""
    best, which = NOTHING, 0
    for atom in range(m):
        if cells[atom].group != group and cells[atom].density > best:
            best, which = cells[atom].density, atom
    return which


@bare
def divided_in_every_way(task, m, noise, rng):
    """The best of all divisions of a few atoms in two: the change of the pieces. One atom moves at a time (Gray)."""
    cells, counts, pairs = task.desk.cells, task.desk.parts.counts, task.desk.parts.pairs
    whole, best, most, found = cells[0].piece, NOTHING, NOTHING, 0
    for value in range(counts.shape[1]):
        counts[1, value] = 0.0
    for i in range(1, 1 << (m - 1)):
        atom = 0
        while i >> atom & 1 == 0:
            atom += 1
        old = cells[atom].group
        cells[atom].group = 1 - old
        for value in range(counts.shape[1]):
            counts[old, value] -= pairs[atom, value]
            counts[1 - old, value] += pairs[atom, value]
        change = piece_of(task, ZERO, ZERO) + piece_of(task, ONE, ONE) - whole
        shaken = change - noise * rng.random() if noise > 0.0 else change
        if shaken > most:
            best, most, found = change, shaken, i ^ (i >> 1)
    for atom in range(m):
        cells[atom].group, cells[atom].before = found >> atom & 1, 0
    return grouped(task, m) if best > 0.5 * NOTHING else NOTHING


@bare
def grouped(task, m):
    """Count the atoms as they are divided in two: the change of the pieces."""
    count_groups(task, m)
    return taken(task)


@bare
def count_groups(task, m):
    """Count the atoms as they are divided in two."""
    for value in range(task.region.counts.size):
        task.desk.parts.counts[0, value] = task.region.counts[value]
    settle(task, m, (ZERO, ONE), (0.0, 0.0))


@bare
def taken(task):
    """Take the pieces of two counted groups: the change."""
    pieces = piece_of(task, ZERO, ZERO), piece_of(task, ONE, ONE)
    task.desk.cells[0].piece, task.desk.cells[1].piece = pieces
    return pieces[0] + pieces[1] - evidence(task.belief, task.region.weight) - task.region.term


@bare
def separate(task, m, new, noise, rng):
    """Give a new group to the atom, or the run, whose separation gains most: the change of the pieces."""
    cells, feature, parts = task.desk.cells, task.space.features[task.f], task.desk.parts
    best, most, found, pieces = NOTHING, NOTHING, (ZERO, -ONE, ZERO), (0.0, 0.0)
    known = m - 1 if feature.ordered > 0 and has_missing(task) else m
    for atom in range(m):
        cells[atom].before = cells[atom].group
    for old in range(new):
        for joined in range(2 if known < m and cells[known].before == old else 1):
            for value in range(parts.allowed.size):
                parts.counts[MOVED, value] = parts.pairs[known, value] if joined > 0 else 0.0
            for which in range(known - 1 + joined, -1, -1):
                if which < known and cells[which].before != old:
                    continue
                if which < known:
                    take_along(task, which)
                left = move(task, m, (old, which, joined), new)
                if left == 0:
                    continue
                one, other = leave(task, old, new)
                change = one + other - cells[old].piece
                cells[which].density = change
                shaken = change - noise * rng.random() if noise > 0.0 else change
                if shaken > most:
                    best, most, found, pieces = change, shaken, (old, which, joined), (one, other)
                if left == 1 and feature.ordered == 0:
                    break  # of two atoms either is separated from the other
        put_back(cells, m)
    if found[1] < 0:
        return NOTHING
    move(task, m, found, new)
    settle(task, m, (found[0], new), pieces)
    return best


@bare
def has_missing(task):
    """Whether the missing value of the feature is allowed in the region."""
    missing = task.space.features[task.f].missing
    return missing >= 0 and task.region.allowed[missing] > 0


@bare
def take_along(task, which):
    """Add an atom to the run that moves; if the feature has no order, it moves alone."""
    counts, pairs, ordered = task.desk.parts.counts, task.desk.parts.pairs, task.space.features[task.f].ordered > 0
    for value in range(counts.shape[1]):
        counts[MOVED, value] = pairs[which, value] + (counts[MOVED, value] if ordered else 0.0)


@bare
def move(task, m, found, new):
    """Put an atom, or the run that begins with it, into a new group; how many atoms stay in the old one."""
    (old, which, joined), cells, left = found, task.desk.cells, 0
    ordered = task.space.features[task.f].ordered > 0
    known = m - 1 if ordered and has_missing(task) else m
    for atom in range(m):
        if cells[atom].before == old:
            moves = atom == which if not ordered else atom >= which if atom < known else joined > 0
            cells[atom].group = new if moves else old
            left += not moves
    return left


@bare
def put_back(cells, m):
    """Undo the last separation."""
    for atom in range(m):
        cells[atom].group = cells[atom].before


@bare
def leave(task, old, new):
    """The pieces of a group without what moves, and of what moves."""
    counts = task.desk.parts.counts
    for value in range(counts.shape[1]):
        counts[REST, value] = counts[old, value] - counts[MOVED, value]
    return piece_of(task, old, REST), piece_of(task, new, MOVED)


@bare
def settle(task, m, groups, pieces):
    """Take over the weights and the pieces of two groups."""
    cells, parts, (old, new) = task.desk.cells, task.desk.parts, groups
    fill(parts.counts[new], ZERO, 0.0)
    for atom in range(m):
        if cells[atom].group == new:
            for value in range(parts.allowed.size):
                parts.counts[new, value] += parts.pairs[atom, value]
    for value in range(parts.allowed.size):
        parts.counts[old, value] -= parts.counts[new, value]
    cells[old].piece, cells[new].piece = pieces


@bare
def exchange(task, m, b):
    """Move single atoms to other groups while that pays: the change of the pieces."""
    cells, ordered, total = task.desk.cells, task.space.features[task.f].ordered > 0, 0.0
    if b == 2 and (ordered or m <= FEW_ATOMS):
        return total  # all divisions have been tried
    first = m - 1 if ordered else 0
    if ordered and not has_missing(task):
        return total
    for _ in range(min(MOST_SWEEPS, 1 + MOST_EXCHANGED // m)):
        before = total
        for atom in range(first, m):
            for target in range(b):
                if cells[atom].group != target and is_shared(cells, m, atom):
                    total += exchanged(task, atom, target)
        if total == before:
            break
    return total


@bare
def exchanged(task, atom, target):
    """Move one atom to another group if that pays: the change of the pieces."""
    cells, counts, pairs = task.desk.cells, task.desk.parts.counts, task.desk.parts.pairs
    old = cells[atom].group
    for value in range(counts.shape[1]):
        counts[REST, value] = counts[old, value] - pairs[atom, value]
        counts[MOVED, value] = counts[target, value] + pairs[atom, value]
    cells[atom].group = target
    one, other = piece_of(task, old, REST), piece_of(task, target, MOVED)
    change = one + other - cells[old].piece - cells[target].piece
    if change <= 1e-9:
        cells[atom].group = old
        return 0.0
    for value in range(counts.shape[1]):
        counts[old, value], counts[target, value] = counts[REST, value], counts[MOVED, value]
    cells[old].piece, cells[target].piece = one, other
    return change


@bare
def is_shared(cells, m, atom):
    """Whether another atom is in the same group."""
    for other in range(m):
        if other != atom and cells[other].group == cells[atom].group:
            return True
    return False
