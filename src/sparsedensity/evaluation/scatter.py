"""An evaluation as a picture: log-likelihood against size."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from sparsedensity.report.layout import Dot, Shape, Stroke, Text
from sparsedensity.report.path_svg import round_numbers
from sparsedensity.report.svg import canvas

if TYPE_CHECKING:
    from sparsedensity.evaluation.scores import Evaluation, FoldScore

WIDTH, LEFT, RIGHT, TOP, BOTTOM = 720.0, 64.0, 230.0, 34.0, 44.0
ROW = 30.0
LOWEST = 6.0
"""A method so many times further behind the best than the middle one would squeeze all others into one line."""
COLOURS = ("bar", "other")


def scatter(evaluation: Evaluation) -> str:
    """Log-likelihood per held-out row against the number of leaves, a point per fold; sizes on a log scale.

    A method far below all others is named and not drawn: it would squeeze them into one line.
    """
    drawn = [method for method in evaluation.methods if _fits(evaluation, method)]
    axes = _Axes([fold for method in drawn for fold in evaluation.of(method)])
    height = max(320.0, TOP + BOTTOM + ROW * len(evaluation.methods))
    shapes: list[Shape] = [*_frame(axes, height)]
    for number, method in enumerate(evaluation.methods):
        y = TOP + 10 + ROW * number
        note = "" if method in drawn else " (far below)"
        shapes += [
            *_mark(WIDTH - RIGHT + 24, y, number),
            Text(WIDTH - RIGHT + 38, y, f"{method}{note}", "ink", size=11),
        ]
        if method in drawn:
            for fold in evaluation.of(method):
                shapes += _mark(axes.x(fold.leaves), axes.y(fold.per_row, height), number)
    return canvas("Held-out log-likelihood per row by number of leaves", WIDTH, height, shapes, role="img")


class _Axes:
    """Where a number of leaves and a log-likelihood are drawn."""

    def __init__(self, folds: Iterable[FoldScore]) -> None:
        points = [(math.log10(max(fold.leaves, 1)), fold.per_row) for fold in folds]
        values = [value for _, value in points]
        self.low, self.high = min(values, default=0.0), max(values, default=1.0)
        if self.high - self.low < 1e-9:
            self.low, self.high = self.low - 0.5, self.high + 0.5
        self.last = max(1.0, math.ceil(max((size for size, _ in points), default=1.0)))

    def x(self, leaves: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * math.log10(max(leaves, 1)) / self.last

    def y(self, value: float, height: float) -> float:
        return TOP + (height - TOP - BOTTOM) * (self.high - value) / (self.high - self.low)


def _fits(evaluation: Evaluation, method: str) -> bool:
    """Whether a method has a place in the picture: neither infinite nor so low that the others would be one line."""
    summaries = {summary.method: summary for summary in evaluation.summaries()}
    summary = summaries[method]
    if not math.isfinite(summary.leaves) or not math.isfinite(summary.per_row):
        return False
    behind = sorted(-s.difference for s in summaries.values() if math.isfinite(s.difference))
    return -summary.difference <= LOWEST * max(behind[len(behind) // 2], 1e-9) or len(behind) < 3


def _frame(axes: _Axes, height: float) -> Iterator[Shape]:
    bottom = height - BOTTOM
    yield Stroke(LEFT, bottom, WIDTH - RIGHT, bottom, "soft")
    yield Text(LEFT - 40, 12, "held-out log-likelihood per row", "soft")
    yield Text((LEFT + WIDTH - RIGHT) / 2, height - 10, "leaves", "soft", "middle")
    for value in round_numbers(axes.low, axes.high):
        yield Stroke(LEFT, axes.y(value, height), WIDTH - RIGHT, axes.y(value, height), "line")
        yield Text(LEFT - 8, axes.y(value, height), f"{value:g}", "soft", "end", 11)
    step = max(1, math.ceil(axes.last / 6))
    for power in range(0, int(axes.last) + 1, step):
        yield Text(
            axes.x(10.0**power), bottom + 14, f"{10**power:,}" if power < 7 else f"1e{power}", "soft", "middle", 11
        )


def _mark(x: float, y: float, number: int) -> Iterator[Shape]:
    """One of eight marks: two colours and four forms, so that they are told apart without colours too."""
    colour, form = COLOURS[number % 2], number // 2 % 4
    if form == 0:
        yield Dot(x, y, 4.0, colour)
    if form == 1:
        yield Stroke(x - 4, y, x + 4, y, colour, 2.0)
        yield Stroke(x, y - 4, x, y + 4, colour, 2.0)
    if form == 2:
        yield Stroke(x - 3.5, y - 3.5, x + 3.5, y + 3.5, colour, 2.0)
        yield Stroke(x - 3.5, y + 3.5, x + 3.5, y - 3.5, colour, 2.0)
    if form == 3:
        for (ax, ay), (bx, by) in (((-4, 3), (4, 3)), ((4, 3), (0, -4)), ((0, -4), (-4, 3))):
            yield Stroke(x + ax, y + ay, x + bx, y + by, colour, 1.5)
