"""Why one record is as common or as rare as it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import TextWrapper
from typing import Any

from sparsedensity.report import words


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
            return f"{what} it would lie inside the domain, {words.rarity(self.unusualness)}"
        return f"{what} it would be {words.sayable(self.gain)} times as common"


@dataclass(frozen=True)
class Factor:
    """One value of a record, and how common it is among the records that share all others."""

    column: str
    value: str
    share: float
    """How often records with the same other values have it; if no leaf asks for the column, its share in the leaf."""
    overall: float
    """How often the records of the whole table have it."""

    @property
    def times(self) -> float:
        """How many times rarer it is here than overall; below 1 if it is more common here."""
        return self.overall / self.share if self.share > 0 else math.inf

    def __str__(self) -> str:
        here, overall = words.percent(self.share), words.percent(self.overall)
        return f"{words.printable(self.column)} {self.value}: {here} with its other values, {overall} overall"


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

    def __str__(self) -> str:
        change = "" if self.change is None else f" {_capital(str(self.change))}."
        return f"{self.heading}: {self.reason}{change}"

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
        path = " and ".join(self.path) or "every record"
        return f"{path} (leaf {self.leaf}: {self.share}). {_capital(words.rarity(self.unusualness))}."

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
        path = " and ".join(self.path) or "every record"
        lines = [words.rarity(self.unusualness), f"leaf {self.leaf}: {path}", self.share]
        if self.unknown is not None:
            lines = [self.reason]
        if self.change is not None:
            lines.append(str(self.change))
        head = f"{self.heading}: {', '.join(f'{column} {value}' for column, value in values)}"
        return "\n".join(map(wrap.fill, [head, *(f"  {line}" for line in lines)]))

    def as_dict(self) -> dict[str, Any]:
        """The explanation as plain data, for JSON."""
        plain = {**vars(self), "path": list(self.path)}
        unknown = plain.pop("unknown")
        plain["outside"] = None if unknown is None else {"column": unknown[0], "value": unknown[1]}
        change = plain.pop("change")
        plain["factors"] = [{**vars(factor), "times": factor.times} for factor in self.factors]
        plain["change"] = change and {name: value for name, value in vars(change).items() if name != "gain"}
        return plain


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
