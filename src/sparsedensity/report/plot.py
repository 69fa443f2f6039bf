"""A picture drawn with matplotlib, for papers and scripts."""

from __future__ import annotations

from typing import Any

from sparsedensity.extras import need
from sparsedensity.report.layout import Drawing
from sparsedensity.report.model import Report
from sparsedensity.report.picture import picture_of
from sparsedensity.report.shapes import Box, Curve, Dot, Shape, Stroke, Text
from sparsedensity.report.style import LIGHT, WIDE, Style

PIXELS_PER_INCH = 96.0
POINTS = 72.0 / PIXELS_PER_INCH
ANCHORS = {"start": "left", "end": "right", "middle": "center"}


def render(report: Report, ax: Any = None, style: Style = WIDE) -> Any:
    """The picture of a model on matplotlib axes, which are returned."""
    drawing = Drawing(picture_of(report), style)
    if ax is None:
        size = drawing.width / PIXELS_PER_INCH, drawing.height / PIXELS_PER_INCH
        ax = need("matplotlib.pyplot", "plots").figure(figsize=size).add_axes((0, 0, 1, 1))
    ax.set_xlim(0, drawing.width)
    ax.set_ylim(drawing.height, 0)
    ax.set_axis_off()
    for shape in (*drawing.frame, *drawing.legend):
        _draw(ax, shape, 0.0)
    for group in drawing.groups:
        for shape in (*group.branch, *group.row):
            _draw(ax, shape, group.y)
    return ax


def _draw(ax: Any, shape: Shape, y: float) -> None:
    match shape:
        case Text(x, dy, text, colour, anchor, size, bold):
            font = {"fontsize": size * POINTS, "fontweight": "bold" if bold else "normal", "parse_math": False}
            ax.text(x, y + dy, text, color=LIGHT[colour], ha=ANCHORS[anchor], va="center", **font)
        case Box(x, dy, width, height, colour, _):
            _add(ax, "Rectangle", (x, y + dy), width, height, facecolor=LIGHT[colour], linewidth=0)
        case Dot(x, dy, radius, colour):
            _add(ax, "Circle", (x, y + dy), radius, facecolor=LIGHT[colour], linewidth=0)
        case Stroke(x1, y1, x2, y2, colour, width, dashed, _):
            line = {"linestyle": (0, (1, 4)) if dashed else "solid", "solid_capstyle": "butt"}
            ax.plot([x1, x2], [y + y1, y + y2], color=LIGHT[colour], linewidth=width * POINTS, **line)
        case Curve(x1, y1, x2, y2, colour, width):
            middle = (x1 + x2) / 2
            points = [(x1, y + y1), (middle, y + y1), (middle, y + y2), (x2, y + y2)]
            path = need("matplotlib.path", "plots").Path(points, [1, 4, 4, 4])
            look = {"edgecolor": LIGHT[colour], "facecolor": "none", "linewidth": width * POINTS, "alpha": 0.75}
            _add(ax, "PathPatch", path, **look, capstyle="butt")


def _add(ax: Any, patch: str, *place: Any, **look: Any) -> None:
    ax.add_patch(getattr(need("matplotlib.patches", "plots"), patch)(*place, **look))
