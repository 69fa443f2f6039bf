"""All antecedents at all places of a list: the best of them, or one drawn from the posterior, found in one pass."""

import math
from typing import NamedTuple

import numpy as np

from sparsedensity.kernels import ONE, bare, record
from sparsedensity.kernels.list_boxes import allows, measure_sides
from sparsedensity.kernels.list_rows import copy_words, weight_of, weight_of_both
from sparsedensity.kernels.list_state import copy_rules, has_rule, shift_rule
from sparsedensity.kernels.list_terms import leaf_term, log_available, log_prior

INSERTION = record("place", "value gain total")
"""The insertion chosen so far: its place (-1 if there is none) and its gain. The highest value so far: of the best
insertion the gain, of one that is drawn the log of its probability, up to a constant; and the sum of these
probabilities, over the highest."""
NEGLIGIBLE = -40.0
"""Whatever is less likely than this, compared with the likeliest, on a log scale, would never be drawn."""


class Wanted(NamedTuple):
    """Which insertions are looked at."""

    deepest: int
    """The most conditions of the antecedent."""
    first: int
    """The first place."""
    sparse: bool
    """Whether it must be less dense than what it leaves, so that the dense rest can be divided further."""
    temperature: float
    """0 for the best insertion; else one, or none, is drawn from the posterior with the evidence tempered."""
    log_way_back: float
    """The log of how likely the way back is from an insertion, over that from none."""
    few: bool
    """Whether only antecedents that begin with one of the few pairs of conditions of the scratch are looked at."""


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
    chosen: np.void
    removed: np.ndarray
    """(depths) the conditions of a rule that is taken out."""
    worth: np.ndarray
    """(conditions, conditions) the highest value seen of the antecedents that begin with a pair of conditions, if these
    are noted; a pair of the same is the condition alone."""
    few: np.ndarray
    """(conditions, conditions) the pairs to look at if not all are; with each pair, its first condition alone."""


@bare
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


@bare
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


@bare
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


@bare
def is_chosen(chosen, wanted, value, rng):
    """Whether one more insertion is the best so far, or replaces the one that was drawn so far."""
    if wanted.temperature <= 0:
        better = value > chosen.value
        if better:
            chosen.value = value
        return better
    if value > chosen.value:
        chosen.total *= math.exp(chosen.value - value)
        chosen.value = value
    if value < chosen.value + NEGLIGIBLE:
        return False
    probability = math.exp(value - chosen.value)
    chosen.total += probability
    return rng.random() * chosen.total < probability


@bare
def insertion_prior(terms, n, unused, size):
    """What one more rule of some size adds to the log prior of n rules, while no size is used up."""
    more = terms.of_length[n + 1].log_prior - terms.of_length[n].log_prior
    return more + terms.of_size[size].log_rate - log_available(terms, unused) - math.log(unused[size])


@bare
def keep_insertion(state, draft, scratch, size, place, gain):
    """Put the antecedent of the path at the end of the draft."""
    n = state.now.n
    scratch.chosen.gain, scratch.chosen.place, draft.size[n] = gain, place, size
    for k in range(size):
        draft.rule[n, k] = scratch.path[k]


@bare
def note_worth(scratch, size, value):
    """Note the value of the antecedent of the path for the pair of conditions that it begins with."""
    first, second = scratch.path[0], scratch.path[min(size - 1, 1)]
    if second < scratch.worth.shape[0] and value > scratch.worth[first, second]:
        scratch.worth[first, second] = value


@bare
def is_passed_over(scratch, wanted, depth):
    """Whether the path has come to a pair of conditions that is not one of the few to look at."""
    first, second = scratch.path[0], scratch.path[min(depth, 1)]
    return wanted.few and depth < 2 and second < scratch.few.shape[0] and not scratch.few[first, second]


@bare
def consider_places(task, memory, scratch, wanted, size, price, rng):
    """Weigh the antecedent of the path, of so many conditions, at every place; whether it takes anything at all."""
    state, n, terms = memory.state, memory.state.now.n, task.terms
    weight, volume = 0.0, 0.0
    more = terms.of_length[n + 1].log_evidence - terms.of_length[n].log_evidence
    for j in range(n, wanted.first - 1, -1):
        leaf, taken, space = state.at[j], scratch.weight[size, j], scratch.volume[size, j]
        if space > 0:
            left, outer = leaf.weight - taken, leaf.volume - space
            if outer < task.recipe.least_share * leaf.volume:
                outer = 0.0
            if wanted.sparse and taken * outer >= left * space:
                continue
            weight, volume = weight + taken, volume + space
            more += leaf_term(terms, left, outer) - leaf.term
        elif wanted.temperature <= 0:
            continue
        evidence = more + leaf_term(terms, weight, volume)
        if wanted.temperature > 0:
            value = price + wanted.log_way_back + evidence / wanted.temperature
        else:
            value = price + evidence
        note_worth(scratch, size, value)
        if is_chosen(scratch.chosen, wanted, value, rng):
            keep_insertion(state, memory.draft, scratch, size, j, price + evidence)
    return volume > 0


@bare
def consider(task, memory, scratch, wanted, size, rng):
    """Weigh the antecedent of the path, if it can be used; whether longer ones are worth a look."""
    state, draft = memory.state, memory.draft
    if draft.unused[size] <= 0 or has_rule(state, state.now.n, scratch.path[:size], -ONE):
        return True
    price = insertion_prior(task.terms, state.now.n, draft.unused, size)
    takes = consider_places(task, memory, scratch, wanted, size, price, rng)
    return takes or wanted.sparse or wanted.temperature > 0


@bare
def find_insertion(task, memory, scratch, wanted, rng):
    """The list with one antecedent more, at its place, as a draft; the place, or -1 if there is none."""
    state, draft, path, chosen = memory.state, memory.draft, scratch.path, scratch.chosen
    n, runs = state.now.n, task.conditions.run
    copy_rules(state.rule, state.size, draft.rule, draft.size, n)
    lay_out(task, memory, scratch, wanted.first)
    log_prior(task.terms, state.size[:n], draft.unused)
    chosen.gain, chosen.place, chosen.total = -np.inf, -1, 1.0
    chosen.value = 0.0 if wanted.temperature > 0 else -np.inf
    depth = np.int64(0)
    path[0] = -1
    while depth >= 0:
        path[depth] += 1
        if path[depth] >= runs.shape[0]:
            depth -= 1
            continue
        if is_passed_over(scratch, wanted, depth):
            continue
        narrow(task, state, scratch, wanted.first, depth)
        size = depth + 1
        if task.draws.least > 0 and weight_of(task.rows, scratch.rows[size]) < task.draws.least:
            continue
        if consider(task, memory, scratch, wanted, size, rng) and size < wanted.deepest:
            path[size] = runs[path[depth]].after - 1
            depth += 1
    if chosen.place >= 0:
        shift_rule(draft, n, chosen.place)
    return chosen.place
