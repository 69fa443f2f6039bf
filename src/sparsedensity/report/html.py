"""A report as one self-contained page."""

from __future__ import annotations

from importlib.resources import files

from jinja2 import Environment

from sparsedensity.report import words
from sparsedensity.report.model import Leaf, Line, Report

DEEPEST = 12
"""Deeper lines are not indented further, so that the numbers stay on the page."""


def render(report: Report) -> str:
    """The page: what the data are, the model line by line with bars, and how to read it."""
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(files("sparsedensity.report").joinpath("page.html").read_text(encoding="utf-8"))
    densest = max((leaf.density for leaf in report.leaves), default=1.0)
    likeliest = max((leaf.probability for leaf in report.leaves), default=1.0)
    rows = [_row(line, report.leaves, densest, likeliest) for line in report.lines]
    return template.render(report=report, rows=rows)


def _row(line: Line, leaves: tuple[Leaf, ...], densest: float, likeliest: float) -> dict[str, object]:
    depth = max(0, len(line.last) - 1)
    own: dict[str, object] = {"text": line.text, "indent": f"{0.6 + 1.2 * min(depth, DEEPEST):.1f}", "leaf": None}
    if line.leaf is not None:
        leaf = leaves[line.leaf]
        low, high = leaf.interval
        own |= {
            "leaf": leaf,
            "share": f"{100 * leaf.probability:.3g} %",
            "bar": f"{100 * leaf.probability / likeliest:.2f}" if likeliest else "0",
            "interval": f"95 % credible interval {100 * low:.3g} % to {100 * high:.3g} %",
            "density": words.from_log(leaf.log_density) if leaf.density == 0 else f"{leaf.density:.3g}",
            "dense": f"{100 * leaf.density / densest:.2f}" if densest else "0",
            "volume": words.from_log(leaf.log_volume),
            "count": words.count(leaf.weight),
        }
    return own
