"""Why one record is as common or as rare as it is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from sparsedensity.report import words


@dataclass(frozen=True)
class Change:
    """The one change of a value that would make a record most ordinary."""

    column: str
    value: str
    """What the column would have to be, in words; several values where they do equally well."""
    log_density: float
    unusualness: float
    gain: float
    """How much higher the log density would be; infinite for a record that has none."""

    def __str__(self) -> str:
        what = f"with {words.printable(self.column)} {self.value}"
        if self.gain == math.inf:
            return f"{what} it would lie inside, and {words.percent(self.unusualness)} would be more common"
        return f"{what} it would be {words.from_log(self.gain, 3)} times as dense"


@dataclass(frozen=True)
class Explanation:
    """The way of one record through a model, and what it says about the record."""

    row: int
    leaf: int | None
    """The number of its leaf; ``None`` for a record outside the domain."""
    path: tuple[str, ...]
    """The conditions it meets from the top, in words."""
    probability: float
    """The probability of its leaf."""
    log_density: float
    unusualness: float
    """The share of the model's mass that is denser than this record; 1 for a record outside the domain."""
    unknown: tuple[str, object] | None = None
    """The column and the value that put it outside the domain."""
    change: Change | None = None
    """The single change that would make it most ordinary; ``None`` where no change of one value helps."""

    def __str__(self) -> str:
        return f"Row {self.row}: {self.reason}{'' if self.change is None else f' {_capital(str(self.change))}.'}"

    @property
    def reason(self) -> str:
        """Where the record is and how unusual that is, in words."""
        if self.unknown is not None:
            column, value = self.unknown
            return f"outside the domain, because {words.printable(column)} is {words.printable(value)}."
        where = " and ".join(self.path) or "everything"
        return (
            f"{where} (leaf {self.leaf}). {100 * self.probability:.3g} % of all records are there, "
            f"density {words.from_log(self.log_density)}; {100 * self.unusualness:.3g} % of what the model "
            "expects is more common."
        )

    def as_dict(self) -> dict[str, Any]:
        """The explanation as plain data, for JSON."""
        change = self.change
        return {
            "row": self.row,
            "leaf": self.leaf,
            "path": list(self.path),
            "probability": self.probability,
            "log_density": self.log_density,
            "unusualness": self.unusualness,
            "outside": None if self.unknown is None else {"column": self.unknown[0], "value": self.unknown[1]},
            "change": None
            if change is None
            else {
                "column": change.column,
                "value": change.value,
                "log_density": change.log_density,
                "unusualness": change.unusualness,
            },
        }


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
