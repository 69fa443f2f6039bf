"""A rule list with all that follows from it at every place: the rows and boxes of every leaf, and those that reach it.

Leaf n of a list of n rules is the else. The boxes of a list depend on nothing but the list.
"""

from typing import Any, NamedTuple

import numpy as np

from sparsedensity.kernels import bare, record
from sparsedensity.kernels.list_boxes import BoxPool, Conditions, take_boxes, volume_of
from sparsedensity.kernels.list_rows import RowBits, copy_words, take_rows, weight_of
from sparsedensity.kernels.list_terms import leaf_term, log_prior
from sparsedensity.kernels.slots import equal

DRAW = record("begin", "up_to log_share")
"""Of every size: where it begins among the antecedents that are listed, the cumulated probability of the sizes, and the
log of the probability of one antecedent."""
NOW = record("n", "log_prior log_evidence")
"""The number of rules of a list, and the two parts of its log posterior."""
PLACE = record("n_rest n_leaf boxes", "weight volume term")
"""Of every place: the number of boxes that reach it, of boxes of its leaf, and of boxes that the places before use; and
the leaf's weight, its volume, and what it adds to the log evidence."""
PASSING = record("boxes side", "weight volume")
"""While a draft is weighed: how many boxes are displaced (-1 if they find no room), which row of `Draft.boxes` they are
in, and the weight and volume that the moved rule takes."""


class Draws(NamedTuple):
    """How antecedents are drawn: a size, then any one of that size."""

    of_size: np.ndarray
    listed: np.ndarray
    """(antecedents, most conditions) the antecedents by size; none if any conditions on different features will do."""
    least: float
    """The least weight an antecedent must have."""


class ListRecipe(NamedTuple):
    """What is decided outside: up to which mark in 0..1 each kind of change is drawn (beyond the last: move a rule)."""

    add: float
    remove: float
    replace: float
    change: float
    swap: float
    least_gain: float
    """Log posteriors that differ by less are equal."""
    least_share: float
    """What is left of a leaf is nothing if it is less of its volume than this."""


class ListTask(NamedTuple):
    """All that a chain reads and never changes."""

    rows: RowBits
    conditions: Conditions
    terms: Any
    draws: Draws
    recipe: ListRecipe


class ListState(NamedTuple):
    """A list and what follows from it at every place."""

    now: np.void
    rule: np.ndarray
    """(rules, most conditions) the numbers of the conditions of each rule."""
    size: np.ndarray
    rest: np.ndarray
    """(rules + 1, words) the rows that reach each place."""
    leaf: np.ndarray
    """(rules + 1, words) the rows of each leaf."""
    rest_boxes: np.ndarray
    """(rules + 1, most boxes) the boxes that reach each place."""
    leaf_boxes: np.ndarray
    at: np.ndarray


class Draft(NamedTuple):
    """A changed list, and scratch to weigh it."""

    rule: np.ndarray
    size: np.ndarray
    unused: np.ndarray
    """(most conditions + 1) how many antecedents of each size are unused."""
    obey: np.ndarray
    """(words) the rows that obey the moved rule."""
    rows: np.ndarray
    """(2, words) the displaced rows, and those of them that a rule takes."""
    boxes: np.ndarray
    """(2, most boxes) the displaced boxes, before and after a rule."""
    passing: np.void


class ListArchive(NamedTuple):
    """The best list of every number of rules."""

    score: np.ndarray
    rule: np.ndarray
    size: np.ndarray


class ListMemory(NamedTuple):
    """All that a chain changes."""

    state: ListState
    pool: BoxPool
    draft: Draft
    archive: ListArchive


@bare
def copy_rules(rule, size, to_rule, to_size, n):
    """Copy the first n rules."""
    for j in range(n):
        to_size[j] = size[j]
        for k in range(size[j]):
            to_rule[j, k] = rule[j, k]


@bare
def swap_rules(one, i, other, j):
    """Let two rules trade places."""
    one.size[i], other.size[j] = other.size[j], one.size[i]
    for k in range(one.rule.shape[1]):
        one.rule[i, k], other.rule[j, k] = other.rule[j, k], one.rule[i, k]


@bare
def shift_rule(draft, source, target):
    """Move one rule; those between close up."""
    step = 1 if source < target else -1
    for j in range(source, target, step):
        swap_rules(draft, j, draft, j + step)


@bare
def has_rule(rules, n, rule, place):
    """Whether one of n rules, at another place than the given one, has the same conditions."""
    for j in range(n):
        if j != place and equal(rules.rule[j, : rules.size[j]], rule):
            return True
    return False


@bare
def pass_rule(task, state, pool, j):
    """Let a rule take from the rows and boxes that reach it; False if the boxes find no room."""
    here, rule = state.at[j], state.rule[j, : state.size[j]]
    take_rows(task.rows.obey, state.rest[j], rule, state.leaf[j], state.rest[j + 1])
    here.volume, here.n_leaf, left = take_boxes(
        task.conditions, pool, state.rest_boxes[j, : here.n_rest], rule, state.leaf_boxes[j], state.rest_boxes[j + 1]
    )
    state.at[j + 1].n_rest, state.at[j + 1].boxes = left, pool.used.boxes
    return left >= 0


@bare
def fill_else(state, pool):
    """What no rule takes is the else's."""
    n = state.now.n
    last = state.at[n]
    last.n_leaf, last.volume = last.n_rest, volume_of(pool, state.rest_boxes[n, : last.n_rest])
    for b in range(last.n_rest):
        state.leaf_boxes[n, b] = state.rest_boxes[n, b]
    copy_words(state.rest[n], state.leaf[n])


@bare
def follow(task, state, pool, unused, begin):
    """Let the rows and boxes that reach a place run through the rules from there; False if boxes find no room."""
    n = state.now.n
    pool.used.boxes = state.at[begin].boxes
    for j in range(begin, n):
        if not pass_rule(task, state, pool, j):
            return False
    fill_else(state, pool)
    evidence = task.terms.of_length[n].log_evidence
    for j in range(n + 1):
        here = state.at[j]
        if j >= begin:
            here.weight = weight_of(task.rows, state.leaf[j])
            here.term = leaf_term(task.terms, here.weight, here.volume)
        evidence += here.term
    state.now.log_prior, state.now.log_evidence = log_prior(task.terms, state.size[:n], unused), evidence
    return evidence > -np.inf


@bare
def adopt(task, state, pool, draft, archive, begin, n):
    """Make the draft, which differs from a place on, the list; False if boxes find no room.

    It is remembered if it is the best of its length.
    """
    old, aim, tries, followed = state.now.n, n, 0, False
    while not followed:  # if the draft finds no room, the old list does
        for j in range(begin, max(n, old)):
            swap_rules(state, j, draft, j)
        state.now.n = aim
        followed = follow(task, state, pool, draft.unused, begin)
        aim, tries = old, tries + 1
    if tries > 1:
        return False
    score = state.now.log_prior + state.now.log_evidence
    if score > archive.score[n] + task.recipe.least_gain:
        archive.score[n] = score
        copy_rules(state.rule, state.size, archive.rule[n], archive.size[n], n)
    return True
