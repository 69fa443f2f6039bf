"""A report as text, in the width of a terminal."""

from __future__ import annotations

import shutil

from sparsedensity.report import words
from sparsedensity.report.model import Leaf, Line, Report

LEAST_WIDTH = 60
DEEPEST = 12
TITLES = ("leaf", "probability", "density", "volume", "count")


def render(report: Report, *, width: int | None = None) -> str:
    """The model line by line, with probability, density, volume and count at each leaf."""
    width = max(LEAST_WIDTH, width or shutil.get_terminal_size((100, 24)).columns)
    rows = [(guide(line) + line.text, _cells(report.leaves, line)) for line in report.lines]
    sizes = [max(len(cells[i]) for cells in [TITLES, *(cells for _, cells in rows)]) for i in range(len(TITLES))]
    room = width - sum(sizes) - 2 * len(sizes)
    space = min(room, max(len(text) for text, _ in rows))
    head = [report.title, *(f"{name}: {value}" for name, value in report.facts), ""]
    body = [_row("", TITLES, space, sizes)]
    for text, cells in rows:
        *above, end = wrap(text, space)
        body += above
        body.append(_row(end, cells, space, sizes))
    return "\n".join([*head, *body])


def guide(line: Line) -> str:
    """The lines that lead the eye from a branch to its leaves; deep branches say how deep they are."""
    *above, own = line.last or (None,)
    if own is None:
        return ""
    folded = ""
    if len(above) > DEEPEST:
        folded, above = f"({len(above) - DEEPEST} deeper) ", above[:DEEPEST]
    return "".join("   " if last else "│  " for last in above) + folded + ("└─ " if own else "├─ ")


def _cells(leaves: tuple[Leaf, ...], line: Line) -> tuple[str, ...]:
    if line.leaf is None:
        return ("",) * len(TITLES)
    leaf = leaves[line.leaf]
    return (
        str(leaf.number),
        f"{leaf.probability:.4g}",
        words.from_log(leaf.log_density) if abs(leaf.log_density) > 700 else f"{leaf.density:.3g}",
        words.from_log(leaf.log_volume),
        words.count(leaf.weight),
    )


def _row(text: str, cells: tuple[str, ...], space: int, sizes: list[int]) -> str:
    numbers = "".join(f"  {cell:>{size}}" for cell, size in zip(cells, sizes, strict=True))
    return f"{text:<{space}}{numbers}".rstrip()


def wrap(text: str, space: int) -> list[str]:
    """Break a long line at blanks; what follows is indented like its beginning."""
    indent = len(text) - len(text.lstrip(" │├└─"))
    indent = min(indent + 2, space // 2)
    lead = "".join("│" if c in "│├" else " " for c in text[:indent]).ljust(indent)
    lines = []
    while len(text) > space:
        cut = text.rfind(" ", indent + 1, space + 1)
        cut = space if cut <= indent else cut
        lines.append(text[:cut].rstrip())
        text = lead + text[cut:].lstrip()
    return [*lines, text]
