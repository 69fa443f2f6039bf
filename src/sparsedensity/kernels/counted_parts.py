"""The parts of a region that is divided along one feature: atoms of values, their rows counted, and what groups add.

An atom is a value, or values that stay together: those without weight and, if there are more values than the room for
pairs allows, those of little weight (of an ordered feature only neighbours). The rows of each atom are counted at all
values. For a single feature they are read; who asks for another one, too, will ask for more, and all rows of the region
are written as bits, once.
"""

from typing import Any, NamedTuple

import numpy as np

from sparsedensity.kernels import ONE, ZERO, bare
from sparsedensity.kernels.belief import NOTHING, Belief, Space, evidence, part_term, ready
from sparsedensity.kernels.filling import fill
from sparsedensity.kernels.row_bits import (
    LINES,
    NOBODY,
    Bits,
    add_chosen,
    add_commonest,
    choose,
    write_commonest,
    write_rows,
)

MOST_GROUPS = 12
"""The most groups that a division is looked for with."""
MOVED, REST = np.int64(MOST_GROUPS), np.int64(MOST_GROUPS + 1)
"""Where the weights of what moves and of what it leaves are written, behind those of the groups."""
BY_BITS = 100
"""A feature is counted by bits if that reads fewer than so many values for each feature,"""
WORK_PER_ROW, WORDS_PER_WORK = 10, 10
"""what it costs to write a row as bits, or to read it, in nanoseconds; how many words are counted in one;"""
WORK_PER_VALUE = 8
"""and what a value costs when the term of a child is computed."""


class Parts(NamedTuple):
    """Room for the parts of a region."""

    pairs: np.ndarray
    """(atoms, values) the weight at all values beside every atom of the feature that is divided."""
    counts: np.ndarray
    """(groups + 2, values) the weight at all values in every group."""
    allowed: np.ndarray
    """Whether each value is allowed in a group."""
    bits: Bits
    work: np.ndarray
    """The work done since somebody looked."""


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
    cells, region, parts, heaviest = task.desk.cells, task.region, task.desk.parts, ZERO
    ready(task.belief.leaf, region.allowed, task.space, region.rows.name, task.f)
    for atom in range(m):
        if cells[atom].weight > cells[heaviest].weight:
            heaviest = np.int64(atom)
    count_atoms(task, (ZERO, m), heaviest, parts.pairs)
    rest = parts.pairs[heaviest]
    for value in range(parts.allowed.size):
        rest[value] = parts.counts[0, value] = region.counts[value]
        parts.allowed[value] = region.allowed[value]
    for atom in range(m):
        if atom != heaviest:
            for value in range(parts.allowed.size):
                rest[value] -= parts.pairs[atom, value]
    cells[0].piece = evidence(task.belief, region.weight) + region.term


@bare
def count_atoms(task, atoms, heaviest, to):
    """Count the pairs of some atoms, all but the heaviest, with all values: one line for each."""
    bits, rows = task.desk.parts.bits, task.region.rows
    for i in range(atoms[1] - atoms[0]):
        fill(to[i], ZERO, 0.0)
    many = (atoms[1] - atoms[0]) * task.region.counts.size >= BY_BITS * task.space.features.size
    if many or (rows.name != NOBODY and bits.asked[0] != rows.name):
        bits.asked[0] = rows.name
        read_atoms(task, atoms, heaviest, to)
    else:
        count_by_bits(task, atoms, heaviest, to)


@bare
def count_by_bits(task, atoms, heaviest, to):
    """Count them by bits, which are written first if they are those of another region."""
    parts, rows, feature, (first, last) = task.desk.parts, task.region.rows, task.space.features[task.f], atoms
    line, at = ZERO, ZERO
    while line < LINES:
        if rows.name != NOBODY and parts.bits.holder[0] == rows.name:
            line = np.int64(LINES)
        else:
            line, at = write_rows(parts.bits, rows, line, at)
            write_commonest(parts.bits, rows.uncommon.commonest, task.space.features)
            parts.work[0] += rows.which.size * WORK_PER_ROW + parts.bits.ends[LINES] * 2 * parts.allowed.size
        for atom in range(first, last):
            if atom != heaviest and (task.desk.cells[atom].weight > 0.0 or last - first == 1):
                choose(parts.bits, task.desk.cells, task.region.allowed, feature, atom)
                add_chosen(parts.bits, rows.unit, to[atom - first])
                parts.work[0] += parts.bits.ends[LINES] * parts.allowed.size // WORDS_PER_WORK


@bare
def read_atoms(task, atoms, heaviest, to):
    """Count them by reading the rows."""
    cells, rows, features, (first, last), read = task.desk.cells, task.region.rows, task.space.features, atoms, 0
    start, codes, uncommon = features[task.f].start, rows.columns[task.f], rows.uncommon
    for i in range(rows.which.size):
        row = rows.which[i]
        atom = cells[start + codes[row]].atom
        if first <= atom < last and atom != heaviest:
            read += 1
            weight = rows.unit * rows.units[row]
            for j in range(uncommon.first[row], uncommon.first[row + np.uint64(1)]):
                to[atom - first, uncommon.places[j]] += weight
    for atom in range(first, last):
        if atom != heaviest:
            add_commonest(uncommon.commonest, features, to[atom - first], cells[atom].weight)
    task.desk.parts.work[0] += 2 * rows.which.size + WORK_PER_ROW * read


@bare
def piece_of(task, group, at):
    """What a group adds to the gain of a split, by its weights at all values."""
    cells, region, counts, weight = task.desk.cells, task.region, task.desk.parts.counts[at], 0.0
    for value in range(task.space.features[task.f].start, task.space.features[task.f].stop):
        inside = region.allowed[value] > 0 and cells[cells[value].atom].group == group
        task.desk.parts.allowed[value] = inside
        weight += counts[value]
    task.desk.parts.work[0] += WORK_PER_VALUE * counts.size
    if weight > 0.0 and weight < task.least_weight:
        return NOTHING
    leaf = task.belief.leaf
    return evidence(task.belief, weight) + part_term(leaf, counts, task.desk.parts.allowed, task.space, task.f)
