"""Prefixes of rule lists, one layer for every number of rules.

Cells are sets of points that no antecedent tells apart, numbered by density; a set of cells is bits, 64 to a word.
Prefixes that leave the same cells and have used up as many antecedents of every size are one state: what may follow
is the same for all of them, so only the best is kept.
"""

from typing import Any, NamedTuple

import numpy as np

from sparsedensity.kernels import bare, kernel, record
from sparsedensity.kernels.list_rows import copy_words, lowest
from sparsedensity.kernels.list_terms import fit, leaf_term, length_term, surplus
from sparsedensity.kernels.slots import equal, slot_of

NEXT_RULE = record("used after", "step")
"""Of a use and a size: how many antecedents are used, the use after one more (-1 if there is none), and what that
rule adds to the log prior."""
PREFIX = record("use parent rule", "value more last")
"""A state: its use; the best prefix before its last rule, and that rule (-c for one of c conditions that nothing is
left for); its value, the most that further rules can add to that, and what the else adds."""
COUNT = record("states")
"""How many states a layer has."""
LEADER = record("at", "score threshold")
"""The best list: where it was met last (-1: not since), its log posterior, and what a list must exceed to be better."""


class ListCells(NamedTuple):
    """Cells by density, the unoccupied first; volumes are relative to the whole domain."""

    weight: np.ndarray
    volume: np.ndarray
    rules: np.ndarray
    """(antecedents, words) the cells of every antecedent."""
    size: np.ndarray
    """(antecedents) the number of conditions less one."""


class Uses(NamedTuple):
    """The prior of what may follow, by the numbers of antecedents used of every size (a *use*)."""

    rules: np.ndarray
    """(uses, sizes) what one more rule of each size leads to."""
    future: np.ndarray
    """(uses, further rules) the most that so many further rules can add to the log prior."""


class Layer(NamedTuple):
    """The states of one number of rules; `slot` finds them by what they leave and have used."""

    left: np.ndarray
    """(states, words) the cells that are left."""
    state: np.ndarray
    slot: np.ndarray
    """(2 states) the slots of the states."""
    size: np.void


class CellScratch(NamedTuple):
    """Scratch to weigh one state."""

    left: np.ndarray
    """(words) a set of cells."""
    weight: np.ndarray
    """(cells + 1) the weight of each cell of the set, the unoccupied as one."""
    volume: np.ndarray
    apart: np.ndarray
    """(bins) the sum of n ln (n / V) over the cells of a bin."""
    runs: np.ndarray
    """(2, bins + 1) the best sums of the first bins, for one number of groups and the next."""
    grouped: np.ndarray
    """(groups) the best sum of all bins for each number of groups."""
    idle: np.ndarray
    """(sizes) how many rules nothing is left for."""


class PrefixTask(NamedTuple):
    """All that extending prefixes reads, the best list known, and scratch."""

    cells: ListCells
    terms: Any
    uses: Uses
    leader: np.void
    scratch: CellScratch


class Offered(NamedTuple):
    """A prefix that is offered to its layer; the cells it leaves are in the scratch."""

    rules: int
    use: int
    value: float
    parent: int
    rule: int


@bare
def gather(cells, left, scratch):
    """Weight and volume of every cell of a set, by density, the unoccupied as one; how many, and their sums."""
    n, weight, volume = np.int64(0), 0.0, 0.0
    for w in range(left.shape[0]):
        word = left[w]
        while word != 0:
            cell = 64 * w + lowest(word)
            word &= word - np.uint64(1)
            if n == 0 or cells.weight[cell] > 0:
                scratch.weight[n], scratch.volume[n] = 0.0, 0.0
                n += 1
            scratch.weight[n - 1] += cells.weight[cell]
            scratch.volume[n - 1] += cells.volume[cell]
            weight += cells.weight[cell]
            volume += cells.volume[cell]
    return n, weight, volume


@bare
def put_into_bins(n, scratch):
    """Put the cells, by density, into bins if there are many, each with its sum of n ln (n / V) apart; how many."""
    bins = min(n, np.int64(scratch.apart.shape[0]))
    for b in range(bins):
        weight, volume, apart = 0.0, 0.0, 0.0
        for i in range(b * n // bins, (b + 1) * n // bins):
            weight += scratch.weight[i]
            volume += scratch.volume[i]
            apart += fit(scratch.weight[i], scratch.volume[i])
        scratch.weight[b], scratch.volume[b], scratch.apart[b] = weight, volume, apart
    return bins


@bare
def best_runs(bins, most, skip, scratch):
    """What the sum of n ln (n / V) over 1..most groups of cells cannot exceed, into `grouped`.

    The sum is convex and of degree one in weight and volume, so some groups that are intervals of density attain it.
    If a bin is one cell (`skip` 0), groups are runs of bins, and the sum is attained. Else (`skip` 1) a group ends
    somewhere in a bin, whose cells then count apart, which is never less; the runs between such bins may be empty.
    """
    runs, apart = scratch.runs, scratch.apart
    for k in range(most):
        for stop in range(bins if k + 1 == most else 0, bins + 1):
            weight, volume, best = 0.0, 0.0, -np.inf
            for i in range(stop, -1, -1):
                if i < stop:
                    weight += scratch.weight[i]
                    volume += scratch.volume[i]
                if k > 0 and i >= skip:
                    before = runs[(k - 1) % 2, i - skip] + (apart[i - 1] if skip else 0.0)
                    best = max(best, before + fit(weight, volume))
            runs[k % 2, stop] = fit(weight, volume) if k == 0 else best
        scratch.grouped[k] = runs[k % 2, bins]


@bare
def prize(task, rules, use, weight, further):
    """The most that so many further rules and their leaves add, but for the sum of n ln (n / V)."""
    more = task.uses.future[use, further] + length_term(task.terms, rules + further)
    return more + surplus(task.terms, weight, further + 1)


@bare
def most_to_come(task, rules, use, weight, n, short):
    """The most that further rules and the else can add to a prefix that is worth `short` less than the best list.

    Every remaining cell may have a leaf of its own; if that does not rule the prefix out, cells are grouped.
    """
    scratch, apart = task.scratch, 0.0
    for i in range(n):
        apart += fit(scratch.weight[i], scratch.volume[i])
    most, groups, hopeless = -np.inf, np.int64(0), False
    for further in range(1, task.terms.of_length.shape[0] - rules):
        bound = prize(task, rules, use, weight, further) + apart
        if bound > short:
            groups = further + 1
            hopeless = groups >= n or groups > scratch.grouped.shape[0]
        most = max(most, bound)
    if most <= short or hopeless:  # grouping would not rule the prefix out
        return most
    bins = put_into_bins(n, scratch)
    best_runs(bins, groups, np.int64(bins < n), scratch)
    most = -np.inf
    for further in range(1, task.terms.of_length.shape[0] - rules):
        best = scratch.grouped[further] if further < groups else apart
        most = max(most, prize(task, rules, use, weight, further) + best)
    return most


@bare
def weigh_rest(task, left, rules, use, short):
    """What a set of cells adds to a prefix as its else, and the most that it adds with further rules."""
    n, weight, volume = gather(task.cells, left, task.scratch)
    last = leaf_term(task.terms, weight, volume) + length_term(task.terms, rules)
    return last, most_to_come(task, rules, use, weight, n, short)


@bare
def is_state(layer, at, sought):
    """Whether a state leaves these cells and has this use."""
    left, use = sought
    return layer.state[at].use == use and equal(layer.left[at], left)


@bare
def slot_of_state(layer, left, use):
    """The slot of a state, or the free slot where it would be."""
    code = np.uint64(use + 1) * np.uint64(0x9E3779B97F4A7C15)
    for w in range(left.shape[0]):
        code = (code ^ left[w]) * np.uint64(0xBF58476D1CE4E5B9)
        code ^= code >> np.uint64(29)
    return slot_of(layer.slot, code, is_state, layer, (left, use))


@kernel
def find_slots(layer):
    """Give every state of a layer its slot."""
    for at in range(layer.size.states):
        layer.slot[slot_of_state(layer, layer.left[at], layer.state[at].use)] = at + 1


@bare
def offer(task, layer, offered):
    """Offer a prefix to its layer, which keeps it if it may lead to the best list."""
    left, leader, value = task.scratch.left, task.leader, offered.value
    slot = slot_of_state(layer, left, offered.use)
    at = layer.slot[slot] - 1
    if at < 0:
        last, more = weigh_rest(task, left, offered.rules, offered.use, leader.threshold - value)
        if max(last, more) + value <= leader.threshold:
            return
        at = layer.size.states
        layer.size.states += 1
        layer.slot[slot] = at + 1
        copy_words(left, layer.left[at])
        layer.state[at].use, layer.state[at].more, layer.state[at].last = offered.use, more, last
    elif value <= layer.state[at].value:
        return
    state = layer.state[at]
    state.value, state.parent, state.rule = value, offered.parent, offered.rule
    if value + state.last > leader.score:
        leader.threshold += value + state.last - leader.score
        leader.score = value + state.last
        leader.at = at


@bare
def extend_state(task, layer, longer, rules, at):
    """Extend a state by every rule; of those of a size that nothing is left for, one will do."""
    cells, scratch, left, state = task.cells, task.scratch, layer.left[at], layer.state[at]
    following, idle = task.uses.rules[state.use], scratch.idle
    idle[:] = 0
    for rule in range(cells.size.shape[0]):
        size = cells.size[rule]
        for w in range(left.shape[0]):
            scratch.left[w] = left[w] & cells.rules[rule, w]
        n, weight, volume = gather(cells, scratch.left, scratch)
        if n == 0:
            idle[size] += 1
        elif following[size].after >= 0:
            value = state.value + following[size].step + leaf_term(task.terms, weight, volume)
            for w in range(left.shape[0]):
                scratch.left[w] = left[w] & ~cells.rules[rule, w]
            offer(task, longer, Offered(rules, following[size].after, value, at, rule))
    copy_words(left, scratch.left)
    for size in range(idle.shape[0]):
        if idle[size] > following[size].used and following[size].after >= 0:
            value = state.value + following[size].step
            offer(task, longer, Offered(rules, following[size].after, value, at, -1 - size))


@kernel
def extend(task, layer, longer, rules, begin, end):
    """Extend the states from begin to end of a layer by one rule, as long as the next has room; where it stopped."""
    for at in range(begin, end):
        if longer.size.states + task.cells.size.shape[0] + task.scratch.idle.shape[0] > longer.state.shape[0]:
            return at
        if layer.state[at].value + layer.state[at].more > task.leader.threshold:
            extend_state(task, layer, longer, rules, at)
    return end


@kernel
def term_of(task, left):
    """What a set of cells adds as a leaf."""
    _, weight, volume = gather(task.cells, left, task.scratch)
    return leaf_term(task.terms, weight, volume)


@kernel
def terms_of_rest(task, left, rules, use, short):
    """Weigh the rest."""
    return weigh_rest(task, left, rules, use, short)
