"""Pruning a grown tree exactly: for every number of leaves, the best of all its prunings.

The gain of every split is known, and the gains of the splits that a pruning keeps add up; so a table over the number of
leaves at every node, children before parents, knows the best pruning of each size.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sparsedensity.domain import Domain
from sparsedensity.structures import Tree
from sparsedensity.structures.tree import Division, Split
from sparsedensity.table import Floats

SAME = 1e-9
"""Sums of gains this close are equal."""


def best_sums(splits: Sequence[Split], gains: Floats) -> list[Floats]:
    """For every node and every number of leaves k, the largest sum of gains of a pruning with k leaves below it."""
    tables: list[Floats] = [np.array([-np.inf, 0.0]) for _ in splits]
    for node in range(len(splits) - 1, -1, -1):
        split = splits[node]
        if split is None:
            continue
        one, other = (tables[child] for _, child in split[1])
        table = best_together(one, other) + gains[node]
        table[1] = 0.0
        tables[node] = table
    return tables


def best_together(one: Floats, other: Floats) -> Floats:
    """For every number of leaves the best sum over two subtrees that share them, given those of each."""
    short, long = sorted((one, other), key=len)
    table = np.full(len(short) + len(long) - 1, -np.inf)
    for k in range(1, len(short)):
        table[k : k + len(long)] = np.maximum(table[k : k + len(long)], short[k] + long)
    return table


def size_of_best(sums: Floats, by_leaves: Floats) -> int:
    """The number of leaves of the best pruning, the smallest of equals."""
    totals = sums[: len(by_leaves)] + by_leaves
    return int(np.flatnonzero(totals >= totals[1:].max() - SAME)[0])


def pruned(domain: Domain, grown: Sequence[Split], sums: Sequence[Floats], leaves: int) -> Tree:
    """The best pruning with so many leaves."""

    def divide(place: tuple[int, int]) -> Division[tuple[int, int]]:
        node, k = place
        split = grown[node]
        if k == 1 or split is None:
            return None
        feature, [(first, left), (second, right)] = split
        share = share_of(sums[left], sums[right], k)
        return feature, [(first, (left, share)), (second, (right, k - share))]

    return Tree.grown(domain, (0, leaves), divide)


def share_of(left: Floats, right: Floats, k: int) -> int:
    """How many of k leaves the left child gets in the best pruning."""
    low, high = max(1, k - len(right) + 1), min(len(left) - 1, k - 1)
    sums = left[low : high + 1] + right[k - high : k - low + 1][::-1]
    return low + int(np.argmax(sums))
