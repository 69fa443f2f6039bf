"""A model as Graphviz source: ``dot -Tpdf`` draws it."""

from __future__ import annotations

from sparsedensity.report.model import Report
from sparsedensity.report.picture import kind_lines, picture_of
from sparsedensity.report.style import LIGHT, shade


def render(report: Report) -> str:
    """A directed graph from left to right: conditions on the edges; in the leaves the numbers, or what stands out."""
    picture = picture_of(report)
    lines = [
        "digraph density {",
        "  rankdir=LR;",
        '  node [shape=box, style="rounded,filled", fillcolor=white, fontname="sans-serif"];',
        '  edge [fontname="sans-serif"];',
    ]
    for i, spot in enumerate(picture.spots):
        look = ""
        if spot.leaf is not None:
            look = f', fillcolor="{LIGHT[shade(spot.shade)]}", fontcolor=white, color="{LIGHT[shade(spot.shade)]}"'
        numbers = [f"{column.title} {cell.text}" for column, cell in zip(picture.columns, spot.cells, strict=False)]
        title = [spot.text] if spot.parent is None or not numbers else []
        leaf = kind_lines(spot) if picture.kinds and spot.leaf is not None else numbers
        label = [*title, *(leaf if spot.leaf is not None else [] if title else numbers[:1])]
        lines.append(f"  n{i} [label={_quoted(*label)}{look}];")
        if spot.parent is not None:
            width = max(1.0, 8 * spot.share)
            lines.append(f"  n{spot.parent} -> n{i} [label={_quoted(spot.text)}, penwidth={width:.2f}];")
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(*lines: str) -> str:
    escaped = [line.replace("\\", "\\\\").replace('"', '\\"') for line in lines]
    return '"' + "\\n".join(escaped) + '"'
