"""How pictures look: sizes, and two sets of colours that people who confuse colours tell apart."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cache

COLOURS = {
    "paper": ("#ffffff", "#161b21"),
    "ink": ("#1b2430", "#e8ecf1"),
    "soft": ("#5c6773", "#a3aeba"),
    "line": ("#d9dee4", "#38424d"),
    "bar": ("#3b7ab8", "#6aa9e6"),
    "other": ("#b07d00", "#f2bd4e"),
    "shade0": ("#b07d00", "#f2bd4e"),
    "shade1": ("#978332", "#d3b768"),
    "shade2": ("#7e8557", "#b4b284"),
    "shade3": ("#667f74", "#98afa1"),
    "shade4": ("#4d7592", "#81b0c2"),
    "shade5": ("#31669f", "#74b1e0"),
    "shade6": ("#1f4f93", "#7fb6ff"),
}
"""Every colour on light and on dark paper."""
LIGHT, DARK = ({name: pair[side] for name, pair in COLOURS.items()} for side in (0, 1))
BOLD = 1.1
ROUNDING = 1e-6
"""Far below a pixel, and far above what adding widths in another order changes."""
SHADES = 7
"""From amber for rare to blue for common: the pair that every kind of colour blindness keeps apart."""


def shade(value: float) -> str:
    """The name of the colour for a place on the scale from 0 to 1."""
    return f"shade{min(SHADES - 1, int(value * SHADES))}"


@dataclass(frozen=True)
class Style:
    """Sizes in pixels, and what to draw beside the rows."""

    font: float = 12.0
    row: float = 26.0
    """The height of a row of one line of text."""
    widest_tree: float = 720.0
    """The room that the labels of a tree share."""
    narrowest_label: float = 96.0
    widest_label: float = 250.0
    gap: float = 44.0
    """Between the labels of a branch and those of the next: the room of the curve."""
    step: float = 16.0
    """The indent of a deep tree, per level."""
    widest_branch: float = 18.0
    axis: float = 64.0
    """The axis of a column; its text stands to the right."""
    text: float = 82.0
    title: bool = True
    foldable: bool = False
    """Draw the numbers of branches too, to be shown when a branch is folded."""
    indented: bool = False
    """Draw every branch as a row of its own, whatever the depth."""
    lines: int = 2
    """The most lines of a label."""
    number: float = 34.0
    """The room for the number of a leaf."""


WIDE = Style()
NARROW = Style(
    row=30.0,
    widest_tree=150.0,
    narrowest_label=110.0,
    widest_label=140.0,
    step=9.0,
    gap=12.0,
    widest_branch=9.0,
    axis=34.0,
    text=72.0,
    title=False,
    foldable=True,
    indented=True,
    lines=4,
    number=30.0,
)
"""For a phone."""


def text_width(text: str, font: float) -> float:
    """About how wide a bold text is, without asking a font: a little too wide rather than too narrow."""
    return font * BOLD * sum(map(_character_width, text))


def fits(text: str, room: float, font: float) -> bool:
    """Whether a text has room; the room of the widest is its own width, but for rounding."""
    return text_width(text, font) <= room + ROUNDING


def shortened(text: str, room: float, font: float) -> str:
    """As much of a text as fits, with a sign that there is more."""
    if fits(text, room, font):
        return text
    room -= text_width("…", font)
    kept = 0
    for character in text:
        room -= text_width(character, font)
        if room < 0:
            break
        kept += 1
    return text[:kept].rstrip() + "…"


def wrapped(text: str, room: float, font: float, lines: int = 2) -> list[str]:
    """A text on a few lines, broken at blanks; what does not fit the last line is left out with a sign."""
    out: list[str] = []
    rest = text
    while rest and len(out) < lines - 1 and not fits(rest, room, font):
        cut = max((i for i, c in enumerate(rest) if c == " " and fits(rest[:i], room, font)), default=0)
        if cut == 0:
            break
        out.append(rest[:cut])
        rest = rest[cut + 1 :]
    return [*out, shortened(rest, room, font)]


def condition_lines(text: str, subject: str, room: float, font: float, lines: int = 2) -> list[str]:
    """A condition on a few lines. If it is too long, its values are cut, then its subject, but never its "is not".

    >>> condition_lines("A long name of a column is not No internet service", "A long name of a column", 110, 12)
    ['A long name of…', 'is not No inter…']
    """
    whole = wrapped(text, room, font, lines)
    kept, rest = " ".join(whole), text[len(subject) + 1 :]
    verb = " ".join(rest.split(" ", 2)[: 1 + rest.startswith(("is not ", "is neither "))])
    if not subject or kept == text or kept.startswith(f"{subject} {verb} "):
        return whole
    return [*wrapped(subject, room, font, lines - 1), shortened(rest, room, font)]


@cache
def _character_width(character: str) -> float:
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.1
    if character in "iIjl.,:;'|!ftr()[] ":
        return 0.36
    if character in "mwMW@%":
        return 0.88
    return 0.7 if character.isupper() else 0.6
