"""How far two tables differ, leaf by leaf, and whether chance alone could do that.

Both tables are samples, so a difference is measured against the noise of both: the standardised difference of two
shares, and Pearson's test that the two tables have the same shares. The test holds if the leaves were chosen without
looking at which row is whose: then every division of the rows into two tables of these sizes is as likely as the one
that was seen. Given the leaves, such a division is a draw of so many rows from those of each leaf.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import gammaincc

from sparsedensity.table import Floats

LEAST_EXPECTED = 5.0
"""If every leaf expects so many rows in both tables, the statistic follows the chi-square distribution."""
PERMUTATIONS = 9_999
DRAWN_AT_ONCE = 1 << 22
MOST_ROWS = 10**9
"""So many rows cannot be divided at random here; chi-square is exact enough for them."""
ROUNDING = 1e-9


class SharesTest(NamedTuple):
    """Whether two tables have the same shares."""

    statistic: float
    """Pearson's chi-square."""
    freedom: int
    """Its degrees of freedom: leaves that hold a row, less one."""
    p_value: float
    """The probability of a statistic at least as large if both tables came from the same source."""
    permutations: int | None = None
    """How many random divisions it was compared with; ``None`` if with the chi-square distribution."""


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


def same_shares(
    first: Floats, second: Floats, permutations: int | None = None, rng: np.random.Generator | None = None
) -> SharesTest:
    """Pearson's test that two tables, counted by leaf, have the same shares.

    By so many random divisions of all rows; without a number by the chi-square distribution if counts allow.

    >>> same_shares(np.array([30.0, 70.0]), np.array([45.0, 55.0])).p_value < 0.05
    True
    """
    statistic, freedom = homogeneity(first, second)
    n, m, both = first.sum(), second.sum(), first + second
    if not freedom:
        return SharesTest(statistic, 0, 1.0)
    least = both[both > 0].min() * min(n, m) / (n + m)
    if n + m >= MOST_ROWS or (permutations is None and least >= LEAST_EXPECTED):
        return SharesTest(statistic, freedom, float(gammaincc(freedom / 2, statistic / 2)))
    smaller = first if n <= m else second  # whichever table is named first, the same rows are drawn
    times = PERMUTATIONS if permutations is None else permutations
    as_far = _divisions_as_far(both[both > 0], smaller[both > 0], times, rng or np.random.default_rng(0))
    return SharesTest(statistic, freedom, (1 + as_far) / (1 + times), times)


def homogeneity(first: Floats, second: Floats) -> tuple[float, int]:
    """Pearson's statistic for two tables having the same shares, and its degrees of freedom."""
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


def _divisions_as_far(both: Floats, drawn: Floats, times: int, rng: np.random.Generator) -> int:
    """How many random divisions of all rows are at least as far from equal shares as the one that was seen.

    Given the rows of each leaf in both tables together, Pearson's statistic grows with the sum of x^2 / both.
    """
    least = float((drawn**2 / both).sum()) * (1 - ROUNDING)
    rows = both.astype(np.int64)
    # Shuffling all rows costs as many steps as there are rows, drawing leaf by leaf a long step for each leaf.
    method: Literal["count", "marginals"] = "count" if rows.sum() < 10 * len(rows) else "marginals"
    at_once, found = max(1, DRAWN_AT_ONCE // len(rows)), 0
    for begin in range(0, times, at_once):
        size = min(at_once, times - begin)
        some = rng.multivariate_hypergeometric(rows, int(drawn.sum()), size, method=method)
        found += int((some**2 @ (1 / both) >= least).sum())
    return found
