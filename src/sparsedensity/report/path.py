"""The sparsity path: what each extra leaf buys, as data, as text and as a plot."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sparsedensity.errors import DataError, in_short
from sparsedensity.extras import need
from sparsedensity.report import words
from sparsedensity.report.axes import span
from sparsedensity.report.standing import Score, standing
from sparsedensity.scalars import is_whole

BAR = 30


@dataclass(frozen=True)
class PathPoint:
    """The best structure found for one number of leaves (rules)."""

    size: int
    log_posterior: float
    log_likelihood: float
    """Per row, on the rows it was fitted to."""
    held_out: float | None = None
    """Per row, cross-validated; ``None`` without cross-validation."""
    held_out_error: float | None = None
    """The standard error of the cross-validated number over the folds."""


@dataclass(frozen=True)
class SparsityPath:
    """The trade-off to choose from: sizes with their log posterior and log-likelihoods.

    Iterate over it, index it by size with :meth:`at`, print it, or :meth:`plot` it.
    """

    points: tuple[PathPoint, ...]
    unit: str = "leaves"
    scores: tuple[Score, ...] = ()
    """Held out: the model as it is chosen in each fold, then simpler ways to estimate the density."""

    def __iter__(self) -> Iterator[PathPoint]:
        return iter(self.points)

    def __len__(self) -> int:
        return len(self.points)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The numbers of leaves that were found."""
        return tuple(point.size for point in self.points)

    def at(self, size: int) -> PathPoint:
        """The point of one size."""
        for point in self.points:
            if is_whole(size) and point.size == size:
                return point
        raise DataError(f"No model with {in_short(size)} {self.unit} was found. Found: {_ranges(self.sizes)}.")

    @property
    def most_probable(self) -> PathPoint:
        """The point with the highest log posterior."""
        return max(self.points, key=lambda point: point.log_posterior)

    @property
    def best(self) -> PathPoint:
        """The point with the highest cross-validated log-likelihood; of equals the smallest."""
        return max(self._crossed(), key=lambda point: (point.held_out, -point.size))

    @property
    def simplest(self) -> PathPoint:
        """The smallest point within one standard error of the best."""
        best = self.best
        least = (best.held_out or 0.0) - (best.held_out_error or 0.0)
        return min((p for p in self._crossed() if (p.held_out or 0.0) >= least), key=lambda point: point.size)

    def to_text(self, width: int | None = None) -> str:
        """The path as a table, the choices marked, and how the model stands against simpler ones, in some width."""
        crossed = self.points[0].held_out is not None
        low, high = span(_value(point) for point in self.points)
        heads = [self.unit, "log posterior", "per row", *(["held out", "+-"] if crossed else []), ""]
        rows = [_row(point, low, high, self._marks(point, crossed)) for point in self.points]
        widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
        lines = [
            "  ".join([*(f"{cell:>{w}}" for cell, w in zip(row[:-1], widths, strict=False)), row[-1]]).rstrip()
            for row in [heads, *rows]
        ]
        return "\n".join(
            [*lines, *(["", textwrap.fill(standing(self.scores), words.room(width))] if self.scores else [])]
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw log-likelihood per row against size with matplotlib; returns the axes."""
        if ax is None:
            pyplot = need("matplotlib.pyplot", "plots")
            _, ax = pyplot.subplots(figsize=(7, 4), layout="constrained")
        ax.plot(self.sizes, [p.log_likelihood for p in self.points], color="#7a8794", label="fitted")
        if self.points[0].held_out is not None:
            held = [p.held_out for p in self.points]
            ax.errorbar(self.sizes, held, [p.held_out_error for p in self.points], color="#3b7ab8", label="held out")
            for point, word in ((self.best, "best held out"), (self.simplest, "within one standard error")):
                ax.axvline(point.size, color="#d98324", linewidth=1, linestyle="--")
                where = {"rotation": 90, "ha": "right", "va": "bottom", "transform": ax.get_xaxis_transform()}
                ax.text(point.size, 0.04, f"{word}: {point.size}", color="#9a5a12", **where)
        ax.set_xlabel(self.unit)
        ax.set_ylabel("log-likelihood per row")
        ax.legend(frameon=False, loc="center right")
        return ax

    def __str__(self) -> str:
        return self.to_text()

    def _crossed(self) -> tuple[PathPoint, ...]:
        crossed = tuple(point for point in self.points if point.held_out is not None)
        if not crossed:
            raise DataError("The path was not cross-validated: ask for it with cv=5.")
        return crossed

    def _marks(self, point: PathPoint, crossed: bool) -> str:
        choices = [(self.most_probable, "highest log posterior")]
        if crossed:
            choices += [(self.best, "best held out"), (self.simplest, "smallest within one standard error")]
        return ", ".join(mark for chosen, mark in choices if chosen is point)


def _value(point: PathPoint) -> float:
    return point.log_likelihood if point.held_out is None else point.held_out


def _row(point: PathPoint, low: float, high: float, mark: str) -> list[str]:
    share = (_value(point) - low) / (high - low) if math.isfinite(_value(point)) else 0.0
    bar = "█" * max(1, round(BAR * share))
    cells = [str(point.size), f"{point.log_posterior:,.2f}", f"{point.log_likelihood:.4f}"]
    if point.held_out is not None:
        cells += [f"{point.held_out:.4f}", f"{point.held_out_error or 0.0:.4f}"]
    return [*cells, f"{bar} {mark}".rstrip()]


def _ranges(sizes: tuple[int, ...]) -> str:
    """Whole numbers as ranges: 1 to 9, 11."""
    runs = words.runs_of(sizes)
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs)
