"""A report as text, in the width of a terminal."""

from __future__ import annotations

import os
from collections.abc import Sequence

from sparsedensity import writing
from sparsedensity.report import words
from sparsedensity.report.model import Leaf, Report, TextLine

DEEPEST = 12


def render(report: Report, *, width: int | None = None) -> str:
    """The model line by line, with probability, density, volume and rows at each leaf."""
    titles = ("leaf", "probability", "density", "volume", report.weight_name)
    rows = rows_of(report.lines, [_cells(leaf) for leaf in report.leaves])
    facts = [line for name, value in report.facts for line in _wrapped(f"{name}: {value}", words.room(width))]
    return "\n".join([report.title, *facts, "", *table(titles, rows, words.room(width))])


def table(titles: Sequence[str], rows: Sequence[tuple[str, Sequence[str] | None]], width: int) -> list[str]:
    """Lines of text with cells to their right; long texts are broken, and a row may have no cells."""
    cells = [titles, *(row for _, row in rows if row is not None)]
    sizes = [max(map(len, column)) for column in zip(*cells, strict=True)]
    space = min(width - sum(sizes) - 2 * len(sizes), max(len(text) for text, _ in rows))
    lines = []
    for text, row in [("", titles), *rows]:
        *above, end = _wrapped(text, space)
        numbers = "".join(f"  {cell:>{size}}" for cell, size in zip(row or (), sizes, strict=False))
        lines += [*above, f"{end:<{space}}{numbers}".rstrip()]
    return lines


def rows_of(lines: Sequence[TextLine], cells: Sequence[Sequence[str]]) -> list[tuple[str, Sequence[str] | None]]:
    """The lines of a model with the cells of their leaves."""
    return [(_guide(line) + line.text, None if line.leaf is None else cells[line.leaf]) for line in lines]


def _guide(line: TextLine) -> str:
    """The lines that lead the eye from a branch to its leaves; deep branches say how deep they are."""
    if not line.last:
        return ""
    *above, end = line.last
    folded = f"({len(above) - DEEPEST} deeper) " if len(above) > DEEPEST else ""
    return "".join("   " if last else "│  " for last in above[:DEEPEST]) + folded + ("└─ " if end else "├─ ")


def written(text: str, path: str | os.PathLike[str] | None) -> str:
    """The text, which is also written to a file if a path is given."""
    if path is not None:
        writing.write_text(text, path)
    return text


def _cells(leaf: Leaf) -> tuple[str, ...]:
    return (
        str(leaf.number),
        f"{leaf.probability:.4g}",
        words.density(leaf.log_density),
        words.from_log(leaf.log_volume),
        words.count(leaf.weight),
    )


def _wrapped(text: str, space: int) -> list[str]:
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
