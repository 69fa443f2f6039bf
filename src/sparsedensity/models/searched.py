"""Models that are chosen by a search: honest estimation, and the best of every size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from sparsedensity.models import paths
from sparsedensity.models.base import DensityModel
from sparsedensity.models.folds import HeldOut, are_counts
from sparsedensity.models.parameters import LARGEST_SEED, check_seed, generator
from sparsedensity.posterior.base import check_share
from sparsedensity.report.path import SparsityPath
from sparsedensity.table import Floats


@dataclass(eq=False, repr=False, kw_only=True)
class SearchedModel(DensityModel):
    """A model that is chosen by a search, from which it can keep some rows.

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
        As in :class:`DensityModel`.
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
        return HeldOut(float(self.honest), seed, weights is None or are_counts(weights))

    def sparsity_path(self, X: Any, cv: int | None = 5, sample_weight: Any = None) -> SparsityPath:
        """The trade-off to choose from: for every number of leaves the best structure found on a table.

        Give the table the model was fitted on. Each size comes with its log posterior, its log-likelihood per row
        and, with ``cv`` folds, its held-out log-likelihood per row with a standard error; ``cv=None`` leaves that
        out. The domain is fixed once, so that every fold measures volumes alike. :meth:`cut` takes a point of it.

        >>> from sparsedensity import GreedyTree, datasets
        >>> people = datasets.load("titanic")
        >>> path = GreedyTree().fit(people).sparsity_path(people, cv=None)
        >>> len(path.sizes), round(path.at(9).log_posterior, 2)
        (15, -4144.58)
        """
        self.check_fitted()
        return paths.sparsity_path(self, X, cv, sample_weight)

    def cut(self, size: int) -> Self:
        """The fitted model at one point of its path: the best found with so many leaves.

        >>> from sparsedensity import GreedyTree, datasets
        >>> tree = GreedyTree().fit(datasets.load("titanic"))
        >>> print(", ".join(str(leaf) for leaf in tree.cut(3).leaves_))
        sex is female and age is adult, sex is male and age is adult, age is child
        """
        self.check_fitted()
        return paths.cut(self, size)
