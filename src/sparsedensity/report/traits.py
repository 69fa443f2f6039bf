"""What makes the records of a leaf a kind of their own: the columns that have a profile there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsedensity.density import Density
from sparsedensity.domain import Domain, Feature
from sparsedensity.report import words
from sparsedensity.table import Floats

if TYPE_CHECKING:
    from sparsedensity.posterior.profiles import Profiles

LIKELY = 0.5
"""A column has a profile of its own if that is more probable than not."""


@dataclass(frozen=True)
class ValueShare:
    """How often the model expects a value in a leaf, and in the whole table."""

    code: int
    value: str
    share: float
    overall: float


@dataclass(frozen=True)
class Highlight:
    """What stands out in a column: a value, or a run of ordered ones, that is more common in a leaf than elsewhere."""

    codes: tuple[int, ...]
    values: str
    share: float
    overall: float


@dataclass(frozen=True)
class Trait:
    """A column that has a profile of its own in a leaf: ``highlight`` is what stands out, ``values`` is all of it.

    >>> from sparsedensity import LeafSparseTree, datasets
    >>> crew = LeafSparseTree(leaf="profile").fit(datasets.load("titanic")).leaves_[3]
    >>> sex = crew.traits[0]
    >>> [(each.value, round(each.share, 2), round(each.overall, 2)) for each in sex.values]
    [('male', 0.97, 0.79), ('female', 0.03, 0.21)]
    """

    feature: int
    name: str
    evidence: float
    """Nats per record of the leaf by which the rows speak for a profile of its own."""
    values: tuple[ValueShare, ...]
    """Every allowed value, those whose share differs most from what the table would have here first."""
    highlight: Highlight

    def as_dict(self) -> dict[str, Any]:
        """The trait as plain data, for JSON."""
        values = [{"value": each.value, "share": each.share, "overall": each.overall} for each in self.values]
        return {"feature": self.name, "evidence": self.evidence, "values": values}


@dataclass(frozen=True)
class Standout:
    """What stands out in one column, or alike in several."""

    names: tuple[str, ...]
    highlight: Highlight

    @property
    def more(self) -> str:
        """How many columns there are beside the strongest."""
        return f" (+{len(self.names) - 1})" if len(self.names) > 1 else ""

    def name(self, longest: int = words.LONGEST_LABEL) -> str:
        """Its columns in few words."""
        return words.printable(self.names[0], longest - len(self.more)) + self.more

    def __str__(self) -> str:
        most = self.highlight
        return f"{self.name()} {most.values}: {words.about(most.share)} (overall {words.about(most.overall)})"


def standouts_of(traits: Iterable[Trait]) -> list[Standout]:
    """What stands out in a leaf, strongest first; columns that say the same are one."""
    alike: dict[tuple[str, str, str], list[Trait]] = {}
    for trait in traits:
        most = trait.highlight
        alike.setdefault((most.values, words.about(most.share), words.about(most.overall)), []).append(trait)
    return [Standout(tuple(trait.name for trait in group), group[0].highlight) for group in alike.values()]


def traits_of(density: Density) -> list[tuple[Trait, ...]]:
    """For every leaf the columns that have a profile of their own, strongest first; none if leaves are even."""
    profiles, domain = density.profiles, density.structure.domain
    if profiles is None:
        return [()] * density.structure.n_leaves
    labels = [words.some_values(feature, [code]) for feature in domain for code in range(feature.size)]
    found = []
    for leaf in range(len(profiles.own)):
        own = np.flatnonzero(profiles.own[leaf] > LIKELY).tolist()
        traits = [_trait(domain, profiles, leaf, f, labels) for f in own]
        found.append(tuple(sorted(traits, key=lambda trait: -trait.evidence)))
    return found


def _trait(domain: Domain, profiles: Profiles, leaf: int, feature: int, labels: Sequence[str]) -> Trait:
    span = domain.span(feature)
    inside, overall = profiles.inside[leaf, span], profiles.leaf.background[span]
    excess = inside - profiles.background[leaf, span]
    codes = sorted(np.flatnonzero(profiles.allowed[leaf, span]).tolist(), key=lambda code: -abs(excess[code]))
    values = [ValueShare(c, labels[span.start + c], float(inside[c]), float(overall[c])) for c in codes]
    evidence = float(profiles.evidence[leaf, feature] / (profiles.totals[leaf, feature] or 1.0))
    most = _standing_out(domain[feature], sorted(codes), excess)
    text = labels[span.start + most[0]] if len(most) == 1 else words.some_values(domain[feature], most)
    highlight = Highlight(tuple(most), text, float(inside[most].sum()), float(overall[most].sum()))
    return Trait(feature, words.printable(domain[feature].name), evidence, tuple(values), highlight)


def _standing_out(feature: Feature, codes: Sequence[int], excess: Floats) -> list[int]:
    """The run of an ordered feature, else the value, that is most in excess."""
    if not feature.ordered:
        return [max(codes, key=lambda code: float(excess[code]))]
    runs = words.runs_of([code for code in codes if code != feature.missing])
    best = [_best_run(run, excess) for run in runs] + [[code] for code in codes if code == feature.missing]
    return max(best, key=lambda run: float(excess[run].sum()))


def _best_run(run: Sequence[int], excess: Floats) -> list[int]:
    """The part of a run with the largest sum."""
    sums = np.concatenate([[0.0], np.cumsum(excess[list(run)])])
    lowest = np.minimum.accumulate(sums[:-1])
    end = int(np.argmax(sums[1:] - lowest))
    begin = int(np.argmin(sums[: end + 1]))
    return list(run[begin : end + 1])
