"""A picture as SVG: one text that browsers, notebooks, editors and papers show, light or dark."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from markupsafe import Markup

from sparsedensity.report.layout import Drawing, Group
from sparsedensity.report.model import Report
from sparsedensity.report.picture import Picture, Spot, picture_of
from sparsedensity.report.shapes import Box, Curve, Dot, Shape, Stroke, Text
from sparsedensity.report.style import DARK, LIGHT, WIDE, Style

MOST_TOLD = 8
"""Of what stands out in a leaf, so much is told when the mouse rests on it."""
ANCHORS = {"start": "", "middle": " sd-m", "end": " sd-e"}


def render(report: Report, style: Style = WIDE) -> str:
    """The picture of a model."""
    return render_picture(picture_of(report), style)


def render_picture(picture: Picture, style: Style = WIDE) -> str:
    """Any picture."""
    drawing = Drawing(picture, style)
    legend = f'<g class="sd-legend">{"".join(map(_shape, drawing.legend))}</g>'
    groups = [*(_group(drawing, group) for group in drawing.groups), legend]
    data = _page_data(drawing) if drawing.style.foldable else ""
    return canvas(picture.title, drawing.width, drawing.height, drawing.frame, groups, data=data)


def markup(picture: Picture, style: Style = WIDE) -> Markup:
    """A picture that may stand in a page as it is: every text in it is escaped."""
    return Markup(render_picture(picture, style))  # noqa: S704


def canvas(
    title: str,
    width: float,
    height: float,
    frame: Iterable[Shape],
    groups: Iterable[str] = (),
    *,
    role: str = "group",
    data: str = "",
) -> str:
    """Shapes on their paper, with the groups that were drawn before."""
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    name = f'role="{role}" aria-label="{_text(title)}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="sd-picture" {size} {name}{data}>',
            f"<style>{stylesheet()}</style>",
            '<rect class="sd-paper" width="100%" height="100%"/>',
            f'<g class="sd-frame">{"".join(map(_shape, frame))}</g>',
            *groups,
            "</svg>",
        ]
    )


def stylesheet() -> str:
    """The colours, light and dark. Every name begins with sd- so that nothing around the picture changes."""
    rules = [
        f".sd-picture{{{_variables(LIGHT)}font-family:system-ui,sans-serif}}",
        f"@media (prefers-color-scheme:dark){{.sd-picture{{{_variables(DARK)}}}}}",
        ".sd-paper{fill:var(--sd-paper)}.sd-picture text{dominant-baseline:central;unicode-bidi:isolate}",
        ".sd-b{font-weight:600}.sd-e{text-anchor:end}.sd-m{text-anchor:middle}",
        ".sd-picture path{fill:none}.sd-curve{stroke-opacity:.75}.sd-dash{stroke-dasharray:1 4}",
    ]
    rules += [f".sd-{size}{{font-size:{size}px}}" for size in (10, 11, 12, 16)]
    rules += [f".sd-f-{name}{{fill:var(--sd-{name})}}.sd-s-{name}{{stroke:var(--sd-{name})}}" for name in LIGHT]
    return "".join(rules)


def in_notebook(picture: str) -> str:
    """A picture as notebooks show it: on light or dark paper as the notebook is, whatever the system prefers."""
    marks = ('body[data-jp-theme-light="false"]', "body.vscode-dark", 'html[theme="dark"]', '[data-theme="dark"]')
    dark = ",".join(f"{mark} .sd-notebook .sd-picture" for mark in marks)
    rules = f".sd-notebook .sd-picture{{{_variables(LIGHT)}}}{dark}{{{_variables(DARK)}}}"
    look = "overflow:auto;max-height:45rem"
    return f'<div class="sd-notebook" style="{look}"><style>{rules}</style>{picture}</div>'


def _variables(colours: dict[str, str]) -> str:
    return "".join(f"--sd-{name}:{colour};" for name, colour in colours.items())


def _page_data(drawing: Drawing) -> str:
    """What a page needs to know to move rows when a branch is folded."""
    numbers = {"row": drawing.row, "top": drawing.top, "bottom": drawing.bottom, "deep": drawing.deep}
    return "".join(f' data-{name}="{number:g}"' for name, number in numbers.items())


def _group(drawing: Drawing, group: Group) -> str:
    spot = drawing.picture.spots[group.spot]
    branch = "".join(map(_shape, group.branch))
    hidden = "" if drawing.picture.is_row(group.spot) else ' style="display:none"'
    cells = f'<g class="sd-row"{hidden}>{"".join(map(_shape, group.row))}</g>' if group.row else ""
    data = _spot_data(group, spot) if drawing.style.foldable else ""
    title = _title(drawing.picture, spot)
    return f'<g class="sd-spot" transform="translate(0 {group.y:.1f})"{data}>{title}{branch}{cells}</g>'


def _spot_data(group: Group, spot: Spot) -> str:
    parent = "" if spot.parent is None else f' data-parent="{spot.parent}"'
    leaf = "" if spot.leaf is None else f' data-leaf="{spot.leaf}"'
    return f' data-depth="{spot.depth}" data-offset="{group.offset:.2f}" data-share="{spot.share:.4g}"{parent}{leaf}'


def _title(picture: Picture, spot: Spot) -> str:
    """What is shown when the mouse rests on a spot: everything about it in words."""
    lines = [spot.full or spot.text]
    if spot.name not in ("", spot.text):
        lines.append(f"leaf {spot.leaf}: {spot.name}")
    for column, cell in zip(picture.columns, spot.cells, strict=False):
        lines.append(f"{column.title}: {cell.text}{f' ({cell.title})' if cell.title else ''}")
    lines += map(str, spot.standouts[:MOST_TOLD])
    return f"<title>{_text(chr(10).join(lines))}</title>"


def _shape(shape: Shape) -> str:
    match shape:
        case Text(x, y, text, colour, anchor, size, bold):
            classes = f"sd-f-{colour} sd-{size:g}{' sd-b' if bold else ''}{ANCHORS[anchor]}"
            height = "" if y == 0 else f' y="{y:.1f}"'
            return f'<text class="{classes}" x="{x:.1f}"{height}>{_text(text)}</text>'
        case Box(x, y, width, height, colour, column):
            bar = "" if column is None else f" sd-c{column}"
            place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
            return f'<rect class="sd-f-{colour}{bar}" {place}/>'
        case Dot(x, y, radius, colour):
            return f'<circle class="sd-f-{colour}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}"/>'
        case Stroke(x1, y1, x2, y2, colour, width, dashed, role):
            classes = f"sd-s-{colour}{' sd-dash' if dashed else ''}{f' sd-{role}' if role else ''}"
            thick = "" if width == 1 else f' stroke-width="{width:.2f}"'
            return f'<path class="{classes}" d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"{thick}/>'
        case Curve(x1, y1, x2, y2, colour, width):
            middle = (x1 + x2) / 2
            path = f"M{x1:.1f} {y1:.1f}C{middle:.1f} {y1:.1f} {middle:.1f} {y2:.1f} {x2:.1f} {y2:.1f}"
            return f'<path class="sd-curve sd-s-{colour}" d="{path}" stroke-width="{width:.2f}"/>'


def _text(text: str) -> str:
    return escape(text, quote=True)
