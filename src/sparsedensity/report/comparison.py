"""The comparison of a second table with a model, in words and pictures."""

from __future__ import annotations

import os
import textwrap
from dataclasses import dataclass, field, replace
from typing import Any

from sparsedensity.density.comparison import LeafComparison
from sparsedensity.report import svg, words
from sparsedensity.report.html import fill
from sparsedensity.report.made import made_with, write_picture
from sparsedensity.report.model import Report
from sparsedensity.report.picture import Cell, NumberColumn, Picture, Spot, form_of, spots_of
from sparsedensity.report.style import NARROW, Style
from sparsedensity.report.text import rows_of, table, written

LOUD = 3.0
"""Standard errors at which a difference has its full colour."""


@dataclass(frozen=True)
class Difference:
    """What one leaf, or everything outside the domain, holds in both tables."""

    text: str
    leaf: int | None
    """``None`` for the rows outside the domain."""
    expected: float
    """The share that the model expects."""
    observed: float
    """The share of the second table."""
    difference: float
    """The difference of the two tables' shares in standard errors: beyond 3 it is hardly chance."""
    weight: float
    """The weight of the second table's rows."""


@dataclass(frozen=True)
class Comparison:
    """A model and a second table. Print it, or draw it with :meth:`to_svg` and :meth:`to_html`."""

    title: str
    source: str
    differences: tuple[Difference, ...]
    rows: float
    """The weight of the second table."""
    fitted: float
    """The weight of the table that the model was fitted to."""
    statistic: float
    freedom: int
    p_value: float
    """The probability of a difference at least as large if both tables came from the same source."""
    distance: float
    """Jensen-Shannon distance between expected and observed shares: 0 the same, 1 nothing in common."""
    report: Report = field(repr=False)
    leaves: LeafComparison = field(repr=False)

    @property
    def heading(self) -> str:
        """What is compared."""
        return f"{self.source or 'Another table'} compared with the model"

    @property
    def verdict(self) -> str:
        """What the test says, in words."""
        p = words.p_value(float(f"{self.p_value:.2g}"))
        if self.p_value < 0.001:
            return (
                f"The table differs from the one the model was fitted to ({p}): by chance alone such a difference "
                "would arise less than once in 1,000 times."
            )
        if self.p_value < 0.05:
            return f"The table probably differs from the one the model was fitted to ({p})."
        return f"No significant difference ({p})."

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """The whole comparison in a few lines."""
        freedom = words.counted(self.freedom, "degree", "degrees")
        test = f"chi-square {self.statistic:,.4g}, {freedom} of freedom, {words.p_value(self.p_value)}"
        sizes = (words.amount(weight, self.report.weight_name) for weight in (self.fitted, self.rows))
        return (
            ("Tables", "fitted to {}, compared with {}".format(*sizes)),
            ("Test", test),
            ("Jensen-Shannon distance", f"{self.distance:.4f} (0: the same, 1: nothing in common)"),
        )

    def to_text(self, width: int | None = None) -> str:
        """The comparison as a table in the width of a terminal."""
        room = words.room(width)
        rows = rows_of(self.report.lines, [_cells(d) for d in self.differences])
        if self.differences[-1].leaf is None:
            rows.append((self.differences[-1].text, _cells(self.differences[-1])))
        head = [f"{self.heading}: {self.title}", *(f"{name}: {value}" for name, value in self.facts), self.verdict]
        titles = ("leaf", "expected", "observed", "difference", self.report.weight_name)
        foot = "Differences are in standard errors; * marks those beyond 3."
        wrapped = [textwrap.fill(line, room, subsequent_indent="  ") for line in head]
        return "\n".join([*wrapped, "", *table(titles, rows, room), "", foot])

    def to_svg(self, path: str | os.PathLike[str] | None = None) -> str:
        """The picture of the model with expected and observed shares; written to a file if a path is given."""
        return write_picture(svg.render_picture(_picture(self)), path, self.report.seed)

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """The comparison as one self-contained page; written to a file if a path is given."""
        picture = _picture(self)
        ranked = sorted(self.differences, key=lambda d: -abs(d.difference))
        page = fill(
            "compare.html",
            made=made_with(self.report.seed),
            title=self.heading,
            comparison=self,
            form=picture.form,
            picture=svg.markup(picture, Style(title=False, foldable=True)),
            narrow=svg.markup(picture.narrow(), NARROW),
            more=[d for d in ranked if d.difference >= 2][:8],
            fewer=[d for d in ranked if d.difference <= -2][:8],
        )
        return written(page, path)

    def as_dict(self) -> dict[str, Any]:
        """The comparison as plain data, for JSON."""
        names = ("rows", "fitted", "statistic", "freedom", "p_value", "distance")
        return {name: getattr(self, name) for name in names} | {"leaves": [vars(d).copy() for d in self.differences]}

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return f'<div style="overflow:auto;max-height:45rem">{self.to_svg()}</div>'


def compare(report: Report, leaves: LeafComparison, source: str = "") -> Comparison:
    """The comparison of a second table with a model, ready to be shown."""
    texts = [*((str(leaf), leaf.number) for leaf in report.leaves), ("outside the domain", None)]
    numbers = zip(leaves.expected, leaves.observed, leaves.differences, leaves.weights, strict=True)
    return Comparison(
        report.title,
        words.printable(source),
        tuple(Difference(*text, *map(float, row)) for text, row in zip(texts, numbers, strict=False)),
        float(leaves.weights.sum()),
        float(leaves.fitted.sum()),
        *leaves.test,
        leaves.distance,
        report,
        leaves,
    )


def _picture(comparison: Comparison) -> Picture:
    """The model's picture with shares, differences and rows in place of densities."""
    report, leaves = comparison.report, comparison.leaves
    spots, below = spots_of(report.lines, report.structure)
    if comparison.differences[-1].leaf is None:
        spots.append(Spot(comparison.differences[-1].text, "", None, 0, None, 0.0, 0.0))
        below.append([len(comparison.differences) - 1])
    parts = [leaves.together(some) if some else None for some in below]
    largest = max(float(leaves.expected.max()), float(leaves.observed.max())) or 1.0
    loudest = max([LOUD, *(abs(part[2]) for part in parts if part)])
    heaviest = float(leaves.weights.max()) or 1.0
    columns = (
        NumberColumn("share, %", "pair", wide=1.3, wordy=1.45),
        NumberColumn("difference", "swing", ((0.5, "0"),), wide=1.3, wordy=0.8),
        NumberColumn(report.weight_name, "bar"),
    )

    def drawn(spot: Spot, part: tuple[float, float, float, float] | None) -> Spot:
        if part is None:
            return spot
        expected, observed, score, weight = part
        difference = Cell(f"{score:+.1f}", _swing(score, loudest))
        cells = (_shares(expected, observed, largest), difference, Cell(words.count(weight), weight / heaviest))
        return replace(spot, share=observed, shade=_swing(score, LOUD), cells=cells)

    title, scale = f"{comparison.heading}: {comparison.title}", ("fewer than expected", "more than expected")
    return Picture(title, form_of(report.structure), tuple(map(drawn, spots, parts)), columns, scale)


def _shares(expected: float, observed: float, largest: float) -> Cell:
    """Two shares side by side, in percent."""
    text = f"{100 * expected:#.3g} → {100 * observed:#.3g}".replace(". ", " ").removesuffix(".")
    title = f"expected {words.percent(expected)}, observed {words.percent(observed)}"
    return Cell(text, expected / largest, observed / largest, title=title)


def _swing(score: float, most: float) -> float:
    """A place from 0 to 1 for a difference that goes either way."""
    return 0.5 + max(-1.0, min(1.0, score / most)) / 2


def _cells(d: Difference) -> tuple[str, ...]:
    number = "" if d.leaf is None else str(d.leaf)
    mark = " *" if abs(d.difference) >= LOUD else "  "
    shares = words.percent(d.expected), words.percent(d.observed)
    return (number, *shares, f"{d.difference:+.1f}{mark}", words.count(d.weight))
