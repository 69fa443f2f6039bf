"""An evaluation as a picture: log-likelihood against size."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from sparsedensity.report.axes import Axes, span
from sparsedensity.report.shapes import Dot, Shape, Stroke, Text
from sparsedensity.report.svg import canvas

if TYPE_CHECKING:
    from sparsedensity.evaluation.scores import Evaluation

ROW = 30.0
LOWEST = 6.0
"""A method so many times further behind the best than the middle one would squeeze all others into one line."""
COLOURS = ("bar", "other")
FORMS: tuple[Any, ...] = (
    (4.0,),
    (2.0, (-4, 0, 4, 0), (0, -4, 0, 4)),
    (2.0, (-3.5, -3.5, 3.5, 3.5), (-3.5, 3.5, 3.5, -3.5)),
    (1.5, (-4, 3, 4, 3), (4, 3, 0, -4), (0, -4, -4, 3)),
)
"""A dot of a radius, or the width and the ends of strokes: an upright cross, a diagonal one, a triangle."""


def scatter(evaluation: Evaluation) -> str:
    """Log-likelihood per held-out row against the number of leaves, a point per fold; sizes on a log scale.

    A method far below all others is named and not drawn: it would squeeze them into one line.
    """
    drawn = _drawn(evaluation)
    folds = [fold for method in drawn for fold in evaluation.of(method)]
    last = max(1, math.ceil(max((_log(fold.leaves) for fold in folds), default=1.0)))
    height = max(320.0, 78.0 + ROW * len(evaluation.methods))
    axes = Axes((0, last), span(fold.per_row for fold in folds), 720.0, height, right=230.0, log=True)
    shapes: list[Shape] = [*axes.frame("leaves", "held-out log-likelihood per row")]
    for number, method in enumerate(evaluation.methods):
        y = axes.top + 10 + ROW * number
        leafless = math.isnan(evaluation.of(method)[0].leaves)
        note = "" if method in drawn else " (no leaves)" if leafless else " (far below)"
        shapes += [*_mark(axes.end + 24, y, number), Text(axes.end + 38, y, f"{method}{note}", "ink", size=11)]
        if method in drawn:
            for fold in evaluation.of(method):
                shapes += _mark(axes.x(_log(fold.leaves)), axes.y(fold.per_row), number)
    return canvas("Held-out log-likelihood per row by number of leaves", axes.width, height, shapes, role="img")


def _log(leaves: float) -> float:
    return math.log10(max(leaves, 1))


def _drawn(evaluation: Evaluation) -> list[str]:
    """The methods with a place in the picture: neither infinite nor so low that the others would be one line."""
    summaries = evaluation.summaries()
    behind = sorted(-summary.difference for summary in summaries if math.isfinite(summary.difference))
    lowest = LOWEST * max(behind[len(behind) // 2], 1e-9) if len(behind) > 2 else math.inf
    return [
        summary.method
        for summary in summaries
        if math.isfinite(summary.leaves) and math.isfinite(summary.per_row) and -summary.difference <= lowest
    ]


def _mark(x: float, y: float, number: int) -> Iterator[Shape]:
    """One of eight marks: two colours and four forms, so that they are told apart without colours too."""
    colour, (width, *strokes) = COLOURS[number % 2], FORMS[number // 2 % 4]
    if not strokes:
        yield Dot(x, y, width, colour)
    for ax, ay, bx, by in strokes:
        yield Stroke(x + ax, y + ay, x + bx, y + by, colour, width)
