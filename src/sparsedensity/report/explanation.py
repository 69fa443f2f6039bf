"""Why one record is as common or as rare as it is."""

from __future__ import annotations

from dataclasses import dataclass

from sparsedensity.report import words


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

    def __str__(self) -> str:
        if self.unknown is not None:
            column, value = self.unknown
            return f"Row {self.row} lies outside the domain: {words.printable(column)} is {words.printable(value)}."
        where = " and ".join(self.path) or "everything"
        return (
            f"Row {self.row}: {where} (leaf {self.leaf}). {100 * self.probability:.3g} % of all records are there, "
            f"density {words.from_log(self.log_density)}; {100 * self.unusualness:.3g} % of what the model "
            "expects is more common."
        )
