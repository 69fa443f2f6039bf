"""A study: what one experiment found, as plain data.

A study is a function from a :class:`Setting` to a :class:`Study`: sentences computed from the numbers, tables with the
paper's numbers beside ours, charts and pictures of models. It draws and writes nothing; :mod:`.writing` does.

>>> seconds = StudyColumn("seconds", "number", digits=2)
>>> StudyTable("times", "What it took", (StudyColumn("set"), seconds), (("car", 0.31),)).cell(0, 1)
'0.31'
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from reproduction.parts import Parts
from sparsedensity.errors import ParameterError

CellValue = str | int | float | bool | None
Kind = Literal["text", "whole", "number", "share"]
MARK = "–"
"""What stands where there is no number."""


class StudyColumn(NamedTuple):
    """A column of a table: what it is called, what is in it, and whether the paper printed it."""

    title: str
    kind: Kind = "text"
    digits: int = 3
    """Digits behind the point of a number; of a share in percent."""
    paper: bool = False
    short: bool = False
    """Whether a number is rounded to so many significant digits instead, however small it is."""


@dataclass(frozen=True)
class StudyTable:
    """Rows under typed columns, with words on what differs and why."""

    name: str
    title: str
    columns: tuple[StudyColumn, ...]
    rows: tuple[tuple[CellValue, ...], ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ParameterError(f"a row of {self.name}", row, f"{len(self.columns)} cells long")

    def cell(self, row: int, column: int) -> str:
        """One cell in words."""
        return in_words(self.rows[row][column], self.columns[column])


class Series(NamedTuple):
    """Points of one kind: dots, or a line with a band around it."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    line: bool = False
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    names: tuple[str, ...] = ()
    """What is written beside the points."""
    faint: bool = False
    """Whether it stands behind the others: the paper's points beside ours, a truth, a guide for the eye."""


class Panel(NamedTuple):
    """One set of axes."""

    title: str
    across: str
    up: str
    series: tuple[Series, ...]
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True)
class Chart:
    """A figure of numbers, in panels that share a legend."""

    name: str
    title: str
    panels: tuple[Panel, ...]
    words: str = ""
    """What to see in it."""
    rows: int = 1
    """How many rows the panels stand in."""
    one_scale: bool = False
    """Whether all panels have the same scale upwards."""


@dataclass(frozen=True)
class ModelPicture:
    """A fitted model, to be drawn as models are drawn everywhere."""

    name: str
    title: str
    model: Any = field(repr=False)
    words: str = ""


@dataclass(frozen=True)
class Study:
    """What one experiment found."""

    name: str
    title: str
    about: str
    """What was done, in a sentence or two."""
    sentences: tuple[str, ...]
    """What came out, computed from the numbers."""
    tables: tuple[StudyTable, ...]
    figures: tuple[Chart | ModelPicture, ...] = ()


@dataclass(frozen=True)
class Setting:
    """How a study is run."""

    parts: Parts
    data: Path | None = None
    """A folder of published tables."""
    quick: bool = False
    """A small version that shows that everything works; its numbers mean little."""
    jobs: int = 1
    say: Callable[[str], None] = field(default=lambda _: None, repr=False)
    """Told what is going on."""

    def part(self, name: str, compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """A finished part of a study from an earlier run, or computed now and kept."""
        self.say(name)
        return self.parts.part(name, compute)


def in_words(value: CellValue, column: StudyColumn) -> str:
    """A cell as it is read."""
    if value is None:
        return MARK
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if math.isfinite(value):
        return _number(value, column).replace("-", "−")
    return {math.inf: "∞", -math.inf: "−∞"}.get(value, MARK)


def _number(value: float, column: StudyColumn) -> str:
    if column.kind == "whole":
        return f"{value:,.0f}"
    if column.kind == "share":
        return f"{100 * value:.{column.digits}f} %"
    if not column.short:
        return f"{value:,.{column.digits}f}"
    if value != 0 and not 1e-4 <= abs(value) < 1e6:
        return f"{value:.{column.digits - 1}e}"
    return f"{value:,.{column.digits}g}"
