"""Axes: where a number is drawn, which round numbers stand beside it, and the frame of a chart."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from sparsedensity.report.shapes import Shape, Stroke, Text

Points = Iterable[tuple[float, float]]
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Axes:
    """The plane of a chart: numbers across and up, the names of its lines in the room to the right."""

    across: tuple[float, float]
    up: tuple[float, float]
    width: float = 700.0
    height: float = 300.0
    left: float = 64.0
    right: float = 200.0
    top: float = 34.0
    bottom: float = 44.0
    log: bool = False
    """Whether the numbers across are logs to base 10."""

    def x(self, value: float) -> float:
        """The place of a number across."""
        low, high = self.across
        return self.left + (self.end - self.left) * ((value - low) / (high - low) if high > low else 0.5)

    def y(self, value: float) -> float:
        """The place of a number on the way up."""
        low, high = self.up
        return self.top + (self.floor - self.top) * (high - value) / (high - low)

    @property
    def end(self) -> float:
        """Where the plane ends on the right."""
        return self.width - self.right

    @property
    def floor(self) -> float:
        """Where the plane ends below."""
        return self.height - self.bottom

    def frame(self, across: str, up: str) -> Iterator[Shape]:
        """The titles of both axes and round numbers beside them."""
        yield Stroke(self.left, self.floor, self.end, self.floor, "soft")
        yield Text(self.left - 40, 12, up, "soft")
        yield Text((self.left + self.end) / 2, self.height - 10, across, "soft", "middle")
        for value in round_numbers(*self.up):
            yield Stroke(self.left, self.y(value), self.end, self.y(value), "line")
            yield Text(self.left - 8, self.y(value), f"{value:g}", "soft", "end", 11)
        for value in round_numbers(*self.across):
            if value == int(value):
                label = power_of_ten(int(value)) if self.log else f"{value:g}"
                yield Text(self.x(value), self.floor + 14, label, "soft", "middle", 11)

    def line(self, points: Points, colour: str) -> Iterator[Shape]:
        """A line through all points that have a place."""
        finite = [(self.x(a), self.y(b)) for a, b in points if math.isfinite(b)]
        for begin, end in pairwise(finite):
            yield Stroke(*begin, *end, colour, 1.5)


def span(values: Iterable[float]) -> tuple[float, float]:
    """The least and the largest of some numbers, a little apart if they are the same."""
    finite = [value for value in values if math.isfinite(value)]
    low, high = min(finite, default=0.0), max(finite, default=1.0)
    return (low - 0.5, high + 0.5) if high - low < 1e-9 else (low, high)


def round_numbers(low: float, high: float, most: int = 6) -> list[float]:
    """A few round numbers between two ends.

    >>> round_numbers(-2.13, -1.87)
    [-2.1, -2.05, -2.0, -1.95, -1.9]
    """
    length = max(high - low, 1e-9)
    step = 10.0 ** math.floor(math.log10(length / most))
    step *= next((m for m in (1, 2, 5, 10) if length / (step * m) <= most), 10)
    first = math.ceil(low / step - 1e-9)
    count = int((high - first * step) / step + 1e-9) + 1
    return [round((first + n) * step, 10) for n in range(count)]


def power_of_ten(exponent: int) -> str:
    """A power of ten, short.

    >>> [power_of_ten(n) for n in (-12, -2, 4, 5)]
    ['10⁻¹²', '0.01', '10,000', '10⁵']
    """
    return f"{10.0**exponent:,g}" if -5 < exponent < 5 else f"10{str(exponent).translate(SUPERSCRIPTS)}"
