"""Rows in the leaves of a density: how dense each is, how unusual, and how common among rows as unusual."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sparsedensity.density import Density
from sparsedensity.density.within import added_up
from sparsedensity.table import Codes, Floats


@dataclass(frozen=True, eq=False)
class Placed:
    """Rows of codes and the leaf of each; -1 for a row outside the domain, which has density 0."""

    density: Density
    codes: Codes
    leaves: NDArray[np.int64]

    @cached_property
    def log_densities(self) -> Floats:
        """The log density of every row."""
        return np.where(self.leaves < 0, -np.inf, self.density.log_densities_at(self.codes, self.leaves))

    @cached_property
    def unusualness(self) -> Floats:
        """The share of the mass that is denser than each row."""
        return np.where(self.leaves < 0, 1.0, self.density.unusualness_of(self.log_densities))

    def commonness(self, weights: Floats | None) -> Floats:
        """How common every row is among those that are as unusual, up to rounding; 0 outside the domain.

        With a profile its density says it. If leaves are even, it is the sum over columns of the log of the share of
        its leaf's weight that has its value: `weights` is the weight in every leaf (one row each) at every value of
        the domain, ``None`` if that is not known.
        """
        inside = self.leaves >= 0
        if self.density.profiles is not None:
            return np.where(inside, self.log_densities, 0.0).round(9)
        if weights is None:
            return np.zeros(len(self.leaves))
        domain = self.density.structure.domain
        totals = weights[:, domain.span(0)].sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(weights / totals)
        return np.where(inside, added_up(logs, domain, self.leaves, self.codes), 0.0).round(9)
