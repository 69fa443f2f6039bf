"""The fitted density: one probability for every leaf of a structure, spread evenly or by a profile over the leaf.

:class:`Density` answers everything a user asks: the log density of rows, the probability of events, marginal and
conditional distributions, how unusual a row is, and new rows. It reads codes and writes codes; labels are the
business of the estimators.

An event is an array with one number for every value of the domain: 1 if the value is in it, 0 if not, and in
between if an interval cuts a bin.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sparsedensity.density.boxes import Boxes
from sparsedensity.density.merging import Averaged
from sparsedensity.density.points import Points
from sparsedensity.density.ranking import EQUALLY_DENSE, Ranking
from sparsedensity.density.records import Records, expected_records
from sparsedensity.density.within import added_up
from sparsedensity.structures import Cells, RuleList, Structure, Tree
from sparsedensity.table import Codes, Floats

if TYPE_CHECKING:
    from sparsedensity.posterior.profiles import Profiles

__all__ = ["EQUALLY_DENSE", "Density"]

RANKED_DRAWS = 100_000
"""Records that say how unusual others are, if leaves have profiles and too many points to list."""


@dataclass(frozen=True, eq=False)
class Density:
    """A structure, the weight in each leaf, and the log probability of each leaf."""

    structure: Structure
    weights: Floats
    log_probabilities: Floats
    profiles: Profiles | None = None
    """What the leaves hold, if records are not spread evenly over them."""

    @cached_property
    def probabilities(self) -> Floats:
        """The probability of every leaf."""
        return np.exp(self.log_probabilities)

    @cached_property
    def used(self) -> NDArray[np.bool_]:
        """Which features the density depends on beyond their measure: others cannot make a row unusual."""
        used = np.full(len(self.structure.domain), self.profiles is not None)
        match self.structure:
            case Tree() as tree:
                used[tree.feature[tree.feature >= 0]] = True
            case RuleList() as rules:
                used[rules.feature] = True
            case _:
                used[:] = True
        return used

    @cached_property
    def log_densities(self) -> Floats:
        """The log of the mean density in every leaf; minus infinity if a leaf has no volume or no probability."""
        with np.errstate(invalid="ignore"):
            logs = self.log_probabilities - self.structure.log_volumes
        return np.where(self.log_probabilities == -np.inf, -np.inf, logs)

    def log_densities_at(self, codes: Codes, leaves: NDArray[np.int64]) -> Floats:
        """The log density at every row, given its leaf."""
        if self.profiles is None:
            return self.log_densities[leaves]
        within = added_up(self.profiles.log_densities, self.structure.domain, leaves, codes)
        return self.log_probabilities[leaves] + within

    def unusualness_of(self, logs: Floats) -> Floats:
        """The share of the mass that is denser than each of some log densities (ties apart).

        If leaves have profiles and the domain more points than can be listed, it is estimated from records drawn from
        the model, always the same ones: the standard error is at most 0.5 / sqrt(100,000), that is 0.0016.
        """
        return self.ranking.denser(logs)

    @cached_property
    def unusualness(self) -> Floats:
        """For every leaf the share of the mass that is denser; if it has a profile, the mean over its records."""
        leaves, masses, logs = self._ranked
        sums = np.bincount(leaves, masses * self.unusualness_of(logs), len(self.weights))
        totals = np.bincount(leaves, masses, len(self.weights))
        return np.divide(sums, totals, out=np.ones(len(sums)), where=totals > 0)

    @cached_property
    def ranking(self) -> Ranking:
        """How much of the mass is denser than a record."""
        _, masses, logs = self._ranked
        return Ranking.of(masses, logs)

    @cached_property
    def _ranked(self) -> tuple[NDArray[np.int64], Floats, Floats]:
        """Parts of equal density, or records that stand for them: the leaf, the mass and the log density of each."""
        if self.profiles is None:
            return np.arange(len(self.weights)), self.probabilities, self.log_densities
        codes, leaves, masses, _ = self.records(RANKED_DRAWS)
        return leaves, masses, self.log_densities_at(codes, leaves)

    def records(self, draws: int) -> Records:
        """The records that the density expects: all of them if they are few, else about so many seeded draws."""
        assert isinstance(self._parts, Boxes)
        return expected_records(self._parts, self.probabilities, draws)

    def probability(self, event: Floats) -> float:
        """The mass of an event."""
        return float(np.clip(self._parts.masses(self.probabilities, event).sum(), 0.0, 1.0))

    def joint(self, features: list[int], event: Floats) -> Floats:
        """The mass of an event divided by the values of some features: one axis per feature."""
        return self._parts.joint(self.probabilities, features, event)

    @property
    def used_features(self) -> list[int]:
        """The features on which the density depends."""
        if self.profiles is None:
            return self.asked_features
        return [feature for feature, size in enumerate(self.structure.domain.sizes) if size > 1]

    @cached_property
    def asked_features(self) -> list[int]:
        """The features that decide which leaf a record is in."""
        return self._parts.used

    def averaged(self, feature: int) -> Averaged:
        """How much mass has which log density when the density is averaged over a feature."""
        return self._parts.averaged(self.log_densities, feature)

    def draw(self, size: int, rng: np.random.Generator) -> Codes:
        """New rows of codes."""
        return self._parts.draw(self.probabilities, size, rng)

    def leaf_numbers(self, codes: Codes, *, jobs: int = 1) -> NDArray[np.int64]:
        """The leaf of every row."""
        return self.structure.leaf_numbers(codes, jobs=jobs)

    @cached_property
    def _parts(self) -> Boxes | Points:
        match self.structure:
            case Tree() as tree:
                boxes = Boxes.of(tree.domain, tree.masks, np.arange(tree.n_leaves))
                return boxes if self.profiles is None else replace(boxes, inside=self.profiles.inside)
            case RuleList() as rules:
                leaf = np.repeat(np.arange(rules.n_leaves), [len(boxes) for boxes in rules.boxes])
                return Boxes.of(rules.domain, np.concatenate(rules.boxes), leaf)
            case Cells() as cells:
                return Points(cells)
        raise TypeError(f"No density is known for {type(self.structure).__name__}.")
