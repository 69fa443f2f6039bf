"""Honest estimation: some rows choose the leaves, others give them their weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sparsedensity.estimators.base import DensityEstimator
from sparsedensity.estimators.folds import LARGEST_SEED, HeldOut, count_rows
from sparsedensity.estimators.parameters import check_seed, generator
from sparsedensity.posterior.base import check_share
from sparsedensity.table import Floats


@dataclass(eq=False, repr=False, kw_only=True)
class HonestEstimator(DensityEstimator):
    """An estimator that can keep some rows from its search.

    Leaves are chosen because they fit the rows that were searched, so their shares of these rows look better than they
    are. Rows that had no say in the choice are fair: intervals and tests that use them alone hold.

    Parameters
    ----------
    honest
        The share of the rows, between 0 and 1, that is kept from the search: weights, densities and intervals of the
        leaves and comparisons use these rows only, ``log_posterior_`` and ``search_`` the others. ``None`` uses all
        rows for both. Whole weights count rows and are divided like them. A model in ``warm_start_from`` must not
        have seen these rows.
    random_state
        The same number divides the rows alike and gives the same model, whatever ``n_jobs`` is.
    density, kinds, bins, domain, missing, unknown, n_jobs, progress
        As in :class:`DensityEstimator`.
    """

    honest: float | None = None
    random_state: Any = 0

    def check_parameters(self) -> None:
        """Refuse invalid parameters before any row is read."""
        super().check_parameters()
        if self.honest is not None:
            check_share("honest", self.honest)
        check_seed(self.random_state)

    def held_out(self, weights: Floats | None) -> HeldOut | None:
        """Which rows to keep from the search."""
        if self.honest is None:
            return None
        seed = int(generator(self.random_state).integers(LARGEST_SEED + 1))
        return HeldOut(float(self.honest), seed, weights is None or count_rows(weights))
