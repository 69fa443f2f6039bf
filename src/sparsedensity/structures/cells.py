"""Cells: every occupied point of the domain is a leaf, and all other points together are the last one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sparsedensity.domain import Domain
from sparsedensity.structures.rules import log_sum
from sparsedensity.table import Codes, Floats, RowIndex


@dataclass(frozen=True, eq=False)
class Cells:
    """The full histogram's division: one leaf a distinct row, and one for the rest."""

    domain: Domain
    codes: Codes

    @property
    def n_leaves(self) -> int:
        """The occupied cells and the remainder."""
        return len(self.codes) + 1

    @cached_property
    def log_empty(self) -> float:
        """The natural log of the number of unoccupied points; minus infinity for none."""
        if self.domain.log_points > 40:  # beyond 2e17 points the occupied ones do not show in a float
            return self.domain.log_points
        empty = math.prod(self.domain.sizes) - len(self.codes)
        return math.log(empty) if empty else -math.inf

    @cached_property
    def log_volumes(self) -> Floats:
        """The natural log of the volume of every leaf."""
        measures = self.domain.measures
        logs = np.zeros(len(self.codes))
        for feature, start in enumerate(self.domain.starts[:-1]):
            logs += np.log(measures[start + self.codes[:, feature].astype(np.int64)])
        return np.append(logs, self._log_remainder(logs))

    def leaf_numbers(self, codes: Codes, *, jobs: int = 1) -> NDArray[np.int64]:
        """The leaf of every encoded row."""
        found = self._index.find(codes)
        return np.where(found < 0, len(self.codes), found)

    @cached_property
    def _index(self) -> RowIndex:
        return RowIndex(self.codes)

    def _log_remainder(self, occupied: Floats) -> float:
        if self.log_empty == -math.inf:
            return -math.inf
        share = math.exp(min(0.0, log_sum(occupied) - self.domain.log_volume))
        if share < 1:
            return self.domain.log_volume + math.log1p(-share)
        return -math.inf
