"""How much each column matters, in words and as a table."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from sparsedensity.density.importance import Losses, expected_losses
from sparsedensity.domain import Domain
from sparsedensity.report import words
from sparsedensity.report.model import Report
from sparsedensity.report.text import table

MOST_NAMED = 8


@dataclass(frozen=True)
class Importance(Mapping[str, float]):
    """By column, the most important first: what the log-likelihood per row loses when its splits are merged.

    A loss of x means that records have on average (geometrically) e^x times the density that they would have if this
    column said nothing.
    """

    losses: Mapping[str, float]
    exact: bool = field(default=True)
    """False if some losses were estimated from records drawn from the model, because there is too much to add up."""

    def __getitem__(self, column: str) -> float:
        return self.losses[column]

    def __iter__(self) -> Iterator[str]:
        return iter(self.losses)

    def __len__(self) -> int:
        return len(self.losses)

    @property
    def used(self) -> dict[str, float]:
        """The columns that make a difference."""
        return {column: loss for column, loss in self.losses.items() if loss}

    def times(self, column: str) -> str:
        """How many times the density, on average, records have because of a column."""
        loss = self[column]
        return words.sayable(loss) if np.isfinite(loss) else "0"

    def sentence(self) -> str:
        """The most important columns in one line; nothing if no column matters."""
        used = self.used
        named = [f"{words.printable(column)} {loss:.3g}" for column, loss in list(used.items())[:MOST_NAMED]]
        more = f", and {len(used) - MOST_NAMED} more" if len(used) > MOST_NAMED else ""
        return f"Columns by importance: {', '.join(named)} nats per row{more}" if used else ""

    def to_text(self) -> str:
        """One line per column that makes a difference, and one for the others."""
        rows = [(words.printable(column), (f"{loss:.4f}", self.times(column))) for column, loss in self.used.items()]
        idle = [words.printable(column) for column in self.losses if not self.losses[column]]
        lines = table(("nats per row", "times as dense"), rows, sys.maxsize) if rows else []
        return "\n".join([*lines, *([f"No difference: {', '.join(idle)}"] if idle else [])])

    def __str__(self) -> str:
        return self.to_text()


def importance(domain: Domain, losses: Losses) -> Importance:
    """Losses by the names of their columns, the largest first; of equals the first column first."""
    order = np.argsort(-losses.by_feature, kind="stable")
    return Importance({domain.names[i]: float(losses.by_feature[i]) for i in order}, losses.exact)


def importance_of(report: Report) -> Importance:
    """The importance of the columns of a model that is ready to be drawn."""
    return importance(report.structure.domain, expected_losses(report.density))
