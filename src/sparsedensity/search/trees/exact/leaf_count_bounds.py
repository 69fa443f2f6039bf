"""Numbers of leaves against the best sum that each allows: what passes at a price per leaf tell about it.

A pass at price p finds the largest S(K) - p K. So S(K) <= best + p K for every K (a line above the curve), and the
curve touches it at the K of the tree that was found.
"""

from __future__ import annotations

import bisect
from copy import copy
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsedensity.table import Floats


class Chord(NamedTuple):
    """A line between two touched numbers of leaves; its slope is a price."""

    below: int
    above: int
    price: float


class LeafCountBounds:
    """An upper bound on the score of the best tree with each number of leaves."""

    def __init__(self, heads: Floats, limit: int) -> None:
        self.heads, self.limit = heads, limit
        """What the posterior adds for K leaves, at place K (minus infinity where there is no such tree), and up to
        how many leaves what is open is looked at."""
        self.leaves = np.arange(len(heads), dtype=np.float64)
        self.sums = np.full(len(heads), np.inf)
        """No tree with K leaves has a larger sum."""
        self.prices = np.full(len(heads), np.nan)
        """The price whose line gave that bound."""
        self.closed = np.zeros(len(heads), bool)
        """Numbers of leaves whose good trees have all been listed."""
        self.touched: dict[int, float] = {}
        """The sums at numbers of leaves where a line, or an end of the curve, touches it."""
        self.flat: set[tuple[int, int]] = set()
        """Pairs of touched numbers between which no line is lower."""

    @property
    def scores(self) -> Floats:
        """No tree with K leaves that was not listed has a larger log posterior."""
        return np.where(self.closed, -np.inf, self.heads + self.sums)

    def bounds(self, limit: int) -> tuple[float, float]:
        """No tree up to a limit, and none above it, that was not listed has a larger log posterior."""
        scores = self.scores
        return float(scores[: limit + 1].max()), float(scores[limit + 1 :].max(initial=-np.inf))

    def charged(self, charge: float) -> LeafCountBounds:
        """The same bounds, learned together, if every leaf but the first cost so much more."""
        other = copy(self)
        other.heads, other.closed = self.heads - charge * (self.leaves - 1), np.zeros(len(self.heads), bool)
        return other

    def learn(self, price: float, best: float, leaves: int) -> None:
        """Take in the line of a pass, and the number of leaves where it touches."""
        line = best + price * self.leaves
        lower = line < self.sums
        self.sums[lower], self.prices[lower] = line[lower], price
        self.touched[leaves] = best + price * leaves

    def around(self, leaves: int) -> tuple[int | None, int | None]:
        """The nearest touched numbers, up to and beyond one."""
        known = sorted(self.touched)
        place = bisect.bisect_right(known, leaves)
        return (known[place - 1] if place else None), (known[place] if place < len(known) else None)

    def next_chord(self, threshold: float, limit: int) -> Chord | None:
        """Where to try a price next: where the bound is highest and another line may lower it."""
        scores = self.scores[: limit + 1]
        hopeful = np.flatnonzero(scores > threshold)
        for leaves in hopeful[np.argsort(-scores[hopeful], kind="stable")].tolist():
            below, above = self.around(leaves)
            if below is None or above is None or below == leaves or (below, above) in self.flat:
                continue
            return Chord(below, above, (self.touched[above] - self.touched[below]) / (above - below))
        return None

    def note_flat(self, chord: Chord) -> None:
        """After a pass at its price: a chord that no new point lies above is part of the hull."""
        if self.around(chord.below)[1] == chord.above:
            self.flat.add((chord.below, chord.above))

    def open_group(self, threshold: float) -> tuple[float, NDArray[np.int64]] | None:
        """The numbers of leaves whose bound exceeds a threshold by the line of one price: those of the highest."""
        scores = self.scores[: self.limit + 1]
        open_ones = np.flatnonzero(scores > threshold)
        if not len(open_ones):
            return None
        price = float(self.prices[open_ones[scores[open_ones].argmax()]])
        return price, open_ones[self.prices[open_ones] == price]
