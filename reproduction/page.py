"""All studies of a folder on one self-contained page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.resources import files

from markupsafe import Markup, escape

from reproduction import charts
from reproduction.study import StudyColumn
from reproduction.writing import DrawnFigure, SavedStudy, csv_name
from sparsedensity.report.html import fill_text

TITLE = "The paper, reproduced"
POINT = 96 / 72
"""Pixels of a point, in which matplotlib measures."""


def render(studies: Sequence[SavedStudy]) -> str:
    """The page."""
    template = files("reproduction").joinpath("page.html").read_text(encoding="utf-8")
    return fill_text(
        template,
        filters={"drawing": _drawing, "width": _width, "look": _look, "file": _file},
        title=TITLE,
        colours=Markup(_colours()),  # noqa: S704 our own numbers
        studies=studies,
        quick=any(study.foot.quick for study in studies),
    )


def _drawing(figure: DrawnFigure) -> Markup:
    """A figure that may stand in a page as it is: both renderers escape every text."""
    drawn = figure.themed
    if figure.is_chart:
        drawn = drawn.replace("<svg ", f'<svg role="img" aria-label="{escape(figure.title)}" ', 1)
    return Markup(drawn)  # noqa: S704


def _width(figure: DrawnFigure) -> int:
    """The width in pixels at which a chart was drawn."""
    found = re.search(r'width="([\d.]+)pt"', figure.svg)
    return round(float(found[1]) * POINT) if found else 0


def _look(column: StudyColumn) -> Markup:
    classes = [*(["words"] if column.kind == "text" else []), *(["quoted"] if column.paper else [])]
    return Markup(f' class="{" ".join(classes)}"') if classes else Markup()  # noqa: S704 our own words


def _file(study: SavedStudy, table: int) -> str:
    return csv_name(study.name, study.tables[table], table)


def _colours() -> str:
    pairs = {name: pair for name, pair in charts.palette().items() if name.startswith("series")}
    return f"{charts.stylesheet(pairs)}\n"
