"""Dynamic programs over all regions of a domain, in the order of their numbers: every part before its whole."""

from typing import NamedTuple

import numpy as np

from sparsedensity.kernels import kernel
from sparsedensity.kernels.belief import term


class Partings(NamedTuple):
    """Every side of every feature and its partings in two, feature after feature.

    Region numbers are mixed radix: a feature has a `stride` and a number of `digits`. Its sides begin at `side`, and
    the partings of side s at `start[s]`. `first` and `rest` are numbers of sides times the stride, so that they add
    to a region number whose digit is 0; `size` and `rest_size` are numbers of codes. `order` is the features from the
    lowest digit to the highest.
    """

    order: np.ndarray
    stride: np.ndarray
    digits: np.ndarray
    side: np.ndarray
    size: np.ndarray
    start: np.ndarray
    first: np.ndarray
    rest: np.ndarray
    rest_size: np.ndarray


class Terms(NamedTuple):
    """What nodes add to a sum, for every region.

    A region's entry in a table is what it adds as a child: its own best sum and `child`. What else its parent pays is
    in `head`, by the number of its branches. Both depend on the weight alone, and `weight` is its place in them.
    """

    leaf: np.ndarray
    weight: np.ndarray
    head: np.ndarray
    child: np.ndarray


class Chains(NamedTuple):
    """The best division of a region along one feature into b = 2, 3, .. groups, kept as long as it is needed.

    Those of feature f lie in `best` from `begin[f]`, `width[f]` numbers per region, and are overwritten after
    `block[f]` regions: the larger regions of the same line come before that.
    """

    best: np.ndarray
    begin: np.ndarray
    width: np.ndarray
    block: np.ndarray


class ValuePlaces(NamedTuple):
    """Where to find what a region holds of a value: it is the weight of the part that allows only this value.

    `held` has a row of weights by region for all rows of the table, and one for the rows at each value of a feature
    that is never split. A value has a `row` of it, and `alone`, the side that allows only the value as a step of
    region numbers. `has` says which codes each side allows.
    """

    held: np.ndarray
    row: np.ndarray
    alone: np.ndarray
    has: np.ndarray


@kernel
def digits_of(region, partings):
    """The digits of a region number."""
    digit = np.empty(partings.stride.shape[0], np.int64)
    for feature in range(digit.shape[0]):
        digit[feature] = region // partings.stride[feature] % partings.digits[feature]
    return digit


@kernel
def count_up(digit, partings):
    """The digits of the next region number: a division for each feature and region would take most of the time."""
    for i in range(digit.shape[0]):
        feature = partings.order[i]
        digit[feature] += 1
        if digit[feature] < partings.digits[feature]:
            break
        digit[feature] = 0


@kernel
def counted_terms(leaf, places, partings, space, span, out):
    """The terms of a leaf model that is not even, for the regions of a span."""
    digit = digits_of(span[0], partings)
    counts, allowed = np.zeros(space.values.size), np.zeros(space.values.size)
    for region in range(span[0], span[1]):
        for feature in range(digit.shape[0]):
            start, side = space.features[feature].start, partings.side[feature] + digit[feature]
            base = region - digit[feature] * partings.stride[feature]
            for value in range(start, space.features[feature].stop):
                allowed[value] = places.has[side, value - start]
                counts[value] = 0.0
                if allowed[value] > 0:
                    counts[value] = places.held[places.row[value], base + places.alone[value]]
        out[region] = term(leaf, counts, allowed, space)
        count_up(digit, partings)


@kernel
def best_sums(leaf, price, partings, begin, end, value):
    """The largest sum over leaves of worth minus price, for the regions from begin to end."""
    digit = digits_of(begin, partings)
    for region in range(begin, end):
        best = leaf[region] - price
        for feature in range(digit.shape[0]):
            base = region - digit[feature] * partings.stride[feature]
            side = partings.side[feature] + digit[feature]
            for i in range(partings.start[side], partings.start[side + 1]):
                total = value[base + partings.first[i]] + value[base + partings.rest[i]]
                if total > best:
                    best = total
        value[region] = best
        count_up(digit, partings)


@kernel
def best_by_leaves(leaf, partings, begin, end, table):
    """The largest sum over exactly k leaves, at table[region, k], for the regions from begin to end.

    A region has trees of 1, 2, .. leaves up to its number of points, so the first k without one ends the row.
    """
    digit = digits_of(begin, partings)
    for region in range(begin, end):
        own = table[region]
        own[:] = -np.inf
        own[1] = leaf[region]
        for feature in range(digit.shape[0]):
            base = region - digit[feature] * partings.stride[feature]
            side = partings.side[feature] + digit[feature]
            for i in range(partings.start[side], partings.start[side + 1]):
                join(table[base + partings.first[i]], table[base + partings.rest[i]], 1, own)
        count_up(digit, partings)


@kernel
def join(first, rest, least, best):
    """The best sums of two parts together, by their leaves; the second part has at least so many."""
    most = best.shape[0] - 1
    for j in range(1, most):
        if first[j] == -np.inf:
            break
        for k in range(least, most - j + 1):
            if rest[k] == -np.inf:
                break
            best[j + k] = max(best[j + k], first[j] + rest[k])


@kernel
def best_nodes_by_leaves(terms, partings, span, lines, table):
    """The largest sum over nodes with exactly k leaves, at table[region, k], each with what it adds as a child."""
    digit = digits_of(span[0], partings)
    for region in range(span[0], span[1]):
        own, weight = table[region], terms.weight[region]
        own[:] = -np.inf
        own[1] = terms.leaf[region]
        for feature in range(digit.shape[0]):
            side = digit[feature]
            line_chains_by_leaves(table, region - side * partings.stride[feature], partings, feature, side, lines)
            for groups in range(2, partings.size[partings.side[feature] + side] + 1):
                for k in range(groups, own.shape[0]):
                    own[k] = max(own[k], lines[side, groups, k] + terms.head[weight, groups])
        own += terms.child[weight]
        count_up(digit, partings)


@kernel
def line_chains_by_leaves(table, base, partings, feature, digit, best):
    """As `line_chains`, the best with k leaves at best[side, b, k]."""
    side, stride = partings.side[feature], partings.stride[feature]
    for own in range(digit + 1):
        best[own, : partings.size[side + own] + 1] = -np.inf
        if own < digit:
            best[own, 1] = table[base + own * stride]
        for i in range(partings.start[side + own], partings.start[side + own + 1]):
            first, rest = best[partings.first[i] // stride, 1], best[partings.rest[i] // stride]
            for groups in range(2, partings.rest_size[i] + 2):
                join(first, rest[groups - 1], groups - 1, best[own, groups])


@kernel
def best_branches(terms, price, partings, chains, span, value):
    """The largest sum over nodes for the regions of a span, each with what it adds as a child."""
    digit = digits_of(span[0], partings)
    for region in range(span[0], span[1]):
        own = terms.weight[region]
        best = terms.leaf[region] - price
        for feature in range(digit.shape[0]):
            base = region - digit[feature] * partings.stride[feature]
            side = partings.side[feature] + digit[feature]
            if partings.start[side] == partings.start[side + 1]:
                continue
            size, width = partings.size[side], chains.width[feature]
            slot = chains.begin[feature] + region % chains.block[feature] * width - 2
            for groups in range(2, size + 1):
                chains.best[slot + groups] = -np.inf
            for i in range(partings.start[side], partings.start[side + 1]):
                first, rest = value[base + partings.first[i]], base + partings.rest[i]
                chains.best[slot + 2] = max(chains.best[slot + 2], first + value[rest])
                below = slot - (region - rest) * width - 1
                for groups in range(3, partings.rest_size[i] + 2):
                    total = first + chains.best[below + groups]
                    if total > chains.best[slot + groups]:
                        chains.best[slot + groups] = total
            for groups in range(2, size + 1):
                best = max(best, chains.best[slot + groups] + terms.head[own, groups])
        value[region] = best + terms.child[own]
        count_up(digit, partings)


@kernel
def line_chains(value, base, step, partings, feature, digit, best):
    """The best division of each side of one line into b groups, at best[side, b].

    The regions of the line are `base`, `base + step`, ..; the last one, at `digit`, is the whole to be divided.
    """
    side, stride = partings.side[feature], partings.stride[feature]
    for own in range(digit + 1):
        for groups in range(1, partings.size[side + own] + 1):
            best[own, groups] = -np.inf
        if own < digit:
            best[own, 1] = value[base + own * step]
        for i in range(partings.start[side + own], partings.start[side + own + 1]):
            first, rest = best[partings.first[i] // stride, 1], partings.rest[i] // stride
            for groups in range(2, partings.rest_size[i] + 2):
                total = first + best[rest, groups - 1]
                if total > best[own, groups]:
                    best[own, groups] = total


class Blocks(NamedTuple):
    """Regions that restrict few features, one block for each set of restricted features.

    Within a block region numbers are mixed radix over the proper sides of its features. `extended[block, f]` is the
    block with feature f restricted too (the same one if it is already), `stride[block, f]` the step of its digit.
    """

    begin: np.ndarray
    depth: np.ndarray
    features: np.ndarray
    extended: np.ndarray
    stride: np.ndarray


@kernel
def line_of(region, block, feature, blocks, partings):
    """The line through a region along a feature: its first region, its step, and the digit of the region itself."""
    wider = blocks.extended[block, feature]
    base, digit = blocks.begin[wider], partings.digits[feature] - 1
    for i in range(blocks.depth[block]):
        inside = blocks.features[block, i]
        own = (region - blocks.begin[block]) // blocks.stride[block, inside] % (partings.digits[inside] - 1)
        if inside == feature:
            digit = own
        else:
            base += own * blocks.stride[wider, inside]
    return base, blocks.stride[wider, feature], digit


@kernel
def best_shallow(terms, price, regions, below, span, best, value):
    """The largest sum over nodes with one level more than `below`, for those of the regions in a span."""
    blocks, partings = regions
    for region in range(span[0], span[1]):
        block = np.searchsorted(blocks.begin, region, side="right") - 1
        own = terms.weight[region]
        total = terms.leaf[region] - price
        for feature in range(blocks.extended.shape[1]):
            if partings.digits[feature] > 1:
                base, step, digit = line_of(region, block, feature, blocks, partings)
                line_chains(below, base, step, partings, feature, digit, best)
                for groups in range(2, partings.size[partings.side[feature] + digit] + 1):
                    total = max(total, best[digit, groups] + terms.head[own, groups])
        value[region] = total + terms.child[own]
