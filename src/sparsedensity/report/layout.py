"""Where everything in a picture goes: shapes in pixels, which renderers only have to draw.

A tree grows from left to right and its leaves are rows; the columns of numbers stand to the right of the deepest
label. Of a tree too deep for that, every spot is a row of its own, indented by its depth. Every spot has a group of
shapes: its branch, drawn around the height of its row or between its children, and the cells of its row. Shapes of
a group are given relative to that height, so that a page can move a group.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from sparsedensity.report import kind_shapes
from sparsedensity.report.kind_shapes import Kinds
from sparsedensity.report.picture import Cell, Mark, NumberColumn, Picture, Spot
from sparsedensity.report.shapes import Box, Curve, Dot, Shape, Stroke, Text
from sparsedensity.report.style import SHADES, WIDE, Style, condition_lines, shade, text_width

MARGIN = 12.0
HEAD = 46.0
FOOT = 34.0
TITLE = 30.0
LEAST_STEP = 3.5
BESIDE = 14.0
"""Between the numbers and the kinds of a picture."""
NARROWER = 0.7
"""The room of the labels beside kinds: rows are high enough for three lines."""


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
    style: Style = WIDE

    @cached_property
    def deep(self) -> bool:
        """Whether every spot is a row, indented by its depth: the levels of the tree do not fit side by side."""
        least = self._deepest * (self.style.narrowest_label + self.style.gap)
        return self.picture.form == "tree" and (self.style.indented or least > self.style.widest_tree)

    @cached_property
    def row(self) -> float:
        """The height of a row."""
        labels = self.style.row + self.style.font * (max(map(len, self._labels), default=1) - 1)
        return max(labels, self._kinds.height if self._kinds else 0.0)

    @property
    def top(self) -> float:
        """Where the first row begins."""
        return MARGIN + HEAD + (TITLE if self.style.title else 0.0)

    @property
    def bottom(self) -> float:
        """Where the last row ends."""
        return self.top + sum(map(self._height, self._rows))

    @property
    def width(self) -> float:
        """The width of the paper."""
        return self._kinds_left + (self._kinds.width if self._kinds else 0.0) + MARGIN

    @property
    def height(self) -> float:
        """The height of the paper."""
        return self.bottom + FOOT

    @property
    def frame(self) -> Iterator[Shape]:
        """Title, and the heads of the columns with their axes."""
        font, left, head = self.style.font, self._columns_left, self.top - HEAD + 14
        if self.style.title:
            yield Text(MARGIN, MARGIN + 10, self.picture.title, "ink", size=font + 4, bold=True)
        yield Text(left - 12, head, "leaf", "soft", "end", font - 1)
        for column in self.picture.columns:
            yield Text(left, head, column.title, "ink", size=font, bold=True)
            yield from self._axis(column, left)
            left += self._width(column)
        if self._kinds:
            yield Text(self._kinds_left, head, "kind of record", "ink", size=font, bold=True)

    @property
    def legend(self) -> Iterator[Shape]:
        """What the bars beside the leaves or the colours mean, below the last row."""
        y, font = self.bottom + 18, self.style.font - 1
        if self._kinds and not self.style.foldable:
            yield from kind_shapes.legend(MARGIN, y, font)
        if self.picture.scale is None:
            return
        low, high = self.picture.scale
        x = MARGIN + text_width(low, font) + 8
        yield Text(MARGIN, y, low, "soft", size=font)
        for n in range(SHADES):
            yield Box(x + n * 14, y - 5, 14.0, 10.0, f"shade{n}")
        yield Text(x + SHADES * 14 + 8, y, high, "soft", size=font)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The shapes of every spot."""
        return tuple(self._group(i, spot) for i, spot in enumerate(self.picture.spots))

    @cached_property
    def _deepest(self) -> int:
        return max((spot.depth for spot in self.picture.spots), default=0)

    @cached_property
    def _places(self) -> tuple[list[float], list[float]]:
        """Where the labels of every depth begin, and the room they have."""
        return self._steps() if self.deep else self._levels()

    def _steps(self) -> tuple[list[float], list[float]]:
        """Of a deep tree every spot is a row, indented by its depth; labels have what is left of the room."""
        style = self.style
        step = min(style.step, max(style.widest_tree / 3 / max(1, self._deepest), LEAST_STEP))
        lefts = [MARGIN + depth * step for depth in range(self._deepest + 1)]
        widths = [min(text_width(spot.text, style.font), style.widest_label) for spot in self.picture.spots]
        ends = [lefts[spot.depth] + width + style.font for spot, width in zip(self.picture.spots, widths, strict=True)]
        return lefts, [max(ends) - left for left in lefts]

    def _levels(self) -> tuple[list[float], list[float]]:
        """Every depth beside the one above it, as wide as its longest label or, if that is very long, half of it."""
        style, most = self.style, self.style.widest_tree * 2 / 3
        if self.picture.form == "tree":
            share = style.widest_tree * (NARROWER if self.picture.kinds else 1.0) / max(1, self._deepest)
            most = min(max(share, style.narrowest_label), style.widest_label)
        lefts, rooms, left = [], [], MARGIN
        for depth in range(self._deepest + 1):
            texts = [spot.text for spot in self.picture.spots if spot.depth == depth]
            natural = max((text_width(text, style.font) for text in texts), default=0.0)
            room = natural if natural <= most else min(most, max(natural / 2 + style.font, style.narrowest_label))
            if self.picture.kinds:
                room = max(room, min(_longest_word(texts, style.font), style.widest_label))
            lefts.append(left)
            rooms.append(max(room, style.font))
            left += rooms[-1] + style.gap
        if self.picture.form == "list" and self._deepest:
            lefts[1] = MARGIN + style.widest_branch + style.gap
        return lefts, rooms

    @cached_property
    def _labels(self) -> list[list[str]]:
        style = self.style
        return [
            condition_lines(spot.text, spot.subject, self._room(i, spot), style.font, style.lines + self.picture.kinds)
            for i, spot in enumerate(self.picture.spots)
        ]

    def _room(self, i: int, spot: Spot) -> float:
        """How wide a label may be: that of a row has nothing to its right but the numbers."""
        lefts, rooms = self._places
        return self._labels_end - MARGIN - lefts[spot.depth] if self.picture.is_row(i) else rooms[spot.depth]

    @cached_property
    def _rows(self) -> list[int]:
        return [i for i in range(len(self.picture.spots)) if self.deep or self.picture.is_row(i)]

    @cached_property
    def _heights(self) -> list[float]:
        """The middle of every spot: rows one below the other, branches between their first and last child."""
        heights = [0.0] * len(self.picture.spots)
        top = self.top
        for i in self._rows:
            heights[i] = top + self._height(i) / 2
            top += self._height(i)
        for i in sorted(set(range(len(heights))) - set(self._rows), reverse=True):
            children = self.picture.children[i]
            heights[i] = (heights[children[0]] + heights[children[-1]]) / 2
        if self.picture.form == "list" and len(heights) > 1:
            heights[0] = self.top - 16.0
        return heights

    def _height(self, i: int) -> float:
        """The height of one row; where every branch is a row, those without a kind beside them are lower."""
        return self.row if self.picture.is_row(i) or self.style.foldable else self.style.row

    @cached_property
    def _kinds(self) -> Kinds | None:
        """The room for the names of the leaves and, unless a page can fold them, what stands out in each."""
        if not self.picture.kinds:
            return None
        spots = [replace(spot, standouts=()) if self.style.foldable else spot for spot in self.picture.spots]
        return Kinds(tuple(spots), self.style.font)

    @property
    def _kinds_left(self) -> float:
        return self._columns_left + sum(map(self._width, self.picture.columns)) + (BESIDE if self._kinds else 0.0)

    @cached_property
    def _labels_end(self) -> float:
        return max(left + room + MARGIN for left, room in zip(*self._places, strict=True))

    @property
    def _columns_left(self) -> float:
        return self._labels_end + self.style.number

    def _width(self, column: NumberColumn) -> float:
        """The axis of a column and the text beside it."""
        return self.style.axis * column.wide + self.style.text * column.wordy

    def _axis(self, column: NumberColumn, left: float) -> Iterator[Shape]:
        """The lines of the ticks through all rows, and as many of their labels as have room."""
        free, font = -math.inf, self.style.font - 2
        for at, label in column.ticks or ((0.0, ""),):
            x, half = left + at * self.style.axis * column.wide, text_width(label, font) / 2
            yield Stroke(x, self.top - 8, x, self.bottom, "line", role="long")
            if label and x - half > free:
                yield Text(x, self.top - 16, label, "soft", "middle", font)
                free = x + half + 4

    def _group(self, i: int, spot: Spot) -> Group:
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
        row = tuple(self._row(i, spot)) if has_row else ()
        return Group(i, self._heights[i], (*branch, *self._label(i, spot)), row, offset)

    def _label(self, i: int, spot: Spot) -> Iterator[Shape]:
        lines, font = self._labels[i], self.style.font
        colour = "soft" if spot.leaf is None and (spot.parent is None or not spot.cells) else "ink"
        first = -(len(lines) - 1) / 2 * (font + 1)
        left = self._left(spot) + (2 if self.deep else 0)
        for n, line in enumerate(lines):
            yield Text(left, first + n * (font + 1), line, colour, size=font, bold=spot.leaf is not None)

    def _left(self, spot: Spot) -> float:
        return self._places[0][spot.depth]

    def _label_end(self, i: int) -> float:
        widest = max(text_width(line, self.style.font) for line in self._labels[i])
        return self._left(self.picture.spots[i]) + widest + 5

    def _thickness(self, share: float) -> float:
        return max(1.25, self.style.widest_branch * share)

    def _offset(self, i: int, parent: int) -> float:
        """Where a branch leaves its parent: branches lie side by side, as wide together as the parent."""
        siblings = self.picture.children[parent]
        widths = [self._thickness(self.picture.spots[s].share) for s in siblings]
        at = siblings.index(i)
        return sum(widths[:at]) + widths[at] / 2 - sum(widths) / 2

    def _curve(self, i: int, spot: Spot, parent: int, offset: float) -> Curve:
        begin = self._heights[parent] - self._heights[i] + offset
        end = self._left(spot) - 5
        return Curve(self._label_end(parent), begin, end, 0.0, shade(spot.shade), self._thickness(spot.share))

    def _elbow(self, i: int, spot: Spot, parent: int) -> list[Shape]:
        """Down from below the parent's label, then to the right as wide as the branch is probable."""
        x = self._left(self.picture.spots[parent]) + 2
        begin = self._heights[parent] - self._heights[i] + self.style.font * 0.8
        end = max(x + 2, self._left(spot) - 3)
        right = Stroke(x, 0.0, end, 0.0, shade(spot.shade), self._thickness(spot.share))
        return [Stroke(x, begin, x, 0.0, "line", role="trunk"), right]

    def _trunk(self, i: int, spot: Spot) -> list[Shape]:
        """The way down from the rule above, as wide as what is left, and the part that this rule takes."""
        x = MARGIN + self.style.widest_branch / 2
        left = 1.0 - sum(other.share for other in self.picture.spots[1:i])
        begin = self._heights[i - 1] - self._heights[i] + (self.style.font * 0.7 if i == 1 else 0.0)
        down = Stroke(x, begin, x, 0.0, "line", self._thickness(max(left, 0.0)), role="trunk")
        take = Curve(x, -8.0, self._places[0][1] - 5, 0.0, shade(spot.shade), self._thickness(spot.share))
        return [down, take]

    def _row(self, i: int, spot: Spot) -> Iterator[Shape]:
        """A dotted line to the number of the leaf; then every number on its axis and as text to the right of it."""
        leader, left, font = self._label_end(i) + 3, self._columns_left, self.style.font - 1
        if self._labels_end - leader > 10:
            yield Stroke(leader, 0.0, self._labels_end, 0.0, "line", dashed=True)
        yield Text(left - 12, 0.0, "" if spot.leaf is None else str(spot.leaf), "soft", "end", font)
        for n, (column, cell) in enumerate(zip(self.picture.columns, spot.cells, strict=True)):
            if cell.at is not None:
                yield from _marks(n, column.mark, cell, left, self.style.axis * column.wide, shade(spot.shade))
            left += self._width(column)
            yield Text(left - 16, 0.0, cell.text, "ink", "end", font)
        if self._kinds:
            yield from self._kinds.shapes(i, self._kinds_left)


def _longest_word(texts: Iterable[str], font: float) -> float:
    return max((text_width(word, font) for text in texts for word in text.split(" ")), default=0.0)


def _marks(n: int, mark: Mark, cell: Cell, left: float, room: float, colour: str) -> Iterator[Shape]:
    """A number on its axis."""
    x = left + (cell.at or 0.0) * room
    match mark:
        case "bar":
            yield Box(left, -5.0, max(0.75, x - left), 10.0, "bar", n)
        case "point":
            if cell.low is not None and cell.high is not None:
                yield Stroke(left + max(0.0, cell.low) * room, 0.0, left + cell.high * room, 0.0, colour, 2.0)
            yield Dot(x, 0.0, 3.5, colour)
        case "pair":
            yield Box(left, -7.0, max(0.75, x - left), 6.0, "soft", n)
            yield Box(left, 1.0, max(0.75, (cell.low or 0.0) * room), 6.0, "bar", n)
        case "swing":
            middle = left + room / 2
            yield Box(min(middle, x), -5.0, max(0.75, abs(x - middle)), 10.0, colour)
