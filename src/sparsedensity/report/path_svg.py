"""The sparsity path as SVG: log-likelihood per row against size."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from sparsedensity.report.axes import Axes, span
from sparsedensity.report.path import PathPoint, SparsityPath
from sparsedensity.report.shapes import Dot, Shape, Stroke, Text
from sparsedensity.report.style import text_width
from sparsedensity.report.svg import canvas


def render(path: SparsityPath) -> str:
    """The path: fitted as a thin line, held out as points with their standard errors, the choices marked."""
    axes = Axes((path.sizes[0], path.sizes[-1]), span(value for point in path for value in _values(point)))
    held = [point for point in path if point.held_out is not None]
    shapes = [
        *axes.frame(path.unit, "log-likelihood per row"),
        *(_choices(axes, path) if held else ()),
        *axes.line([(p.size, p.log_likelihood) for p in path], "soft"),
        *axes.line([(p.size, p.held_out) for p in held if p.held_out is not None], "bar"),
        *_points(axes, held),
        *_names(axes, path),
    ]
    return canvas(f"Log-likelihood per row by number of {path.unit}", axes.width, axes.height, shapes, role="img")


def _values(point: PathPoint) -> Iterator[float]:
    yield point.log_likelihood
    if point.held_out is not None:
        yield point.held_out - (point.held_out_error or 0.0)
        yield point.held_out + (point.held_out_error or 0.0)


def _points(axes: Axes, held: Iterable[PathPoint]) -> Iterator[Shape]:
    for point in held:
        value, error = point.held_out or 0.0, point.held_out_error or 0.0
        if math.isfinite(value) and math.isfinite(error):
            x = axes.x(point.size)
            yield Stroke(x, axes.y(value - error), x, axes.y(value + error), "bar")
            yield Dot(x, axes.y(value), 2.5, "bar")


def _choices(axes: Axes, path: SparsityPath) -> Iterator[Shape]:
    marks: dict[int, list[str]] = {}
    for point, word in ((path.simplest, "smallest within one standard error"), (path.best, "best held out")):
        marks.setdefault(point.size, []).append(word)
    for n, (size, texts) in enumerate(marks.items()):
        x, y = axes.x(size), axes.floor - 14 - 18 * n
        text = f"{' and '.join(texts)}: {size}"
        room = 6 + text_width(text, 11)
        over = x + room > axes.end and x - room > axes.left
        yield Stroke(x, axes.top, x, axes.floor, "other", 1.0, dashed=True)
        yield Text(x - 6 if over else x + 6, y, text, "ink", "end" if over else "start", 11)


def _names(axes: Axes, path: SparsityPath) -> Iterator[Shape]:
    """The names of the lines at their right ends, kept apart."""
    last = path.points[-1]
    ends = [("on the rows it was fitted to", last.log_likelihood, "soft")]
    if last.held_out is not None:
        ends.append(("on held-out rows", last.held_out, "bar"))
    above = -math.inf
    for name, value, colour in sorted(ends, key=lambda end: -end[1]):
        y = max(axes.y(value) if math.isfinite(value) else axes.floor, above + 14)
        yield Text(axes.end + 8, y, name, colour, size=11)
        above = y
