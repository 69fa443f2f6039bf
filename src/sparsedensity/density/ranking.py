"""How much of a density's mass is denser than a record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sparsedensity.table import Floats

EQUALLY_DENSE = 1e-9
"""Log densities this close are ties wherever densities are ranked."""
COARSE = 0.002
"""Shares of the mass that are one in a coarse ranking if they lie this close,"""
COARSE_REST = 0.04
"""and if they differ by no more than so small a part of what is left to 1."""


class CoarseRanking(NamedTuple):
    """How much is denser as a step function of the log density, with no more steps than a few digits need."""

    steps: Floats
    """Log densities, ascending,"""
    shares: Floats
    """and how much is denser: the first below the first step, the second from there to the next, and so on."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """Parts of a density, the densest first: the log density of each, and the mass of all before it."""

    logs: Floats
    before: Floats
    rarest: float
    """The mass of the last part."""

    @classmethod
    def of(cls, masses: Floats, logs: Floats) -> Ranking:
        """From the mass and the log density of every part; parts without mass are left out."""
        parts = np.flatnonzero(masses)
        order = parts[np.argsort(-logs[parts], kind="stable")]
        mass = np.cumsum(masses[order])
        return cls(logs[order], np.append(0.0, mass).clip(0.0, 1.0), float(masses[order[-1]]))

    def denser(self, logs: Floats) -> Floats:
        """The share of the mass that is denser than each of some log densities (ties apart).

        Below the rarest part the share goes on to 1, which only density 0 has, so that records that are rarer than all
        that was drawn keep their order.
        """
        parts = np.searchsorted(-self.logs, -(logs + EQUALLY_DENSE), side="left")
        beyond = 1.0 - self.rarest / (1.0 + np.maximum(self.logs[-1] - logs, 0.0))
        return np.where(parts == len(self.logs), beyond, self.before[parts])

    @property
    def lowest(self) -> float:
        """The log density below which a record is rarer than all parts."""
        return float(self.logs[-1]) - EQUALLY_DENSE

    def coarse(self) -> CoarseRanking:
        """The ranking of what is not below the lowest part, to 0.001 and to two percent of what is left to 1."""
        ends = np.append(np.flatnonzero(np.diff(self.logs)), len(self.logs) - 1)
        shares = np.append(0.0, self.before[ends[:-1] + 1])
        firsts = [0]
        while firsts[-1] < len(shares):
            share = shares[firsts[-1]]
            width = min(COARSE, COARSE_REST * (1.0 - share))
            firsts.append(int(np.searchsorted(shares, share + width, side="right")))
        lasts = np.array(firsts[1:]) - 1
        steps = self.logs[ends[lasts[:-1]]] - EQUALLY_DENSE
        return CoarseRanking(steps[::-1], ((shares[firsts[:-1]] + shares[lasts]) / 2)[::-1])
