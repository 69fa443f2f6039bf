"""Prefixes of rule lists, one layer for every number of rules.

Cells are sets of points that no antecedent tells apart, numbered by density; a set of cells is bits, 64 to a word.
Prefixes that leave the same cells and have used up as many antecedents of every size are one state: what may follow
is the same for all of them, so only the best is kept.
"""

import math
from typing import NamedTuple

import numpy as np

from sparsedensity.kernels import kernel
from sparsedensity.kernels.lists import ones

EMPTY = -1
FREE, FOUND = 2, 3
"""Rows of the scratch for runs."""
MOST_RUNS, MOST_ITEMS = 16, 48
"""Cells are grouped into so many runs at most, of so many bins at most."""


class Cells(NamedTuple):
    """Cells by density, the unoccupied first; volumes are relative to the whole domain."""

    weight: np.ndarray
    volume: np.ndarray


class Rules(NamedTuple):
    """The cells of every antecedent, and its number of conditions less one."""

    cells: np.ndarray
    size: np.ndarray


class Prior(NamedTuple):
    """What prefixes cost, by the numbers of antecedents used of every size (a *use*)."""

    used: np.ndarray
    after: np.ndarray
    """The use after one more rule of each size."""
    step: np.ndarray
    """What that rule adds to the log prior."""
    future: np.ndarray
    """The most that so many further rules can add to it."""
    head: np.ndarray
    """What the number of rules alone adds to the log posterior."""
    pseudocount: float
    smooth: float
    """The pseudocount, 1/2 at least: with it the bound of `surplus` holds."""


class Layer(NamedTuple):
    """The states of one number of rules; `slot` finds them by what they leave and have used."""

    left: np.ndarray
    use: np.ndarray
    value: np.ndarray
    more: np.ndarray
    """The most that further rules can add to the value."""
    last: np.ndarray
    """What the else adds to the value."""
    parent: np.ndarray
    rule: np.ndarray
    """The last rule of the best prefix; -c for one of c conditions that nothing is left for."""
    slot: np.ndarray
    n: np.ndarray


class Best(NamedTuple):
    """The best log posterior, what a list must exceed to be better, and where it was met last."""

    score: np.ndarray
    at: np.ndarray


class Scratch(NamedTuple):
    """Room to weigh one state."""

    left: np.ndarray
    weight: np.ndarray
    volume: np.ndarray
    runs: np.ndarray


@kernel
def leaf_term(weight, volume, a):
    """What a leaf adds: lnG(n + a) - lnG(a) - n ln V."""
    if weight <= 0:
        return 0.0
    return math.lgamma(weight + a) - math.lgamma(a) - weight * math.log(volume)


@kernel
def fit(weight, volume):
    """What a leaf would add if its density were known: n ln (n / V)."""
    return weight * math.log(weight / volume) if weight > 0 else 0.0


@kernel
def surplus(weight, leaves, a):
    """The most by which so many leaves can exceed their sum of n ln (n / V).

    lnG(n + a) - lnG(a) - n ln n + n is concave in n for a >= 1/2, so equal leaves have most of it.
    """
    if weight <= 0:
        return 0.0
    own = weight / leaves
    return leaves * (math.lgamma(own + a) - math.lgamma(a) - own * math.log(own) + own) - weight


@kernel
def gather(cells, left, scratch):
    """Weight and volume of every cell of a set, by density, the unoccupied as one; how many, and their sums."""
    n, weight, volume = np.int64(0), 0.0, 0.0
    for w in range(left.shape[0]):
        word = left[w]
        while word != 0:
            low = word & (~word + np.uint64(1))
            cell = 64 * w + np.int64(ones(low - np.uint64(1)))
            word ^= low
            if n == 0 or cells.weight[cell] > 0:
                scratch.weight[n], scratch.volume[n] = 0.0, 0.0
                n += 1
            scratch.weight[n - 1] += cells.weight[cell]
            scratch.volume[n - 1] += cells.volume[cell]
            weight += cells.weight[cell]
            volume += cells.volume[cell]
    return n, weight, volume


@kernel
def put_into_bins(n, scratch):
    """Put the cells, by density, into bins if there are many, each with its sum of n ln (n / V) apart; how many."""
    bins, free = min(n, np.int64(MOST_ITEMS)), scratch.runs[FREE]
    for b in range(bins):
        weight, volume, apart = 0.0, 0.0, 0.0
        for i in range(b * n // bins, (b + 1) * n // bins):
            weight += scratch.weight[i]
            volume += scratch.volume[i]
            apart += fit(scratch.weight[i], scratch.volume[i])
        scratch.weight[b], scratch.volume[b], free[b] = weight, volume, apart
    return bins


@kernel
def best_runs(bins, most, skip, scratch):
    """What the sum of n ln (n / V) over 1..most groups of cells cannot exceed, into `runs[FOUND]`.

    The sum is convex and of degree one in weight and volume, so some groups that are intervals of density attain it.
    Where a bin is one cell (`skip` 0), groups are runs of bins, and the sum is attained. Else (`skip` 1) a group ends
    somewhere in a bin, whose cells then count apart, which is never less; the runs between such bins may be empty.
    """
    runs, free = scratch.runs, scratch.runs[FREE]
    for k in range(most):
        for stop in range(bins if k + 1 == most else 0, bins + 1):
            weight, volume, best = 0.0, 0.0, -np.inf
            for i in range(stop, -1, -1):
                if i < stop:
                    weight += scratch.weight[i]
                    volume += scratch.volume[i]
                if k > 0 and i >= skip:
                    before = runs[(k - 1) % 2, i - skip] + (free[i - 1] if skip else 0.0)
                    best = max(best, before + fit(weight, volume))
            runs[k % 2, stop] = fit(weight, volume) if k == 0 else best
        runs[FOUND, k] = runs[k % 2, bins]


@kernel
def most_to_come(rules, use, weight, n, prior, short, scratch):
    """The most that further rules and the else can add to a prefix that is worth `short` less than the best list.

    Every remaining cell may have a leaf of its own; where that does not rule the prefix out, cells are grouped.
    """
    apart = 0.0
    for i in range(n):
        apart += fit(scratch.weight[i], scratch.volume[i])
    most, groups, hopeless = -np.inf, np.int64(0), False
    for further in range(1, prior.head.shape[0] - rules):
        prize = prior.future[use, further] + prior.head[rules + further] + surplus(weight, further + 1, prior.smooth)
        if prize + apart > short:
            groups = further + 1
            hopeless = groups >= n or groups > MOST_RUNS
        most = max(most, prize + apart)
    if most <= short or hopeless:  # grouping would not rule the prefix out
        return most
    bins = put_into_bins(n, scratch)
    best_runs(bins, groups, np.int64(bins < n), scratch)
    most = -np.inf
    for further in range(1, prior.head.shape[0] - rules):
        prize = prior.future[use, further] + prior.head[rules + further] + surplus(weight, further + 1, prior.smooth)
        most = max(most, prize + (scratch.runs[FOUND, further] if further < groups else apart))
    return most


@kernel
def same(left, other):
    """Whether two sets of cells are the same."""
    for w in range(left.shape[0]):
        if left[w] != other[w]:
            return False
    return True


@kernel
def place_of(layer, left, use):
    """The slot of a state, or the free slot where it would be."""
    code = np.uint64(use + 1) * np.uint64(0x9E3779B97F4A7C15)
    for w in range(left.shape[0]):
        code = (code ^ left[w]) * np.uint64(0xBF58476D1CE4E5B9)
        code ^= code >> np.uint64(29)
    mask = layer.slot.shape[0] - 1
    place = np.int64(code & np.uint64(mask))
    while True:
        at = layer.slot[place]
        if at == EMPTY or (layer.use[at] == use and same(layer.left[at], left)):
            return place
        place = (place + 1) & mask


@kernel
def find_places(layer):
    """Give every state of a layer its slot."""
    for at in range(layer.n[0]):
        layer.slot[place_of(layer, layer.left[at], layer.use[at])] = at


@kernel
def offer(cells, prior, rules, use, value, parent, rule, layer, best, scratch):
    """Offer the prefix that leaves `scratch.left` to its layer, which keeps it if it may lead to the best list."""
    place = place_of(layer, scratch.left, use)
    at = layer.slot[place]
    if at == EMPTY:
        n, weight, volume = gather(cells, scratch.left, scratch)
        last = leaf_term(weight, volume, prior.pseudocount) + prior.head[rules]
        more = most_to_come(rules, use, weight, n, prior, best.score[1] - value, scratch)
        if max(last, more) + value <= best.score[1]:
            return
        at = layer.n[0]
        layer.n[0] += 1
        layer.slot[place] = at
        for w in range(scratch.left.shape[0]):
            layer.left[at, w] = scratch.left[w]
        layer.use[at], layer.more[at], layer.last[at] = use, more, last
    elif value <= layer.value[at]:
        return
    layer.value[at], layer.parent[at], layer.rule[at] = value, parent, rule
    if value + layer.last[at] > best.score[0]:
        best.score[1] += value + layer.last[at] - best.score[0]
        best.score[0] = value + layer.last[at]
        best.at[0] = at


@kernel
def extend(cells, antecedents, prior, rules, layer, begin, end, longer, best, scratch):
    """Extend the states from begin to end of a layer by one rule, as long as the next has room; where it stopped."""
    idle = np.zeros(prior.used.shape[1], np.int64)
    for at in range(begin, end):
        if longer.n[0] + antecedents.size.shape[0] + idle.shape[0] > longer.use.shape[0]:
            return at
        if layer.value[at] + layer.more[at] <= best.score[1]:
            continue
        left, use = layer.left[at], layer.use[at]
        for size in range(idle.shape[0]):
            idle[size] = 0
        for rule in range(antecedents.size.shape[0]):
            size = antecedents.size[rule]
            for w in range(left.shape[0]):
                scratch.left[w] = left[w] & antecedents.cells[rule, w]
            n, weight, volume = gather(cells, scratch.left, scratch)
            if n == 0:
                idle[size] += 1
            elif prior.after[use, size] >= 0:
                value = layer.value[at] + prior.step[use, size] + leaf_term(weight, volume, prior.pseudocount)
                for w in range(left.shape[0]):
                    scratch.left[w] = left[w] & ~antecedents.cells[rule, w]
                offer(cells, prior, rules, prior.after[use, size], value, at, rule, longer, best, scratch)
        for w in range(left.shape[0]):
            scratch.left[w] = left[w]
        for size in range(idle.shape[0]):
            if idle[size] > prior.used[use, size] and prior.after[use, size] >= 0:
                value = layer.value[at] + prior.step[use, size]
                offer(cells, prior, rules, prior.after[use, size], value, at, -1 - size, longer, best, scratch)
    return end
