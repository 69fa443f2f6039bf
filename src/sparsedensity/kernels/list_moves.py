"""Random changes of a rule list, and the walk that proposes and accepts them."""

import math
from typing import NamedTuple

import numpy as np

from sparsedensity.kernels import ZERO, bare, kernel
from sparsedensity.kernels.list_insert import Wanted, find_insertion, insertion_prior
from sparsedensity.kernels.list_rows import take_rows, weight_of
from sparsedensity.kernels.list_state import adopt, copy_rules, has_rule, shift_rule, swap_rules
from sparsedensity.kernels.list_terms import log_prior
from sparsedensity.kernels.list_weigh import ListChange, weigh


class ListWalk(NamedTuple):
    """A walk: so many proposals, while the temperature falls from hot to cold, of lists of up to `limit` rules."""

    proposals: int
    hot: float
    cold: float
    limit: int
    deepest: int
    """The most conditions of a rule that is drawn anew."""
    every: int
    """After one of so many proposals, a rule is drawn anew; never if this is 0."""
    apart: int
    """If above 0, up to so many rules at a time are taken out and others drawn; that samples nothing but finds more."""


@bare
def sort_rule(rule):
    """Put the conditions of a rule in order."""
    for i in range(1, rule.shape[0]):
        condition = rule[i]
        j = i
        while j > 0 and rule[j - 1] > condition:
            rule[j] = rule[j - 1]
            j -= 1
        rule[j] = condition


@bare
def repeats_feature(conditions, rule):
    """Whether two conditions of a sorted rule are on one feature."""
    for i in range(1, rule.shape[0]):
        if conditions.run[rule[i]].feature == conditions.run[rule[i - 1]].feature:
            return True
    return False


@bare
def draw_below(rng, n):
    """A whole number from 0 to n - 1."""
    return min(np.int64(rng.random() * n), n - 1)


@bare
def draw_antecedent(task, draft, place, rng):
    """Draw an antecedent into the draft."""
    draws, mark, size = task.draws, rng.random(), 1
    while draws.of_size[size].up_to <= mark:
        size += 1
    draft.size[place] = size
    rule = draft.rule[place, :size]
    if draws.listed.shape[0] > 0:
        begin = draws.of_size[size].begin
        which = begin + draw_below(rng, draws.of_size[size + 1].begin - begin)
        for k in range(size):
            rule[k] = draws.listed[which, k]
        return
    while True:
        for k in range(size):
            rule[k] = draw_below(rng, task.conditions.run.shape[0])
        sort_rule(rule)
        if not repeats_feature(task.conditions, rule):
            return


@bare
def change_condition(task, draft, place, rng):
    """Put another condition in the place of one; whether the rule is still an antecedent."""
    rule = draft.rule[place, : draft.size[place]]
    rule[draw_below(rng, rule.shape[0])] = draw_below(rng, task.conditions.run.shape[0])
    sort_rule(rule)
    if repeats_feature(task.conditions, rule):
        return False
    if task.draws.least <= 0:
        return True
    take_rows(task.rows.obey, task.rows.everything, rule, draft.rows[0], draft.rows[1])
    return weight_of(task.rows, draft.rows[0]) >= task.draws.least


@bare
def stands_twice(draft, place, n):
    """Whether the rule at a place stands elsewhere in the draft too."""
    return has_rule(draft, n, draft.rule[place, : draft.size[place]], place)


@bare
def no_change(n):
    """The change of a draft that cannot be."""
    return ListChange(0, 0, -1, -1, False, n, 0.0)


@bare
def add_rule(task, draft, n, rng):
    """Insert an antecedent at any place."""
    place = draw_below(rng, n + 1)
    draw_antecedent(task, draft, n, rng)
    if stands_twice(draft, n, n + 1):
        return no_change(n)
    log_ratio = -task.draws.of_size[draft.size[n]].log_share
    shift_rule(draft, n, place)
    return ListChange(place, n + 1, place, -1, False, n + 1, log_ratio)


@bare
def remove_rule(task, draft, n, place):
    """Take out a rule."""
    log_ratio = task.draws.of_size[draft.size[place]].log_share
    shift_rule(draft, place, n - 1)
    return ListChange(place, n + 1, -1, -1, True, n - 1, log_ratio)


@bare
def replace_rule(task, draft, n, place, whole, rng):
    """Put another rule in the place of one: any antecedent, or the same with one other condition."""
    of_size, before = task.draws.of_size, draft.size[place]
    if whole:
        draw_antecedent(task, draft, place, rng)
    elif not change_condition(task, draft, place, rng):
        return no_change(n)
    if stands_twice(draft, place, n):
        return no_change(n)
    log_ratio = of_size[before].log_share - of_size[draft.size[place]].log_share
    return ListChange(place, n + 1, place, -1, True, n, log_ratio)


@bare
def reorder(draft, n, place, swap, rng):
    """Let two rules trade places, or move one of them to the place of the other."""
    if n == 1:
        return no_change(n)
    target = draw_below(rng, n - 1)
    if target >= place:
        target += 1
    low, high = min(place, target), max(place, target)
    if swap:
        swap_rules(draft, low, draft, high)
        return ListChange(low, high, low, high, True, n, 0.0)
    shift_rule(draft, place, target)
    if place < target:
        return ListChange(low, high + 1, -1, -1, True, n, 0.0)
    return ListChange(low, high, low, high, False, n, 0.0)


@bare
def propose(task, state, draft, limit, rng):
    """Change a copy of the list at random."""
    recipe, n = task.recipe, state.now.n
    copy_rules(state.rule, state.size, draft.rule, draft.size, n)
    mark = rng.random()
    if mark < recipe.add:
        return add_rule(task, draft, n, rng) if n < limit else no_change(n)
    if n == 0:
        return no_change(n)
    place = draw_below(rng, n)
    if mark < recipe.remove:
        return remove_rule(task, draft, n, place)
    if mark < recipe.change:
        return replace_rule(task, draft, n, place, mark < recipe.replace, rng)
    return reorder(draft, n, place, mark < recipe.swap, rng)


@bare
def is_taken(more_prior, more_evidence, log_ratio, temperature, rng):
    """Metropolis-Hastings.

    From temperature 1 up, only the evidence is tempered, so that long lists do not outnumber good ones; at 1 the
    walk samples the posterior. Below, the whole posterior is, and the walk climbs.
    """
    if temperature >= 1:
        change = more_prior + log_ratio + more_evidence / temperature
    else:
        change = (more_prior + more_evidence) / temperature
    return rng.random() < math.exp(min(change, 0.0))


@bare
def take_out(task, memory, scratch, place):
    """Take a rule out of the list, and keep it aside; False if the list without it finds no room."""
    state, draft, n = memory.state, memory.draft, memory.state.now.n
    for k in range(state.size[place]):
        scratch.removed[k] = state.rule[place, k]
    copy_rules(state.rule, state.size, draft.rule, draft.size, n)
    shift_rule(draft, place, n - 1)
    return adopt(task, state, memory.pool, draft, memory.archive, place, n - 1)


@bare
def put_back(task, memory, removed, place):
    """Put a rule back that was taken out."""
    state, draft, n = memory.state, memory.draft, memory.state.now.n
    copy_rules(state.rule, state.size, draft.rule, draft.size, n)
    draft.size[n] = removed.shape[0]
    for k in range(removed.shape[0]):
        draft.rule[n, k] = removed[k]
    shift_rule(draft, n, place)
    adopt(task, state, memory.pool, draft, memory.archive, place, n + 1)


@bare
def redraw(task, memory, scratch, order, temperature, rng):
    """Take out a rule, or none, and draw from the tempered posterior what comes instead: a rule at any place, or none.

    Lists that differ in one rule from what is left are drawn as often as they should be among themselves (Gibbs). Only
    if a size of antecedents is used up is the prior not what the draw assumes; what it errs is made good by Metropolis.
    """
    state, draft, terms, n = memory.state, memory.draft, task.terms, memory.state.now.n
    log_prior_before, place, size, error = state.now.log_prior, np.int64(-1), np.int64(0), 0.0
    if n == order.limit or rng.random() < 0.5:
        if n == 0:
            return
        place = draw_below(rng, n)
        size = state.size[place]
        if size > order.deepest or not take_out(task, memory, scratch, place):
            return
        n -= 1
        left = log_prior(terms, state.size[:n], draft.unused)
        error = log_prior_before - left - insertion_prior(terms, n, draft.unused, size)
    log_way_back = (math.log(2.0) if n + 1 == order.limit else 0.0) - math.log(n + 1.0)
    wanted = Wanted(order.deepest, ZERO, np.bool_(False), temperature, log_way_back, np.bool_(False))
    target = find_insertion(task, memory, scratch, wanted, rng)
    if target >= 0:
        expected = state.now.log_prior + insertion_prior(terms, n, draft.unused, draft.size[target])
        error -= log_prior(terms, draft.size[: n + 1], draft.unused) - expected
    taken = rng.random() < math.exp(min(-error, 0.0))
    if taken and target >= 0:
        taken = adopt(task, state, memory.pool, draft, memory.archive, target, n + 1)
    if place >= 0 and not taken:
        put_back(task, memory, scratch.removed[:size], place)


@bare
def regrow(task, memory, scratch, order, temperature, rng):
    """Take out some rules, neighbours or any; draw others from the few, while one is drawn and there is room."""
    state, draft, n = memory.state, memory.draft, memory.state.now.n
    copy_rules(state.rule, state.size, draft.rule, draft.size, n)
    begin, place, near = n, draw_below(rng, n + 1), rng.random() < 0.5
    for _ in range(min(n, 1 + draw_below(rng, order.apart))):
        place = min(place, n - 1) if near else draw_below(rng, n)
        n -= 1
        shift_rule(draft, place, n)
        begin = min(begin, place)
    drawn = adopt(task, state, memory.pool, draft, memory.archive, begin, n)
    wanted = Wanted(order.deepest, ZERO, np.bool_(False), temperature, 0.0, np.bool_(True))
    while drawn and state.now.n < order.limit:
        target = find_insertion(task, memory, scratch, wanted, rng)
        drawn = target >= 0
        if drawn:
            drawn = adopt(task, state, memory.pool, draft, memory.archive, target, state.now.n + 1)


@bare
def step(task, memory, order, temperature, rng):
    """Propose a change, and accept it or not."""
    state, pool, draft, now = memory.state, memory.pool, memory.draft, memory.state.now
    change = propose(task, state, draft, order.limit, rng)
    if change.hi > 0:
        more_prior = log_prior(task.terms, draft.size[: change.n], draft.unused) - now.log_prior
        more_evidence = weigh(task, state, pool, draft, change) - now.log_evidence
        if is_taken(more_prior, more_evidence, change.log_ratio, temperature, rng):
            adopt(task, state, pool, draft, memory.archive, change.lo, change.n)


@bare
def wander(task, memory, scratch, order, trace, rng):
    """Propose and accept; the log posterior is noted at even steps."""
    now, proposals = memory.state.now, order.proposals
    for t in range(proposals):
        temperature = order.hot * (order.cold / order.hot) ** (t / proposals)
        if order.apart > 0:
            regrow(task, memory, scratch, order, temperature, rng)
        else:
            step(task, memory, order, temperature, rng)
        if order.every > 0 and rng.random() * order.every < 1:
            redraw(task, memory, scratch, order, temperature, rng)
        note = (t + 1) * trace.shape[0] // proposals
        if note > t * trace.shape[0] // proposals:
            trace[note - 1] = now.log_prior + now.log_evidence


@bare
def insert_best(task, memory, scratch, wanted, rng):
    """Insert the antecedent that gains most, at its best place; False if none pays, or none finds room."""
    best = Wanted(wanted.deepest, wanted.first, wanted.sparse, 0.0, 0.0, wanted.few)  # here: one look is compiled
    place = find_insertion(task, memory, scratch, best, rng)
    if scratch.chosen.gain <= task.recipe.least_gain:
        return False
    return adopt(task, memory.state, memory.pool, memory.draft, memory.archive, place, memory.state.now.n + 1)


class ListJob(NamedTuple):
    """What a chain is to do: walk, if there is anything to note on the way; else insert a rule, or go to the draft."""

    walk: ListWalk
    wanted: Wanted
    drafted: int
    """The number of rules of the draft to go to; -1 to insert a rule."""


@kernel
def work(task, memory, scratch, job, trace, rng):
    """Do one job; False if it cannot be done. One kernel for all: each of its own would compile the same insides."""
    if trace.shape[0] > 0:
        wander(task, memory, scratch, job.walk, trace, rng)
        return True
    if job.drafted < 0:
        return insert_best(task, memory, scratch, job.wanted, rng)
    return adopt(task, memory.state, memory.pool, memory.draft, memory.archive, ZERO, job.drafted)
