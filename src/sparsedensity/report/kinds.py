"""Leaves with profiles as kinds of records: what each is like, and in which columns they differ."""

from __future__ import annotations

from bisect import bisect
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sparsedensity.report import words
from sparsedensity.report.model import Leaf, Report, allowed_values
from sparsedensity.report.traits import Standout, standouts_of
from sparsedensity.table import Floats

if TYPE_CHECKING:
    from sparsedensity.posterior.profiles import Profiles

MOST_TOLD = 1000
FEW_TOLD = 12
"""With many kinds fewer columns of each are told, so that a page stays small, but never fewer than these."""
MOSTLY = 0.5
"""Beyond this share, what stands out in a column tells more than a condition on it."""
LEVELS = (0.05, 0.15, 0.3, 0.5)
"""Where one shade of the heat map ends and the next begins."""


@dataclass(frozen=True)
class Kind:
    """A leaf as a kind of record."""

    leaf: Leaf
    standouts: tuple[Standout, ...]
    """What stands out in it, strongest first."""

    @property
    def untold(self) -> int:
        """How many columns with a profile of their own are not among these."""
        return len(self.leaf.traits) - sum(len(one.names) for one in self.standouts)


@dataclass(frozen=True)
class Cell:
    """A column in one kind."""

    value: str
    share: str
    """Of the records of the kind; none for a condition, or if the column follows the whole table."""
    detail: str
    level: int
    """How much the column differs from the whole table, from 0 to the number of `LEVELS`."""


@dataclass(frozen=True)
class HeatMap:
    """Columns by kinds: how much each differs from the whole table, and in which value most."""

    leaves: tuple[Leaf, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    """The columns that differ most first."""
    alike: tuple[str, ...]
    """The columns that follow the whole table in every kind."""
    extreme: Leaf
    """The kind that differs most, in all columns together."""


ALIKE = Cell("as overall", "", "follows the whole table", 0)


def kinds_of(report: Report) -> tuple[Kind, ...]:
    """The leaves of a model with profiles, the largest first; none if leaves are even."""
    if report.profiles is None:
        return ()
    most = max(FEW_TOLD, MOST_TOLD // len(report.leaves))
    return tuple(Kind(leaf, tuple(standouts_of(leaf.traits[:most]))) for leaf in _largest_first(report))


def heat_map(report: Report) -> HeatMap | None:
    """Where the kinds differ from the whole table; ``None`` if leaves are even."""
    profiles = report.profiles
    if profiles is None:
        return None
    names, leaves = report.structure.domain.names, _largest_first(report)
    distances = _distances(profiles)
    cells = [_cells(report, profiles, leaf, distances[leaf.number]) for leaf in leaves]
    told = [feature for feature in by_difference(report) if any(feature in some for some in cells)]
    rows = [(words.printable(names[f]), tuple(some.get(f, ALIKE) for some in cells)) for f in told]
    alike = [words.printable(name) for feature, name in enumerate(names) if feature not in told]
    extreme = max(report.leaves, key=lambda leaf: float(distances[leaf.number].sum()))
    return HeatMap(leaves, tuple(rows), tuple(alike), extreme)


def by_difference(report: Report) -> list[int]:
    """The columns of a model with profiles, those first in which its kinds differ most from the whole table."""
    assert report.profiles is not None
    mean = np.array([leaf.probability for leaf in report.leaves]) @ _distances(report.profiles)
    return [int(feature) for feature in np.argsort(-mean, kind="stable")]


def _largest_first(report: Report) -> tuple[Leaf, ...]:
    return tuple(sorted(report.leaves, key=lambda leaf: -leaf.probability))


def _cells(report: Report, profiles: Profiles, leaf: Leaf, distances: Floats) -> dict[int, Cell]:
    """What tells most about the columns in which a kind differs: what stands out, or a condition if that is more."""
    domain, said = profiles.domain, dict[int, tuple[str, str, float]]()
    for feature, codes in allowed_values(report.structure, leaf.number):
        overall = float(profiles.leaf.background[domain.span(feature)][list(codes)].sum())
        said[feature] = (f"is {words.some_values(domain[feature], codes)}", "", overall)
    for trait in leaf.traits:
        most = trait.highlight
        if trait.feature not in said or most.share > MOSTLY:
            said[trait.feature] = (most.values, words.about(most.share), most.overall)
    return {
        feature: Cell(
            values,
            share,
            f"overall {words.about(overall)}; {words.about(float(distances[feature]))} of the kind differ",
            bisect(LEVELS, float(distances[feature])),
        )
        for feature, (values, share, overall) in said.items()
    }


def _distances(profiles: Profiles) -> Floats:
    """Total variation by leaf and feature: the share of records whose value would have to change to be as overall."""
    apart = np.abs(profiles.inside - profiles.leaf.background)
    distances: Floats = np.add.reduceat(apart, profiles.domain.starts[:-1], axis=1) / 2
    return distances
