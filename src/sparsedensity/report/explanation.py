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
"""or if it has so small a part of the share that values of its column usually have."""


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
    """One value of a record, and how common it is among the records that share all others."""

    column: str
    value: str
    share: float
    """How often records with the same other values have it; if no leaf asks for the column, its share in the leaf."""
    overall: float
    """How often the records of the whole table have it."""
    usual: float
    """How common values of the column are on average in the whole table: low if it has many."""

    @property
    def rare(self) -> bool:
        """Whether it is rarer than overall, or a rare value of its column anyway."""
        return self.times >= NOTABLE or self.share <= SELDOM * self.usual

    @property
    def times(self) -> float:
        """How many times rarer it is here than overall; below 1 if it is more common here."""
        return self.overall / self.share if self.share > 0 else math.inf

    def __str__(self) -> str:
        if self.share == 0:
            return f"among records like it, {self._what} is not expected; overall {words.about(self.overall)} have it"
        return f"among records like it, {self._what} is rare: {self._shares}{self._rarer('it makes the record ')}"

    @property
    def likewise(self) -> str:
        """The same, after a sentence on another value."""
        return str(self) if self.share == 0 else f"so is {self._what}: {self._shares}{self._rarer()}"

    @property
    def _what(self) -> str:
        return f"{words.printable(self.column)} {self.value}"

    @property
    def _shares(self) -> str:
        here, overall = words.about(self.share), words.about(self.overall)
        alike = here == overall and 1 / NOTABLE < self.times < NOTABLE
        return f"{here}, as overall" if alike else f"{here}, overall {overall}"

    def _rarer(self, what: str = "") -> str:
        if self.times < NOTABLE:
            return ""
        return f"; {what}{words.sayable(math.log(float(f'{self.times:.2g}')))} times rarer"


@dataclass(frozen=True)
class Explanation:
    """The way of one record through a model, and what it says about the record."""

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
        """The conditions it meets, or of many the name of its leaf, and what to call the leaf."""
        if self.kind and len(self.path) > FEW:
            return self.kind, f"leaf {self.leaf}, {len(self.path)} conditions"
        return " and ".join(self.path) or "every record", f"leaf {self.leaf}"

    @property
    def rare(self) -> list[Factor]:
        """The values that make it rare, as far as they are spoken of."""
        return [factor for factor in self.factors if factor.rare][:MOST_FACTORS]

    @property
    def remarks(self) -> list[str]:
        """The values that make it rare, the strongest first, and the change that would make it most ordinary."""
        sentences = [factor.likewise if i else str(factor) for i, factor in enumerate(self.rare)]
        return [*sentences, *([] if self.change is None else [str(self.change)])]

    @property
    def share(self) -> str:
        """How much its leaf holds and how dense it is, in words."""
        share = words.of_all_records(self.observed, self.probability)
        return f"{share}, density {words.density(self.log_density)}"

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


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
