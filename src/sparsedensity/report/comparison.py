"""Two tables, or a table and a model, leaf by leaf: in words and pictures."""

from __future__ import annotations

import os
import textwrap
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from sparsedensity.density.comparison import LeafComparison, SharesTest
from sparsedensity.report import svg, words
from sparsedensity.report.made import made_with, write_picture
from sparsedensity.report.model import Report
from sparsedensity.report.picture import Cell, NumberColumn, Picture, Spot, form_of, spots_of
from sparsedensity.report.style import NARROW, Style
from sparsedensity.report.text import rows_of, table, written

OUTSIDE = "outside the domain"
MOST_NAMED = 8
LOUD = 3.0
"""Standard errors at which a difference has its full colour."""
CHOSEN = (
    "the leaves were chosen on the rows that the model was fitted to, so chance differences look larger than they are. "
    "For a test, compare the two tables themselves, or fit an honest model (honest=0.5, or --honest 0.5)."
)
FRACTIONAL = "weights that are not whole numbers do not count rows. Give whole weights for a test."
NOTHING_INSIDE = "no row of the second table lies inside the domain of the model. Look at its values."

Outcome: TypeAlias = SharesTest | str
"""A test, or the sentence that says why there is none."""


@dataclass(frozen=True)
class Difference:
    """What one leaf, or everything outside the domain, holds in both tables."""

    text: str
    leaf: int | None
    """``None`` for the rows outside the domain."""
    name: str
    """The short name of the leaf."""
    expected: float
    """The share that the model expects; of two tables, the share of the first."""
    observed: float
    """The share of the second table."""
    difference: float
    """The difference of the two tables' shares in standard errors: beyond 3 it is hardly chance."""
    weight: float
    """The weight of the second table's rows."""


@dataclass(frozen=True)
class Wording:
    """How a comparison speaks of its two sides."""

    heading: str
    titles: tuple[str, str]
    """What the two shares are called."""
    tables: tuple[str, str]
    """What the sizes of the two tables follow."""
    differ: str
    """That there is a difference."""
    scale: tuple[str, str]
    """What the two colours mean."""
    grey: str
    """Whose the first share is."""
    blue: str
    """Whose the second share is."""
    fair: str
    """Why the test holds."""


@dataclass(frozen=True)
class Comparison:
    """Two tables, leaf by leaf. Print it, or draw it with :meth:`to_svg` and :meth:`to_html`.

    >>> from sparsedensity import compare, datasets
    >>> people = datasets.load("titanic")
    >>> women, men = (people.filter(people["sex"] == sex).drop("sex") for sex in ("female", "male"))
    >>> found = compare(women, men, names=("the women", "the men"))
    >>> most = found.differences[0]
    >>> most.text, round(most.expected, 2), round(most.observed, 2)
    ('class is 1st and age is adult', 0.31, 0.1)
    """

    title: str
    wording: Wording = field(repr=False)
    differences: tuple[Difference, ...]
    rows: float
    """The weight of the second table."""
    fitted: float
    """The weight of the first table, or of the rows that gave the leaves of the model their weights."""
    test: SharesTest | None
    """``None`` if no test would hold."""
    untested: str
    """Why there is no test, and the way out; empty if there is one."""
    distance: float
    """Jensen-Shannon distance between expected and observed shares: 0 the same, 1 nothing in common."""
    report: Report = field(repr=False)
    leaves: LeafComparison = field(repr=False)

    @property
    def p_value(self) -> float | None:
        """The probability of a difference at least as large if both tables came from the same source.

        ``None`` if the leaves were chosen on one of the tables, or if weights do not count rows.
        """
        return None if self.test is None else self.test.p_value

    @property
    def verdict(self) -> str:
        """What the test says, in words."""
        if self.test is None:
            return f"No p-value: {self.untested}"
        p = words.p_value(self.test.p_value)
        if self.test.p_value < 0.001:
            return (
                f"The {self.wording.differ} ({p}): by chance alone such a difference would arise less than once in "
                "1,000 times."
            )
        if self.test.p_value < 0.05:
            return f"Probably the {self.wording.differ} ({p})."
        return f"No significant difference between the shares of the leaves ({p})."

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """The whole comparison in a few lines."""
        first, second = (words.amount(weight, self.report.weight_name) for weight in (self.fitted, self.rows))
        unasked = self._unasked
        return (
            ("Tables", f"{self.wording.tables[0]} {first}, {self.wording.tables[1]} {second}"),
            *([] if self.test is None else [("Test", _tested(self.test, outside=self.differences[-1].leaf is None))]),
            ("Jensen-Shannon distance", f"{self.distance:.4f} (0: the same, 1: nothing in common)"),
            *([("Not compared", f"columns that no leaf asks for: {words.enumerated(unasked)}")] if unasked else []),
        )

    @property
    def _unasked(self) -> list[str]:
        """The columns that decide nothing about the leaf of a row, so that a difference in them cannot show."""
        asked = {condition.feature for leaf in self.report.leaves for condition in leaf.conditions}
        names = [words.printable(name) for name in self.report.structure.domain.names if name not in asked]
        return [*names[:MOST_NAMED], f"{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else names

    @property
    def counted(self) -> str:
        """What the last column counts: the rows, or the weight, of the second table."""
        return f"{self.report.weight_name}, {self.wording.titles[1]}"

    def to_text(self, width: int | None = None) -> str:
        """The comparison as a table in the width of a terminal."""
        room = words.room(width)
        rows = rows_of(self.report.lines, [_cells(d) for d in self.differences])
        if self.differences[-1].leaf is None:
            rows.append((self.differences[-1].text, _cells(self.differences[-1])))
        heading = f"{self.wording.heading}: {self.title}"
        head = [heading, *(f"{name}: {value}" for name, value in self.facts), self.verdict]
        titles = ("leaf", *self.wording.titles, "difference", self.counted)
        foot = "Differences are in standard errors; * marks those beyond 3."
        wrapped = [textwrap.fill(line, room, subsequent_indent="  ") for line in head]
        return "\n".join([*wrapped, "", *table(titles, rows, room), "", foot])

    def to_svg(self, path: str | os.PathLike[str] | None = None) -> str:
        """The picture of the model with expected and observed shares; written to a file if a path is given."""
        return write_picture(svg.render_picture(_picture(self)), path, self.report.seed)

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """The comparison as one self-contained page; written to a file if a path is given."""
        from sparsedensity.report.html import fill  # noqa: PLC0415 (heavy)

        picture = _picture(self)
        ranked = sorted(self.differences, key=lambda d: -abs(d.difference))
        more = [d for d in ranked if d.difference >= 2][:MOST_NAMED]
        fewer = [d for d in ranked if d.difference <= -2][:MOST_NAMED]
        page = fill(
            "compare.html",
            made=made_with(self.report.seed),
            title=self.wording.heading,
            comparison=self,
            form=picture.form,
            picture=svg.markup(picture, Style(title=False, foldable=True)),
            narrow=svg.markup(picture.narrow(), NARROW),
            more=more,
            fewer=fewer,
        )
        return written(page, path)

    def as_dict(self) -> dict[str, Any]:
        """The comparison as plain data, for JSON."""
        test = {"statistic": None, "freedom": None, "p_value": None, "permutations": None}
        test |= {} if self.test is None else self.test._asdict()
        leaves = [vars(d).copy() for d in self.differences]
        return {"rows": self.rows, "fitted": self.fitted, **test, "distance": self.distance, "leaves": leaves}

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return svg.in_notebook(self.to_svg())


def against_model(report: Report, leaves: LeafComparison, outcome: Outcome, source: str = "") -> Comparison:
    """The comparison of a table with a model, ready to be shown."""
    wording = Wording(
        f"{words.printable(source) or 'Another table'} compared with the model",
        ("expected", "observed"),
        ("model from", "compared with"),
        "table differs from the one the model was fitted to",
        ("fewer than expected", "more than expected"),
        "that the model expects",
        "in this table",
        "The leaves were chosen on other rows than those that are compared, so the test holds.",
    )
    return _comparison(report, leaves, outcome, wording)


def of_tables(report: Report, leaves: LeafComparison, outcome: Outcome, names: tuple[str, str]) -> Comparison:
    """The comparison of two tables by the leaves of a model of both, ready to be shown."""
    first, second = map(words.printable, names)
    heading = f"{second} compared with {first}" if first and second else "The second table compared with the first"
    tables = f"{first or 'first'}:", f"{second or 'second'}:"
    wording = Wording(
        heading,
        ("first", "second"),
        tables,
        "tables differ",
        ("fewer in the second table", "more in the second table"),
        "in the first table",
        "in the second table",
        "The leaves were chosen on both tables together, without looking at which row is whose, so the test holds.",
    )
    return _comparison(report, leaves, outcome, wording)


def _comparison(report: Report, leaves: LeafComparison, outcome: Outcome, wording: Wording) -> Comparison:
    texts = [*((str(leaf), leaf.number, leaf.name) for leaf in report.leaves), (OUTSIDE, None, OUTSIDE)]
    numbers = zip(leaves.expected, leaves.observed, leaves.differences, leaves.weights, strict=True)
    test, untested = (outcome, "") if isinstance(outcome, SharesTest) else (None, outcome)
    return Comparison(
        report.title,
        wording,
        tuple(Difference(*text, *map(float, row)) for text, row in zip(texts, numbers, strict=False)),
        float(leaves.weights.sum()),
        float(leaves.fitted.sum()),
        test,
        untested,
        leaves.distance,
        report,
        leaves,
    )


def _tested(test: SharesTest, *, outside: bool) -> str:
    """The test in one line."""
    how = words.counted(test.freedom, "degree of freedom", "degrees of freedom")
    if test.permutations is not None:
        how = f"{words.count(test.permutations)} random divisions of the rows"
    without = "; rows outside the domain are left out" if outside else ""
    return f"chi-square {test.statistic:,.4g}, {how}, {words.p_value(test.p_value)}{without}"


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
        NumberColumn(comparison.counted, "bar"),
    )

    def drawn(spot: Spot, part: tuple[float, float, float, float] | None) -> Spot:
        if part is None:
            return spot
        expected, observed, score, weight = part
        difference = Cell(f"{score:+.1f}", _swing(score, loudest))
        shares = _shares(expected, observed, largest, comparison.wording.titles)
        cells = (shares, difference, Cell(words.count(weight), weight / heaviest))
        name = "" if spot.leaf is None else report.leaves[spot.leaf].name
        return replace(spot, share=observed, shade=_swing(score, LOUD), cells=cells, name=name)

    title = f"{comparison.wording.heading}: {comparison.title}"
    return Picture(title, form_of(report.structure), tuple(map(drawn, spots, parts)), columns, comparison.wording.scale)


def _shares(expected: float, observed: float, largest: float, titles: tuple[str, str]) -> Cell:
    """Two shares side by side, in percent."""
    text = f"{100 * expected:#.3g} → {100 * observed:#.3g}".replace(". ", " ").removesuffix(".")
    title = f"{titles[0]} {words.percent(expected)}, {titles[1]} {words.percent(observed)}"
    return Cell(text, expected / largest, observed / largest, title=title)


def _swing(score: float, most: float) -> float:
    """A place from 0 to 1 for a difference that goes either way."""
    return 0.5 + max(-1.0, min(1.0, score / most)) / 2


def _cells(d: Difference) -> tuple[str, ...]:
    number = "" if d.leaf is None else str(d.leaf)
    mark = " *" if abs(d.difference) >= LOUD else "  "
    shares = words.percent(d.expected), words.percent(d.observed)
    return (number, *shares, f"{d.difference:+.1f}{mark}", words.count(d.weight))
