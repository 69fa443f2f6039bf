"""Cells: every occupied point of the domain is a leaf, and all other points together are the last one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sparsedensity.domain import Domain
from sparsedensity.structures.rules import log_sum
from sparsedensity.table import Codes, Floats, number_rows

MOST_LISTED = 1 << 24


@dataclass(frozen=True, eq=False)
class Cells:
    """The full histogram's division: one leaf per distinct row, and one for the rest."""

    domain: Domain
    codes: Codes

    @property
    def n_leaves(self) -> int:
        """The occupied cells and the remainder."""
        return len(self.codes) + 1

    @property
    def n_points(self) -> int | float:
        """The number of points of the domain; a float, or infinite, beyond 64 bits."""
        points = math.prod(self.domain.sizes)
        return points if points < 2**63 else float(points) if points < 1e308 else math.inf

    @cached_property
    def log_empty(self) -> float:
        """The natural log of the number of unoccupied points; minus infinity for none."""
        if self.domain.log_points > 40:  # beyond 2e17 points the occupied ones do not show in a float
            return self.domain.log_points
        empty = math.prod(self.domain.sizes) - len(self.codes)
        return math.log(empty) if empty else -math.inf

    @cached_property
    def empty(self) -> Codes | None:
        """The unoccupied points one by one, if they hold the smaller part of the volume; otherwise ``None``.

        A difference of volumes would lose them, and drawing points until one is unoccupied would take forever.
        """
        if self._share < 0.5 or self.domain.log_points > math.log(MOST_LISTED):
            return None
        sizes = np.array(self.domain.sizes)
        steps = np.append(np.cumprod(sizes[:0:-1])[::-1], 1)
        free = np.ones(int(sizes.prod()), bool)
        free[self.codes @ steps] = False
        listed: Codes = (np.flatnonzero(free)[:, None] // steps % sizes).astype(self.domain.code_type)
        return listed

    @cached_property
    def log_volumes(self) -> Floats:
        """The natural log of the volume of every leaf."""
        return np.append(self._log_occupied, self._log_remainder)

    def log_point_volumes(self, codes: Codes) -> Floats:
        """The natural log of the volume of single points."""
        measures = self.domain.measures
        logs = np.zeros(len(codes))
        for feature, start in enumerate(self.domain.starts[:-1]):
            logs += np.log(measures[start + codes[:, feature].astype(np.int64)])
        return logs

    def leaf_numbers(self, codes: Codes, *, jobs: int = 1) -> NDArray[np.int64]:
        """The leaf of every encoded row."""
        known = len(self.codes)  # the occupied points are all different, so they are numbered as they stand
        group, _ = number_rows(np.concatenate([self.codes, codes.astype(self.codes.dtype)]))
        return np.minimum(group[known:], known).astype(np.int64)

    @cached_property
    def _log_occupied(self) -> Floats:
        return self.log_point_volumes(self.codes)

    @cached_property
    def _share(self) -> float:
        """The share of the domain's volume in the occupied points."""
        return math.exp(min(0.0, log_sum(self._log_occupied) - self.domain.log_volume))

    @property
    def _log_remainder(self) -> float:
        if self.empty is not None:
            return log_sum(self.log_point_volumes(self.empty))
        if self.log_empty == -math.inf or self._share == 1:
            return -math.inf
        return self.domain.log_volume + math.log1p(-self._share)
