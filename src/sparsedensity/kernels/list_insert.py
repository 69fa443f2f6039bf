"""The best of all antecedents at the best of all places of a list, found in one pass over the antecedents."""

import math
from typing import NamedTuple

import numpy as np

from sparsedensity.kernels import bare, kernel, part, record
from sparsedensity.kernels.list_boxes import allows, measure_sides
from sparsedensity.kernels.list_rows import copy_words, weight_of, weight_of_both
from sparsedensity.kernels.list_state import copy_rules, has_rule, shift_rule
from sparsedensity.kernels.list_terms import leaf_term, log_available, log_prior

INSERTION = record("place", "value gain")
"""The best insertion so far: its place (-1 if there is none), its value (the gain, with noise), and its gain."""


class Wanted(NamedTuple):
    """Which insertions are looked at."""

    deepest: int
    """The most conditions of the antecedent."""
    first: int
    """The first place."""
    sparse: bool
    """Whether it must be less dense than what it leaves, so that the dense rest can be divided further."""
    noise: float
    """With noise, the antecedent is drawn: the more it gains, measured in units of the noise, the likelier."""


class LookScratch(NamedTuple):
    """Scratch for a look at every antecedent; a depth is a number of conditions."""

    rows: np.ndarray
    """(depths, words) the rows that obey the conditions."""
    parts: np.ndarray
    """(depths, boxes) the volume inside of every box of the leaves, one leaf after another."""
    up_to: np.ndarray
    """(values, boxes) the share of the box up to that value of its feature."""
    begin: np.ndarray
    """(rules + 2) where the boxes of each leaf begin."""
    weight: np.ndarray
    """(depths, rules + 1) the weight inside of every leaf."""
    volume: np.ndarray
    """(depths, rules + 1) the volume inside of every leaf."""
    path: np.ndarray
    """(depths) the conditions."""
    best: np.void


@part
def lay_out_box(conditions, mask, up_to):
    """The share of a box up to every value of each feature."""
    c = np.int64(0)
    while c < conditions.run.shape[0]:
        inside, outside = measure_sides(conditions, mask, c)
        seen, total = 0.0, inside + outside
        for value in range(conditions.run[c].start, conditions.run[c].end):
            if allows(mask, value):
                seen += conditions.measure[value]
            up_to[value] = seen / total
        c = conditions.run[c].after


@part
def lay_out(task, memory, scratch, first):
    """Lay out the leaves from a place on: their boxes, and the share of each box up to every value."""
    state, pool, count = memory.state, memory.pool, 0
    copy_words(task.rows.everything, scratch.rows[0])
    for j in range(first, state.now.n + 1):
        scratch.begin[j] = count
        scratch.weight[0, j], scratch.volume[0, j] = state.at[j].weight, state.at[j].volume
        for i in range(state.at[j].n_leaf):
            box = state.leaf_boxes[j, i]
            scratch.parts[0, count] = pool.volume[box]
            lay_out_box(task.conditions, pool.mask[box], scratch.up_to[:, count])
            count += 1
    scratch.begin[state.now.n + 1] = count


@part
def narrow(task, state, scratch, first, depth):
    """Add the condition at a depth to those above: the rows, and weight and volume of every leaf, that are left."""
    condition = scratch.path[depth]
    run, more = task.conditions.run[condition], task.rows.obey[condition]
    before, last, cut = run.first - 1, run.last, run.first > run.start
    above, below = scratch.rows[depth], scratch.rows[depth + 1]
    for w in range(more.shape[0]):
        below[w] = above[w] & more[w]
    for j in range(first, state.now.n + 1):
        volume, weight = 0.0, 0.0
        if scratch.volume[depth, j] > 0:
            for b in range(scratch.begin[j], scratch.begin[j + 1]):
                share = scratch.up_to[last, b] - (scratch.up_to[before, b] if cut else 0.0)
                part = scratch.parts[depth, b] * share
                scratch.parts[depth + 1, b] = part
                volume += part
            if volume > 0 and scratch.weight[depth, j] > 0:
                weight = weight_of_both(task.rows, state.leaf[j], below)
        scratch.weight[depth + 1, j], scratch.volume[depth + 1, j] = weight, volume


@part
def best_place(task, state, scratch, wanted, size):
    """Where an antecedent of so many conditions adds most to the evidence, and how much."""
    weight, volume, later, best, place = 0.0, 0.0, 0.0, -np.inf, -1
    for j in range(state.now.n, wanted.first - 1, -1):
        leaf, taken, space = state.at[j], scratch.weight[size, j], scratch.volume[size, j]
        if space <= 0:
            continue
        left, outer = leaf.weight - taken, leaf.volume - space
        if outer < task.recipe.least_share * leaf.volume:
            outer = 0.0
        if wanted.sparse and taken * outer >= left * space:
            continue
        weight, volume = weight + taken, volume + space
        later += leaf_term(task.terms, left, outer) - leaf.term
        gain = later + leaf_term(task.terms, weight, volume)
        if gain > best:
            best, place = gain, j
    return best, place


@part
def consider(task, memory, scratch, wanted, size, price, rng):
    """Put the antecedent of the path at the end of the draft if it is the best so far; whether it takes anything."""
    state, draft, best = memory.state, memory.draft, scratch.best
    more, place = best_place(task, state, scratch, wanted, size)
    if place >= 0 and draft.unused[size] > 0:
        gain = price + task.terms.of_size[size].log_rate - math.log(draft.unused[size]) + more
        value = gain
        if wanted.noise > 0 and gain > 0:
            value -= wanted.noise * math.log(-math.log(1.0 - rng.random()))
        if value > best.value and not has_rule(state, state.now.n, scratch.path[:size], -1):
            best.value, best.gain, best.place = value, gain, place
            draft.size[state.now.n] = size
            for k in range(size):
                draft.rule[state.now.n, k] = scratch.path[k]
    return place >= 0


@bare
def find_insertion(task, memory, scratch, wanted, rng):
    """The list with the antecedent that gains most, at its best place, as a draft; the gain, and the place or -1."""
    state, draft, terms, path, best = memory.state, memory.draft, task.terms, scratch.path, scratch.best
    n, runs = state.now.n, task.conditions.run
    copy_rules(state.rule, state.size, draft.rule, draft.size, n)
    lay_out(task, memory, scratch, wanted.first)
    log_prior(terms, state.size[:n], draft.unused)
    now, then = terms.of_length[n], terms.of_length[n + 1]
    price = then.log_prior + then.log_evidence - now.log_prior - now.log_evidence - log_available(terms, draft.unused)
    best.value, best.gain, best.place = -np.inf, -np.inf, -1
    depth = np.int64(0)
    path[0] = -1
    while depth >= 0:
        path[depth] += 1
        if path[depth] >= runs.shape[0]:
            depth -= 1
            continue
        narrow(task, state, scratch, wanted.first, depth)
        size = depth + 1
        if task.draws.least > 0 and weight_of(task.rows, scratch.rows[size]) < task.draws.least:
            continue
        takes = consider(task, memory, scratch, wanted, size, price, rng)
        if size < wanted.deepest and (takes or wanted.sparse):
            path[size] = runs[path[depth]].after - 1
            depth += 1
    if best.place >= 0:
        shift_rule(draft, n, best.place)
    return best.gain, best.place


@kernel
def best_insertion(task, memory, scratch, wanted, rng):
    """Find the best insertion."""
    return find_insertion(task, memory, scratch, wanted, rng)
