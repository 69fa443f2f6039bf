"""A report as one self-contained page: nothing is loaded from anywhere, and nothing in a label is ever run."""

from __future__ import annotations

import base64
import hashlib
import math
import re
from collections.abc import Callable, Mapping
from functools import cache
from heapq import nlargest, nsmallest
from importlib.resources import files
from itertools import pairwise
from typing import Any

from jinja2 import Environment, FunctionLoader
from markupsafe import Markup

from sparsedensity.report import kinds, path_svg, svg, words
from sparsedensity.report.axes import power_of_ten
from sparsedensity.report.importance import importance_of
from sparsedensity.report.made import made_with
from sparsedensity.report.model import Leaf, Report
from sparsedensity.report.page_data import can_look_up, page_data
from sparsedensity.report.picture import picture_of
from sparsedensity.report.standing import Score, standing
from sparsedensity.report.style import DARK, LIGHT, NARROW, Style

NAMED_LEAVES = 5
"""How many of the most common and of the rarest leaves are named."""
SCRIPTS = ("words.js", "picture.js", "profiles.js", "look_up.js", "page.js")
SHOWN_STANDOUTS = 6
"""So many columns of a kind are seen at once, the others on demand."""
MOST_CARDS = 24
MOST_HEAT_ROWS = 30
MOST_HEAT_COLUMNS = 24
MOST_ROWS = 120
"""Of larger trees the smallest branches are one row each, so that the page stays below a megabyte."""


def render(report: Report) -> str:
    """The page about a model."""
    picture, evidence = picture_of(report, MOST_ROWS), report.evidence
    path = None if evidence is None else evidence.path
    return fill(
        "page.html",
        title=report.title,
        report=report,
        form=picture.form if len(report.leaves) > 1 else "cells",
        evidence=evidence,
        picture=svg.markup(picture, Style(title=False, foldable=True)),
        narrow=svg.markup(picture.narrow(), NARROW),
        chart=None if path is None or len(path) < 2 else Markup(path_svg.render(path)),  # noqa: S704
        path=path,
        steps=[power_of_ten(column.tens) for column in picture.columns[1:3]] if report.profiles is None else None,
        standing="" if evidence is None else standing(evidence.scores),
        importance=importance_of(report),
        made=made_with(report.seed),
        look_up=can_look_up(report),
        names=[leaf.name for leaf in report.leaves],
        data=Markup(page_data(report)),  # noqa: S704 escaped for a script element
        **(_groups(report) if report.profiles is None else _kinds(report)),
    )


def _groups(report: Report) -> dict[str, Any]:
    """What a page says about leaves that are even inside: the largest, the densest and the rarest."""
    possible = [leaf for leaf in report.leaves if leaf.volume > 0 and leaf.probability > 0]
    rarest = nsmallest(NAMED_LEAVES, possible, key=lambda leaf: leaf.log_density)
    common = nlargest(NAMED_LEAVES, possible, key=lambda leaf: leaf.share)
    logs = [leaf.log_density for leaf in possible]
    densest = max(possible, key=lambda leaf: leaf.log_density, default=None)
    return {
        "common": common,
        "densest": densest,
        "rarest": rarest,
        "spread": _spread(report, rarest[0]) if rarest else "",
        "contrast": words.sayable(max(logs) - min(logs)) if logs else "",
    }


def _kinds(report: Report) -> dict[str, Any]:
    """What a page says about leaves with profiles: kinds of records, and where they differ."""
    ends = [words.about(end) for end in kinds.LEVELS]
    between = [f"{low.removesuffix(' %')} to {high}" for low, high in pairwise(ends)]
    return {
        "kinds": kinds.kinds_of(report),
        "heat": kinds.heat_map(report),
        "legend": [f"under {ends[0]}", *between, f"over {ends[-1]}"],
        "shown": SHOWN_STANDOUTS,
        "cards": MOST_CARDS,
        "rows": MOST_HEAT_ROWS,
        "columns": MOST_HEAT_COLUMNS,
    }


def fill(template: str, **context: object) -> str:
    """A page of this room from the name of its template."""
    return fill_text(_read(template), {}, **context)


def fill_text(template: str, filters: Mapping[str, Callable[..., object]], **context: object) -> str:
    """A page from the text of its template, with the colours, styles and script inside."""
    environment = Environment(loader=FunctionLoader(_read), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"percent": words.percent, "count": words.count, "density": words.density}
    environment.filters |= {"observed": words.observed, "rarity": words.rarity, "finite": _finite, "ratio": _ratio}
    environment.filters |= {"of_all_records": words.of_all_records, "printable": words.printable}
    environment.filters |= {"about": words.about, "enumerated": words.enumerated, "breakable": _breakable, **filters}
    script = "".join(map(_read, SCRIPTS))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return environment.from_string(template).render(
        style=Markup(_colours() + _read("page.css")),  # noqa: S704 our own file
        script=Markup(script),  # noqa: S704 our own file
        script_hash=digest,
        **context,
    )


@cache
def _read(name: str) -> str:
    return files("sparsedensity.report").joinpath("page", name).read_text(encoding="utf-8")


def _colours() -> str:
    light, dark = ("".join(f"--{name}:{colour};" for name, colour in side.items()) for side in (LIGHT, DARK))
    return f":root{{{light}}}@media (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"


def _spread(report: Report, leaf: Leaf) -> str:
    """Over how much the records of a leaf are spread; a volume counts records if no column is a number with a width."""
    if leaf.log_volume < 1e-9:
        return ""
    counts = all(feature.kind != "continuous" for feature in report.structure.domain)
    size = words.sayable(leaf.log_volume)
    return f"spread over {size} possible records" if counts else f"spread over a volume of {size}"


def _breakable(text: str) -> Markup:
    """A long name that may be broken where its words meet.

    >>> str(_breakable("would_vote<3")), str(_breakable("PaymentMethod"))
    ('would_<wbr>vote&lt;3', 'Payment<wbr>Method')
    """
    return Markup("<wbr>").join(re.split(r"(?<=[_/])|(?<=[a-z])(?=[A-Z])", text))


def _finite(score: float) -> str:
    return f"{score:.4f}" if math.isfinite(score) else ""


def _ratio(score: Score, model: Score) -> str:
    """The density that a model gives to new records beside that of another way to estimate it."""
    if score is model:
        return ""
    gain = model.held_out - score.held_out
    if not math.isfinite(gain):
        return "one of the two gives a held-out record density 0"
    if abs(gain) < 0.005:
        return "about as good as this model"
    times = f"{words.sayable(abs(gain))} times"
    return (
        f"this model gives new records {times} that density"
        if gain > 0
        else f"{times} the density that this model gives"
    )
