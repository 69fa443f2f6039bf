"""Method I: the prior says how many leaves a person wants to read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsedensity.domain import Domain
from sparsedensity.posterior.base import (
    PriorBound,
    beta_intervals,
    check_positive,
    check_pseudocount,
    log_gammas,
    mean_log_probabilities,
)
from sparsedensity.posterior.trees import UNIFORM, Numbers, TreePosterior
from sparsedensity.structures import Structure
from sparsedensity.table import Floats


@dataclass(frozen=True)
class LeafSparse(TreePosterior):
    """Poisson prior on the number of leaves (lambda), one Dirichlet over all leaves (alpha).

    Calibrated, the trees of a size share its probability: every leaf but the first pays ln W(2).

    >>> five, nine = LeafSparse(expected_leaves=5).log_prior(np.array([5, 9]))
    >>> bool(five > nine)
    True
    """

    expected_leaves: float = 8.0
    pseudocount: float = 2.0
    leaf: Any = UNIFORM
    log_splits: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        check_positive("expected_leaves", self.expected_leaves)
        check_pseudocount(self.pseudocount)

    def log_prior(self, leaves: Numbers) -> Floats:
        """Ln Poisson(K; lambda), and -(K - 1) ln W(2) if calibrated."""
        log: Floats = -self.expected_leaves + leaves * math.log(self.expected_leaves) - log_gammas(leaves + 1.0)
        return log - (leaves - 1) * self._charge

    def by_leaves(self, leaves: Numbers, n: float) -> Floats:
        """The prior + lnG(K a) - lnG(n + K a)."""
        a = float(self.pseudocount)
        heads: Floats = self.log_prior(leaves) + log_gammas(leaves * a) - log_gammas(n + leaves * a)
        return heads

    def best_log_prior(self, domain: Domain, most_leaves: int) -> PriorBound:
        """The prior of 1, and of the likeliest number from 2 on."""
        best = min(max(2, math.floor(self.expected_leaves * math.exp(-self._charge))), most_leaves)
        one, others = self.log_prior(np.array([1, best])).tolist()
        return PriorBound(one, others)

    @property
    def _charge(self) -> float:
        """What one more split pays for the choice."""
        return self.log_splits[2] if self.log_splits else 0.0

    def log_probabilities(self, structure: Structure, weights: Floats) -> Floats:
        """Ln (n_l + a) / (n + K a)."""
        return mean_log_probabilities(weights, structure.log_volumes, self.pseudocount)

    def intervals(self, structure: Structure, weights: Floats, level: float = 0.95) -> Floats:
        """Beta quantiles."""
        return beta_intervals(weights, structure.log_volumes, self.pseudocount, level)
