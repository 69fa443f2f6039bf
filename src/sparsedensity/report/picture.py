"""The picture of a model before it is drawn: branches, rows, and columns of numbers on their axes.

Everything a renderer must know and nothing about where it goes: :mod:`~sparsedensity.report.layout` finds a place
for it. A spot is a branch of a tree or a row; a cell is one number of a spot, placed on its column's axis from 0
to 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np

from sparsedensity.report import words
from sparsedensity.report.axes import power_of_ten
from sparsedensity.report.model import Leaf, Report, TextLine
from sparsedensity.report.traits import Standout, standouts_of
from sparsedensity.structures import RuleList, Structure, Tree

Form = Literal["tree", "list", "cells"]
Mark = Literal["bar", "point", "pair", "swing"]
"""A bar from the left; a point with its interval; two bars; a bar from the middle to either side."""

Columns: TypeAlias = "tuple[tuple[NumberColumn, ...], Callable[[Part], tuple[Cell, ...]]]"
"""The columns of a picture, and what makes a cell of each."""

MOST_TICKS = 4
MOST_WRITTEN = 2
"""Of what stands out in a leaf, so much is written where there is little room."""


@dataclass(frozen=True)
class Cell:
    """One number: its text, and its place on the axis (``None`` if it has none)."""

    text: str
    at: float | None = None
    low: float | None = None
    high: float | None = None
    """The ends of its interval; of a pair, ``low`` is the second bar."""
    title: str = ""


@dataclass(frozen=True)
class NumberColumn:
    """A column of numbers beside the rows."""

    title: str
    mark: Mark
    ticks: tuple[tuple[float, str], ...] = ()
    wide: float = 1.0
    """How much wider than others its axis is."""
    wordy: float = 1.0
    """How much wider than others its texts are."""
    tens: int = 0
    """The powers of ten from one tick to the next, if the axis is logarithmic."""


@dataclass(frozen=True)
class Spot:
    """A branch or a row of the picture."""

    text: str
    full: str
    parent: int | None
    depth: int
    leaf: int | None
    """The number of the leaf; ``None`` if it divides further."""
    share: float
    """The share of the rows: how wide its branch is."""
    shade: float
    """From 0 for the least dense to 1 for the densest: its colour."""
    cells: tuple[Cell, ...] = ()
    subject: str = ""
    """The column that its text begins with."""
    name: str = ""
    """The short name of the leaf."""
    standouts: tuple[Standout, ...] = ()
    """What stands out in the leaf, if records are not spread evenly over it."""


@dataclass(frozen=True)
class Picture:
    """A model as rows and columns."""

    title: str
    form: Form
    spots: tuple[Spot, ...]
    columns: tuple[NumberColumn, ...]
    scale: tuple[str, str] | None = ("rare kind of record", "common kind of record")
    """What the two ends of the colours mean; ``None`` if there is one colour only."""
    kinds: bool = False
    """Whether leaves are shown by their names and by what stands out in them."""

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """For every spot the spots one step below, in order."""
        below: list[list[int]] = [[] for _ in self.spots]
        for i, spot in enumerate(self.spots):
            if spot.parent is not None:
                below[spot.parent].append(i)
        return tuple(map(tuple, below))

    def is_row(self, spot: int) -> bool:
        """Whether a spot is a row: nothing divides it further."""
        return not self.children[spot]

    def narrow(self) -> Picture:
        """The picture for a phone, with the first two columns only, and without what stands out in leaves."""
        spots = tuple(replace(spot, cells=spot.cells[:2], standouts=()) for spot in self.spots)
        return replace(self, spots=spots, columns=self.columns[:2], kinds=False)


@dataclass(frozen=True)
class Part:
    """One or more leaves together: what a branch holds."""

    share: float
    probability: float
    weight: float
    log_volume: float
    interval: tuple[float, float] | None = None

    @property
    def log_density(self) -> float:
        """The natural log of the mean density."""
        return math.log(self.probability) - self.log_volume if self.probability > 0 else -math.inf

    @property
    def log_densities(self) -> tuple[float, ...] | None:
        """The natural logs of the ends of the density's interval, if it has one."""
        return None if self.interval is None else tuple(_log(end) - self.log_volume for end in self.interval)


def picture_of(report: Report, most_rows: int | None = None) -> Picture:
    """The picture of a model: share, density with its interval, volume and rows of every leaf.

    If leaves have profiles: the share of every leaf, and what stands out in it. With a limit on the rows, the smallest
    branches of a larger tree are one row each.
    """
    spots, below = spots_of(report.lines, report.structure)
    parts = [together([report.leaves[leaf] for leaf in leaves]) for leaves in below]
    shares = [0.0 if part is None else part.share for part in parts]
    wide = tuple(replace(spot, share=share) for spot, share in zip(spots, shares, strict=True))
    bare = Picture(report.title, form_of(report.structure), wide, ())
    if most_rows is not None:
        bare, kept = pruned(bare, most_rows)
        parts = [parts[i] for i in kept]
    rows = [part for i, part in enumerate(parts) if part is not None and bare.is_row(i)]
    inner = [part for spot, part in zip(bare.spots, parts, strict=True) if part is not None and spot.depth > 0]
    kinds = report.profiles is not None
    shade = _shades([0.0] if kinds else [part.log_density for part in rows])
    columns, cells_of = (_share_alone if kinds else _columns)(rows, [*rows, *inner], report.weight_name)

    def drawn(spot: Spot, part: Part | None) -> Spot:
        if part is None:
            return spot
        spot = replace(spot, shade=shade(part.log_density), cells=cells_of(part))
        return spot if spot.leaf is None else named(spot, report.leaves[spot.leaf])

    scale = None if kinds else bare.scale
    return replace(bare, columns=columns, spots=tuple(map(drawn, bare.spots, parts)), scale=scale, kinds=kinds)


def named(spot: Spot, leaf: Leaf) -> Spot:
    """The spot of a leaf, with its name and what stands out in it."""
    return replace(spot, name=leaf.name, standouts=tuple(standouts_of(leaf.traits)))


def pruned(picture: Picture, most: int) -> tuple[Picture, list[int]]:
    """The picture with its smallest branches as one row each, until there are few enough; which spots are left."""
    below = [int(not children) for children in picture.children]
    for i in reversed(range(1, len(picture.spots))):
        below[picture.spots[i].parent or 0] += below[i]
    rows, closed = below.copy(), dict[int, int]()
    inner = [i for i, children in enumerate(picture.children) if children and picture.spots[i].parent is not None]
    for i in sorted(inner, key=lambda i: (picture.spots[i].share, -i)):
        if rows[0] <= most:
            break
        closed[i], fewer = below[i], rows[i] - 1
        place: int | None = i
        while place is not None:
            rows[place] -= fewer
            place = picture.spots[place].parent
    return _without(picture, closed)


def _without(picture: Picture, closed: dict[int, int]) -> tuple[Picture, list[int]]:
    """The picture without what lies below some spots, which say how many leaves they stand for."""
    places: dict[int, int] = {}
    spots: list[Spot] = []
    for i, spot in enumerate(picture.spots):
        if spot.parent is not None and (spot.parent in closed or spot.parent not in places):
            continue
        places[i] = len(spots)
        text = f"{spot.text} ({closed[i]} leaves)" if i in closed else spot.text
        spots.append(replace(spot, text=text, parent=None if spot.parent is None else places[spot.parent]))
    return replace(picture, spots=tuple(spots)), list(places)


def kind_lines(spot: Spot) -> list[str]:
    """A leaf of a model of kinds in a few lines, where there is no room for bars: name, share, what stands out."""
    return [spot.name, words.of_all_records(spot.share, spot.share), *map(str, spot.standouts[:MOST_WRITTEN])]


def form_of(structure: Structure) -> Form:
    """How a structure is drawn."""
    return "tree" if isinstance(structure, Tree) else "list" if isinstance(structure, RuleList) else "cells"


def spots_of(lines: Sequence[TextLine], structure: Structure) -> tuple[list[Spot], list[list[int]]]:
    """Every line as a spot below the spot it belongs to, the root first, and the leaves below each."""
    rooted = form_of(structure) != "cells" and len(lines) > 1
    spots = [Spot("all records", "", None, 0, None, 1.0, 0.0)] if rooted else []
    above: list[int] = [0] if rooted else []
    for line in lines:
        depth = max(1, len(line.last)) if rooted else 0
        del above[depth:]
        parent = above[-1] if above else None
        full = line.full if line.full != line.text else ""
        spots.append(Spot(line.text, full, parent, depth, line.leaf, 0.0, 0.0, subject=line.subject))
        above.append(len(spots) - 1)
    below: list[list[int]] = [[] for _ in spots]
    for i in reversed(range(len(spots))):
        spot = spots[i]
        if spot.leaf is not None:
            below[i].append(spot.leaf)
        if spot.parent is not None:
            below[spot.parent] = below[i] + below[spot.parent]
    return spots, below


def together(leaves: Sequence[Leaf]) -> Part | None:
    """Several leaves as one part; the interval of a single one is kept."""
    if not leaves:
        return None
    return Part(
        math.fsum(leaf.share for leaf in leaves),
        math.fsum(leaf.probability for leaf in leaves),
        math.fsum(leaf.weight for leaf in leaves),
        float(np.logaddexp.reduce([leaf.log_volume for leaf in leaves])),
        leaves[0].interval if len(leaves) == 1 else None,
    )


def _share_alone(rows: Sequence[Part], parts: Sequence[Part], weight_name: str) -> Columns:
    """The one column of a model whose leaves are shown by what stands out in them."""
    columns, cells_of = _columns(rows, parts, weight_name)

    def cells_of_share(part: Part) -> tuple[Cell, ...]:
        share, *_, weight = cells_of(part)
        return (replace(share, title=f"{share.title}; {weight_name}: {weight.text}"),)

    return columns[:1], cells_of_share


def _columns(rows: Sequence[Part], parts: Sequence[Part], weight_name: str) -> Columns:
    """The four columns of a model, and what makes a cell of each.

    The bars of a branch that is not a row may be longer than the axis: a page that folds it draws all bars shorter.
    """
    ends = [end for part in rows for end in part.log_densities or ()]
    dense, dense_ticks, dense_tens = _log_axis([part.log_density for part in rows] + ends)
    volume, volume_ticks, volume_tens = _log_axis([part.log_volume for part in parts])
    largest = max((part.share for part in rows), default=1.0) or 1.0
    heaviest = max((part.weight for part in rows), default=1.0) or 1.0

    def cells_of(part: Part) -> tuple[Cell, ...]:
        ends = None if part.log_volume == -math.inf else part.log_densities
        low, high = map(dense, ends or (-math.inf, -math.inf))
        expected = ", ".join(
            filter(None, [f"{words.percent(part.probability)} expected", _interval(part.interval, words.percent)])
        )
        density, densities = words.density(part.log_density), _interval(ends, words.density)
        return (
            Cell(words.observed(part.share), part.share / largest if part.share else None, title=expected),
            Cell(density, dense(part.log_density), low or 0.0 if high else None, high, densities),
            Cell(words.from_log(part.log_volume), volume(part.log_volume)),
            Cell(words.count(part.weight), part.weight / heaviest if part.weight else None),
        )

    columns = (
        NumberColumn("share", "bar", wordy=0.9),
        NumberColumn("density", "point", dense_ticks, wide=1.9, tens=dense_tens),
        NumberColumn("volume", "point", volume_ticks, wordy=0.95, tens=volume_tens),
        NumberColumn(weight_name, "bar", wordy=0.85),
    )
    return columns, cells_of


def _interval(ends: Iterable[float] | None, say: Callable[[float], str]) -> str:
    return "" if ends is None else "95 % interval {} to {}".format(*map(say, ends))


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf


def _log_axis(logs: Iterable[float]) -> tuple[Callable[[float], float | None], tuple[tuple[float, str], ...], int]:
    """A place from 0 to 1 for every log, from the power of ten below the least to the one above the largest.

    With the ticks, and the powers of ten from one tick to the next.
    """
    tens = [log / math.log(10) for log in logs if math.isfinite(log)]
    if not tens:
        return (lambda _: None), (), 0
    low, high = math.floor(min(tens) + 1e-9), math.ceil(max(tens) - 1e-9)
    if low == high:
        low, high = low - 1, high + 1
    step = math.ceil((high - low) / (MOST_TICKS - 1))
    ticks = tuple(((ten - low) / (high - low), power_of_ten(ten)) for ten in range(low, high + 1, step))

    def place(log: float) -> float | None:
        return (log / math.log(10) - low) / (high - low) if math.isfinite(log) else None

    return place, ticks, step


def _shades(logs: Iterable[float]) -> Callable[[float], float]:
    """From 0 for the least of some logs to 1 for the largest; 1 if all are the same."""
    known = [log for log in logs if math.isfinite(log)]
    low, high = min(known, default=0.0), max(known, default=0.0)

    def shade(log: float) -> float:
        return min(1.0, max(0.0, (log - low) / (high - low))) if high - low > 1e-9 else 1.0

    return shade
