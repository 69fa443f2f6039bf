"""A model as Mermaid source, for whoever pastes it into a wiki, an issue or a slide."""

from __future__ import annotations

from sparsedensity.report.model import Report
from sparsedensity.report.picture import Picture, Spot, picture_of
from sparsedensity.report.style import LIGHT, SHADES, shade


def render(report: Report) -> str:
    """A flowchart from left to right: conditions on the arrows, probability and density in the leaves."""
    picture = picture_of(report)
    lines = ["flowchart LR"]
    for i, spot in enumerate(picture.spots):
        shape = f'(["{_label(spot)}"])' if picture.is_row(i) else f'["{_label(spot)}"]'
        lines.append(f"  n{i}{shape}")
        if spot.parent is not None:
            lines.append(f'  n{_above(picture, i)} -->|"{_text(spot.text)}"| n{i}')
    for n in range(SHADES):
        ones = [
            f"n{i}"
            for i, spot in enumerate(picture.spots)
            if spot.leaf is not None and shade(spot.shade) == f"shade{n}"
        ]
        if ones:
            lines.append(f"  classDef s{n} fill:{LIGHT[f'shade{n}']},color:#fff,stroke:none")
            lines.append(f"  class {','.join(ones)} s{n}")
    return "\n".join(lines) + "\n"


def _above(picture: Picture, spot: int) -> int:
    parent = picture.spots[spot].parent
    assert parent is not None
    return parent


def _label(spot: Spot) -> str:
    if spot.parent is None and spot.leaf is None:
        return _text(spot.text)
    if not spot.cells:
        return _text(spot.text)
    probability, density = (cell.text for cell in spot.cells[:2])
    return _text(f"{probability}, density {density}") if spot.leaf is not None else _text(probability)


def _text(text: str) -> str:
    """Mermaid reads # codes inside quotes; everything that could end the quotes or mean something is one."""
    return "".join(c if c.isalnum() or c in " .,%-+_()/" else f"#{ord(c)};" for c in text)
