"""The shapes that pictures and charts are made of, in pixels from the top left corner; colours go by their names."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Text:
    """A line of text; `y` is its middle."""

    x: float
    y: float
    text: str
    colour: str = "ink"
    anchor: str = "start"
    size: float = 12.0
    bold: bool = False


@dataclass(frozen=True)
class Box:
    """A rectangle."""

    x: float
    y: float
    width: float
    height: float
    colour: str
    column: int | None = None
    """The column whose bar it is."""


@dataclass(frozen=True)
class Dot:
    """A filled circle."""

    x: float
    y: float
    radius: float
    colour: str


@dataclass(frozen=True)
class Stroke:
    """A straight line."""

    x1: float
    y1: float
    x2: float
    y2: float
    colour: str
    width: float = 1.0
    dashed: bool = False
    role: str = ""
    """What a page moves with its rows: a ``long`` line through all of them, a ``trunk`` from one to the next."""


@dataclass(frozen=True)
class Curve:
    """A branch: from the place where it leaves its parent to the place where it arrives, level at both ends."""

    x1: float
    y1: float
    x2: float
    y2: float
    colour: str
    width: float


Shape = Text | Box | Dot | Stroke | Curve
