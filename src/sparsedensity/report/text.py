"""A report as text, in the width of a terminal."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from heapq import nlargest
from itertools import islice

from sparsedensity import writing
from sparsedensity.report import words
from sparsedensity.report.model import Leaf, Report, TextLine
from sparsedensity.report.traits import Standout, standouts_of

DEEPEST = 12
INDENT = "    "
MOST_KINDS = 20
MOST_TRAITS = 6
SHORTEST, LONGEST = 8, 24
"""The characters of a bar."""
HOW_TO_READ = (
    "In each kind the columns that differ most from the whole table, and the value that stands out in each. The bar is "
    "its share in the kind, │ its share of all records."
)
ALIKE = " (+2) means that two more columns say the same."
ROOMY = 100
"""In a narrower text, what is expected beside what was seen is left out."""


def render(report: Report, *, width: int | None = None) -> str:
    """The model line by line, with share, expected share (if there is room) and rows of each leaf.

    If records are spread evenly over a leaf, with its density and volume; else with what is special in it, below.
    """
    room = words.room(width)
    columns = _columns(report, room)
    rows = rows_of(report.lines, list(zip(*columns.values(), strict=True)))
    facts = [line for name, value in report.facts for line in wrapped(f"{name}: {value}", room)]
    below = [] if report.profiles is None else ["", *kinds(report.leaves, room)]
    return "\n".join([report.title, *facts, "", *table(tuple(columns), rows, room), *below])


def _columns(report: Report, room: int) -> dict[str, list[str]]:
    """What is said of every leaf in the table, by title."""
    leaves = report.leaves
    columns = {"leaf": [str(leaf.number) for leaf in leaves], "share": [words.observed(leaf.share) for leaf in leaves]}
    if room >= ROOMY:
        columns["expected"] = [words.percent(leaf.probability) for leaf in leaves]
    if report.profiles is None:
        columns["density"] = [words.density(leaf.log_density) for leaf in leaves]
        columns["volume"] = [words.from_log(leaf.log_volume) for leaf in leaves]
    return columns | {report.weight_name: [words.count(leaf.weight) for leaf in leaves]}


def kinds(leaves: Sequence[Leaf], room: int) -> list[str]:
    """What is special in every leaf, or in the largest ones if there are many: a block of lines each."""
    shown = sorted(nlargest(MOST_KINDS, leaves, key=lambda leaf: leaf.share), key=lambda leaf: leaf.number)
    special = [standouts_of(leaf.traits) for leaf in shown]
    bars = _bars([one for some in special for one in some[:MOST_TRAITS]], room - len(INDENT))
    alike = any(len(one.names) > 1 for some in special for one in some[:MOST_TRAITS])
    lines = ["Kinds of records", *wrapped(HOW_TO_READ + ALIKE * alike, room)]
    for leaf, some in zip(shown, special, strict=True):
        heading = f"{leaf.number:<{len(INDENT) - 1}} {leaf.name} ({words.observed(leaf.share)})"
        more = sum(len(one.names) for one in some[MOST_TRAITS:])
        under = wrapped(str(leaf), room - len(INDENT)) if leaf.conditions else []
        under += islice(bars, min(len(some), MOST_TRAITS))
        under += [f"like the whole table in all {'other ' * bool(under)}columns"] if not some else []
        under += [f"and {words.counted(more, 'more column', 'more columns')}"] if more else []
        lines += ["", *wrapped(heading, room), *(INDENT + line for line in under)]
    less = len(leaves) - len(shown)
    return [*lines, "", f"And {words.counted(less, 'smaller leaf', 'smaller leaves')}."] if less else lines


def _bars(standouts: Sequence[Standout], room: int) -> Iterator[str]:
    """What stands out, one line each: columns, values, the share in the leaf and of all records, and both as a bar."""
    rows = [
        (one.name(), most.values, words.about(most.share), f"overall {words.about(most.overall)}")
        for one in standouts
        for most in [one.highlight]
    ]
    name, value, share, overall = (max(map(len, column)) for column in zip(*rows, strict=True)) if rows else (0,) * 4
    space = room - share - overall - 8
    name = min(name, max(space - LONGEST - value, space // 3))
    value = min(value, space - SHORTEST - name)
    bar = min(LONGEST, space - name - value)
    for (_, values, here, everywhere), one in zip(rows, standouts, strict=True):
        label = f"{one.name(name):<{name}}  {words.printable(values, value):<{value}}"
        numbers = f"{here:>{share}}  {everywhere:<{overall}}"
        yield f"{label}  {numbers}  {_bar(one.highlight.share, one.highlight.overall, bar)}"


def _bar(share: float, overall: float, width: int) -> str:
    """A share as a bar, with a mark at another.

    >>> _bar(0.5, 0.25, 8), _bar(0.25, 1, 8)
    ('██│█░░░░', '██░░░░░│')
    """
    full, mark = round(share * width), min(width - 1, int(overall * width))
    return "".join("│" if i == mark else "█" if i < full else "░" for i in range(width))


def table(titles: Sequence[str], rows: Sequence[tuple[str, Sequence[str] | None]], width: int) -> list[str]:
    """Lines of text with cells to their right; long texts are broken, and a row may have no cells."""
    cells = [titles, *(row for _, row in rows if row is not None)]
    sizes = [max(map(len, column)) for column in zip(*cells, strict=True)]
    space = min(width - sum(sizes) - 2 * len(sizes), max(len(text) for text, _ in rows))
    lines = []
    for text, row in [("", titles), *rows]:
        *above, end = wrapped(text, space)
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


def wrapped(text: str, space: int) -> list[str]:
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
