"""Rebuilds every picture of the README and of the pages: ``make pictures``."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.datasets import load_wine

from docs import tables
from docs.drawing import GALLERY, on_a_page
from sparsedensity import BranchSparseTree, LeafSparseTree, SparseRuleList, compare, datasets
from sparsedensity.density.comparison import homogeneity
from sparsedensity.report import path_svg
from sparsedensity.report.axes import Axes
from sparsedensity.report.shapes import Box, Dot, Shape, Stroke, Text
from sparsedensity.report.style import shade
from sparsedensity.report.svg import canvas
from sparsedensity.table import Floats
from sparsedensity.writing import write_text

HERE = Path(__file__).parent
CLASSES = ("1st", "2nd", "3rd", "crew")
KINDS = (("female", "adult"), ("male", "adult"), ("female", "child"), ("male", "child"))
DIVISIONS = 9_999


def pictures() -> dict[str, str]:
    """Every picture by its file name."""
    people = datasets.load("titanic")
    tree = LeafSparseTree().fit(people)
    wines = load_wine(as_frame=True).data
    women, men = (people.filter(people["sex"] == sex).drop("sex") for sex in ("female", "male"))
    return {
        "titanic.svg": tree.to_svg(),
        "path.svg": path_svg.render(tree.sparsity_path(people)),
        "compare.svg": compare(women, men, names=("the women", "the men")).to_svg(),
        "start/breaks.svg": on_a_page(LeafSparseTree(max_leaves=6).fit(datasets.load("housebreaks"))),
        "start/wines.svg": on_a_page(LeafSparseTree(leaf="profile", max_leaves=4).fit(wines)),
        "how-to/tree.svg": on_a_page(tree),
        "ideas/points.svg": points(tree),
        "ideas/priors.svg": priors(people),
        "ideas/prices.svg": prices(tree),
        "ideas/permutations.svg": permutations(people),
        **gallery(),
    }


def gallery() -> dict[str, str]:
    """The tables of the gallery that are bundled or made up: each with its model and its path."""
    shown = {
        "titanic": (SparseRuleList(max_rules=3), datasets.load("titanic")),
        "simulated": (LeafSparseTree(), datasets.load("simulated")),
        "housebreaks": (BranchSparseTree(max_leaves=10, search="greedy"), datasets.load("housebreaks")),
        "claims": (BranchSparseTree(max_leaves=12), tables.claims()),
        "survey": (LeafSparseTree(leaf="profile", max_leaves=8), tables.survey()),
        "baskets": (LeafSparseTree(leaf="profile", max_leaves=5, search="greedy"), tables.baskets()),
        "requests": (
            LeafSparseTree(leaf="profile", max_leaves=6, search="greedy", bins=tables.BINS),
            tables.requests(),
        ),
    }
    made = {}
    for name, (model, table) in shown.items():
        weight = "weight" if "weight" in table.columns else None
        model.fit(table, sample_weight=weight)
        made[f"gallery/{name}.svg"] = on_a_page(model, GALLERY)
        made[f"gallery/{name}-path.svg"] = path_svg.render(model.sparsity_path(table, sample_weight=weight))
    return made | {"gallery/requests-compared.svg": released()}


def released() -> str:
    """The requests of a shop after its release against those before."""
    table = tables.requests()
    since = table["day"] >= tables.RELEASE
    before, after = (table.filter(which).drop("day") for which in (~since, since))
    model = LeafSparseTree(leaf="profile", max_leaves=8, search="greedy", bins=tables.BINS)
    return compare(before, after, model=model, names=("before", "after")).to_svg()


def points(tree: LeafSparseTree) -> str:
    """The possible people aboard the Titanic, a cell each, in the colour of their density; gaps part the leaves."""
    wide, high, left, top = 112, 46, 120, 40
    places = {
        (c, kind): (left + wide * i, top + high * j) for i, c in enumerate(CLASSES) for j, kind in enumerate(KINDS)
    }
    leaves = dict(zip(places, tree.apply([{"class": c, "sex": s, "age": a} for c, (s, a) in places]), strict=True))
    logs = [leaf.log_density for leaf in tree.leaves_]
    shapes: list[Shape] = []
    for (c, kind), (x, y) in places.items():
        log = logs[leaves[c, kind]]
        shapes.append(Box(x, y, wide, high, shade((log - min(logs)) / (max(logs) - min(logs)))))
        share = f"{100 * math.exp(log):.2g} %"
        shapes.append(Text(x + wide / 2, y + high / 2 - 7, share, "paper", "middle", bold=True))
        shapes.append(Text(x + wide / 2, y + high / 2 + 9, f"leaf {leaves[c, kind]}", "paper", "middle", 10))
    for (one, (x, y)), (other, (u, v)) in itertools.permutations(places.items(), 2):
        if leaves[one] != leaves[other] and (u - x, v - y) in ((wide, 0), (0, high)):
            shapes.append(Stroke(u, v, *((u, v + high) if v == y else (u + wide, v)), "paper", 6))
    shapes += [Text(left + wide * (i + 0.5), top - 16, c, "soft", "middle") for i, c in enumerate(CLASSES)]
    shapes += [Text(left - 12, top + high * (j + 0.5), ", ".join(kind), "soft", "end") for j, kind in enumerate(KINDS)]
    title = "The sixteen possible people aboard the Titanic: the expected share of each, by the leaves of the tree"
    return canvas(title, left + 4 * wide + 20, top + 4 * high + 16, shapes, role="img")


def priors(people: pl.DataFrame) -> str:
    """How far below the best each number of leaves is, for three expected numbers of leaves."""
    sizes, lines = range(5, 17), []
    for expected, colour in ((32, "soft"), (8, "bar"), (2, "other")):
        search = LeafSparseTree(expected_leaves=expected).fit(people).search_
        below = [search.scores[size] - search.log_posterior for size in sizes]
        lines.append((f"{expected} expected leaves", np.array(below), colour))
    return chart("How far below the best each number of leaves is", sizes, "nats below the best", lines)


def prices(tree: LeafSparseTree) -> str:
    """The largest sum that each number of leaves can have, and the lines above it that passes at two prices give."""
    sizes, shown = np.arange(1, 17), slice(5, 13)
    n = sum(leaf.weight for leaf in tree.leaves_)
    scores = np.array([tree.search_.scores[size] for size in sizes.tolist()])
    sums = scores - tree.posterior(tree.domain_).by_leaves(sizes, n)
    lines = [("the best sum", sums[shown], "ink")]
    for price, colour in ((30.0, "other"), (10.0, "bar")):
        line = (sums - price * sizes).max() + price * sizes
        lines.append((f"at price {price:g}", line[shown], colour))
    title = "The largest sum that each number of leaves can have, and two lines above it"
    return chart(title, sizes[shown].tolist(), "sum over the leaves", lines)


def permutations(people: pl.DataFrame) -> str:
    """Pearson's chi-square of random divisions of a table, and that of the two parts which the page compares."""
    shuffled = people.sample(fraction=1, shuffle=True, seed=1)
    compared = compare(shuffled.head(1000), shuffled.tail(1201))
    assert compared.test is not None
    first, both = compared.leaves.fitted, compared.leaves.fitted + compared.leaves.weights
    rng, seen = np.random.default_rng(0), compared.test.statistic
    drawn = rng.multivariate_hypergeometric(both.astype(np.int64), int(first.sum()), DIVISIONS, method="marginals")
    each = np.array([homogeneity(some, both - some)[0] for some in drawn.astype(np.float64)])
    counts, lows = np.histogram(each, np.arange(seen % 1, 31))
    axes = Axes((0, 30), (0, counts.max()), width=560, height=240, right=20)
    shapes = [*axes.frame("Pearson's chi-square", f"of {DIVISIONS:,} random divisions")]
    for low, count in zip(lows.tolist(), counts.tolist(), strict=False):
        colour = "other" if low > seen - 0.5 else "bar"
        width, top = axes.x(low + 1) - axes.x(low), axes.y(count)
        shapes.append(Box(axes.x(low) + 1, top, width - 2, axes.floor - top, colour))
    shapes.append(Stroke(axes.x(seen), axes.top, axes.x(seen), axes.floor, "ink", 1.5))
    label = f"the two tables: {seen:.1f}, p = {compared.test.p_value:.2g}"
    shapes.append(Text(axes.x(seen) + 8, axes.top + 20, label, "ink"))
    return canvas(
        "Pearson's chi-square of random divisions, and of two tables", axes.width, axes.height, shapes, role="img"
    )


def chart(title: str, across: Sequence[int], up: str, lines: Sequence[tuple[str, Floats, str]]) -> str:
    """Lines over numbers of leaves with dots on them, each with its name at its right end."""
    every = np.concatenate([line for _, line, _ in lines])
    axes = Axes((across[0], across[-1]), (every.min(), every.max()), width=560, height=270, right=140)
    above = -math.inf
    shapes = [*axes.frame("leaves", up)]
    for name, line, colour in sorted(lines, key=lambda line: -line[1][-1]):
        shapes += axes.line(zip(across, line, strict=True), colour)
        shapes += [Dot(axes.x(x), axes.y(y), 2.5, colour) for x, y in zip(across, line, strict=True)]
        above = max(axes.y(line[-1]), above + 15)
        shapes.append(Text(axes.end + 10, above, name, colour, size=11))
    return canvas(title, axes.width, axes.height, shapes, role="img")


if __name__ == "__main__":
    for name, picture in pictures().items():
        write_text(picture + "\n", HERE / name)
