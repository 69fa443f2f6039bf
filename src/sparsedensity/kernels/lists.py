"""Walks through rule lists.

Rows are bits, 64 to a word. What rules take and leave of the domain are disjoint boxes: bits over all values, and a
volume relative to the whole domain. A list keeps the rows and the boxes of every leaf, and those that reach every
place. Leaf n of a list of n rules is the else.

A proposal is weighed by what changes hands, without touching the list: one rule at most takes from the leaves that
follow (the *intruder*), and one leaf at most is handed down to the rules that follow (the *refugees*). Only when it
is accepted is the list followed anew from the first change; the boxes of a list depend on nothing but the list.
"""

import math
from typing import NamedTuple

import numpy as np

from sparsedensity.kernels import kernel

TIE = 1e-9
ADD, REMOVE, REPLACE, CHANGE, SWAP, MOVE = 0.2, 0.4, 0.6, 0.8, 0.9, 1.0
"""Up to which mark in 0..1 each kind of change is drawn; adding is as likely as removing."""


class Rows(NamedTuple):
    """Distinct rows as bits: for every condition the rows that obey it."""

    bits: np.ndarray
    everything: np.ndarray
    weight: np.ndarray
    alike: np.ndarray
    """The runs of words whose rows all weigh the same."""
    mixed: np.ndarray
    """The words whose rows differ in weight."""


ALIKE = np.dtype([("begin", np.int64), ("end", np.int64), ("weight", np.float64)], align=True)
"""A run of words, and the weight of each of its rows."""


class Conditions(NamedTuple):
    """Every condition, by feature, and the measure of every value."""

    run: np.ndarray
    measure: np.ndarray


RUN = np.dtype([(name, np.int64) for name in ("feature", "first", "last", "start", "end", "after")], align=True)
"""A condition: a run first..last of all values, among those of its feature, start..end. The first condition on a later
feature is `after`."""


class Belief(NamedTuple):
    """The posterior as tables."""

    of_length: np.ndarray
    of_size: np.ndarray
    log_gamma: np.ndarray
    """lnG(w + a) for whole weights w; only for 0 where weights are not whole."""
    pseudocount: float


LENGTH = np.dtype([("log_prior", np.float64), ("head", np.float64)], align=True)
"""Of every number of rules m: ln P(m), and the Dirichlet terms that depend on it alone."""
SIZE = np.dtype([("rate", np.float64), ("antecedents", np.float64)], align=True)
"""Of every number of conditions c: c ln eta - ln c!, and how many antecedents there are."""


class Choice(NamedTuple):
    """How antecedents are drawn: a size, then any one of that size."""

    of_size: np.ndarray
    listed: np.ndarray
    """The antecedents that there are, by size; none where any conditions on different features will do."""
    least: float
    """The least weight an antecedent must have."""


DRAW = np.dtype([("up_to", np.float64), ("log_share", np.float64), ("begin", np.int64)], align=True)
"""Of every size: the cumulated probability, the log of the probability of one antecedent, and where the size begins
among those that are listed."""


class Task(NamedTuple):
    """All that a walk reads and never changes."""

    rows: Rows
    conditions: Conditions
    belief: Belief
    choice: Choice


class Rules(NamedTuple):
    """A list and what follows from it at every place."""

    n: np.ndarray
    rule: np.ndarray
    size: np.ndarray
    score: np.ndarray
    """The log prior and the log evidence."""
    rest: np.ndarray
    """The rows that reach each place."""
    leaf: np.ndarray
    """The rows of each leaf."""
    rest_boxes: np.ndarray
    leaf_boxes: np.ndarray
    at: np.ndarray


PLACE = np.dtype(
    [
        *((name, np.int64) for name in ("n_rest", "n_leaf", "top")),
        *((name, np.float64) for name in ("weight", "volume", "term")),
    ],
    align=True,
)
"""Of every place: the boxes that reach it, those of its leaf, those of the pool that the places before need; and the
leaf's weight, its volume, and what it adds to the log evidence."""


class Pool(NamedTuple):
    """Boxes by number; box 0 is everything."""

    mask: np.ndarray
    volume: np.ndarray
    top: np.ndarray


class Draft(NamedTuple):
    """A changed list, and scratch to weigh it."""

    rule: np.ndarray
    size: np.ndarray
    unused: np.ndarray
    obey: np.ndarray
    """The rows that obey the intruder."""
    rows: np.ndarray
    """The rows of refugees, and those of them that a rule takes."""
    boxes: np.ndarray
    """The boxes of refugees, before and after a rule."""


class Change(NamedTuple):
    """How a draft differs from the list: leaves lo..hi - 1 are affected."""

    lo: int
    hi: int
    """0 for a draft that cannot be."""
    intruder: int
    """The place in the draft of the rule that takes from these leaves, or -1."""
    own: int
    """The leaf that the intruder had before, or -1."""
    refugees: bool
    """Whether what the intruder leaves of leaf lo is handed down."""
    n: int
    log_ratio: float
    """The log of the probability of the way back over that of the way there."""


class Archive(NamedTuple):
    """The best list of every number of rules."""

    score: np.ndarray
    rule: np.ndarray
    size: np.ndarray


class Room(NamedTuple):
    """Scratch for a look at every antecedent at every place; one row a depth, that is a number of conditions."""

    rows: np.ndarray
    """The rows that obey the conditions."""
    parts: np.ndarray
    """The volume inside of every box of the leaves, one leaf after another."""
    up_to: np.ndarray
    """For every value and box the share of the box up to that value of its feature."""
    begin: np.ndarray
    """Where the boxes of each leaf begin."""
    weight: np.ndarray
    """The weight inside of every leaf."""
    volume: np.ndarray
    path: np.ndarray


@kernel
def ones(word):
    """How many bits of a word are set (the compiler knows this as one instruction)."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@kernel
def count_common(bits, more):
    """How many bits two sets have in common."""
    count = np.int64(0)
    for w in range(bits.shape[0]):
        count += np.int64(ones(bits[w] & more[w]))
    return count


@kernel
def weight_of(rows, bits, more):
    """The weight of the rows in two sets: by counting where rows weigh alike, one by one elsewhere."""
    total = 0.0
    for r in range(rows.alike.shape[0]):
        run = rows.alike[r]
        total += run.weight * count_common(bits[run.begin : run.end], more[run.begin : run.end])
    for i in range(rows.mixed.shape[0]):
        w = rows.mixed[i]
        left = bits[w] & more[w]
        while left != 0:
            low = left & (~left + np.uint64(1))
            total += rows.weight[64 * w + np.int64(ones(low - np.uint64(1)))]
            left ^= low
    return total


@kernel
def take_rows(bits, before, rule, size, taken, after):
    """Divide rows into those a rule takes and those it leaves (into `after`, which may be `before`)."""
    first, last = bits[rule[0]], bits[rule[size - 1]]
    for w in range(before.shape[0]):
        here = before[w]
        both = here & first[w] & last[w]
        taken[w] = both
        after[w] = here & ~both
    for k in range(1, size - 1):
        more = bits[rule[k]]
        for w in range(before.shape[0]):
            after[w] |= taken[w] & ~more[w]
            taken[w] &= more[w]


@kernel
def holds(mask, value):
    """Whether a box allows a value."""
    return (mask[value >> 6] >> np.uint64(value & 63)) & np.uint64(1) != 0


@kernel
def meets(conditions, mask, rule, size):
    """Whether a box and a rule have points in common."""
    for k in range(size):
        found = False
        for value in range(conditions.run[rule[k]].first, conditions.run[rule[k]].last + 1):
            if holds(mask, value):
                found = True
                break
        if not found:
            return False
    return True


@kernel
def measure_sides(conditions, mask, condition):
    """The measures of a box's values of one feature, in a condition's run and out of it."""
    inside, outside = 0.0, 0.0
    first, last = conditions.run[condition].first, conditions.run[condition].last
    for value in range(conditions.run[condition].start, conditions.run[condition].end):
        if holds(mask, value):
            if first <= value <= last:
                inside += conditions.measure[value]
            else:
                outside += conditions.measure[value]
    return inside, outside


@kernel
def add_box(conditions, pool, box, rule, inside, outside, volume):
    """A new box: an old one inside the first few conditions of a rule and, if asked, outside the one after."""
    new = pool.top[0]
    pool.top[0] += 1
    mask = pool.mask[new]
    for w in range(mask.shape[0]):
        mask[w] = pool.mask[box, w]
    for k in range(inside + outside):
        c = rule[k]
        for value in range(conditions.run[c].start, conditions.run[c].end):
            if (conditions.run[c].first <= value <= conditions.run[c].last) != (k < inside):
                mask[value >> 6] &= ~(np.uint64(1) << np.uint64(value & 63))
    pool.volume[new] = volume
    return new


@kernel
def take_boxes(conditions, pool, before, count, rule, size, taken, after):
    """Cut boxes along the conditions of a rule; those it takes are kept where there is an array for them.

    Returns the volume it takes, how many boxes those are, and how many it leaves; -1 where there is no room.
    """
    volume, n_taken, left = 0.0, 0, 0
    for i in range(count):
        if max(left, n_taken) + size > after.shape[0] or pool.top[0] + size >= pool.volume.shape[0]:
            return volume, -1, -1
        box = before[i]
        if not meets(conditions, pool.mask[box], rule, size):
            after[left] = box
            left += 1
            continue
        part = pool.volume[box]
        for k in range(size):
            inside, outside = measure_sides(conditions, pool.mask[box], rule[k])
            if outside > 0:
                whole = inside + outside
                after[left] = add_box(conditions, pool, box, rule, k, np.int64(1), part * (outside / whole))
                left += 1
                part *= inside / whole
        if taken.shape[0] > 0:
            taken[n_taken] = add_box(conditions, pool, box, rule, size, np.int64(0), part)
        n_taken += 1
        volume += part
    return volume, n_taken, left


@kernel
def volumes_beside(conditions, pool, boxes, count, rule, size):
    """The volume of some boxes inside a rule and outside of it."""
    inner, outer = 0.0, 0.0
    for i in range(count):
        mask = pool.mask[boxes[i]]
        part = pool.volume[boxes[i]]
        if not meets(conditions, mask, rule, size):
            outer += part
            continue
        for k in range(size):
            inside, outside = measure_sides(conditions, mask, rule[k])
            if outside > 0:
                outer += part * (outside / (inside + outside))
                part *= inside / (inside + outside)
        inner += part
    return inner, outer


@kernel
def volume_of(pool, boxes, count):
    """The volume of some boxes."""
    total = 0.0
    for i in range(count):
        total += pool.volume[boxes[i]]
    return total


@kernel
def leaf_term(belief, weight, volume):
    """lnG(n_l + a) - n_l ln V_l; minus infinity where rows are but the volume is too small to tell from 0."""
    if weight == 0:
        return belief.log_gamma[0]
    if volume <= 0:
        return -np.inf
    if belief.log_gamma.shape[0] > 1:
        return belief.log_gamma[np.int64(weight)] - weight * math.log(volume)
    return math.lgamma(weight + belief.pseudocount) - weight * math.log(volume)


@kernel
def log_available(belief, unused):
    """Ln of the sum of eta^c / c! over the sizes that still have an antecedent."""
    total = 0.0
    for c in range(1, unused.shape[0]):
        if unused[c] > 0:
            total += math.exp(belief.of_size[c].rate)
    return math.log(total) if total > 0 else 0.0


@kernel
def log_prior(belief, size, n, unused):
    """The log prior of a list of n rules of these sizes; what is unused after it stays in `unused`."""
    for c in range(unused.shape[0]):
        unused[c] = belief.of_size[c].antecedents
    norm = log_available(belief, unused)
    total = belief.of_length[n].log_prior
    for j in range(n):
        c = size[j]
        total += belief.of_size[c].rate - norm - math.log(unused[c])
        unused[c] -= 1
        if unused[c] <= 0:
            norm = log_available(belief, unused)
    return total


@kernel
def follow(task, rules, pool, draft, begin):
    """Let the rows and boxes that reach a place run through the rules from there; False where boxes find no room."""
    n = rules.n[0]
    pool.top[0] = rules.at[begin].top
    for j in range(begin, n):
        rule, size = rules.rule[j], rules.size[j]
        take_rows(task.rows.bits, rules.rest[j], rule, size, rules.leaf[j], rules.rest[j + 1])
        volume, n_leaf, n_rest = take_boxes(
            task.conditions, pool, rules.rest_boxes[j], rules.at[j].n_rest, rule, size, rules.leaf_boxes[j],
            rules.rest_boxes[j + 1],
        )  # fmt: skip
        if n_rest < 0:
            return False
        rules.at[j].volume, rules.at[j].n_leaf, rules.at[j + 1].n_rest = volume, n_leaf, n_rest
        rules.at[j + 1].top = pool.top[0]
    last = rules.at[n]
    last.n_leaf, last.volume = last.n_rest, volume_of(pool, rules.rest_boxes[n], last.n_rest)
    for b in range(last.n_rest):
        rules.leaf_boxes[n, b] = rules.rest_boxes[n, b]
    for w in range(rules.rest.shape[1]):
        rules.leaf[n, w] = rules.rest[n, w]
    fit = task.belief.of_length[n].head
    for j in range(n + 1):
        if j >= begin:
            rules.at[j].weight = weight_of(task.rows, rules.leaf[j], rules.leaf[j])
            rules.at[j].term = leaf_term(task.belief, rules.at[j].weight, rules.at[j].volume)
        fit += rules.at[j].term
    rules.score[0], rules.score[1] = log_prior(task.belief, rules.size, n, draft.unused), fit
    return fit > -np.inf


@kernel
def apart(conditions, rule, size, other, other_size):
    """Whether no point obeys both of two rules."""
    for i in range(size):
        for j in range(other_size):
            a, b = conditions.run[rule[i]], conditions.run[other[j]]
            if a.feature == b.feature and (a.last < b.first or b.last < a.first):
                return True
    return False


@kernel
def hand_down(rows, conditions, pool, draft, held, count, rule, size):
    """Let a rule take its part of the refugees; the weight and volume it takes, and how many boxes it leaves."""
    volume, taken, left = take_boxes(
        conditions, pool, draft.boxes[held], count, rule, size, draft.boxes[0, :0], draft.boxes[1 - held]
    )
    if taken <= 0:  # no point of theirs, so no row
        return 0.0, volume, left
    take_rows(rows.bits, draft.rows[0], rule, size, draft.rows[1], draft.rows[0])
    return weight_of(rows, draft.rows[1], draft.rows[1]), volume, left


@kernel
def weigh(task, rules, pool, draft, change):
    """The log evidence of a draft, from what changes hands; minus infinity where boxes find no room."""
    belief, n, top = task.belief, rules.n[0], pool.top[0]
    fit = rules.score[1] - belief.of_length[n].head + belief.of_length[change.n].head
    intruding, place = change.intruder >= 0, max(change.intruder, 0)
    rule, size = draft.rule[place], draft.size[place]
    fled, fled_size = rules.rule[min(change.lo, n - 1)], rules.size[min(change.lo, n - 1)]
    won, space, held, count = 0.0, 0.0, np.int64(0), np.int64(0)
    if change.own >= 0:
        won, space = rules.at[change.own].weight, rules.at[change.own].volume
        fit -= rules.at[change.own].term
    if intruding:
        take_rows(task.rows.bits, task.rows.everything, rule, size, draft.obey, draft.rows[0])
    if change.refugees:
        fit -= rules.at[change.lo].term
        count = rules.at[change.lo].n_leaf
        for w in range(draft.rows.shape[1]):
            draft.rows[0, w] = rules.leaf[change.lo, w]
        for b in range(count):
            draft.boxes[0, b] = rules.leaf_boxes[change.lo, b]
        if intruding:
            lost, inner, count = hand_down(task.rows, task.conditions, pool, draft, held, count, rule, size)
            won, space, held = won + lost, space + inner, 1
    for j in range(change.lo + change.refugees, change.hi):
        weight, volume = rules.at[j].weight, rules.at[j].volume
        own, own_size = rules.rule[min(j, n - 1)], rules.size[min(j, n - 1)]
        meeting = intruding and (j == n or not apart(task.conditions, rule, size, own, own_size))
        if meeting:
            inner, volume = volumes_beside(task.conditions, pool, rules.leaf_boxes[j], rules.at[j].n_leaf, rule, size)
            lost = weight_of(task.rows, rules.leaf[j], draft.obey) if inner > 0 else 0.0
            weight, won, space = weight - lost, won + lost, space + inner
        if count > 0:
            if j == n:
                weight += weight_of(task.rows, draft.rows[0], draft.rows[0])
                volume += volume_of(pool, draft.boxes[held], count)
            elif not apart(task.conditions, fled, fled_size, own, own_size):
                gained, extra, count = hand_down(task.rows, task.conditions, pool, draft, held, count, own, own_size)
                weight, volume, held = weight + gained, volume + extra, 1 - held
            elif not meeting:
                continue
        elif not meeting:
            continue
        fit += leaf_term(belief, weight, volume) - rules.at[j].term
    if intruding:
        fit += leaf_term(belief, won, space)
    if change.refugees and change.hi <= n and count >= 0:
        left = weight_of(task.rows, draft.rows[0], draft.rows[0])
        fit += leaf_term(belief, left, volume_of(pool, draft.boxes[held], count))
    pool.top[0] = top
    return fit if count >= 0 else -np.inf


@kernel
def copy_rules(rule, size, to_rule, to_size, n):
    """Copy the first n rules."""
    for j in range(n):
        to_size[j] = size[j]
        for k in range(size[j]):
            to_rule[j, k] = rule[j, k]


@kernel
def settle(task, rules, pool, draft, archive, lo, n):
    """Make the draft the list and remember it if it is the best of its length; False where boxes find no room."""
    old, aim, tries, settled = rules.n[0], n, 0, False
    while not settled:  # where the draft finds no room, the old list does
        for j in range(lo, max(n, old)):
            swap_rules(rules.rule, rules.size, j, draft.rule, draft.size, j)
        rules.n[0] = aim
        settled = follow(task, rules, pool, draft, lo)
        aim, tries = old, tries + 1
    if tries > 1:
        return False
    score = rules.score[0] + rules.score[1]
    if score > archive.score[n] + TIE:
        archive.score[n] = score
        copy_rules(rules.rule, rules.size, archive.rule[n], archive.size[n], n)
    return True


@kernel
def swap_rules(rule, size, i, other, other_size, j):
    """Let two rules trade places."""
    size[i], other_size[j] = other_size[j], size[i]
    for k in range(rule.shape[1]):
        rule[i, k], other[j, k] = other[j, k], rule[i, k]


@kernel
def shift_rule(draft, source, target):
    """Move one rule; those between close up."""
    step = 1 if source < target else -1
    for j in range(source, target, step):
        swap_rules(draft.rule, draft.size, j, draft.rule, draft.size, j + step)


@kernel
def sort_rule(rule, size):
    """Put the conditions of a rule in order."""
    for i in range(1, size):
        own = rule[i]
        j = i
        while j > 0 and rule[j - 1] > own:
            rule[j] = rule[j - 1]
            j -= 1
        rule[j] = own


@kernel
def repeats_feature(conditions, rule, size):
    """Whether two conditions of a sorted rule are on one feature."""
    for i in range(1, size):
        if conditions.run[rule[i]].feature == conditions.run[rule[i - 1]].feature:
            return True
    return False


@kernel
def draw_below(rng, n):
    """A whole number from 0 to n - 1."""
    return min(np.int64(rng.random() * n), n - 1)


@kernel
def draw_antecedent(task, rng, rule):
    """Draw an antecedent into a rule; returns its size."""
    choice = task.choice
    mark, size = rng.random(), 1
    while choice.of_size[size].up_to <= mark:
        size += 1
    if choice.listed.shape[0] > 0:
        begin = choice.of_size[size].begin
        which = begin + draw_below(rng, choice.of_size[size + 1].begin - begin)
        for k in range(size):
            rule[k] = choice.listed[which, k]
        return size
    while True:
        for k in range(size):
            rule[k] = draw_below(rng, task.conditions.run.shape[0])
        sort_rule(rule, size)
        if not repeats_feature(task.conditions, rule, size):
            return size


@kernel
def is_rule(rule, size, other, other_size):
    """Whether two rules have the same conditions."""
    if size != other_size:
        return False
    for k in range(size):
        if rule[k] != other[k]:
            return False
    return True


@kernel
def stands_twice(draft, place, n):
    """Whether the rule at a place stands elsewhere in the draft too."""
    for j in range(n):
        if j != place and is_rule(draft.rule[j], draft.size[j], draft.rule[place], draft.size[place]):
            return True
    return False


@kernel
def change_condition(task, rng, draft, place):
    """Put another condition in the place of one; whether the rule is still an antecedent."""
    rule, size = draft.rule[place], draft.size[place]
    rule[draw_below(rng, size)] = draw_below(rng, task.conditions.run.shape[0])
    sort_rule(rule, size)
    if repeats_feature(task.conditions, rule, size):
        return False
    if task.choice.least <= 0:
        return True
    take_rows(task.rows.bits, task.rows.everything, rule, size, draft.rows[0], draft.rows[1])
    return weight_of(task.rows, draft.rows[0], draft.rows[0]) >= task.choice.least


@kernel
def propose(task, rules, draft, limit, rng):
    """Change a copy of the list at random."""
    n = rules.n[0]
    nothing = Change(0, 0, -1, -1, False, n, 0.0)
    copy_rules(rules.rule, rules.size, draft.rule, draft.size, n)
    mark = rng.random()
    drawn = task.choice.of_size
    if mark < ADD:
        if n >= limit:
            return nothing
        place = draw_below(rng, n + 1)
        draft.size[n] = draw_antecedent(task, rng, draft.rule[n])
        size = draft.size[n]
        if stands_twice(draft, n, n + 1):
            return nothing
        shift_rule(draft, n, place)
        return Change(place, n + 1, place, -1, False, n + 1, -drawn[size].log_share)
    if n == 0:
        return nothing
    place = draw_below(rng, n)
    size = draft.size[place]
    if mark < REMOVE:
        shift_rule(draft, place, n - 1)
        return Change(place, n + 1, -1, -1, True, n - 1, drawn[size].log_share)
    if mark < CHANGE:
        if mark < REPLACE:
            draft.size[place] = draw_antecedent(task, rng, draft.rule[place])
        elif not change_condition(task, rng, draft, place):
            return nothing
        if stands_twice(draft, place, n):
            return nothing
        log_ratio = drawn[size].log_share - drawn[draft.size[place]].log_share
        return Change(place, n + 1, place, -1, True, n, log_ratio)
    if n == 1:
        return nothing
    target = draw_below(rng, n - 1)
    if target >= place:
        target += 1
    low, high = min(place, target), max(place, target)
    if mark < SWAP:
        swap_rules(draft.rule, draft.size, low, draft.rule, draft.size, high)
        return Change(low, high, low, high, True, n, 0.0)
    shift_rule(draft, place, target)
    if place < target:
        return Change(low, high + 1, -1, -1, True, n, 0.0)
    return Change(low, high, low, high, False, n, 0.0)


@kernel
def is_taken(more_prior, more_fit, log_ratio, temperature, rng):
    """Metropolis-Hastings.

    From temperature 1 up, only the evidence is tempered, so that long lists do not outnumber good ones; at 1 the
    walk samples the posterior. Below, the whole posterior is, and the walk climbs.
    """
    if temperature >= 1:
        change = more_prior + log_ratio + more_fit / temperature
    else:
        change = (more_prior + more_fit) / temperature
    return rng.random() < math.exp(min(change, 0.0))


@kernel
def walk(task, rules, pool, draft, archive, limit, hot, cold, proposals, rng, trace):
    """Propose and accept while the temperature falls from hot to cold; the log posterior is noted at even steps."""
    for t in range(proposals):
        change = propose(task, rules, draft, limit, rng)
        if change.hi > 0:
            more_prior = log_prior(task.belief, draft.size, change.n, draft.unused) - rules.score[0]
            more_fit = weigh(task, rules, pool, draft, change) - rules.score[1]
            temperature = hot * (cold / hot) ** (t / proposals)
            if is_taken(more_prior, more_fit, change.log_ratio, temperature, rng):
                settle(task, rules, pool, draft, archive, change.lo, change.n)
        note = (t + 1) * trace.shape[0] // proposals
        if note > t * trace.shape[0] // proposals:
            trace[note - 1] = rules.score[0] + rules.score[1]


@kernel
def supports(rows, listed, out):
    """The weight of the rows that obey each of some antecedents of one size."""
    obey = np.empty_like(rows.everything)
    for i in range(listed.shape[0]):
        for w in range(obey.shape[0]):
            obey[w] = rows.bits[listed[i, 0], w]
            for k in range(1, listed.shape[1]):
                obey[w] &= rows.bits[listed[i, k], w]
        out[i] = weight_of(rows, obey, obey)


@kernel
def open_room(task, rules, pool, room, first):
    """Lay out the leaves from a place on: their boxes, and the share of each box up to every value."""
    conditions, n, count = task.conditions, rules.n[0], 0
    for w in range(room.rows.shape[1]):
        room.rows[0, w] = task.rows.everything[w]
    for j in range(first, n + 1):
        room.begin[j] = count
        room.weight[0, j], room.volume[0, j] = rules.at[j].weight, rules.at[j].volume
        for i in range(rules.at[j].n_leaf):
            box = rules.leaf_boxes[j, i]
            room.parts[0, count] = pool.volume[box]
            c = np.int64(0)
            while c < conditions.run.shape[0]:
                inside, outside = measure_sides(conditions, pool.mask[box], c)
                seen, total = 0.0, inside + outside
                for value in range(conditions.run[c].start, conditions.run[c].end):
                    if holds(pool.mask[box], value):
                        seen += conditions.measure[value]
                    room.up_to[value, count] = seen / total
                c = conditions.run[c].after
            count += 1
    room.begin[n + 1] = count


@kernel
def narrow(task, rules, room, first, depth, condition):
    """Add a condition to those above: the rows, and the weight and the volume of every leaf, that are left."""
    conditions, more = task.conditions, task.rows.bits[condition]
    above, below = room.rows[depth], room.rows[depth + 1]
    for w in range(more.shape[0]):
        below[w] = above[w] & more[w]
    start, last = conditions.run[condition].first, conditions.run[condition].last
    cut = start > conditions.run[condition].start
    for j in range(first, rules.n[0] + 1):
        volume, weight = 0.0, 0.0
        if room.volume[depth, j] > 0:
            for b in range(room.begin[j], room.begin[j + 1]):
                share = room.up_to[last, b] - (room.up_to[start - 1, b] if cut else 0.0)
                part = room.parts[depth, b] * share
                room.parts[depth + 1, b] = part
                volume += part
            if volume > 0 and room.weight[depth, j] > 0:
                weight = weight_of(task.rows, rules.leaf[j], below)
        room.weight[depth + 1, j], room.volume[depth + 1, j] = weight, volume


@kernel
def best_place(belief, rules, room, first, size, sparse):
    """Where an antecedent of so many conditions adds most to the evidence, and how much."""
    won, space, later, best, place = 0.0, 0.0, 0.0, -np.inf, -1
    for j in range(rules.n[0], first - 1, -1):
        inner, weight = room.volume[size, j], room.weight[size, j]
        if inner <= 0:
            continue
        left, outer = rules.at[j].weight - weight, rules.at[j].volume - inner
        if outer < 1e-12 * rules.at[j].volume:
            outer = 0.0
        if sparse and weight * outer >= left * inner:
            continue
        won, space = won + weight, space + inner
        later += leaf_term(belief, left, outer) - rules.at[j].term
        gain = later + leaf_term(belief, won, space)
        if gain > best:
            best, place = gain, j
    return best, place


@kernel
def is_used(rules, path, size):
    """Whether a list has a rule already."""
    for j in range(rules.n[0]):
        if is_rule(rules.rule[j], rules.size[j], path, size):
            return True
    return False


@kernel
def best_insertion(task, rules, pool, draft, room, deepest, first, sparse, noise, rng):
    """The list with the antecedent that gains most, at the best place from the first on, as a draft.

    Returns the gain and the place; -1 where there is none. Where only sparse ones are asked for, it must be less
    dense than what it leaves, so that the dense rest can be divided further. With noise, the antecedent is drawn: the
    more it gains, measured in units of the noise, the likelier.
    """
    n, belief = rules.n[0], task.belief
    open_room(task, rules, pool, room, first)
    copy_rules(rules.rule, rules.size, draft.rule, draft.size, n)
    log_prior(belief, rules.size, n, draft.unused)
    norm = log_available(belief, draft.unused)
    now, then = belief.of_length[n], belief.of_length[n + 1]
    fixed = then.log_prior + then.head - now.log_prior - now.head - norm
    best, best_gain, target = -np.inf, -np.inf, -1
    depth = np.int64(0)
    room.path[0] = -1
    while depth >= 0:
        room.path[depth] += 1
        condition = room.path[depth]
        if condition >= task.conditions.run.shape[0]:
            depth -= 1
            continue
        narrow(task, rules, room, first, depth, condition)
        size = depth + 1
        if task.choice.least > 0 and weight_of(task.rows, room.rows[size], room.rows[size]) < task.choice.least:
            continue
        more, place = best_place(belief, rules, room, first, size, sparse)
        if place >= 0 and draft.unused[size] > 0:
            gain = fixed + belief.of_size[size].rate - math.log(draft.unused[size]) + more
            value = gain
            if noise > 0 and gain > 0:
                value -= noise * math.log(-math.log(1.0 - rng.random()))
            if value > best and not is_used(rules, room.path, size):
                best, best_gain, target = value, gain, place
                draft.size[n] = size
                for k in range(size):
                    draft.rule[n, k] = room.path[k]
        if size < deepest and (place >= 0 or sparse):
            room.path[size] = task.conditions.run[condition].after - 1
            depth += 1
    if target >= 0:
        shift_rule(draft, n, target)
    return best_gain, target
