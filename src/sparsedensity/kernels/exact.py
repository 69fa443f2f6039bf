"""Dynamic programs over all regions of a domain, in the order of their numbers: every part before its whole."""

from typing import NamedTuple

import numpy as np

from sparsedensity.kernels import kernel


class Partings(NamedTuple):
    """Every side of every feature and its partings in two, feature after feature.

    Region numbers are mixed radix: a feature has a `stride` and a number of `digits`. Its sides begin at `side`, and
    the partings of side s at `start[s]`. `first` and `rest` are numbers of sides times the stride, so that they add
    to a region number whose digit is 0; `size` and `rest_size` are numbers of codes.
    """

    stride: np.ndarray
    digits: np.ndarray
    side: np.ndarray
    size: np.ndarray
    start: np.ndarray
    first: np.ndarray
    rest: np.ndarray
    rest_size: np.ndarray


class Chains(NamedTuple):
    """The best division of a region along one feature into b = 2, 3, .. groups, kept as long as it is needed.

    Those of feature f lie in `best` from `begin[f]`, `width[f]` numbers a region, and are overwritten after
    `block[f]` regions: the larger regions of the same line come before that.
    """

    best: np.ndarray
    begin: np.ndarray
    width: np.ndarray
    block: np.ndarray


@kernel
def best_sums(leaf, price, partings, begin, end, value):
    """The largest sum over leaves of worth minus price, for the regions from begin to end."""
    for region in range(begin, end):
        best = leaf[region] - price
        for feature in range(partings.stride.shape[0]):
            digit = region // partings.stride[feature] % partings.digits[feature]
            base = region - digit * partings.stride[feature]
            side = partings.side[feature] + digit
            for i in range(partings.start[side], partings.start[side + 1]):
                total = value[base + partings.first[i]] + value[base + partings.rest[i]]
                if total > best:
                    best = total
        value[region] = best


@kernel
def best_branches(leaf, price, partings, chains, weight, head, child, begin, end, value):
    """The largest sum over nodes for the regions from begin to end, each with what it adds as a child.

    `weight` is the place of a region's weight in `head` (what b groups of it cost) and `child`.
    """
    for region in range(begin, end):
        own = weight[region]
        best = leaf[region] - price
        for feature in range(partings.stride.shape[0]):
            digit = region // partings.stride[feature] % partings.digits[feature]
            base = region - digit * partings.stride[feature]
            side = partings.side[feature] + digit
            size, width, block = partings.size[side], chains.width[feature], chains.block[feature]
            if partings.start[side] == partings.start[side + 1]:
                continue
            slot = chains.begin[feature] + region % block * width - 2
            for groups in range(2, size + 1):
                chains.best[slot + groups] = -np.inf
            for i in range(partings.start[side], partings.start[side + 1]):
                first, rest = value[base + partings.first[i]], base + partings.rest[i]
                chains.best[slot + 2] = max(chains.best[slot + 2], first + value[rest])
                below = chains.begin[feature] + rest % block * width - 3
                for groups in range(3, partings.rest_size[i] + 2):
                    total = first + chains.best[below + groups]
                    if total > chains.best[slot + groups]:
                        chains.best[slot + groups] = total
            for groups in range(2, size + 1):
                best = max(best, chains.best[slot + groups] + head[own, groups])
        value[region] = best + child[own]


@kernel
def line_chains(value, partings, feature, base, digit, best):
    """The best division of each side of one line into b groups, at best[side, b]."""
    side = partings.side[feature]
    stride = partings.stride[feature]
    for own in range(digit + 1):
        best[own, 1] = value[base + own * stride]
        for i in range(partings.start[side + own], partings.start[side + own + 1]):
            first, rest = partings.first[i] // stride, partings.rest[i] // stride
            for groups in range(2, partings.rest_size[i] + 2):
                best[own, groups] = max(best[own, groups], best[first, 1] + best[rest, groups - 1])
