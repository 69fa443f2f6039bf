"""Walks through rule lists: one proposal re-reads only what follows the place it changes.

Rows are bits, 64 to a word, and what the rules so far leave of the domain is a set of disjoint boxes: bits over all
values, and a volume relative to the whole domain. A list keeps, for every place, the rows and the boxes that reach
it. Leaf n of a list of n rules is the else.
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
    common: np.ndarray
    """The weight of each row of a word where all are equal, else 0."""
    mixed: np.ndarray
    """The words whose rows differ in weight."""


class Conditions(NamedTuple):
    """Every condition, by feature: a run first..last of all values, among those of its feature, start..end."""

    feature: np.ndarray
    first: np.ndarray
    last: np.ndarray
    start: np.ndarray
    end: np.ndarray
    after: np.ndarray
    """The first condition on a later feature."""
    measure: np.ndarray
    """The measure of every value."""


class Belief(NamedTuple):
    """The posterior as tables."""

    length: np.ndarray
    """Ln P(m) for every number of rules."""
    head: np.ndarray
    """The Dirichlet terms that depend on the number of rules alone."""
    rate: np.ndarray
    """c ln eta - ln c!, for every size c."""
    antecedents: np.ndarray
    """How many antecedents there are of every size."""
    log_gamma: np.ndarray
    """lnG(w + a) for whole weights w; only for 0 where weights are not whole."""
    pseudocount: float


class Choice(NamedTuple):
    """How antecedents are drawn: a size, then any one of that size."""

    up_to: np.ndarray
    """The cumulated probability of the sizes."""
    log_share: np.ndarray
    """The log of the probability of one antecedent of each size."""
    listed: np.ndarray
    """The antecedents that there are, by size; none where any conditions on different features will do."""
    begin: np.ndarray
    """Where each size begins among them."""
    least: float
    """The least weight an antecedent must have."""


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
    rows: np.ndarray
    boxes: np.ndarray
    n_boxes: np.ndarray
    term: np.ndarray
    """What each leaf adds to the log evidence."""
    unused: np.ndarray
    """Room to count antecedents in."""


class Pool(NamedTuple):
    """Boxes by number; box 0 is everything."""

    mask: np.ndarray
    volume: np.ndarray
    top: np.ndarray


class Archive(NamedTuple):
    """The best list of every number of rules."""

    score: np.ndarray
    rule: np.ndarray
    size: np.ndarray


class Room(NamedTuple):
    """Scratch for a look at every antecedent; one row a depth."""

    rows: np.ndarray
    support: np.ndarray
    parts: np.ndarray
    shares: np.ndarray
    """For every condition and box the share of the box inside."""
    weight: np.ndarray
    path: np.ndarray


@kernel
def ones(word):
    """How many bits of a word are set (the compiler knows this as one instruction)."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@kernel
def weight_of(rows, bits):
    """The weight of some rows: by counting where rows of a word weigh alike, one by one elsewhere."""
    total = 0.0
    for w in range(bits.shape[0]):
        total += rows.common[w] * ones(bits[w])
    for i in range(rows.mixed.shape[0]):
        w = rows.mixed[i]
        left = bits[w]
        while left != 0:
            low = left & (~left + np.uint64(1))
            total += rows.weight[64 * w + np.int64(ones(low - np.uint64(1)))]
            left ^= low
    return total


@kernel
def take_rows(rows, before, rule, size, taken, after):
    """Divide rows into those a rule takes and those it leaves; returns the weight taken."""
    first = rows.bits[rule[0]]
    for w in range(before.shape[0]):
        taken[w] = before[w] & first[w]
    for k in range(1, size):
        more = rows.bits[rule[k]]
        for w in range(before.shape[0]):
            taken[w] &= more[w]
    for w in range(before.shape[0]):
        after[w] = before[w] & ~taken[w]
    return weight_of(rows, taken)


@kernel
def holds(mask, value):
    """Whether a box allows a value."""
    return (mask[value >> 6] >> np.uint64(value & 63)) & np.uint64(1) != 0


@kernel
def keep_values(mask, start, end, first, last, inside):
    """Leave a box only the values in (or out of) a run of one feature."""
    for value in range(start, end):
        if (first <= value <= last) != inside:
            mask[value >> 6] &= ~(np.uint64(1) << np.uint64(value & 63))


@kernel
def meets(conditions, mask, rule, size):
    """Whether a box and a rule have points in common."""
    for k in range(size):
        found = False
        for value in range(conditions.first[rule[k]], conditions.last[rule[k]] + 1):
            if holds(mask, value):
                found = True
                break
        if not found:
            return False
    return True


@kernel
def share_inside(conditions, mask, condition):
    """The measures of a box's values of one feature, in a condition's run and out of it."""
    inside, outside = 0.0, 0.0
    first, last = conditions.first[condition], conditions.last[condition]
    for value in range(conditions.start[condition], conditions.end[condition]):
        if holds(mask, value):
            if first <= value <= last:
                inside += conditions.measure[value]
            else:
                outside += conditions.measure[value]
    return inside, outside


@kernel
def take_boxes(conditions, pool, before, count, rule, size, after):
    """Cut boxes along the conditions of a rule; the volume it takes, and how many boxes are left (-1: no room)."""
    taken, left = 0.0, 0
    room = after.shape[0]
    for i in range(count):
        if left + size > room or pool.top[0] + size > pool.volume.shape[0]:
            return taken, -1
        box = before[i]
        if not meets(conditions, pool.mask[box], rule, size):
            after[left] = box
            left += 1
            continue
        part = pool.volume[box]
        for k in range(size):
            inside, outside = share_inside(conditions, pool.mask[box], rule[k])
            whole = inside + outside
            if outside > 0:
                new = pool.top[0]
                pool.top[0] += 1
                mask = pool.mask[new]
                mask[:] = pool.mask[box]
                for j in range(k + 1):
                    c = rule[j]
                    keep_values(
                        mask, conditions.start[c], conditions.end[c], conditions.first[c], conditions.last[c], j < k
                    )
                pool.volume[new] = part * (outside / whole)
                after[left] = new
                left += 1
            part *= inside / whole
        taken += part
    return taken, left


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
            total += math.exp(belief.rate[c])
    return math.log(total) if total > 0 else 0.0


@kernel
def log_prior(belief, size, n, unused):
    """The log prior of a list of n rules of these sizes."""
    unused[:] = belief.antecedents
    norm = log_available(belief, unused)
    total = belief.length[n]
    for j in range(n):
        c = size[j]
        total += belief.rate[c] - norm - math.log(unused[c])
        unused[c] -= 1
        if unused[c] <= 0:
            norm = log_available(belief, unused)
    return total


@kernel
def weigh(task, current, other, pool, begin, stop, n):
    """Follow a changed list from its first changed place to leaf stop - 1; its log prior and its log evidence.

    Leaves before and after are those of the current list. Minus infinity where there is no room for the boxes.
    """
    prior = log_prior(task.belief, other.size, n, other.unused)
    fit = task.belief.head[n]
    for j in range(begin):
        fit += current.term[j]
    for j in range(stop, n + 1):
        fit += current.term[j]
    for j in range(begin, stop):
        source = current if j == begin else other
        if j == n:
            weight = weight_of(task.rows, source.rows[j])
            volume = volume_of(pool, source.boxes[j], source.n_boxes[j])
        else:
            rule, size = other.rule[j], other.size[j]
            taken = other.rows[other.rows.shape[0] - 1]
            weight = take_rows(task.rows, source.rows[j], rule, size, taken, other.rows[j + 1])
            volume, left = take_boxes(
                task.conditions, pool, source.boxes[j], source.n_boxes[j], rule, size, other.boxes[j + 1]
            )
            if left < 0:
                return prior, -np.inf
            other.n_boxes[j + 1] = left
        other.term[j] = leaf_term(task.belief, weight, volume)
        fit += other.term[j]
        if fit == -np.inf:
            return prior, fit
    return prior, fit


@kernel
def accept(current, other, begin, stop, n, prior, fit):
    """Make the changed list the current one."""
    for j in range(begin, n):
        current.rule[j] = other.rule[j]
        current.size[j] = other.size[j]
    for j in range(begin, stop):
        current.term[j] = other.term[j]
    for j in range(begin + 1, stop):
        current.rows[j] = other.rows[j]
        count = other.n_boxes[j]
        current.boxes[j, :count] = other.boxes[j, :count]
        current.n_boxes[j] = count
    current.n[0] = n
    current.score[0], current.score[1] = prior, fit


@kernel
def keep_best(current, archive):
    """Remember the current list if it is the best of its length."""
    n = current.n[0]
    score = current.score[0] + current.score[1]
    if score > archive.score[n] + TIE:
        archive.score[n] = score
        archive.rule[n, :n] = current.rule[:n]
        archive.size[n, :n] = current.size[:n]


@kernel
def rebuild(task, current, other, pool):
    """Follow the current list from the top, with an empty pool; False where there is no room for its boxes."""
    pool.top[0] = 1
    n = current.n[0]
    other.rule[:n] = current.rule[:n]
    other.size[:n] = current.size[:n]
    current.rows[0] = task.rows.everything
    current.boxes[0, 0] = 0
    current.n_boxes[0] = 1
    prior, fit = weigh(task, current, other, pool, 0, n + 1, n)
    accept(current, other, 0, n + 1, n, prior, fit)
    return fit > -np.inf


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
        if conditions.feature[rule[i]] == conditions.feature[rule[i - 1]]:
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
    while size < choice.up_to.shape[0] - 1 and choice.up_to[size] <= mark:
        size += 1
    if choice.listed.shape[0] > 0:
        which = choice.begin[size] + draw_below(rng, choice.begin[size + 1] - choice.begin[size])
        rule[:size] = choice.listed[which, :size]
        return size
    while True:
        for k in range(size):
            rule[k] = draw_below(rng, task.conditions.feature.shape[0])
        sort_rule(rule, size)
        if not repeats_feature(task.conditions, rule, size):
            return size


@kernel
def stands_twice(other, place, n):
    """Whether the rule at a place stands elsewhere in the list too."""
    for j in range(n):
        if j != place and other.size[j] == other.size[place]:
            same = True
            for k in range(other.size[j]):
                if other.rule[j, k] != other.rule[place, k]:
                    same = False
                    break
            if same:
                return True
    return False


@kernel
def change_condition(task, rng, rule, size):
    """Put another condition in the place of one; whether the rule is still an antecedent."""
    rule[draw_below(rng, size)] = draw_below(rng, task.conditions.feature.shape[0])
    sort_rule(rule, size)
    if repeats_feature(task.conditions, rule, size):
        return False
    if task.choice.least <= 0:
        return True
    obey = task.rows.everything.copy()
    for k in range(size):
        obey &= task.rows.bits[rule[k]]
    return weight_of(task.rows, obey) >= task.choice.least


@kernel
def shift_rule(other, source, target):
    """Move one rule; those between close up."""
    rule, size = other.rule[source].copy(), other.size[source]
    step = 1 if source < target else -1
    j = source
    while j != target:
        other.rule[j] = other.rule[j + step]
        other.size[j] = other.size[j + step]
        j += step
    other.rule[target] = rule
    other.size[target] = size


@kernel
def propose(task, current, other, limit, rng):
    """Change a copy of the list at random.

    Returns the first and the last leaf that change (the last plus one), the new number of rules, and the log of the
    probability of the way back over that of the way there. A proposal that cannot be has no leaves: stop = 0.
    """
    n = current.n[0]
    other.rule[:n] = current.rule[:n]
    other.size[:n] = current.size[:n]
    mark = rng.random()
    log_share = task.choice.log_share
    if mark < ADD:
        place = draw_below(rng, n + 1)
        if n >= limit:
            return 0, 0, n, 0.0
        other.size[n] = draw_antecedent(task, rng, other.rule[n])
        size = other.size[n]
        if stands_twice(other, n, n + 1):
            return 0, 0, n, 0.0
        shift_rule(other, n, place)
        return place, n + 2, n + 1, -log_share[size]
    if n == 0:
        return 0, 0, n, 0.0
    place = draw_below(rng, n)
    size = other.size[place]
    if mark < REMOVE:
        shift_rule(other, place, n - 1)
        return place, n, n - 1, log_share[size]
    if mark < CHANGE:
        if mark < REPLACE:
            other.size[place] = draw_antecedent(task, rng, other.rule[place])
        elif not change_condition(task, rng, other.rule[place], size):
            return 0, 0, n, 0.0
        if stands_twice(other, place, n):
            return 0, 0, n, 0.0
        return place, n + 1, n, log_share[size] - log_share[other.size[place]]
    if n == 1:
        return 0, 0, n, 0.0
    target = draw_below(rng, n - 1)
    target += target >= place
    shift_rule(other, place, target)
    if mark < SWAP:
        shift_rule(other, target - 1 if target > place else target + 1, place)
    return min(place, target), max(place, target) + 1, n, 0.0


@kernel
def walk(task, current, other, pool, archive, limit, hot, cold, proposals, rng, trace):
    """Metropolis-Hastings at falling temperatures; the log posterior is noted at even steps.

    From 1 up, only the evidence is tempered, so that long lists do not outnumber good ones; at 1 the walk samples
    the posterior. Below 1, the whole posterior is, and the walk climbs.
    """
    cooling = (cold / hot) ** (1.0 / proposals)
    temperature = hot
    every = max(1, proposals // trace.shape[0])
    for t in range(proposals):
        if 2 * pool.top[0] > pool.volume.shape[0]:
            rebuild(task, current, other, pool)
        begin, stop, n, log_ratio = propose(task, current, other, limit, rng)
        mark = rng.random()
        if stop > 0:
            prior, fit = weigh(task, current, other, pool, begin, stop, n)
            more_prior, more_fit = prior - current.score[0], fit - current.score[1]
            if temperature >= 1:
                change = more_prior + log_ratio + more_fit / temperature
            else:
                change = (more_prior + more_fit) / temperature
            if change > -np.inf and (change >= 0 or mark < math.exp(change)):
                accept(current, other, begin, stop, n, prior, fit)
                keep_best(current, archive)
        temperature *= cooling
        if t % every == every - 1 and t // every < trace.shape[0]:
            trace[t // every] = current.score[0] + current.score[1]


@kernel
def supports(rows, listed, out):
    """The weight of the rows that obey each of some antecedents of one size."""
    obey = np.empty_like(rows.everything)
    for i in range(listed.shape[0]):
        obey[:] = rows.everything
        for k in range(listed.shape[1]):
            more = rows.bits[listed[i, k]]
            for w in range(obey.shape[0]):
                obey[w] &= more[w]
        out[i] = weight_of(rows, obey)


@kernel
def measure_boxes(conditions, pool, boxes, count, room):
    """The boxes as a list sees them, and the share of each that lies inside every condition."""
    for b in range(count):
        room.parts[0, b] = pool.volume[boxes[b]]
        for c in range(conditions.feature.shape[0]):
            inside, outside = share_inside(conditions, pool.mask[boxes[b]], c)
            room.shares[c, b] = inside / (inside + outside)


@kernel
def narrow(task, room, depth, condition, count):
    """Add a condition to those above: the weight and the volume that are left."""
    more = task.rows.bits[condition]
    if room.weight[depth] > 0:
        for w in range(more.shape[0]):
            room.rows[depth + 1, w] = room.rows[depth, w] & more[w]
        room.weight[depth + 1] = weight_of(task.rows, room.rows[depth + 1])
    else:
        room.weight[depth + 1] = 0.0
    volume = 0.0
    for b in range(count):
        room.parts[depth + 1, b] = room.parts[depth, b] * room.shares[condition, b]
        volume += room.parts[depth + 1, b]
    return volume


@kernel
def supported(task, room, depth, condition):
    """Whether the conditions down to this one have the least weight that antecedents must have."""
    if task.choice.least <= 0:
        return True
    room.support[depth + 1] = room.support[depth] & task.rows.bits[condition]
    return weight_of(task.rows, room.support[depth + 1]) >= task.choice.least


@kernel
def best_addition(task, current, pool, room, deepest, noise, rng, chosen):
    """Which antecedent gains most when it divides the else; returns the gain and the size (0: there is none).

    With noise, the antecedent is drawn: the more it gains, measured in units of the noise, the likelier.
    """
    n = current.n[0]
    count = current.n_boxes[n]
    belief = task.belief
    measure_boxes(task.conditions, pool, current.boxes[n], count, room)
    room.rows[0] = current.rows[n]
    room.support[0] = task.rows.everything
    room.weight[0] = weight_of(task.rows, current.rows[n])
    whole = volume_of(pool, current.boxes[n], count)
    prior = log_prior(belief, current.size, n, current.unused) - belief.length[n]
    norm = log_available(belief, current.unused)
    fixed = belief.length[n + 1] + prior + belief.head[n + 1] + current.score[1] - belief.head[n] - current.term[n]
    fixed -= current.score[0] + current.score[1]
    best, best_gain, best_size = -np.inf, -np.inf, 0
    depth = 0
    room.path[0] = -1
    while depth >= 0:
        room.path[depth] += 1
        condition = room.path[depth]
        if condition >= task.conditions.feature.shape[0]:
            depth -= 1
            continue
        if not supported(task, room, depth, condition):
            continue
        volume = narrow(task, room, depth, condition, count)
        size = depth + 1
        if volume > 0 and current.unused[size] > 0:
            weight, rest = room.weight[size], whole - volume
            if rest < 1e-12 * whole:
                rest = 0.0
            gain = fixed + belief.rate[size] - norm - math.log(current.unused[size])
            gain += leaf_term(belief, weight, volume) + leaf_term(belief, room.weight[0] - weight, rest)
            value = gain
            if noise > 0:
                value -= noise * math.log(-math.log(1.0 - rng.random()))
            if value > best:
                best, best_gain, best_size = value, gain, size
                chosen[:size] = room.path[:size]
        if size < deepest and volume > 0:
            room.path[size] = task.conditions.after[condition] - 1
            depth += 1
    return best_gain, best_size


@kernel
def grow(task, current, other, pool, archive, room, limit, deepest, noise, rng):
    """Divide the else again and again while that pays; returns how many rules were added."""
    added = 0
    while current.n[0] < limit:
        n = current.n[0]
        gain, size = best_addition(task, current, pool, room, deepest, noise, rng, other.rule[n])
        if size == 0 or gain <= TIE:
            break
        other.size[:n] = current.size[:n]
        other.size[n] = size
        prior, fit = weigh(task, current, other, pool, n, n + 2, n + 1)
        if fit == -np.inf:
            break
        accept(current, other, n, n + 2, n + 1, prior, fit)
        keep_best(current, archive)
        added += 1
    return added


@kernel
def sweep(task, current, other, pool, archive, limit, place):
    """Try every listed antecedent as a new rule at a place and instead of the rule there; take what is better."""
    tried = 0
    for i in range(task.choice.listed.shape[0]):
        size = 1
        while task.choice.begin[size + 1] <= i:
            size += 1
        for instead in range(2):
            n = current.n[0]
            if (instead == 1 and place >= n) or (instead == 0 and n >= limit):
                continue
            if 2 * pool.top[0] > pool.volume.shape[0]:
                rebuild(task, current, other, pool)
            other.rule[:place] = current.rule[:place]
            other.size[:place] = current.size[:place]
            other.rule[place, :size] = task.choice.listed[i, :size]
            other.size[place] = size
            m = n + 1 - instead
            other.rule[place + 1 : m] = current.rule[place + instead : n]
            other.size[place + 1 : m] = current.size[place + instead : n]
            if stands_twice(other, place, m):
                continue
            tried += 1
            prior, fit = weigh(task, current, other, pool, place, m + 1, m)
            if prior + fit > current.score[0] + current.score[1] + TIE:
                accept(current, other, place, m + 1, m, prior, fit)
                keep_best(current, archive)
    return tried
