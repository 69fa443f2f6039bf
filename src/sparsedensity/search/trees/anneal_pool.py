"""What all chains of an annealing search know together: the best tree made of splits that any of them knows.

A chain remembers, for every region it met, the first split of the best subtree it ever saw there. What a subtree gains
depends on its region alone, so the subtrees of one chain fit under the splits of another wherever regions are the same.
Put together, the splits of all chains make a graph, in which the best tree at a price per leaf is found from the
smallest regions up. It is often far better than the best tree of any chain.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsedensity.domain import Domain
from sparsedensity.kernels.anneal_regions import Memory
from sparsedensity.kernels.counted_parts import MOST_GROUPS
from sparsedensity.structures import Tree
from sparsedensity.structures.tree import Division
from sparsedensity.table import Floats

Ints = NDArray[np.int64]
MOST_BYTES = 4_000_000
"""For the splits of one memory: those of the heaviest regions, if there are too many."""
MOST_POOLED = 50 * MOST_BYTES
"""For the splits of all chains: beyond that, those that no tree can reach are dropped."""
GIVERS = 62
"""So many chains can be told apart."""
EVERYONE = -1
HALVINGS, FULL, NEAR = 12, 0.97, 1.1
"""How often the price of a leaf is halved in, unless a tree is nearly as large as it may be; how far above the limit
one may be: chains prune it."""


class Splits(NamedTuple):
    """Splits of regions, one row each."""

    keys: Ints
    """The key of the region that is split."""
    sizes: Ints
    """How many values it allows; its parts allow fewer."""
    features: Ints
    gains: Floats
    """What the split gains if its parts are leaves."""
    labels: NDArray[np.uint8]
    """1 + the part that every value of the feature goes to; 0 if the region does not allow it."""
    parts: Ints
    """The keys of the parts; 0 where there are no more."""
    givers: Ints
    """Which chains know it, a bit each."""

    @classmethod
    def known(cls, memory: Memory, giver: int) -> Splits:
        """The splits that a memory knows."""
        features, values, at = memory.space.features, memory.space.values, np.arange(1, int(memory.learned[0]) + 1)
        most = MOST_BYTES // (memory.labels.shape[1] + 8 * MOST_GROUPS + 40)
        if len(at) > most:
            weights = memory.regions["weight"][memory.known["region"][at]]
            at = np.sort(at[np.argsort(-weights, kind="stable")[:most]])
        known, labels = memory.known[at], memory.labels[at]
        which = known["region"]
        keys = memory.regions["key"][which]
        parts = np.zeros((len(which), MOST_GROUPS), np.int64)
        for f in np.unique(known["feature"]).tolist():
            start, stop = int(features["start"][f]), int(features["stop"][f])
            rows, folds = np.flatnonzero(known["feature"] == f), values["key"][start:stop]
            inside = labels[rows, : stop - start]
            others = keys[rows] ^ folded(inside > 0, folds)
            for part in range(int(inside.max())):
                here = inside == part + 1
                parts[rows, part] = np.where(here.any(axis=1), others ^ folded(here, folds), 0)
        sizes, givers = np.count_nonzero(memory.allowed[which], axis=1), np.full(len(which), one_of(giver))
        return cls(keys, sizes, known["feature"], known["first"], labels, parts, givers)

    @classmethod
    def together(cls, known: Sequence[Splits]) -> Splits:
        """Splits that several chains know, each once."""
        columns: list[Any] = [np.concatenate(column) for column in zip(*known, strict=True)]
        every = cls(*columns)
        odd = 2 * np.arange(1, MOST_GROUPS + 2) * 0x2545F4914F6CDD1D + 1  # wraps around, as it may
        names = every.keys * odd[0] + (every.parts * odd[1:]).sum(axis=1)
        _, first, same = np.unique(names, return_index=True, return_inverse=True)
        givers = np.zeros(len(first), np.int64)
        np.bitwise_or.at(givers, same, every.givers)
        return every.chosen(first)._replace(givers=givers)

    def chosen(self, rows: NDArray[np.intp]) -> Splits:
        """Some of the splits."""
        columns: list[Any] = [column[rows] for column in self]
        return Splits(*columns)

    @property
    def bytes(self) -> int:
        """How much memory they take."""
        return sum(column.nbytes for column in self)


def one_of(giver: int) -> int:
    """The bit of a chain; if there are very many, some share one."""
    return 1 << giver % GIVERS


def some_of(chosen: NDArray[np.bool_]) -> int:
    """The bits of some chains."""
    return sum(map(one_of, np.flatnonzero(chosen).tolist()))


def folded(mask: NDArray[np.bool_], keys: Ints) -> Ints:
    """The exclusive or of the keys that every row of a mask selects."""
    folds: Ints = np.bitwise_xor.reduce(np.where(mask, keys, 0), axis=1)
    return folds


class Graph:
    """Splits that can be part of a tree, those of the smallest regions first.

    Regions are numbered in that order, so the last one is the whole domain; the number after it stands for every part
    that nobody splits.
    """

    def __init__(self, splits: Splits, domain: Domain) -> None:
        self.domain = domain
        splits = splits.chosen(np.lexsort((splits.keys, splits.sizes)))
        begins = changes(splits.keys)
        region, keys = np.repeat(np.arange(len(begins) - 1), np.diff(begins)), splits.keys[begins[:-1]]
        there, parts = splits.parts != 0, np.full(splits.parts.shape, len(keys))
        parts[there] = places(splits.parts[there], keys)
        reached = np.zeros(len(keys) + 1, bool)
        reached[region[splits.sizes == domain.starts[-1]]] = True
        for begin, end in reversed(list(pairwise(changes(splits.sizes).tolist()))):
            reached[parts[begin:end][reached[region[begin:end]]]] = True
        reached[-1] = False
        kept, number = np.flatnonzero(reached[region]), np.cumsum(reached) - 1
        number[~reached] = self.regions = int(reached.sum())
        self.splits, self.parts = splits.chosen(kept), number[parts[kept]]
        self.more = np.count_nonzero(self.splits.parts, axis=1) - 1
        self.begins = changes(self.splits.keys)
        self.levels = changes(self.splits.sizes[self.begins[:-1]])

    def tree(self, price: float, limit: int, givers: int = EVERYONE) -> Tree:
        """The best tree at a price per leaf, or a higher one, made of what some chains know."""
        while (tree := self._grown(self._worth(price, givers))).n_leaves > NEAR * limit + 1:
            price += 0.1 * abs(price) + 0.1
        return tree

    def price(self, least: float, limit: int, guess: float = -np.inf) -> float:
        """What a leaf must gain so that the best tree is not larger than it may be; no less than it must anyway."""
        low, high = least, max(least, guess)
        while self._leaves(high) > limit:
            low, high = high, 2.0 * abs(high) + 1.0
        for _ in range(HALVINGS if high > low else 0):
            price = (low + high) / 2
            leaves = self._leaves(price)
            low, high = (price, high) if leaves > limit else (low, price)
            if FULL * limit <= leaves <= limit:
                break
        return high

    def _leaves(self, price: float) -> int:
        """How many leaves the best tree has at a price."""
        return self._grown(self._worth(price, EVERYONE)).n_leaves

    def _worth(self, price: float, givers: int) -> Floats:
        """What the best tree of its region is worth that begins with each split, from the smallest regions up."""
        worth: Floats = self.splits.gains - price * self.more
        worth[self.splits.givers & givers == 0] = -np.inf
        best = np.zeros(self.regions + 1)
        for begin, end in pairwise(self.levels.tolist()):
            first, last = self.begins[begin], self.begins[end]
            worth[first:last] += best[self.parts[first:last]].sum(axis=1)
            tops = np.maximum.reduceat(worth[first:last], self.begins[begin:end] - first)
            best[begin:end] = np.maximum(tops, 0.0)
        return worth

    def _grown(self, worth: Floats) -> Tree:
        """The tree of the best splits, while they are worth more than a leaf."""

        def divide(region: int) -> Division[int]:
            if region == self.regions:
                return None
            begin, end = self.begins[region : region + 2]
            which = begin + int(np.argmax(worth[begin:end]))
            if worth[which] <= 0.0:
                return None
            labels, parts = self.splits.labels[which], self.parts[which, : self.more[which] + 1].tolist()
            branches = [(np.flatnonzero(labels == i + 1).tolist(), part) for i, part in enumerate(parts)]
            return int(self.splits.features[which]), branches

        return Tree.grown(self.domain, max(self.regions - 1, 0), divide)


def changes(values: Ints) -> Ints:
    """Where runs of equal values begin, and the end of the last."""
    inside = np.flatnonzero(values[1:] != values[:-1]) + 1
    ends = [0, *inside.tolist(), len(values)] if len(values) else [0]
    return np.array(ends, np.int64)


def places(wanted: Ints, keys: Ints) -> Ints:
    """Where keys stand in a list of them; its length for those that do not."""
    if not len(keys):
        return np.zeros(wanted.shape, np.int64)
    order, turn = np.argsort(keys), np.argsort(wanted)  # neighbours are looked for one after the other: much faster
    found = np.empty(len(wanted), np.int64)
    found[turn] = order[np.searchsorted(keys[order], wanted[turn]).clip(max=len(keys) - 1)]
    return np.where(keys[found] == wanted, found, len(keys))
