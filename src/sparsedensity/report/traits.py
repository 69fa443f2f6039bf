"""What makes the records of a leaf a kind of their own: the columns that have a profile there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparsedensity.density import Density
from sparsedensity.domain import Domain
from sparsedensity.report import words

if TYPE_CHECKING:
    from sparsedensity.posterior.profiles import Profiles

LIKELY = 0.5
"""A column has a profile of its own if that is more probable than not."""


@dataclass(frozen=True)
class ValueShare:
    """How often a value occurs in a leaf, and in the whole table among the values that the leaf allows."""

    code: int
    value: str
    share: float
    overall: float


@dataclass(frozen=True)
class Trait:
    """A column that has a profile of its own in a leaf."""

    feature: int
    name: str
    evidence: float
    """Nats per record of the leaf by which the rows speak for a profile of its own."""
    values: tuple[ValueShare, ...]
    """Every allowed value, those whose share differs most from the whole table first."""


def traits_of(density: Density) -> list[tuple[Trait, ...]]:
    """For every leaf the columns that have a profile of their own, strongest first; none if leaves are even."""
    profiles, domain = density.profiles, density.structure.domain
    if profiles is None:
        return [()] * density.structure.n_leaves
    found = []
    for leaf in range(len(profiles.own)):
        own = [f for f in range(len(domain)) if profiles.own[leaf, f] > LIKELY]
        traits = [_trait(domain, profiles, leaf, f) for f in own]
        found.append(tuple(sorted(traits, key=lambda trait: -trait.evidence)))
    return found


def _trait(domain: Domain, profiles: Profiles, leaf: int, feature: int) -> Trait:
    start = int(domain.starts[feature])
    codes = [code for code in range(domain.sizes[feature]) if profiles.allowed[leaf, start + code]]
    values = [
        ValueShare(
            code,
            words.some_values(domain[feature], [code]),
            float(profiles.inside[leaf, start + code]),
            float(profiles.background[leaf, start + code]),
        )
        for code in codes
    ]
    evidence = float(profiles.evidence[leaf, feature] / max(profiles.totals[leaf, feature], 1.0))
    values.sort(key=lambda each: -abs(each.share - each.overall))
    return Trait(feature, words.printable(domain[feature].name), evidence, tuple(values))
