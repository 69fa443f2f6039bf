"""Short names for leaves: of all that is so in a leaf, the one or two things that are seldom so in others.

A name is made of conditions, which hold for every record of the leaf, and of traits, which it calls "mostly" so. Values
that are words of their own go without their column: "crew, male", but "survived no".
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from sparsedensity.density import Density
from sparsedensity.density.boxes import Boxes
from sparsedensity.domain import Domain, Feature
from sparsedensity.report import words
from sparsedensity.report.traits import Highlight, Trait
from sparsedensity.structures import RuleList, Tree
from sparsedensity.table import Floats

FEWEST = 2
"""How many things a name says, unless one alone means hardly any other record, or more are needed to be unique."""
SHARP = 0.1
"""A name needs no second part if it means at most so many other records for one of the leaf."""
WORTH = 0.9
"""A second part must leave at most this share of them."""
MOSTLY = 0.8
"""The share of a leaf's records from which a name may speak of a trait."""
MOST_TRAITS = 8
"""Of such traits the strongest are looked at."""
LONGEST = 30
"""If the values of a condition are longer than this, only the commonest of them is named."""
WORDY = 40
"""So many characters must tell a nat more than none."""
CERTAIN = 1.0
"""By so many nats a trait, which is only mostly so, must tell more than a condition."""
BLUR = 0.01
"""A name that means fewer other records than this, for one of the leaf, need not be more precise."""
RIVALS = 1000
"""A leaf is told apart from so many others, the largest: time would else grow with the square of their number."""
VAGUE = {"yes", "no", "true", "false", "none", "other", "others", "unknown", "missing", "high", "medium", "low"}
"""Words that say nothing without their column."""
EVERYTHING = "every record"

Codes = Sequence[int]
Conditions = Sequence[tuple[int, Codes]]
"""The features that a leaf has conditions on, and the codes that these allow."""


def names_of(density: Density, conditions: Sequence[Conditions], traits: Sequence[Sequence[Trait]]) -> list[str]:
    """A name for every leaf, unique among them."""
    match density.structure:
        case Tree():
            namer = _Namer(density, conditions)
            return unique(namer.name(i, *both) for i, both in enumerate(zip(conditions, traits, strict=True)))
        case RuleList() as rules:
            speaker = _Speaker(rules.domain)
            last = "none of the rules above" if rules.n_rules else EVERYTHING
            return unique(_joined(speaker.condition(f, codes) for f, codes in leaf) or last for leaf in conditions)
    domain = density.structure.domain
    points = (" and ".join(words.condition(domain[f], codes) for f, codes in leaf) for leaf in conditions)
    return unique(point or "every other point" for point in points)


def unique(names: Iterable[str]) -> list[str]:
    """The names; those that several leaves have, because their labels read alike, with the number of the leaf.

    >>> unique(["crew", "male", "crew"])
    ['crew (leaf 0)', 'male', 'crew (leaf 2)']
    """
    found = list(names)
    while len(taken := Counter(found)) < len(found):
        found = [f"{name} (leaf {i})" if taken[name] > 1 else name for i, name in enumerate(found)]
    return found


def _joined(parts: Iterable[str]) -> str:
    """The parts of a name; one that lists values ends more clearly than with another comma."""
    texts = list(parts)
    return ("; " if any("," in text for text in texts) else ", ").join(texts)


@dataclass(frozen=True, eq=False)
class _Part:
    """What a name may say: of how much of the leaf it is so, and of how much of its rivals."""

    text: str
    within: float
    among: Floats
    also: NDArray[np.bool_]
    """The rivals of which the same could be said."""
    trait: bool = False


@dataclass(frozen=True)
class _Speaker:
    """Conditions in few words."""

    domain: Domain

    def condition(self, feature: int, codes: Codes, shares: Floats | None = None) -> str:
        """A condition; of many values the commonest is named."""
        return self._spoken(feature, self._values(self.domain[feature], codes, shares))

    def trait(self, feature: int, highlight: Highlight) -> str:
        """A value, or a run of them, that most records of a leaf have."""
        return self._spoken(feature, f"mostly {self._values(self.domain[feature], highlight.codes)}")

    def _spoken(self, feature: int, values: str) -> str:
        return values if self._clear[feature] else f"{words.printable(self.domain[feature].name, LONGEST)} {values}"

    def _values(self, feature: Feature, codes: Codes, shares: Floats | None = None) -> str:
        text = words.some_values(feature, codes)
        if feature.ordered or len(text) <= LONGEST:
            return text
        commonest = codes[0] if shares is None else max(codes, key=lambda code: float(shares[code]))
        others = f" or {words.counted(len(codes) - 1, 'other', 'others')}" if len(codes) > 1 else ""
        return words.one_value(feature, feature.values[commonest], LONGEST - len(others)) + others

    @cached_property
    def _clear(self) -> list[bool]:
        """Whether each column can go unnamed: all its values are words that no other column has."""
        labels = [{words.plain_value(v).casefold() for v in feature.values} for feature in self.domain]
        columns = Counter(label for column in labels for label in column)
        return [
            feature.kind == "nominal" and all(columns[label] == 1 and _is_word(label) for label in column)
            for feature, column in zip(self.domain, labels, strict=True)
        ]


def _is_word(label: str) -> bool:
    return len(label) > 2 and any(map(str.isalpha, label)) and label not in VAGUE


class _Namer:
    """Names the leaves of one tree."""

    def __init__(self, density: Density, conditions: Sequence[Conditions]) -> None:
        domain = density.structure.domain
        self.speaker, self.domain = _Speaker(domain), domain
        masks = np.ones((len(conditions), int(domain.starts[-1])), bool)
        for mask, leaf in zip(masks, conditions, strict=True):
            for feature, codes in leaf:
                mask[domain.span(feature)] = False
                mask[domain.starts[feature] + np.array(codes)] = True
        boxes = Boxes.of(domain, masks, np.arange(len(masks)))
        self.inside = boxes.inside if density.profiles is None else density.profiles.inside
        self.rivals = np.sort(np.argsort(-density.probabilities, kind="stable")[:RIVALS])
        self.probabilities, self.weights = density.probabilities, density.probabilities[self.rivals]
        self.rival_masks, self.rival_inside = masks[self.rivals], self.inside[self.rivals]
        self.met = lru_cache(maxsize=4096)(self._met)

    def name(self, leaf: int, conditions: Conditions, traits: Sequence[Trait]) -> str:
        """The name of a leaf."""
        mostly = {trait.feature: self._trait(trait) for trait in traits if trait.highlight.share >= MOSTLY}
        bound = [self._condition(leaf, feature, tuple(codes)) for feature, codes in conditions]
        parts = [_shorter(part, mostly.pop(f, part)) for part, (f, _) in zip(bound, conditions, strict=True)]
        parts += islice(mostly.values(), MOST_TRAITS)
        chosen = self._telling(leaf, parts)
        return _joined(part.text for part in sorted(chosen, key=lambda part: part.trait)) or EVERYTHING

    def _condition(self, leaf: int, feature: int, codes: tuple[int, ...]) -> _Part:
        among, also = self.met(feature, codes)
        text = self.speaker.condition(feature, codes, self.inside[leaf, self.domain.span(feature)])
        return _Part(text, 1.0, among, also)

    def _trait(self, trait: Trait) -> _Part:
        among, _ = self.met(trait.feature, trait.highlight.codes)
        text = self.speaker.trait(trait.feature, trait.highlight)
        return _Part(text, trait.highlight.share, among, among >= MOSTLY, trait=True)

    def _met(self, feature: int, codes: tuple[int, ...]) -> tuple[Floats, NDArray[np.bool_]]:
        """How much of every rival has one of some values, and which rivals have no other."""
        span = self.domain.span(feature)
        chosen = np.zeros(span.stop - span.start, bool)
        chosen[list(codes)] = True
        among: Floats = self.rival_inside[:, span] @ chosen
        others: NDArray[np.bool_] = self.rival_masks[:, span] & ~chosen
        return among, np.logical_not(others.any(axis=1))

    def _telling(self, leaf: int, parts: Sequence[_Part]) -> list[_Part]:
        """The parts that leave the fewest other records, as many as it takes that they mean this leaf alone.

        Of parts together so much is left as of the strongest: of two columns that say the same, one adds nothing.
        """
        other = self.rivals != leaf
        among, also = np.array([part.among for part in parts]), np.array([part.also for part in parts])
        within, price = np.array([part.within for part in parts]), np.array([_price(part) for part in parts])
        left, doubt, held, blur, chosen = other.astype(np.float64), other, 1.0, math.inf, list[int]()
        while len(chosen) < len(parts):
            # other records of which all is so that the name would say, for one record of the leaf of which it is
            own = self.probabilities[leaf] * np.minimum(within, held)
            blurs = np.minimum(among, left) @ self.weights / np.maximum(own, 1e-300)
            doubts = np.count_nonzero(also & doubt, axis=1) if chosen else np.zeros(len(parts))
            ranked = np.lexsort((np.log(blurs + BLUR) + price, doubts)).tolist()
            best = next(i for i in ranked if i not in chosen)
            enough = len(chosen) >= FEWEST or blur <= SHARP or blurs[best] > WORTH * blur
            if chosen and enough and not doubt.any():
                break
            chosen.append(best)
            left, doubt = np.minimum(left, among[best]), doubt & also[best]
            held, blur = min(held, within[best]), blurs[best]
        return _needed([parts[i] for i in chosen], other)


def _shorter(condition: _Part, trait: _Part) -> _Part:
    """A condition, or what most records that meet it have, if that takes fewer words: "mostly water"."""
    return trait if len(trait.text) < len(condition.text) else condition


def _price(part: _Part) -> float:
    """What a part must tell more than another, in nats."""
    return len(part.text) / WORDY + CERTAIN * part.trait


def _needed(chosen: list[_Part], other: NDArray[np.bool_]) -> list[_Part]:
    """The parts without those that came first and are needless by now."""
    for part in list(chosen):
        rest = [one for one in chosen if one is not part]
        if len(rest) >= FEWEST and not np.logical_and.reduce([other, *(one.also for one in rest)]).any():
            chosen = rest
    return chosen
