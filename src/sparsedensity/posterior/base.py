"""What every posterior answers, and the Dirichlet pieces they share."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, gammaln

from sparsedensity.errors import ParameterError
from sparsedensity.scalars import is_number
from sparsedensity.table import Floats

LONG_TABLE = 100_000
TINY = np.finfo(np.float64).tiny
SMALLEST = 1e-100
"""Beyond it, and beyond its inverse, the log gammas of sums are no numbers any more."""
MOST_PSEUDOCOUNT = 1e9
"""Beyond it log gammas are so large that their differences, which are all that counts, drown in rounding."""


class PriorBound(NamedTuple):
    """Log priors that bound those of all structures."""

    one_leaf: float
    """That of the structure of one leaf."""
    others: float
    """What that of no other structure exceeds."""


class Posterior(Protocol):
    """A belief about structures, given the weight that fell into each leaf."""

    @property
    def even(self) -> bool:
        """Whether records are spread evenly in every leaf, so that its weight and volume are all there is to know."""

    def log_posterior(self, structure: Any, weights: Floats) -> float:
        """The log posterior, up to the constant that no structure changes.

        If leaves are not even, the weight in each leaf at each value is a third argument.
        """

    def log_probabilities(self, structure: Any, weights: Floats) -> Floats:
        """The log of the posterior mean of every leaf's probability."""

    def intervals(self, structure: Any, weights: Floats, level: float = 0.95) -> Floats:
        """Lower and upper end of a credible interval for every leaf's probability, given the structure."""


def check_positive(name: str, value: float, most: float = 1 / SMALLEST) -> None:
    """Refuse a number that is not positive and finite."""
    if not (is_number(value) and value > 0):
        raise ParameterError(name, value, "a number greater than 0")
    if not SMALLEST <= value <= most:
        raise ParameterError(name, value, f"a number from {SMALLEST:g} to {most:g}")


def check_pseudocount(value: float) -> None:
    """Refuse a pseudocount with which no log posterior can be told from rounding."""
    check_positive("pseudocount", value, MOST_PSEUDOCOUNT)


def check_share(name: str, value: float) -> None:
    """Refuse a number that is not strictly between 0 and 1."""
    if not (is_number(value) and 0 < value < 1):
        raise ParameterError(name, value, "a number between 0 and 1, both excluded")


def log_gammas(x: NDArray[Any]) -> Floats:
    """Ln Gamma; in tables of a usual length as the C library rounds it, so that a seed keeps its tree."""
    return gammaln(x) if len(x) > LONG_TABLE else np.array([math.lgamma(value) for value in x.tolist()])


def log_volume_terms(weights: Floats, log_volumes: Floats) -> float:
    """The sum over the leaves of -n_l ln V_l; a leaf of weight 0 adds nothing, even where its volume is 0."""
    held = weights > 0
    return -float(weights[held] @ log_volumes[held])


def log_dirichlet(weights: Floats, pseudocount: float) -> float:
    """Ln B(a + n_1, .., a + n_k) - ln B(a, .., a): the Dirichlet-multinomial evidence of one division."""
    k, n = len(weights), weights.sum()
    head = gammaln(k * pseudocount) - gammaln(n + k * pseudocount)
    return float(head + (gammaln(weights + pseudocount) - gammaln(pseudocount)).sum())


def mean_log_probabilities(weights: Floats, log_volumes: Floats, pseudocount: float) -> Floats:
    """Ln (n_l + a) / (n + K a), where K counts the leaves of positive volume; others have probability 0."""
    real = log_volumes > -np.inf
    total = weights.sum() + real.sum() * pseudocount
    with np.errstate(divide="ignore"):
        logs: Floats = np.log(np.where(real, weights + pseudocount, 0.0) / total)
    return logs


def beta_intervals(weights: Floats, log_volumes: Floats, pseudocount: float, level: float) -> Floats:
    """Beta quantiles of every leaf's probability under the Dirichlet posterior; [1, 1] for a single leaf."""
    real = log_volumes > -np.inf
    intervals = np.zeros((len(weights), 2))
    if real.sum() == 1:
        intervals[real] = 1.0
        return intervals
    own = weights[real] + pseudocount
    others = weights.sum() + real.sum() * pseudocount - own
    tail = (1 - level) / 2
    intervals[real] = np.stack([betaincinv(own, others, q) for q in (tail, 1 - tail)], axis=1)
    return intervals


def exact_intervals(weights: Floats, log_volumes: Floats, level: float = 0.95) -> Floats:
    """Clopper-Pearson intervals of every leaf's probability: no prior, and coverage of at least the level."""
    real = log_volumes > -np.inf
    if real.sum() == 1:
        return np.repeat(real.astype(np.float64)[:, None], 2, axis=1)
    others, tail = weights.sum() - weights, (1 - level) / 2
    low = np.where(weights > 0, betaincinv(np.maximum(weights, TINY), others + 1, tail), 0.0)
    high = np.where(others > 0, betaincinv(weights + 1, np.maximum(others, TINY), 1 - tail), 1.0)
    intervals: Floats = np.where(real[:, None], np.stack([low, high], axis=1), 0.0)
    return intervals
