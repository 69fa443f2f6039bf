"""Trees put together from divisions that are known.

Whatever was found out about single regions is kept: which divisions of it are known, and what each gains. A table over
the number of leaves, smaller regions before larger ones, then knows the best tree of each size that all of these
divisions allow, wherever they come from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsedensity.domain import Domain
from sparsedensity.search.trees.counted_regions import Key, allowed_in
from sparsedensity.search.trees.pruning import best_together, share_of
from sparsedensity.structures import Tree
from sparsedensity.structures.tree import Division
from sparsedensity.table import Floats

LEAF: Floats = np.array([-np.inf, 0.0])
"""The table of a region that is not divided."""


class Known(NamedTuple):
    """A known division of a region."""

    feature: int
    parts: tuple[Key, ...]
    gain: float
    """What it adds to the log posterior, beside the number of leaves and of features."""
    exact: bool = True
    """Whether that was counted on all rows; if not, a sample says so."""


class BestBelow(NamedTuple):
    """The best that is known below a region, for every number of leaves."""

    sums: Floats
    """What all divisions gain together."""
    first: NDArray[np.int64]
    """Which of its known divisions comes first."""


@dataclass
class Assembly:
    """All divisions that are known, and the best trees made of them."""

    domain: Domain
    most: int
    """The largest trees that are asked for."""
    divisions: dict[Key, dict[frozenset[Key], Known]] = field(default_factory=dict)
    """By region, and by its parts."""

    def add(self, region: Key, division: Known) -> None:
        """Note what a division of a region gains; what is exact stays."""
        known = self.divisions.setdefault(region, {})
        before = known.get(frozenset(division.parts))
        if before is None or not before.exact:
            known[frozenset(division.parts)] = division

    def best(self, fees: Floats, *, exact: bool = False) -> BestTrees:
        """The best trees of all sizes, if a division along a feature costs its fee; or only of exact divisions."""
        found: dict[Key, BestBelow] = {}
        for region in sorted(self.divisions, key=sum):  # parts before what they are parts of
            known = list(self.divisions[region].values())
            sums = np.full(self.most + 1, -np.inf)
            first = np.full(self.most + 1, -1)
            sums[1] = 0.0
            for number, division in enumerate(known):
                if exact and not division.exact:
                    continue
                table = self.together(found, division.parts)[-1] + (division.gain - fees[division.feature])
                better = table > sums[: len(table)]
                sums[: len(table)][better] = table[better]
                first[: len(table)][better] = number
            longest = int(np.flatnonzero(sums > -np.inf)[-1])
            found[region] = BestBelow(sums[: longest + 1], first[: longest + 1])
        return BestTrees(self, found)

    def together(self, found: dict[Key, BestBelow], parts: Sequence[Key]) -> list[Floats]:
        """The best sums over the first part, over the first two, and so on."""
        tables = [found[part].sums if part in found else LEAF for part in parts]
        together = tables[:1]
        for table in tables[1:]:
            together.append(best_together(together[-1], table)[: self.most + 1])
        return together


@dataclass(frozen=True)
class BestTrees:
    """The best trees of all sizes that known divisions allow."""

    assembly: Assembly
    found: dict[Key, BestBelow]

    @property
    def sums(self) -> Floats:
        """By the number of leaves, what the divisions of the best tree gain together."""
        whole = self._whole
        return self.found[whole].sums if whole in self.found else LEAF

    def tree(self, leaves: int) -> Tree:
        """The best tree with so many leaves."""
        return Tree.grown(self.assembly.domain, (self._whole, leaves), self._divide)

    @property
    def _whole(self) -> Key:
        return bytes([1]) * int(self.assembly.domain.starts[-1])

    def _divide(self, place: tuple[Key, int]) -> Division[tuple[Key, int]]:
        region, leaves = place
        if leaves == 1:
            return None
        number = int(self.found[region].first[leaves])
        division = list(self.assembly.divisions[region].values())[number]
        span = self.assembly.domain.span(division.feature)
        shares = self._shares(division.parts, leaves)
        codes = [np.flatnonzero(allowed_in(part)[span]).tolist() for part in division.parts]
        return division.feature, [(own, (part, k)) for own, part, k in zip(codes, division.parts, shares, strict=True)]

    def _shares(self, parts: Sequence[Key], leaves: int) -> list[int]:
        """How many leaves each part has in the best tree."""
        together, shares = self.assembly.together(self.found, parts), []
        for before, part in zip(reversed(together[:-1]), reversed(parts), strict=False):
            table = self.found[part].sums if part in self.found else LEAF
            shares.append(share_of(table, before, leaves))
            leaves -= shares[-1]
        return [leaves, *reversed(shares)]
