"""A model as Mermaid source, for whoever pastes it into a wiki, an issue or a slide."""

from __future__ import annotations

from sparsedensity.report.model import Report
from sparsedensity.report.picture import Picture, Spot, kind_lines, picture_of
from sparsedensity.report.style import LIGHT, SHADES, shade


def render(report: Report) -> str:
    """A flowchart from left to right: conditions on the arrows; in the leaves share and density, or what stands out."""
    picture = picture_of(report)
    lines = ["flowchart LR"]
    for i, spot in enumerate(picture.spots):
        shape = f'(["{_label(picture, spot)}"])' if picture.is_row(i) else f'["{_label(picture, spot)}"]'
        lines.append(f"  n{i}{shape}")
        if spot.parent is not None:
            lines.append(f'  n{spot.parent} -->|"{_text(spot.text)}"| n{i}')
    for n in range(SHADES):
        colour = f"shade{n}"
        leaves = [i for i, spot in enumerate(picture.spots) if spot.leaf is not None and shade(spot.shade) == colour]
        if leaves:
            lines.append(f"  classDef s{n} fill:{LIGHT[colour]},color:#fff,stroke:none")
            lines.append(f"  class {','.join(f'n{i}' for i in leaves)} s{n}")
    return "\n".join(lines) + "\n"


def _label(picture: Picture, spot: Spot) -> str:
    if not spot.cells or (spot.parent is None and spot.leaf is None):
        return _text(spot.text)
    if spot.leaf is None:
        return _text(spot.cells[0].text)
    lines = kind_lines(spot) if picture.kinds else ["{}, density {}".format(*(cell.text for cell in spot.cells[:2]))]
    return ": ".join([_text(spot.text)] * (spot.parent is None) + ["<br/>".join(map(_text, lines))])


def _text(text: str) -> str:
    """Mermaid reads # codes inside quotes; everything that could end the quotes or mean something is one."""
    return "".join(c if c.isalnum() or c in " .,%-+_()/" else f"#{ord(c)};" for c in text)
