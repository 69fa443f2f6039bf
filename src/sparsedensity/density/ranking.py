"""How much of a density's mass is denser than a record."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsedensity.table import Floats

EQUALLY_DENSE = 1e-9
"""Log densities this close are ties wherever densities are ranked."""


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
