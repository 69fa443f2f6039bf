"""The parts of a region that is divided along one feature: atoms of values, their rows counted, and what groups add.

An atom is a value, or values that stay together: those without weight and, if there are more values than the room for
pairs allows, those of little weight (of an ordered feature only neighbours). The rows are read once per feature: what
they weigh at all values, beside every atom.
"""

from typing import Any, NamedTuple

import numpy as np

from sparsedensity.kernels import ONE, ZERO, bare
from sparsedensity.kernels.belief import NOTHING, Belief, Space, evidence, term

MOST_GROUPS = 12
"""The most groups that a division is looked for with."""
MOVED, REST = np.int64(MOST_GROUPS), np.int64(MOST_GROUPS + 1)
"""Where the weights of what moves and of what it leaves are written, behind those of the groups."""
WORK_PER_VALUE = 10
"""What a value costs when the term of a child is computed, in nanoseconds."""


class Parts(NamedTuple):
    """Room for the parts of a region."""

    pairs: np.ndarray
    """(atoms, values) the weight at all values beside every atom of the feature that is divided."""
    counts: np.ndarray
    """(groups + 2, values) the weight at all values in every group."""
    allowed: np.ndarray
    """Whether each value is allowed in a group."""
    work: np.ndarray
    """The work done since somebody looked."""


class Rows(NamedTuple):
    """The rows of a region."""

    codes: np.ndarray
    weights: np.ndarray
    which: np.ndarray
    """The places of the region's rows."""


class Dividing(NamedTuple):
    """A region that is being divided along one feature."""

    belief: Belief
    space: Space
    desk: Any
    region: Any
    f: int
    least_weight: float


@bare
def name_atoms(task):
    """Number the atoms of a feature's values and weigh them: how many; a missing value apart from runs is the last."""
    cells, region, feature, m, lightest = task.desk.cells, task.region, task.space.features[task.f], ZERO, -ONE
    most, ordered, light = task.desk.parts.pairs.shape[0], feature.ordered > 0, -1.0
    if region.weight > 0.0:
        light = 0.0
    if feature.stop - feature.start > most:
        light = (2.0 if ordered else 1.0) * region.weight / (most - 2)
    for value in range(feature.start, feature.stop):
        if region.allowed[value] == 0 or (ordered and value == feature.missing):
            continue
        weight, atom = region.counts[value], m
        if ordered and m > 0 and cells[m - 1].weight + weight <= light:
            atom = m - 1
        elif not ordered and weight <= light:
            atom = lightest = m if lightest < 0 else lightest
        m = name_atom(cells, value, atom, m, weight)
    if ordered and feature.missing >= 0 and region.allowed[feature.missing] > 0:
        m = name_atom(cells, feature.missing, m, m, region.counts[feature.missing])
    return m


@bare
def name_atom(cells, value, atom, m, weight):
    """Put a value into an atom, which is new if it has the next number; how many there are now."""
    if atom == m:
        cells[atom].weight, cells[atom].group = 0.0, 0
    cells[value].atom = atom
    cells[atom].weight += weight
    return max(m, atom + 1)


@bare
def lay_out(task, m):
    """Put all atoms into one group, and count the pairs of each with all values: all but the heaviest atom's."""
    cells, region, parts, heaviest = task.desk.cells, task.region, task.desk.parts, 0
    for atom in range(m):
        if cells[atom].weight > cells[heaviest].weight:
            heaviest = atom
        for value in range(parts.allowed.size):
            parts.pairs[atom, value] = 0.0
    rows, features, start, read = region.rows, task.space.features, task.space.features[task.f].start, 0
    for i in range(rows.which.size):
        row = rows.which[i]
        atom = cells[start + rows.codes[row, task.f]].atom
        if atom != heaviest:
            read += 1
            add_row(parts.pairs[atom], rows, row, features)
    for value in range(parts.allowed.size):
        others = 0.0
        for atom in range(m):
            others += parts.pairs[atom, value]
        parts.pairs[heaviest, value] = region.counts[value] - others
        parts.counts[0, value] = region.counts[value]
        parts.allowed[value] = region.allowed[value]
    cells[0].piece = evidence(task.belief, region.weight) + region.term
    parts.work[0] += 2 * (2 * rows.which.size + read * features.size + m * parts.allowed.size)


@bare
def add_row(counts, rows, row, features):
    """Add the weight of a row at its values; places without a sign are found faster."""
    weight = rows.weights[row]
    for g in range(features.size):
        counts[np.uint64(features[g].start) + np.uint64(rows.codes[row, g])] += weight


@bare
def count_group(task, name):
    """Count the rows of a named group."""
    cells, rows, features, counts = task.desk.cells, task.region.rows, task.space.features, task.desk.parts.counts
    start, read = features[task.f].start, 0
    for value in range(counts.shape[1]):
        counts[MOVED, value] = 0.0
    for i in range(rows.which.size):
        row = rows.which[i]
        if cells[start + rows.codes[row, task.f]].atom == name:
            read += 1
            add_row(counts[MOVED], rows, row, features)
    task.desk.parts.work[0] += 2 * (2 * rows.which.size + read * features.size + 2 * counts.shape[1])


@bare
def piece_of(task, group, at):
    """What a group adds to the gain of a split, by its weights at all values."""
    cells, region, counts, weight = task.desk.cells, task.region, task.desk.parts.counts[at], 0.0
    for value in range(task.space.features[task.f].start, task.space.features[task.f].stop):
        inside = region.allowed[value] > 0 and cells[cells[value].atom].group == group
        task.desk.parts.allowed[value] = 1.0 if inside else 0.0
        weight += counts[value]
    task.desk.parts.work[0] += WORK_PER_VALUE * counts.size
    if weight > 0.0 and weight < task.least_weight:
        return NOTHING
    return evidence(task.belief, weight) + term(task.belief.leaf, counts, task.desk.parts.allowed, task.space)
