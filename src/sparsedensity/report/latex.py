r"""A model as a LaTeX document: a tree drawn by the package ``forest``, a rule list as a table.

It compiles by itself, with ``lualatex`` or, if all labels are in Latin letters, ``pdflatex``. For a paper, take what is
between ``\begin{document}`` and ``\end{document}``, and the lines above it.

>>> escaped("50 % of {a_b}")
'50 \\% of \\{a\\_b\\}'
"""

from __future__ import annotations

from collections.abc import Iterator

from sparsedensity.report.model import Report
from sparsedensity.report.picture import Picture, Spot, kind_lines, picture_of
from sparsedensity.report.style import LIGHT, SHADES, shade

HEAD = r"""\documentclass[border=6pt]{standalone}
\usepackage{iftex}
\iftutex\usepackage{fontspec}\else\usepackage[T1]{fontenc}\fi
"""
FOREST = r"""\begin{forest}
for tree={grow'=east, anchor=west, parent anchor=east, child anchor=west, align=left, draw=gray, rounded corners=2pt,
  inner sep=3pt, s sep=4pt, l sep=18pt, font=\sffamily\small, edge={gray}}"""
SPECIAL = {
    **{c: f"\\{c}" for c in "{}$&#%_"},
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    '"': r"\textquotedbl{}",
    "-": "{-}",  # two of them would be joined to a dash
}
THICKEST = 4.0


def render(report: Report) -> str:
    """The whole document."""
    picture = picture_of(report)
    head, body = ([*_colours()], _forest(picture)) if picture.form == "tree" else ([], _tabular(picture))
    return HEAD + "\n".join([*head, r"\begin{document}", *body, r"\end{document}"]) + "\n"


def escaped(text: str) -> str:
    """Text in which nothing means anything to LaTeX."""
    return "".join(SPECIAL.get(c, c) for c in text)


def _colours() -> Iterator[str]:
    yield r"\usepackage{forest}"
    for name in map("shade{}".format, range(SHADES)):
        yield rf"\definecolor{{{name}}}{{HTML}}{{{LIGHT[name][1:].upper()}}}"


def _forest(picture: Picture) -> Iterator[str]:
    """Every branch in brackets, inside those of the branch it belongs to."""
    yield FOREST
    following = [*(spot.depth for spot in picture.spots[1:]), 0]
    for spot, after in zip(picture.spots, following, strict=True):
        closed = "]" * (spot.depth - after + 1)
        yield f"{'  ' * spot.depth}[{{{_label(picture, spot)}}}{_look(spot)}{closed}"
    yield r"\end{forest}"


def _label(picture: Picture, spot: Spot) -> str:
    """The condition, and below it the numbers of a leaf, or its name and what stands out in it."""
    text = escaped(spot.text)
    if spot.leaf is None or not spot.cells:
        return text
    if picture.kinds:
        name, *lines = map(escaped, kind_lines(spot))
        return r"\\".join([text, rf"\textbf{{{name}}}", *(f"{{{line}}}" for line in lines)])
    share, density = (escaped(cell.text) for cell in spot.cells[:2])
    return rf"{text}\\\textbf{{{share}}}, density {density}"


def _look(spot: Spot) -> str:
    """A branch is as thick as its share, and a leaf has the colour of its density."""
    edge = "" if spot.parent is None else f", edge={{line width={max(0.2, THICKEST * spot.share):.2f}pt}}"
    colour = shade(spot.shade)
    return edge if spot.leaf is None else f"{edge}, draw={colour}, fill={colour}!15"


def _tabular(picture: Picture) -> Iterator[str]:
    """A line for every rule with its numbers; every text in braces, so that no bracket is taken for an option."""
    yield rf"\sffamily\begin{{tabular}}{{l{'r' * len(picture.columns)}}}"
    yield _line("", *(column.title for column in picture.columns)) + r" \hline"
    for i, spot in enumerate(picture.spots):
        if picture.is_row(i):
            yield _line(spot.text, *(cell.text for cell in spot.cells))
    yield r"\end{tabular}"


def _line(*texts: str) -> str:
    return " & ".join(f"{{{escaped(text)}}}" for text in texts) + r" \\"
