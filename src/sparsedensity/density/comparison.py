"""How far a second table differs from the one a density was fitted to, leaf by leaf.

Both tables are samples, so a difference is measured against the noise of both: the standardised difference of two
shares, and Pearson's test that the two tables have the same shares. Leaves that are too small for the test are pooled.
The leaves were chosen by looking at the first table, so with many leaves and few rows the test finds differences a
little too easily.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import gammaincc

from sparsedensity.table import Floats

LEAST_EXPECTED = 5.0
"""Leaves that expect less than this in either table are pooled for the test."""


@dataclass(frozen=True, eq=False)
class LeafComparison:
    """Two tables by leaf. A last entry is for rows outside the domain, if the second table has any."""

    expected: Floats
    """The share of each leaf that the density expects."""
    fitted: Floats
    """The weight of the table that the density was fitted to."""
    weights: Floats
    """The weight of the second table."""

    @classmethod
    def of(cls, probabilities: Floats, fitted: Floats, weights: Floats, outside: float) -> LeafComparison:
        """From what each leaf holds; `outside` is the weight of the second table in no leaf."""
        if outside > 0:
            return cls(np.append(probabilities, 0.0), np.append(fitted, 0.0), np.append(weights, outside))
        return cls(probabilities, fitted, weights)

    @cached_property
    def observed(self) -> Floats:
        """The shares of the second table."""
        shares: Floats = self.weights / self.weights.sum()
        return shares

    @cached_property
    def differences(self) -> Floats:
        """The difference of the two tables' shares in standard errors, leaf by leaf."""
        return standardised(self.fitted, self.weights)

    @cached_property
    def test(self) -> tuple[float, int, float]:
        """Pearson's statistic, its degrees of freedom, and the p-value."""
        statistic, freedom = homogeneity(self.fitted, self.weights)
        return statistic, freedom, float(gammaincc(freedom / 2, statistic / 2)) if freedom else 1.0

    @property
    def distance(self) -> float:
        """The Jensen-Shannon distance between expected and observed shares."""
        return jensen_shannon(self.expected, self.observed)

    def together(self, leaves: Sequence[int]) -> tuple[float, float, float, float]:
        """Several leaves as one: expected and observed share, difference in standard errors, weight."""
        first, second = math.fsum(self.fitted[leaves]), math.fsum(self.weights[leaves])
        rest = float(self.fitted.sum()) - first, float(self.weights.sum()) - second
        pooled = standardised(np.array([first, rest[0]]), np.array([second, rest[1]]))[0]
        difference = self.differences[leaves[0]] if len(leaves) == 1 else pooled
        return math.fsum(self.expected[leaves]), math.fsum(self.observed[leaves]), float(difference), second


def standardised(first: Floats, second: Floats) -> Floats:
    """The difference of two tables' shares over its standard error, positive if the second share is larger."""
    n, m = first.sum(), second.sum()
    pooled = (first + second) / (n + m)
    error = np.sqrt(np.maximum(0.0, pooled * (1 - pooled)) * (1 / n + 1 / m))
    scores: Floats = np.divide(second / m - first / n, error, out=np.zeros_like(error), where=error > 0)
    return scores


def homogeneity(first: Floats, second: Floats) -> tuple[float, int]:
    """Pearson's statistic for two tables having the same shares, and its degrees of freedom."""
    first, second = _pooled(first, second)
    n, m = first.sum(), second.sum()
    both = first + second
    used = both > 0
    difference = second[used] * math.sqrt(n / m) - first[used] * math.sqrt(m / n)
    return float((difference**2 / both[used]).sum()), max(0, int(used.sum()) - 1)


def jensen_shannon(p: Floats, q: Floats) -> float:
    """The square root of the Jensen-Shannon divergence, in bits: 0 if the same, 1 with nothing in common."""
    middle = (p + q) / 2

    def half(share: Floats) -> float:
        used = share > 0
        return float(share[used] @ np.log2(share[used] / middle[used])) / 2

    return math.sqrt(min(1.0, max(0.0, half(p) + half(q))))


def _pooled(first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """The two tables with their smallest cells pooled, until every cell expects enough in both."""
    least = LEAST_EXPECTED * (1 + max(first.sum() / second.sum(), second.sum() / first.sum()))
    order = np.argsort(first + second, kind="stable")
    first, second = first[order], second[order]
    small = int(np.sum(first + second < least))
    if small:
        enough = int(np.searchsorted(np.cumsum(first + second), least)) + 1
        small = max(small, min(enough, len(order)))
        first = np.append(first[:small].sum(), first[small:])
        second = np.append(second[:small].sum(), second[small:])
    return first, second
