"""What a changed list is worth, weighed by what changes hands, without touching the list.

One rule at most takes from the leaves that follow (the *moved* rule), and one leaf at most is handed down to the rules
that follow (what is *displaced*).
"""

from typing import NamedTuple

import numpy as np

from sparsedensity.kernels import bare
from sparsedensity.kernels.list_boxes import apart, take_boxes, volume_of, volumes_beside
from sparsedensity.kernels.list_rows import copy_words, take_rows, weight_of, weight_of_both
from sparsedensity.kernels.list_terms import leaf_term


class ListChange(NamedTuple):
    """How a draft differs from the list: leaves lo..hi - 1 are affected."""

    lo: int
    hi: int
    """0 for a draft that cannot be."""
    moved: int
    """The place in the draft of the rule that takes from these leaves, or -1."""
    old: int
    """The leaf that the moved rule had before, or -1."""
    displaced: bool
    """Whether what the moved rule leaves of leaf lo is handed down."""
    n: int
    log_ratio: float
    """The log of the probability of the way back over that of the way there."""


@bare
def hand_down(rows, conditions, pool, draft, rule):
    """Let a rule take its part of what is displaced; the weight and volume it takes."""
    passing = draft.passing
    before, after = draft.boxes[passing.side, : passing.boxes], draft.boxes[1 - passing.side]
    volume, taken, left = take_boxes(conditions, pool, before, rule, after[:0], after)
    passing.boxes, passing.side = left, 1 - passing.side
    if taken <= 0:  # no point of it, so no row
        return 0.0, volume
    take_rows(rows.obey, draft.rows[0], rule, draft.rows[1], draft.rows[0])
    return weight_of(rows, draft.rows[1]), volume


@bare
def prepare(task, state, pool, draft, change):
    """Displace a leaf and let the moved rule take its part of it; the terms of the two leaves that are no more."""
    passing, moved_term, displaced_term = draft.passing, 0.0, 0.0
    moved = draft.rule[max(change.moved, 0), : draft.size[max(change.moved, 0)]]
    passing.weight, passing.volume, passing.boxes, passing.side = 0.0, 0.0, 0, 0
    if change.old >= 0:
        old = state.at[change.old]
        passing.weight, passing.volume, moved_term = old.weight, old.volume, old.term
    if change.moved >= 0:
        take_rows(task.rows.obey, task.rows.everything, moved, draft.obey, draft.rows[0])
    if change.displaced:
        leaf = state.at[change.lo]
        passing.boxes, displaced_term = leaf.n_leaf, leaf.term
        copy_words(state.leaf[change.lo], draft.rows[0])
        for b in range(leaf.n_leaf):
            draft.boxes[0, b] = state.leaf_boxes[change.lo, b]
        if change.moved >= 0:
            weight, volume = hand_down(task.rows, task.conditions, pool, draft, moved)
            passing.weight += weight
            passing.volume += volume
    return moved_term, displaced_term


@bare
def lose_to_moved(task, state, pool, draft, moved, j):
    """What the moved rule leaves of a leaf: its weight and volume."""
    leaf, passing = state.at[j], draft.passing
    inside, outside = volumes_beside(task.conditions, pool, state.leaf_boxes[j, : leaf.n_leaf], moved)
    lost = weight_of_both(task.rows, state.leaf[j], draft.obey) if inside > 0 else 0.0
    passing.weight += lost
    passing.volume += inside
    return leaf.weight - lost, outside


@bare
def weigh_displaced(task, pool, draft):
    """The weight and volume of what is displaced and was not taken yet."""
    passing = draft.passing
    return weight_of(task.rows, draft.rows[0]), volume_of(pool, draft.boxes[passing.side, : passing.boxes])


@bare
def change_of_leaf(task, state, pool, draft, change, j):
    """How much the term of a leaf changes as the moved rule takes from it and as it takes what is displaced."""
    n, leaf = state.now.n, state.at[j]
    rule = state.rule[min(j, n - 1), : state.size[min(j, n - 1)]]
    weight, volume, touched = leaf.weight, leaf.volume, False
    if change.moved >= 0:
        moved = draft.rule[change.moved, : draft.size[change.moved]]
        if j == n or not apart(task.conditions, moved, rule):
            weight, volume = lose_to_moved(task, state, pool, draft, moved, j)
            touched = True
    if draft.passing.boxes > 0:
        if j == n:
            more, space = weigh_displaced(task, pool, draft)
            weight, volume, touched = weight + more, volume + space, True
        elif not apart(task.conditions, state.rule[change.lo, : state.size[change.lo]], rule):
            more, space = hand_down(task.rows, task.conditions, pool, draft, rule)
            weight, volume, touched = weight + more, volume + space, True
    return leaf_term(task.terms, weight, volume) - leaf.term if touched else 0.0


@bare
def weigh(task, state, pool, draft, change):
    """The log evidence of a draft, from what changes hands; minus infinity if boxes find no room."""
    terms, passing, n, used = task.terms, draft.passing, state.now.n, pool.used.boxes
    evidence = state.now.log_evidence - terms.of_length[n].log_evidence + terms.of_length[change.n].log_evidence
    moved_term, displaced_term = prepare(task, state, pool, draft, change)
    evidence = evidence - moved_term - displaced_term
    for j in range(change.lo + change.displaced, change.hi):
        evidence += change_of_leaf(task, state, pool, draft, change, j)
    if change.moved >= 0:
        evidence += leaf_term(terms, passing.weight, passing.volume)
    if change.displaced and change.hi <= n and passing.boxes >= 0:
        weight, volume = weigh_displaced(task, pool, draft)
        evidence += leaf_term(terms, weight, volume)
    pool.used.boxes = used
    return evidence if passing.boxes >= 0 else -np.inf
