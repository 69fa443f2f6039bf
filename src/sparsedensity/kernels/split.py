"""The best division of one feature's values into two groups, from the weight at each value."""

import math
from typing import NamedTuple

import numpy as np

from sparsedensity.kernels import kernel

POSTERIOR, ISE = 0, 1


class Scale(NamedTuple):
    """How a leaf is scored, as data: a compiled function cannot be an argument without losing its cache."""

    criterion: int
    pseudocount: float
    n: float
    log_whole: float


class Values(NamedTuple):
    """The values of a domain as arrays: where each feature's begin, their measures, order and missing code."""

    start: np.ndarray
    measure: np.ndarray
    ordered: np.ndarray
    missing: np.ndarray


class Cut(NamedTuple):
    """The best cut of a feature's values put in order: the first `size` of them against the rest."""

    gain: float
    size: int
    missing_first: bool


@kernel
def leaf_score(weight, log_volume, scale):
    """What one leaf adds to the criterion: the posterior's leaf terms, or DET's n_l^2 / (n^2 V_l)."""
    if scale.criterion == POSTERIOR:
        return math.lgamma(weight + scale.pseudocount) - math.lgamma(scale.pseudocount) - weight * log_volume
    share = weight / scale.n
    return share * share * math.exp(scale.log_whole - log_volume)


@kernel
def sort_by_density(order, count, weight, measure):
    """Sort codes by weight over measure, densest first; ties keep the lower code first (Shell sort)."""
    gap = 1
    while gap < count // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, count):
            code = order[i]
            density = weight[code] / measure[code]
            j = i
            while j >= gap:
                before = order[j - gap]
                other = weight[before] / measure[before]
                if other > density or (other == density and before < code):
                    break
                order[j] = before
                j -= gap
            order[j] = code
        gap //= 3


@kernel
def large_enough(weight, least):
    """Whether a leaf may hold this weight: an empty leaf says where nothing is, and is always allowed."""
    return weight == 0 or weight >= least


@kernel
def best_cut(order, count, weight, measure, extra, log_volume, scale, least):
    """The best cut of ordered codes in two; the code `extra` (missing, or -1) may join either side or stand alone."""
    total, whole = 0.0, 0.0
    for i in range(count):
        total += weight[order[i]]
        whole += measure[order[i]]
    extra_weight, extra_measure = 0.0, 0.0
    if extra >= 0:
        extra_weight, extra_measure = weight[extra], measure[extra]
    total, whole = total + extra_weight, whole + extra_measure
    best = Cut(-np.inf, 0, False)
    first_weight, first_measure = 0.0, 0.0
    for size in range(count + 1):
        for joins in range(2):
            if joins == 1 and extra < 0:
                continue
            own = first_weight + joins * extra_weight
            space = first_measure + joins * extra_measure
            if space > 0 and space < whole and large_enough(own, least) and large_enough(total - own, least):
                gain = (
                    leaf_score(own, log_volume + math.log(space / whole), scale)
                    + leaf_score(total - own, log_volume + math.log1p(-space / whole), scale)
                    - leaf_score(total, log_volume, scale)
                )
                if gain > best.gain:
                    best = Cut(gain, size, joins == 1)
        if size < count:
            first_weight += weight[order[size]]
            first_measure += measure[order[size]]
    return best


@kernel
def best_split(weights, allowed, values, log_volume, scale, least, first):
    """The feature and the group of its values whose separation gains most; -1 where nothing can be separated.

    `weights` and `allowed` run over all values of the domain; `first` is filled with the first group.
    """
    best_gain, best_feature = -np.inf, -1
    order = np.empty(allowed.shape[0], np.int64)
    for feature in range(values.ordered.shape[0]):
        begin, end = values.start[feature], values.start[feature + 1]
        weight, measure = weights[begin:end], values.measure[begin:end]
        extra = values.missing[feature]
        if not values.ordered[feature] or extra < 0 or not allowed[begin + extra]:
            extra = -1
        count = 0
        for code in range(end - begin):
            if allowed[begin + code] and code != extra:
                order[count] = code
                count += 1
        if not values.ordered[feature]:
            sort_by_density(order, count, weight, measure)
        cut = best_cut(order, count, weight, measure, extra, log_volume, scale, least)
        if cut.gain > best_gain:
            best_gain, best_feature = cut.gain, feature
            first[:] = False
            for i in range(cut.size):
                first[begin + order[i]] = True
            if cut.missing_first:
                first[begin + extra] = True
    return best_gain, best_feature
