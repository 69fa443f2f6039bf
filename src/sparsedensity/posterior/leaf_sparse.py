"""Method I: the prior says how many leaves a person wants to read."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sparsedensity.posterior.base import (
    beta_intervals,
    check_positive,
    log_dirichlet,
    log_volume_terms,
    mean_log_probabilities,
)
from sparsedensity.structures import Structure
from sparsedensity.table import Floats


@dataclass(frozen=True)
class LeafSparse:
    """Poisson prior on the number of leaves (lambda), one Dirichlet over all leaves (alpha).

    >>> LeafSparse(expected_leaves=5).log_prior(5) > LeafSparse(expected_leaves=5).log_prior(9)
    True
    """

    expected_leaves: float = 8.0
    pseudocount: float = 2.0

    def __post_init__(self) -> None:
        check_positive("expected_leaves", self.expected_leaves)
        check_positive("pseudocount", self.pseudocount)

    def log_prior(self, leaves: int) -> float:
        """Ln Poisson(K; lambda)."""
        return -self.expected_leaves + leaves * math.log(self.expected_leaves) - math.lgamma(leaves + 1)

    def log_head(self, leaves: int, n: float) -> float:
        """All of the log posterior that depends on the number of leaves alone; the rest adds up over leaves."""
        a = self.pseudocount
        return self.log_prior(leaves) + math.lgamma(leaves * a) - math.lgamma(n + leaves * a)

    def log_posterior(self, structure: Structure, weights: Floats) -> float:
        """Ln Poisson(K) + ln B(n + a) - ln B(a) - sum n_l ln V_l."""
        return (
            self.log_prior(structure.n_leaves)
            + log_dirichlet(weights, self.pseudocount)
            + log_volume_terms(weights, structure.log_volumes)
        )

    def log_probabilities(self, structure: Structure, weights: Floats) -> Floats:
        """Ln (n_l + a) / (n + K a)."""
        return mean_log_probabilities(weights, structure.log_volumes, self.pseudocount)

    def intervals(self, structure: Structure, weights: Floats, level: float = 0.95) -> Floats:
        """Beta quantiles."""
        return beta_intervals(weights, structure.log_volumes, self.pseudocount, level)
