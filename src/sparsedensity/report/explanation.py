"""Why one record is as common or as rare as it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import TextWrapper
from typing import Any, NamedTuple

from sparsedensity.report import words

FEW = 3
"""A leaf of more conditions goes by its name."""
MOST_FACTORS = 3
NOTABLE = 2.0
"""A value is spoken of if it makes a record so many times rarer,"""
SELDOM = 0.01
"""or if so few records have it, among those like it and overall,"""
TENTH = 0.1
"""and so small a part of those that usually share a value of its column: of a thousand cities none is rare."""


@dataclass(frozen=True)
class Change:
    """The one change of a value that would make a record most ordinary."""

    column: str
    value: str
    """What the column would have to be, in words; several values if they do equally well."""
    log_density: float
    unusualness: float
    gain: float
    """How much higher the log density would be; infinite for a record that has none."""

    def __str__(self) -> str:
        what = f"with {words.printable(self.column)} {self.value}"
        if self.gain == math.inf:
            return f"{what} it would be possible, {words.rarity(self.unusualness)}"
        return f"{what} it would be {words.sayable(self.gain)} times as common"


class Factor(NamedTuple):
    """One value of a record, and how common it is among the records that share all others.

    >>> print(Factor("garage", "partner", share=0.005, overall=0.36))
    among records like it, garage partner is rare: 0.5 %, overall 36 %; it makes the record 72 times rarer
    >>> print(Factor("delay", "59 days", share=0.001, overall=0.001))
    rare everywhere: delay 59 days, 0.1 % of all records
    """

    column: str
    value: str
    share: float
    """How often records with the same other values have it; if no leaf asks for the column, its share in the leaf."""
    overall: float
    """How often the records of the whole table have it."""
    usual: float = 1.0
    """How common values of the column are on average in the whole table: low if it has many."""

    @property
    def times(self) -> float:
        """How many times rarer it is here than overall; below 1 if it is more common here."""
        return self.overall / self.share if self.share > 0 else math.inf

    @property
    def everywhere(self) -> bool:
        """Whether it is rare without being rarer here than overall."""
        return self.times < NOTABLE and max(self.share, self.overall) <= min(SELDOM, TENTH * self.usual)

    def __str__(self) -> str:
        if self.share == 0:
            return f"among records like it, {self._what} is not expected; overall {words.about(self.overall)} have it"
        if self.everywhere:
            return f"rare everywhere: {self._what}, {words.about(self.overall)} of all records"
        return f"among records like it, {self._what} is rare: {self._shares}; it makes the record {self._times}"

    @property
    def likewise(self) -> str:
        """The same, after a sentence on another value that is rare among records like it."""
        return str(self) if self.share == 0 or self.everywhere else f"so is {self._what}: {self._shares}; {self._times}"

    @property
    def _what(self) -> str:
        return f"{words.printable(self.column)} {self.value}"

    @property
    def _shares(self) -> str:
        return f"{words.about(self.share)}, overall {words.about(self.overall)}"

    @property
    def _times(self) -> str:
        return f"{words.sayable(math.log(float(f'{self.times:.2g}')))} times rarer"


@dataclass(frozen=True)
class Explanation:
    """The way of one record through a model, and what it says about the record.

    >>> from sparsedensity import GreedyTree, datasets
    >>> tree = GreedyTree().fit(datasets.load("titanic"))
    >>> girl = tree.explain([{"class": "1st", "sex": "female", "age": "child"}])[0]
    >>> girl.path, round(girl.unusualness, 3)
    (('age is child', 'class is 1st or crew'), 0.996)
    >>> print(girl.change)
    with age adult it would be 77.8 times as common
    """

    row: int
    """Its number in the table: of a pandas frame its label in the index, if that is a number; else counted from 0."""
    leaf: int | None
    """The number of its leaf; ``None`` for a record outside the domain."""
    path: tuple[str, ...]
    """The conditions it meets, one per column, in words."""
    probability: float
    """The share of records that the model expects in its leaf."""
    log_density: float
    unusualness: float
    """The share of the model's mass that is denser than this record; 1 for a record outside the domain."""
    unknown: tuple[str, object] | None = None
    """The column and the value that put it outside the domain."""
    observed: float = 0.0
    """The share of the training rows in its leaf."""
    name: str = ""
    """What its table calls the row, if that is not its number."""
    change: Change | None = None
    """The single change that would make it most ordinary; ``None`` if no change of one value helps."""
    factors: tuple[Factor, ...] = ()
    """Its values, those that speak most against it first; none if leaves are even or it is outside the domain."""
    kind: str = ""
    """The short name of its leaf."""

    def __str__(self) -> str:
        return " ".join([f"{self.heading}: {self.reason}", *(f"{_capital(line)}." for line in self.remarks)])

    @property
    def heading(self) -> str:
        """Which row it is, in words."""
        return self.name or f"Row {self.row}"

    @property
    def reason(self) -> str:
        """Where the record is and how unusual that is, in words."""
        if self.unknown is not None:
            column, value = self.unknown
            return f"outside the domain, because {words.printable(column)} is {words.plain_value(value)}."
        where, leaf = self._place
        return f"{where} ({leaf}: {self.share}). {_capital(words.rarity(self.unusualness))}."

    @property
    def _place(self) -> tuple[str, str]:
        return _place_of(self.leaf, self.path, self.kind)

    @property
    def rare(self) -> list[Factor]:
        """The values that make it rare, as far as they are spoken of."""
        return [one for one in self.factors if one.times >= NOTABLE or one.everywhere][:MOST_FACTORS]

    @property
    def remarks(self) -> list[str]:
        """The values that make it rare, the strongest first, and the change that would make it most ordinary."""
        rare = self.rare
        sentences = [
            one.likewise if before and not before.everywhere else str(one)
            for before, one in zip([None, *rare], rare, strict=False)
        ]
        return [*sentences, *([] if self.change is None else [str(self.change)])]

    @property
    def share(self) -> str:
        """How much its leaf holds, in words; and how dense it is, if that is the same for all its records."""
        share = words.of_all_records(self.observed, self.probability)
        return share if self.factors else f"{share}, density {words.density(self.log_density)}"

    def card(self, values: Sequence[tuple[str, str]], width: int | None = None) -> str:
        """For a terminal: its values, how unusual it is, where the model puts it, what would make it most ordinary."""
        wrap = TextWrapper(
            words.room(width, 40), subsequent_indent="    ", break_on_hyphens=False, replace_whitespace=False
        )
        where, leaf = self._place
        lines = [words.rarity(self.unusualness), f"{leaf}: {where}", self.share]
        if self.unknown is not None:
            lines = [self.reason]
        lines += self.remarks
        head = f"{self.heading}: {', '.join(f'{column} {value}' for column, value in values)}"
        return "\n".join(map(wrap.fill, [head, *(f"  {line}" for line in lines)]))

    def as_dict(self) -> dict[str, Any]:
        """The explanation as plain data, for JSON."""
        plain = {**vars(self), "path": list(self.path)}
        unknown = plain.pop("unknown")
        plain["outside"] = None if unknown is None else {"column": unknown[0], "value": unknown[1]}
        change = plain.pop("change")
        plain["factors"] = [
            {**factor._asdict(), "times": factor.times if factor.share else None} for factor in self.factors
        ]
        plain["change"] = change and {name: value for name, value in vars(change).items() if name != "gain"}
        return plain


def leaf_in_words(leaf: int, path: Sequence[str], kind: str, observed: float, probability: float) -> str:
    """Where the records of a leaf are and how common they are: what holds for all of them.

    >>> leaf_in_words(3, ["class is crew", "sex is female"], "crew", 0.0104, 0.0104)
    'class is crew and sex is female (leaf 3: 1.04 % of all records)'
    """
    where, called = _place_of(leaf, path, kind)
    return f"{where} ({called}: {words.of_all_records(observed, probability)})"


def _place_of(leaf: int | None, path: Sequence[str], kind: str) -> tuple[str, str]:
    """The conditions of a leaf, or its name if they are many, and what to call it."""
    if kind and len(path) > FEW:
        return kind, f"leaf {leaf}, {len(path)} conditions"
    return " and ".join(path) or "every record", f"leaf {leaf}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
