"""The sparsity path as SVG: log-likelihood per row against size."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import pairwise

from sparsedensity.report.layout import Dot, Shape, Stroke, Text
from sparsedensity.report.path import PathPoint, SparsityPath
from sparsedensity.report.style import text_width
from sparsedensity.report.svg import canvas

WIDTH, HEIGHT = 700.0, 300.0
LEFT, RIGHT, TOP, BOTTOM = 64.0, 200.0, 34.0, 44.0


class _Axes:
    """Where a size and a log-likelihood are drawn."""

    def __init__(self, path: SparsityPath) -> None:
        values = [value for point in path for value in _values(point) if math.isfinite(value)]
        self.low, self.high = min(values, default=0.0), max(values, default=1.0)
        if self.high - self.low < 1e-9:
            self.low, self.high = self.low - 0.5, self.high + 0.5
        self.first, self.last = path.sizes[0], path.sizes[-1]

    def x(self, size: float) -> float:
        room = WIDTH - LEFT - RIGHT
        return LEFT + room * ((size - self.first) / (self.last - self.first) if self.last > self.first else 0.5)

    def y(self, value: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (self.high - value) / (self.high - self.low)


def render(path: SparsityPath) -> str:
    """The path: fitted as a thin line, held out as points with their standard errors, the choices marked."""
    axes = _Axes(path)
    held = [point for point in path if point.held_out is not None]
    shapes: list[Shape] = [*_frame(axes, path.unit)]
    if held:
        shapes += _choices(axes, path)
    shapes += _line(axes, [(p.size, p.log_likelihood) for p in path], "soft")
    shapes += _line(axes, [(p.size, p.held_out) for p in held if p.held_out is not None], "bar")
    shapes += _points(axes, held)
    shapes += _names(axes, path)
    return canvas(f"Log-likelihood per row by number of {path.unit}", WIDTH, HEIGHT, shapes, role="img")


def _values(point: PathPoint) -> Iterator[float]:
    yield point.log_likelihood
    if point.held_out is not None:
        yield point.held_out - (point.held_out_error or 0.0)
        yield point.held_out + (point.held_out_error or 0.0)


def _frame(axes: _Axes, unit: str) -> Iterator[Shape]:
    bottom = HEIGHT - BOTTOM
    yield Stroke(LEFT, bottom, WIDTH - RIGHT, bottom, "soft")
    yield Text(LEFT - 40, 12, "log-likelihood per row", "soft")
    yield Text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, unit, "soft", "middle")
    for value in round_numbers(axes.low, axes.high):
        yield Stroke(LEFT, axes.y(value), WIDTH - RIGHT, axes.y(value), "line")
        yield Text(LEFT - 8, axes.y(value), f"{value:g}", "soft", "end", 11)
    for size in round_numbers(axes.first, axes.last):
        if size == int(size):
            yield Text(axes.x(size), bottom + 14, f"{size:g}", "soft", "middle", 11)


def _line(axes: _Axes, points: Iterable[tuple[int, float]], colour: str) -> Iterator[Shape]:
    finite = [(size, value) for size, value in points if math.isfinite(value)]
    for (size, value), (after, then) in pairwise(finite):
        yield Stroke(axes.x(size), axes.y(value), axes.x(after), axes.y(then), colour, 1.5)


def _points(axes: _Axes, held: Iterable[PathPoint]) -> Iterator[Shape]:
    for point in held:
        value, error = point.held_out or 0.0, point.held_out_error or 0.0
        if not math.isfinite(value) or not math.isfinite(error):
            continue
        x = axes.x(point.size)
        yield Stroke(x, axes.y(value - error), x, axes.y(value + error), "bar")
        yield Dot(x, axes.y(value), 2.5, "bar")


def _choices(axes: _Axes, path: SparsityPath) -> Iterator[Shape]:
    marks: dict[int, list[str]] = {}
    for point, word in ((path.simplest, "simplest within one error"), (path.best, "best held out")):
        marks.setdefault(point.size, []).append(word)
    for n, (size, texts) in enumerate(marks.items()):
        x, y = axes.x(size), HEIGHT - BOTTOM - 14 - 18 * n
        text = f"{' and '.join(texts)}: {size}"
        over = x + 6 + text_width(text, 11) > WIDTH
        yield Stroke(x, TOP, x, HEIGHT - BOTTOM, "other", 1.0, dashed=True)
        yield Text(x - 6 if over else x + 6, y, text, "ink", "end" if over else "start", 11)


def _names(axes: _Axes, path: SparsityPath) -> Iterator[Shape]:
    """The names of the lines at their right ends, kept apart."""
    last = path.points[-1]
    ends = [("on the rows it was fitted to", last.log_likelihood, "soft")]
    if last.held_out is not None:
        ends.append(("on held-out rows", last.held_out, "bar"))
    above = -math.inf
    for name, value, colour in sorted(ends, key=lambda end: -end[1]):
        y = max(axes.y(value) if math.isfinite(value) else HEIGHT - BOTTOM, above + 14)
        yield Text(WIDTH - RIGHT + 8, y, name, colour, size=11)
        above = y


def round_numbers(low: float, high: float, most: int = 6) -> list[float]:
    """A few round numbers between two ends."""
    span = max(high - low, 1e-9)
    step = 10.0 ** math.floor(math.log10(span / most))
    step *= next((m for m in (1, 2, 5, 10) if span / (step * m) <= most), 10)
    first = math.ceil(low / step - 1e-9)
    count = int((high - first * step) / step + 1e-9) + 1
    return [round((first + n) * step, 10) for n in range(count)]
