"""Where a second table differs from the one a model was fitted to, leaf by leaf.

Both tables are samples, so a difference is measured against the noise of both: the standardised difference of two
shares, and Pearson's test that the two tables have the same shares. Leaves that are too small for the test are taken
together. The leaves were chosen by looking at the first table, so with many leaves and few rows the test finds
differences a little too easily.
"""

from __future__ import annotations

import math
import os
import shutil
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import gammaincc

from sparsedensity.report import svg, words
from sparsedensity.report.html import fill
from sparsedensity.report.model import Report
from sparsedensity.report.picture import Cell, Column, Picture, Spot, form_of, spots_of
from sparsedensity.report.style import NARROW, Style
from sparsedensity.report.text import guide, wrap
from sparsedensity.table import Floats

LEAST_EXPECTED = 5.0
"""Cells of the test that expect less than this in either table are taken together."""
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
    """The difference of the two tables' shares in standard errors: beyond 3 either way is no accident."""
    weight: float
    """The weight of the second table's rows."""
    fitted: float = field(repr=False)
    """The weight of the rows that the model was fitted to."""


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
    """The probability of a difference as large as this, if both tables came from the same place."""
    distance: float
    """Jensen-Shannon distance between expected and observed shares: 0 the same, 1 nothing in common."""
    report: Report = field(repr=False)

    @property
    def verdict(self) -> str:
        """What the test says, in words."""
        if self.p_value < 0.001:
            return "The table differs from what the model was fitted to: chance does this less than once in a thousand."
        if self.p_value < 0.05:
            return "The table probably differs from what the model was fitted to."
        return "No difference shows that could not be an accident."

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """The whole comparison in a few lines."""
        return (
            ("Tables", f"{words.count(self.fitted)} rows fitted to, {words.count(self.rows)} compared"),
            ("Test", f"chi-square {self.statistic:.4g}, {self.freedom} degrees of freedom, p = {_p(self.p_value)}"),
            ("Jensen-Shannon distance", f"{self.distance:.4f} (0 the same, 1 nothing in common)"),
        )

    def to_text(self, width: int | None = None) -> str:
        """The comparison as a table in the width of a terminal."""
        return _render_text(self, max(60, width or shutil.get_terminal_size((100, 24)).columns))

    def to_svg(self, path: str | os.PathLike[str] | None = None) -> str:
        """The picture of the model with expected and observed shares; written to a file if a path is given."""
        return _written(svg.render_picture(_picture(self)), path)

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """The comparison as one self-contained page; written to a file if a path is given."""
        picture = _picture(self)
        ranked = sorted(self.differences, key=lambda d: -abs(d.difference))
        page = fill(
            "compare.html",
            title=f"{self.source or 'Another table'} against the model",
            comparison=self,
            form=picture.form,
            picture=svg.markup(picture, Style(title=False, foldable=True)),
            narrow=svg.markup(replace(picture, columns=picture.columns[:2], spots=_cut(picture)), NARROW),
            more=[d for d in ranked if d.difference >= 2][:8],
            fewer=[d for d in ranked if d.difference <= -2][:8],
        )
        return _written(page, path)

    def as_dict(self) -> dict[str, Any]:
        """The comparison as plain data, for JSON."""
        return {
            "rows": self.rows,
            "fitted": self.fitted,
            "statistic": self.statistic,
            "freedom": self.freedom,
            "p_value": self.p_value,
            "distance": self.distance,
            "leaves": [
                {
                    "leaf": d.leaf,
                    "text": d.text,
                    "expected": d.expected,
                    "observed": d.observed,
                    "difference": d.difference,
                    "weight": d.weight,
                }
                for d in self.differences
            ],
        }

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return f'<div style="overflow:auto;max-height:45rem">{self.to_svg()}</div>'


def compare(report: Report, fitted: Floats, observed: Floats, outside: float, source: str = "") -> Comparison:
    """Compare the weight that two tables have in every leaf; `outside` is what lies in no leaf of the second."""
    ours, theirs = np.append(fitted, 0.0), np.append(observed, outside)
    expected = np.append([leaf.probability for leaf in report.leaves], 0.0)
    shares = theirs / theirs.sum()
    scores = standardised(ours, theirs)
    texts = [*map(str, report.leaves), "outside the domain"]
    numbers: list[int | None] = [*(leaf.number for leaf in report.leaves), None]
    rows = zip(texts, numbers, expected, shares, scores, theirs, ours, strict=True)
    differences = [Difference(t, n, *map(float, rest)) for t, n, *rest in rows]
    statistic, freedom = homogeneity(ours, theirs)
    return Comparison(
        report.title,
        words.printable(source),
        tuple(differences if outside > 0 else differences[:-1]),
        float(theirs.sum()),
        float(ours.sum()),
        statistic,
        freedom,
        float(gammaincc(freedom / 2, statistic / 2)) if freedom else 1.0,
        jensen_shannon(expected, shares),
        report,
    )


def standardised(ours: Floats, theirs: Floats) -> Floats:
    """For every cell the difference of two shares over its standard error, positive where the second is larger."""
    n, m = ours.sum(), theirs.sum()
    pooled = (ours + theirs) / (n + m)
    error = np.sqrt(pooled * (1 - pooled) * (1 / n + 1 / m))
    difference = theirs / m - ours / n
    scores: Floats = np.divide(difference, error, out=np.zeros_like(error), where=error > 0)
    return scores


def homogeneity(ours: Floats, theirs: Floats) -> tuple[float, int]:
    """Pearson's statistic that two tables have the same shares, and its degrees of freedom."""
    ours, theirs = _pooled(ours, theirs)
    n, m = ours.sum(), theirs.sum()
    together = ours + theirs
    held = together > 0
    difference = theirs[held] * math.sqrt(n / m) - ours[held] * math.sqrt(m / n)
    return float((difference**2 / together[held]).sum()), max(0, int(held.sum()) - 1)


def jensen_shannon(p: Floats, q: Floats) -> float:
    """The square root of the Jensen-Shannon divergence, in bits."""
    middle = (p + q) / 2

    def half(share: Floats) -> float:
        held = share > 0
        return float(share[held] @ np.log2(share[held] / middle[held])) / 2

    return math.sqrt(min(1.0, max(0.0, half(p) + half(q))))


def _pooled(ours: Floats, theirs: Floats) -> tuple[Floats, Floats]:
    """The two tables with their smallest cells taken together, until every cell expects enough in both."""
    least = LEAST_EXPECTED * (1 + max(ours.sum() / theirs.sum(), theirs.sum() / ours.sum()))
    order = np.argsort(ours + theirs, kind="stable")
    ours, theirs = ours[order], theirs[order]
    sums = np.cumsum(ours + theirs)
    small = int(np.sum(ours + theirs < least))
    if small:
        small = max(small, min(int(np.searchsorted(sums, least)) + 1, len(order)))
        ours = np.append(ours[:small].sum(), ours[small:])
        theirs = np.append(theirs[:small].sum(), theirs[small:])
    return ours, theirs


def _picture(comparison: Comparison) -> Picture:
    """The model's picture with shares, differences and counts in the place of densities."""
    report = comparison.report
    spots, below = spots_of(report.lines, report.structure)
    parts = [[comparison.differences[leaf] for leaf in leaves] for leaves in below]
    outside = comparison.differences[-1]
    if outside.leaf is None:
        spots.append(Spot(outside.text, "", None, 0, None, 0.0, 0.0))
        parts.append([outside])
    rows = comparison.differences
    largest = max(max(d.expected, d.observed) for d in rows) or 1.0
    loudest = max([LOUD, *(abs(_sum(comparison, own)[2]) for own in parts if own)])
    heaviest = max(d.weight for d in rows) or 1.0

    def drawn(spot: Spot, own: Sequence[Difference]) -> Spot:
        if not own:
            return spot
        expected, observed, score = _sum(comparison, own)
        weight = math.fsum(d.weight for d in own)
        said = f"expected {words.percent(expected)}, observed {words.percent(observed)}"
        return replace(
            spot,
            share=observed,
            shade=0.5 + max(-1.0, min(1.0, score / LOUD)) / 2,
            cells=(
                Cell(
                    f"{100 * expected:#.3g} → {100 * observed:#.3g}".replace(". ", " ").removesuffix("."),
                    expected / largest,
                    observed / largest,
                    title=said,
                ),
                Cell(f"{score:+.1f}", 0.5 + max(-1.0, min(1.0, score / loudest)) / 2),
                Cell(words.count(weight), weight / heaviest),
            ),
        )

    columns = (
        Column("share, %", "pair", wide=1.3, wordy=1.45),
        Column("difference", "swing", ((0.5, "0"),), wide=1.3, wordy=0.8),
        Column("count", "bar"),
    )
    title = f"{comparison.source or 'Another table'} against: {comparison.title}"
    made = tuple(drawn(spot, own) for spot, own in zip(spots, parts, strict=True))
    scale = ("fewer than expected", "more than expected")
    return Picture(title, form_of(report.structure), made, columns, scale)


def _cut(picture: Picture) -> tuple[Spot, ...]:
    return tuple(replace(spot, cells=spot.cells[:2]) for spot in picture.spots)


def _sum(comparison: Comparison, own: Sequence[Difference]) -> tuple[float, float, float]:
    """Expected and observed share of several leaves together, and their difference in standard errors."""
    ours, theirs = math.fsum(d.fitted for d in own), math.fsum(d.weight for d in own)
    pair = np.array([ours, comparison.fitted - ours]), np.array([theirs, comparison.rows - theirs])
    score = own[0].difference if len(own) == 1 else float(standardised(*pair)[0])
    return math.fsum(d.expected for d in own), math.fsum(d.observed for d in own), score


def _render_text(comparison: Comparison, width: int) -> str:
    heads = ("leaf", "expected", "observed", "difference", "count")
    rows = [(guide(line) + line.text, line.leaf) for line in comparison.report.lines]
    cells = [("",) * len(heads) if leaf is None else _cells(comparison.differences[leaf]) for _, leaf in rows]
    outside = comparison.differences[-1]
    if outside.leaf is None:
        rows.append((outside.text, None))
        cells.append(_cells(outside))
    sizes = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    space = min(width - sum(sizes) - 2 * len(sizes), max(len(text) for text, _ in rows))
    head = [f"{comparison.source or 'Another table'} against: {comparison.title}"]
    head += [f"{name}: {value}" for name, value in comparison.facts]
    lines = [textwrap.fill(line, width, subsequent_indent="  ") for line in (*head, comparison.verdict)]
    lines += ["", _line("", heads, space, sizes)]
    for (text, _), own in zip(rows, cells, strict=True):
        *above, end = wrap(text, space)
        lines += [*above, _line(end, own, space, sizes)]
    return "\n".join(lines)


def _cells(d: Difference) -> tuple[str, ...]:
    mark = "" if abs(d.difference) < LOUD else " *"
    number = "" if d.leaf is None else str(d.leaf)
    shares = words.percent(d.expected), words.percent(d.observed)
    return (number, *shares, f"{d.difference:+.1f}{mark or '  '}", words.count(d.weight))


def _line(text: str, cells: Sequence[str], space: int, sizes: Sequence[int]) -> str:
    return f"{text:<{space}}{''.join(f'  {cell:>{size}}' for cell, size in zip(cells, sizes, strict=True))}".rstrip()


def _p(p: float) -> str:
    return f"{p:.3g}" if p >= 1e-300 else "0 to any number of digits"


def _written(text: str, path: str | os.PathLike[str] | None) -> str:
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")
    return text
