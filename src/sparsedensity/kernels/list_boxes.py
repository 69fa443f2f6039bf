"""What rules take and leave of the domain: disjoint boxes, as bits over all values, with relative volumes."""

from typing import NamedTuple

import numpy as np

from sparsedensity.kernels import bare, record

RUN = record("feature first last start end after")
"""A condition: the run first..last of all values, among those of its feature, start..end - 1. The first condition on a
later feature is number `after`."""
USED = record("boxes")
"""How many boxes of the pool are used."""


class Conditions(NamedTuple):
    """Every condition, by feature, and the measure of every value."""

    run: np.ndarray
    measure: np.ndarray


class BoxPool(NamedTuple):
    """Boxes by number; box 0 is everything."""

    mask: np.ndarray
    """(boxes, words) the values that each box allows."""
    volume: np.ndarray
    used: np.void


@bare
def allows(mask, value):
    """Whether a box allows a value."""
    return (mask[value >> 6] >> np.uint64(value & 63)) & np.uint64(1) != 0


@bare
def meets(conditions, mask, rule):
    """Whether a box and a rule have points in common."""
    for k in range(rule.shape[0]):
        found = False
        for value in range(conditions.run[rule[k]].first, conditions.run[rule[k]].last + 1):
            if allows(mask, value):
                found = True
                break
        if not found:
            return False
    return True


@bare
def apart(conditions, rule, other):
    """Whether no point obeys both of two rules."""
    for i in range(rule.shape[0]):
        for j in range(other.shape[0]):
            a, b = conditions.run[rule[i]], conditions.run[other[j]]
            if a.feature == b.feature and (a.last < b.first or b.last < a.first):
                return True
    return False


@bare
def measure_sides(conditions, mask, condition):
    """The measures of a box's values of one feature, in a condition's run and out of it."""
    inside, outside = 0.0, 0.0
    first, last = conditions.run[condition].first, conditions.run[condition].last
    for value in range(conditions.run[condition].start, conditions.run[condition].end):
        if allows(mask, value):
            if first <= value <= last:
                inside += conditions.measure[value]
            else:
                outside += conditions.measure[value]
    return inside, outside


@bare
def add_box(conditions, pool, box, rule, inside, volume):
    """A new box: an old one inside the first few conditions of a rule and outside the one after, if there is one."""
    new = pool.used.boxes
    pool.used.boxes += 1
    mask = pool.mask[new]
    for w in range(mask.shape[0]):
        mask[w] = pool.mask[box, w]
    for k in range(min(inside + 1, rule.shape[0])):
        run = conditions.run[rule[k]]
        for value in range(run.start, run.end):
            if (run.first <= value <= run.last) != (k < inside):
                mask[value >> 6] &= ~(np.uint64(1) << np.uint64(value & 63))
    pool.volume[new] = volume
    return new


@bare
def take_boxes(conditions, pool, before, rule, taken, after):
    """Cut boxes along the conditions of a rule; those it takes are kept if there is an array for them.

    Returns the volume it takes, how many boxes those are, and how many it leaves; -1 if there is no room.
    """
    volume, n_taken, left, size = 0.0, 0, 0, rule.shape[0]
    for i in range(before.shape[0]):
        if max(left, n_taken) + size > after.shape[0] or pool.used.boxes + size >= pool.volume.shape[0]:
            return volume, -1, -1
        box = before[i]
        if not meets(conditions, pool.mask[box], rule):
            after[left] = box
            left += 1
            continue
        part = pool.volume[box]
        for k in range(size):
            inside, outside = measure_sides(conditions, pool.mask[box], rule[k])
            if outside > 0:
                whole = inside + outside
                after[left] = add_box(conditions, pool, box, rule, k, part * (outside / whole))
                left += 1
                part *= inside / whole
        if taken.shape[0] > 0:
            taken[n_taken] = add_box(conditions, pool, box, rule, size, part)
        n_taken += 1
        volume += part
    return volume, n_taken, left


@bare
def volumes_beside(conditions, pool, boxes, rule):
    """The volume of some boxes inside a rule and outside of it."""
    inner_volume, outer_volume = 0.0, 0.0
    for i in range(boxes.shape[0]):
        mask = pool.mask[boxes[i]]
        part = pool.volume[boxes[i]]
        if not meets(conditions, mask, rule):
            outer_volume += part
            continue
        for k in range(rule.shape[0]):
            inside, outside = measure_sides(conditions, mask, rule[k])
            if outside > 0:
                outer_volume += part * (outside / (inside + outside))
                part *= inside / (inside + outside)
        inner_volume += part
    return inner_volume, outer_volume


@bare
def volume_of(pool, boxes):
    """The volume of some boxes."""
    total = 0.0
    for i in range(boxes.shape[0]):
        total += pool.volume[boxes[i]]
    return total
