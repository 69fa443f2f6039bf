"""Where everything in a picture goes: shapes in pixels, which renderers only have to draw.

A tree grows from left to right and its leaves are rows; the columns of numbers stand to the right of the deepest
label. Of a tree too deep for that, every spot is a row of its own, indented by its depth. Every spot has a group of
shapes: its branch, drawn around the height of its row or between its children, and the cells of its row. Shapes of
a group are given relative to that height, so that a page can move a group.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from sparsedensity.report.picture import Cell, NumberColumn, Picture, Spot
from sparsedensity.report.shapes import Box, Curve, Dot, Shape, Stroke, Text
from sparsedensity.report.style import SHADES, Style, shade, text_width, wrapped

MARGIN = 12.0
HEAD = 46.0
FOOT = 34.0
TITLE = 30.0
LEAST_STEP = 3.5


@dataclass(frozen=True)
class Group:
    """The shapes of one spot, relative to its height."""

    spot: int
    y: float
    branch: tuple[Shape, ...]
    row: tuple[Shape, ...]
    """The numbers; drawn if the spot is a leaf or folded."""
    offset: float = 0.0
    """How far from the middle of its parent the branch leaves it."""


@dataclass(frozen=True)
class Drawing:
    """A picture in pixels."""

    picture: Picture
    style: Style
    width: float
    height: float
    row: float
    """The height of a row."""
    top: float
    """Where the first row begins."""
    bottom: float
    """Where the last row ends."""
    deep: bool
    """Whether every spot is a row, indented by its depth."""
    frame: tuple[Shape, ...] = field(repr=False)
    """Title and axes."""
    legend: tuple[Shape, ...] = field(repr=False)
    """What the colours mean, below the last row."""
    groups: tuple[Group, ...] = field(repr=False)


def draw(picture: Picture, style: Style | None = None) -> Drawing:
    """Find a place for everything."""
    style = style or Style()
    deep = picture.form == "tree" and _is_deep(picture, style)
    lefts, rooms = _steps(picture, style) if deep else _levels(picture, style)
    labels = [wrapped(spot.text, rooms[spot.depth], style.font, style.lines) for spot in picture.spots]
    row = style.row + style.font * (max(map(len, labels), default=1) - 1)
    top = MARGIN + HEAD + (TITLE if style.title else 0.0)
    rows = [i for i in range(len(picture.spots)) if deep or picture.is_row(i)]
    heights = _heights(picture, rows, row, top)
    ends = tuple(left + room + MARGIN for left, room in zip(lefts, rooms, strict=True))
    columns_left = max(ends) + style.number
    bottom = top + len(rows) * row
    plan = _Plan(picture, style, lefts, labels, heights, max(ends), columns_left, deep)
    return Drawing(
        picture,
        style,
        columns_left + sum(_width(column, style) for column in picture.columns) + MARGIN,
        bottom + FOOT,
        row,
        top,
        bottom,
        deep,
        tuple(_frame(picture, style, columns_left, top, bottom)),
        tuple(_legend(picture, style, bottom)),
        tuple(plan.group(i) for i in range(len(picture.spots))),
    )


def _is_deep(picture: Picture, style: Style) -> bool:
    """Whether a tree has too many levels to stand side by side."""
    return (
        style.indented
        or max(spot.depth for spot in picture.spots) * (style.narrowest_label + style.gap) > style.widest_tree
    )


def _steps(picture: Picture, style: Style) -> tuple[list[float], list[float]]:
    """Of a deep tree every spot is a row, indented by its depth; labels have what is left of the room."""
    deepest = max(spot.depth for spot in picture.spots)
    step = min(style.step, max(style.widest_tree / 3 / max(1, deepest), LEAST_STEP))
    lefts = [MARGIN + depth * step for depth in range(deepest + 1)]
    ends = [
        lefts[spot.depth] + min(text_width(spot.text, style.font), style.widest_label) + style.font
        for spot in picture.spots
    ]
    return lefts, [max(ends) - left for left in lefts]


def _levels(picture: Picture, style: Style) -> tuple[list[float], list[float]]:
    """Where the labels of every depth begin, and the room they have."""
    deepest = max((spot.depth for spot in picture.spots), default=0)
    most = style.widest_tree * 2 / 3
    if picture.form == "tree":
        most = style.widest_tree
        most = min(max(most / max(1, deepest), style.narrowest_label), style.widest_label)
    lefts, rooms, left = [], [], MARGIN
    for depth in range(deepest + 1):
        texts = [spot.text for spot in picture.spots if spot.depth == depth]
        natural = max((text_width(text, style.font) for text in texts), default=0.0)
        room = natural if natural <= most else min(most, max(natural / 2 + style.font, style.narrowest_label))
        lefts.append(left)
        rooms.append(max(room, style.font))
        left += rooms[-1] + style.gap
    if picture.form == "list" and deepest:
        lefts[1] = MARGIN + style.widest_branch + style.gap
    return lefts, rooms


def _heights(picture: Picture, rows: list[int], row: float, top: float) -> list[float]:
    """The middle of every spot: rows one below the other, branches between their first and last child."""
    heights = [0.0] * len(picture.spots)
    for n, i in enumerate(rows):
        heights[i] = top + (n + 0.5) * row
    for i in sorted(set(range(len(picture.spots))) - set(rows), reverse=True):
        children = picture.children[i]
        heights[i] = (heights[children[0]] + heights[children[-1]]) / 2
    if picture.form == "list" and len(picture.spots) > 1:
        heights[0] = top - 16.0
    return heights


@dataclass(frozen=True)
class _Plan:
    """What it takes to place one spot."""

    picture: Picture
    style: Style
    lefts: list[float]
    labels: list[list[str]]
    heights: list[float]
    tree_end: float
    columns_left: float
    deep: bool

    def group(self, i: int) -> Group:
        """The shapes of one spot."""
        spot = self.picture.spots[i]
        offset = 0.0
        branch: list[Shape] = []
        if spot.parent is not None and self.deep:
            branch = self._elbow(i, spot, spot.parent)
        elif spot.parent is not None and self.picture.form == "tree":
            offset = self._offset(i, spot.parent)
            branch = [self._curve(i, spot, spot.parent, offset)]
        elif spot.parent is not None:
            branch = self._trunk(i, spot)
        has_row = spot.cells and (self.picture.is_row(i) or self.style.foldable)
        row = self._row(i, spot) if has_row else []
        return Group(i, self.heights[i], (*branch, *self._label(i, spot)), tuple(row), offset)

    def _label(self, i: int, spot: Spot) -> list[Shape]:
        lines, font = self.labels[i], self.style.font
        colour = "soft" if spot.leaf is None and (spot.parent is None or not spot.cells) else "ink"
        first = -(len(lines) - 1) / 2 * (font + 1)
        left = self.lefts[spot.depth] + (2 if self.deep else 0)
        return [
            Text(left, first + n * (font + 1), line, colour, size=font, bold=spot.leaf is not None)
            for n, line in enumerate(lines)
        ]

    def _label_end(self, i: int) -> float:
        spot = self.picture.spots[i]
        return self.lefts[spot.depth] + max(text_width(line, self.style.font) for line in self.labels[i]) + 5

    def _thickness(self, share: float) -> float:
        return max(1.25, self.style.widest_branch * share)

    def _offset(self, i: int, parent: int) -> float:
        """Where a branch leaves its parent: branches lie side by side, as wide together as the parent."""
        siblings = self.picture.children[parent]
        widths = [self._thickness(self.picture.spots[s].share) for s in siblings]
        at = siblings.index(i)
        return sum(widths[:at]) + widths[at] / 2 - sum(widths) / 2

    def _curve(self, i: int, spot: Spot, parent: int, offset: float) -> Curve:
        begin = self.heights[parent] - self.heights[i] + offset
        end = self.lefts[spot.depth] - 5
        return Curve(self._label_end(parent), begin, end, 0.0, shade(spot.shade), self._thickness(spot.share))

    def _elbow(self, i: int, spot: Spot, parent: int) -> list[Shape]:
        """Down from below the parent's label, then to the right as wide as the branch is probable."""
        x = self.lefts[self.picture.spots[parent].depth] + 2
        down = Stroke(x, self.heights[parent] - self.heights[i] + self.style.font * 0.8, x, 0.0, "line", role="trunk")
        end = max(x + 2, self.lefts[spot.depth] - 3)
        return [down, Stroke(x, 0.0, end, 0.0, shade(spot.shade), self._thickness(spot.share))]

    def _trunk(self, i: int, spot: Spot) -> list[Shape]:
        """The way down from the rule above, as wide as what is left, and the part that this rule takes."""
        x = self.lefts[0] + self.style.widest_branch / 2
        left = 1.0 - sum(other.share for other in self.picture.spots[1:i])
        begin = self.heights[i - 1] - self.heights[i] + (self.style.font * 0.7 if i == 1 else 0.0)
        down = Stroke(x, begin, x, 0.0, "line", self._thickness(max(left, 0.0)), role="trunk")
        take = Curve(x, -8.0, self.lefts[1] - 5, 0.0, shade(spot.shade), self._thickness(spot.share))
        return [down, take]

    def _row(self, i: int, spot: Spot) -> list[Shape]:
        shapes: list[Shape] = []
        leader = self._label_end(i) + 3
        if self.tree_end - leader > 10:
            shapes.append(Stroke(leader, 0.0, self.tree_end, 0.0, "line", dashed=True))
        number = "" if spot.leaf is None else str(spot.leaf)
        shapes.append(Text(self.columns_left - 12, 0.0, number, "soft", "end", self.style.font - 1))
        left = self.columns_left
        for n, (column, cell) in enumerate(zip(self.picture.columns, spot.cells, strict=True)):
            shapes += self._cell(n, column, cell, spot, left)
            left += _width(column, self.style)
        return shapes

    def _cell(self, n: int, column: NumberColumn, cell: Cell, spot: Spot, left: float) -> list[Shape]:
        """The mark of a number on its axis, and the number itself to the right of it."""
        text = Text(left + _width(column, self.style) - 16, 0.0, cell.text, "ink", "end", self.style.font - 1)
        marks = [] if cell.at is None else _marks(n, column, cell, cell.at, left, self.style, shade(spot.shade))
        return [*marks, text]


def _marks(n: int, column: NumberColumn, cell: Cell, at: float, left: float, style: Style, colour: str) -> list[Shape]:
    room = style.axis * column.wide
    x = left + at * room
    match column.mark:
        case "bar":
            return [Box(left, -5.0, max(0.75, x - left), 10.0, "bar", n)]
        case "point":
            dot = Dot(x, 0.0, 3.5, colour)
            if cell.low is None or cell.high is None:
                return [dot]
            return [Stroke(left + max(0.0, cell.low) * room, 0.0, left + cell.high * room, 0.0, colour, 2.0), dot]
        case "pair":
            second = max(0.75, (cell.low or 0.0) * room)
            return [Box(left, -7.0, max(0.75, x - left), 6.0, "soft", n), Box(left, 1.0, second, 6.0, "bar", n)]
        case "swing":
            middle = left + room / 2
            return [Box(min(middle, x), -5.0, max(0.75, abs(x - middle)), 10.0, colour)]


def _frame(picture: Picture, style: Style, left: float, top: float, bottom: float) -> list[Shape]:
    """Title, and the heads of the columns with their axes."""
    shapes: list[Shape] = []
    if style.title:
        shapes.append(Text(MARGIN, MARGIN + 10, picture.title, "ink", size=style.font + 4, bold=True))
    shapes.append(Text(left - 12, top - HEAD + 14, "leaf", "soft", "end", style.font - 1))
    for column in picture.columns:
        shapes.append(Text(left, top - HEAD + 14, column.title, "ink", size=style.font, bold=True))
        shapes += _axis(column, style, left, top, bottom)
        left += _width(column, style)
    return shapes


def _axis(column: NumberColumn, style: Style, left: float, top: float, bottom: float) -> list[Shape]:
    """The lines of the ticks through all rows, and as many of their labels as have room."""
    shapes: list[Shape] = []
    free = -math.inf
    for at, label in column.ticks or ((0.0, ""),):
        x, half = left + at * style.axis * column.wide, text_width(label, style.font - 2) / 2
        shapes.append(Stroke(x, top - 8, x, bottom, "line", role="long"))
        if label and x - half > free:
            shapes.append(Text(x, top - 16, label, "soft", "middle", style.font - 2))
            free = x + half + 4
    return shapes


def _width(column: NumberColumn, style: Style) -> float:
    """The axis of a column and the text beside it."""
    return style.axis * column.wide + style.text * column.wordy


def _legend(picture: Picture, style: Style, bottom: float) -> list[Shape]:
    low, high = picture.scale
    y, x, font = bottom + 18, MARGIN, style.font - 1
    shapes: list[Shape] = [Text(x, y, low, "soft", size=font)]
    x += text_width(low, font) + 8
    shapes += [Box(x + n * 14, y - 5, 14.0, 10.0, f"shade{n}") for n in range(SHADES)]
    x += SHADES * 14 + 8
    shapes.append(Text(x, y, high, "soft", size=font))
    return shapes
