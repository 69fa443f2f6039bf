"""How much of a density's mass is denser than a record."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsedensity.table import Floats

EQUALLY_DENSE = 1e-9
"""Log densities this close are ties wherever densities are ranked."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """Parts of a density, the densest first: the log density of each, and the mass of it and all before."""

    logs: Floats
    mass: Floats

    @classmethod
    def of(cls, masses: Floats, logs: Floats) -> Ranking:
        """From the mass and the log density of every part; parts without mass are left out."""
        parts = np.flatnonzero(masses)
        order = parts[np.argsort(-logs[parts], kind="stable")]
        return cls(logs[order], np.cumsum(masses[order]))

    def denser(self, logs: Floats) -> Floats:
        """The share of the mass that is denser than each of some log densities (ties apart).

        Below the rarest part its mass is left to what is rarer still, in proportion to the density, so that records
        which are rarer than all that was drawn keep their order.
        """
        before = np.searchsorted(-self.logs, -(logs + EQUALLY_DENSE), side="left")
        shares = np.append(0.0, self.mass)[before]
        rarest, least = self.logs[-1], np.diff(self.mass, prepend=0.0)[-1]
        beyond = 1.0 - least * np.exp(np.minimum(logs - rarest, 0.0))
        return np.where(before == len(self.logs), beyond, shares).clip(0.0, 1.0)
