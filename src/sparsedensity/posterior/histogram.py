"""The full histogram: every point a leaf, so there is no structure to have a prior on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import betainc, betaincinv, betaln, gammaln

from sparsedensity.posterior.base import check_pseudocount, log_volume_terms
from sparsedensity.structures import Cells
from sparsedensity.table import Floats


@dataclass(frozen=True)
class FullHistogram:
    """One Dirichlet over all points of the domain (alpha)."""

    pseudocount: float = 1.0
    even: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_pseudocount(self.pseudocount)

    def log_posterior(self, structure: Cells, weights: Floats) -> float:
        """The log evidence ln B(n + a) - ln B(a) - sum n_l ln V_l over all K points, occupied or not."""
        a, occupied, n = self.pseudocount, weights[:-1], float(weights.sum())
        return (
            _log_gamma_ratio(structure.domain.log_points + math.log(a), n)
            + float((gammaln(occupied + a) - gammaln(a)).sum())
            + log_volume_terms(weights, structure.log_volumes)
        )

    def log_probabilities(self, structure: Cells, weights: Floats) -> Floats:
        """Ln (n_l + a) / (n + K a) for occupied points; the remainder has the pseudocounts of all others."""
        log_a = math.log(self.pseudocount)
        total = np.logaddexp(math.log(weights.sum()), structure.domain.log_points + log_a)
        logs = np.append(np.log(weights[:-1] + self.pseudocount), structure.log_empty + log_a)
        return np.asarray(logs - total)

    def intervals(self, structure: Cells, weights: Floats, level: float = 0.95) -> Floats:
        """Beta quantiles of the probability of every occupied point and of the remainder."""
        own = np.append(weights[:-1] + self.pseudocount, self.pseudocount * _exp(structure.log_empty))
        others = weights.sum() + self.pseudocount * _exp(structure.domain.log_points) - own
        tail = (1 - level) / 2
        return np.stack([_beta_quantile(own, others, q) for q in (tail, 1 - tail)], axis=1)


def _beta_quantile(own: Floats, others: Floats, q: float) -> Floats:
    """Beta quantiles that survive a count of 0 on either side and counts beyond all floats."""
    quantiles = np.where(others <= 0, 1.0, 0.0)
    proper = (own > 0) & (others > 0) & (own < 1e300) & (others < 1e300)
    found = betaincinv(own[proper], others[proper], q)
    wrong = np.abs(betainc(own[proper], others[proper], found) - q) > 0.01
    quantiles[proper] = np.where(wrong, (own / (own + others))[proper], found)
    return np.where(own >= 1e300, 1.0, quantiles)


def _exp(log: float) -> float:
    return math.exp(log) if log < 709 else math.inf


def _log_gamma_ratio(log_x: float, n: float) -> float:
    """lnG(x) - lnG(x + n) for x from tiny to beyond all floats."""
    if log_x > 700:
        return -n * log_x
    return float(betaln(math.exp(log_x), n) - gammaln(n))
