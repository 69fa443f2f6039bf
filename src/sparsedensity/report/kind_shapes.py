"""Leaves as kinds of records, in shapes: the name of each, and below it what stands out in it as small bars."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from sparsedensity.report import words
from sparsedensity.report.picture import Spot
from sparsedensity.report.shapes import Box, Shape, Stroke, Text
from sparsedensity.report.style import shortened, text_width
from sparsedensity.report.traits import Standout

MOST = 3
"""So many bars of a leaf."""
LINE = 15.0
UNDER_NAME = 3.0
GAP = 8.0
BAR = 80.0
THICK = 7.0
PERCENT = 68.0
WIDEST_NAME, WIDEST_VALUE, WIDEST_KIND = 160.0, 120.0, 400.0


@dataclass(frozen=True)
class Kinds:
    """The room that the kinds of a picture take, one beside each leaf."""

    spots: tuple[Spot, ...]
    font: float

    @cached_property
    def height(self) -> float:
        """Of every kind: its name, its bars, and some space."""
        return LINE * (1 + max((len(spot.standouts[:MOST]) for spot in self.spots), default=0)) + UNDER_NAME + 14.0

    @cached_property
    def width(self) -> float:
        """Of the names or the lines with bars, whichever is wider."""
        names = max((text_width(spot.name, self.font) for spot in self.spots), default=0.0)
        lines = self._name + self._value + BAR + PERCENT + 2 * GAP if self._shown else 0.0
        return max(min(names, WIDEST_KIND), lines)

    def shapes(self, i: int, left: float) -> Iterator[Shape]:
        """What stands beside one leaf, around the middle of its row."""
        spot = self.spots[i]
        some = spot.standouts[:MOST]
        y = -(len(some) * LINE + UNDER_NAME * bool(some)) / 2
        yield Text(left, y, shortened(spot.name, self.width, self.font), "ink", size=self.font, bold=True)
        for n, one in enumerate(some, 1):
            yield from self._line(one, left, y + UNDER_NAME + n * LINE)

    def _line(self, one: Standout, left: float, y: float) -> Iterator[Shape]:
        """A column, the value that stands out, and its share as a bar with a mark at its share of all records."""
        font, most, bar = self.font - 1, one.highlight, left + self._name + self._value + 2 * GAP
        name = shortened(one.names[0], self._name - text_width(one.more, font), font) + one.more
        yield Text(left, y, name, "soft", size=font)
        yield Text(left + self._name + GAP, y, shortened(most.values, self._value, font), "ink", size=font)
        yield Box(bar, y - THICK / 2, BAR, THICK, "line")
        yield Box(bar, y - THICK / 2, BAR * most.share, THICK, "bar")
        yield from _mark(bar + BAR * most.overall, y)
        yield Text(bar + BAR + PERCENT, y, words.about(most.share), "ink", "end", font)

    @cached_property
    def _shown(self) -> list[Standout]:
        return [one for spot in self.spots for one in spot.standouts[:MOST]]

    @cached_property
    def _name(self) -> float:
        return min(max(text_width(one.name(), self.font - 1) for one in self._shown), WIDEST_NAME)

    @cached_property
    def _value(self) -> float:
        return min(max(text_width(one.highlight.values, self.font - 1) for one in self._shown), WIDEST_VALUE)


def legend(x: float, y: float, font: float) -> Iterator[Shape]:
    """What the bars and their marks mean."""
    for text in ("share in this kind", "share of all records"):
        if text.endswith("kind"):
            yield Box(x, y - THICK / 2, 24.0, THICK, "bar")
        else:
            yield Box(x, y - THICK / 2, 24.0, THICK, "line")
            yield from _mark(x + 12.0, y)
        yield Text(x + 30.0, y, text, "soft", size=font)
        x += 30.0 + text_width(text, font) + 18.0


def _mark(x: float, y: float) -> Iterator[Shape]:
    yield Stroke(x, y - 6.0, x, y + 6.0, "ink", 1.5)
