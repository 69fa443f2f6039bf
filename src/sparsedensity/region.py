"""A region: for every feature a set of allowed values.

>>> from sparsedensity.domain import Domain, Feature
>>> domain = Domain((Feature.nominal("class", ("1st", "2nd", "3rd", "crew")), Feature.nominal("sex", ("f", "m"))))
>>> crew = domain.everything().only(0, {3})
>>> crew.volume(domain)
2.0
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparsedensity.domain import Domain


@dataclass(frozen=True)
class Region:
    """The allowed codes of every feature."""

    allowed: tuple[frozenset[int], ...]

    def only(self, feature: int, codes: Iterable[int]) -> Region:
        """The part of this region in which a feature takes one of the given values."""
        some = self.allowed[feature] & frozenset(codes)
        return Region((*self.allowed[:feature], some, *self.allowed[feature + 1 :]))

    def log_volume(self, domain: Domain) -> float:
        """The natural log of the volume; minus infinity if a feature allows nothing."""
        sides = self._sides(domain)
        return math.fsum(map(math.log, sides)) if all(sides) else -math.inf

    def volume(self, domain: Domain) -> float:
        """The volume; infinite if it does not fit a float (then use :meth:`log_volume`)."""
        return math.prod(self._sides(domain)) if all(self.allowed) else 0.0

    def mask(self, domain: Domain) -> NDArray[np.bool_]:
        """One truth value for every value of the domain, feature after feature."""
        mask = np.zeros(int(domain.starts[-1]), bool)
        for start, codes in zip(domain.starts, self.allowed, strict=False):
            mask[[int(start) + code for code in codes]] = True
        return mask

    def _sides(self, domain: Domain) -> list[float]:
        sides = zip(domain, self.allowed, strict=True)
        return [math.fsum(feature.measures[code] for code in codes) for feature, codes in sides]
