"""Distance to the true density as rows grow, for random true trees."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import numpy as np
import polars as pl

from reproduction.datasets.random_trees import random_tree
from reproduction.distances import distances
from reproduction.methods import DET, HISTOGRAM, LEAF
from reproduction.study import Chart, Panel, Series, Setting, Study, StudyColumn, StudyTable
from sparsedensity import GreedyTree, Histogram, LeafSparseTree
from sparsedensity.evaluation import timed_fit

SIZES = (5, 4, 3, 3, 3, 2, 2, 2)
"""4,320 points: few enough to sum over all of them, too many for a histogram of few rows."""
LEAVES = 15
TREES, QUICK_TREES = 10, 2
ROWS = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
QUICK_ROWS = (100, 1_000)
QUICK_SECONDS = 0.5
DISTANCES = {"variation": "total variation", "divergence": "Kullback-Leibler divergence"}


def study(setting: Setting) -> Study:
    """Fit every method to more and more rows of known truths."""
    trees, rows = (QUICK_TREES, QUICK_ROWS) if setting.quick else (TREES, ROWS)
    found: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for seed in range(trees):
        for n in rows:
            part = setting.part(f"tree {seed}, {n:,} rows", lambda seed=seed, n=n: _distances(seed, n, setting))  # type: ignore[misc]
            for method, draw in part.items():
                found.setdefault((method, n), []).append(draw)
    points = math.prod(SIZES)
    return Study(
        "consistency",
        "Distance to the truth as rows grow",
        f"{trees} random trees of {LEAVES} leaves over {len(SIZES)} features ({points:,} points) are the truth. The "
        "distance between the true and the fitted density is exact: a sum over every point.",
        tuple(_sentences(found, rows)),
        (_table(found, rows),),
        (_chart(found, rows),),
    )


def methods(setting: Setting) -> dict[str, Any]:
    """What is compared, each as it comes."""
    limit = QUICK_SECONDS if setting.quick else None
    return {
        LEAF: LeafSparseTree(random_state=0, n_jobs=setting.jobs, time_limit=limit),
        DET: GreedyTree(criterion="ise", max_leaves=None),
        HISTOGRAM: Histogram(),
    }


def _distances(seed: int, n: int, setting: Setting) -> dict[str, Any]:
    """How far every method is from one truth, after so many rows."""
    truth = random_tree(rows=n, sizes=SIZES, leaves=LEAVES, seed=seed)
    points = np.indices(SIZES).reshape(len(SIZES), -1).T
    log_truth = truth.log_density(points.astype(truth.codes.dtype))
    everywhere = pl.DataFrame(points, schema=list(truth.domain.names), orient="row")
    found = {}
    for name, model in methods(setting).items():
        fitted = timed_fit(model.set_params(domain=truth.domain), truth.frame).model
        found[name] = {**distances(log_truth, fitted.score_samples(everywhere)), "leaves": fitted.n_leaves_}
        if name == LEAF:
            found[name]["recovered"] = _regions(fitted.structure_) == _regions(truth.tree)
    return found


def _regions(tree: Any) -> frozenset[Any]:
    return frozenset(region.allowed for region in tree.regions)


def _sentences(found: Mapping[tuple[str, int], list[dict[str, Any]]], rows: Sequence[int]) -> list[str]:
    last, trees = rows[-1], len(found[LEAF, rows[-1]])
    kept = sum(draw["recovered"] for draw in found[LEAF, last])
    ours = _mean(found[LEAF, last], "variation")
    said = [
        (
            f"At {last:,} rows our tree is exactly the true one for {kept} of {trees} trees, leaf by leaf; its mean "
            f"distance to the truth is {ours:.2g} in total variation."
        )
    ]
    for other in (HISTOGRAM, DET):
        ratio = _mean(found[other, last], "variation") / ours
        closer = sum(
            a["variation"] < b["variation"] for n in rows for a, b in zip(found[LEAF, n], found[other, n], strict=True)
        )
        said.append(
            f"{other}: {ratio:.2g} times that distance at {last:,} rows. Our tree is closer to the truth in {closer} "
            f"of {trees * len(rows)} pairs of a tree and a number of rows."
        )
    if len(rows) > 2:
        said.append(
            f"From {rows[2]:,} rows on the distance of our tree falls as rows to the power "
            f"{_slope(found, LEAF, rows[2:]):.2f}, that of the histogram as rows to the power "
            f"{_slope(found, HISTOGRAM, rows[2:]):.2f}; the best possible is −0.5, "
            "the error of counting."
        )
    return said


def _mean(draws: Sequence[Mapping[str, float]], what: str) -> float:
    return fmean([draw[what] for draw in draws])


def _slope(found: Mapping[tuple[str, int], list[dict[str, Any]]], method: str, rows: Sequence[int]) -> float:
    """The exponent of the power law that fits the mean distances best."""
    means = [_mean(found[method, n], "variation") for n in rows]
    return float(np.polyfit(np.log(rows), np.log(means), 1)[0])


def _table(found: Mapping[tuple[str, int], list[dict[str, Any]]], rows: Sequence[int]) -> StudyTable:
    lines = []
    for n in rows:
        recovered = fmean([float(draw["recovered"]) for draw in found[LEAF, n]])
        numbers = [_mean(found[name, n], what) for what in DISTANCES for name in (LEAF, DET, HISTOGRAM)]
        lines.append((n, *numbers, _mean(found[LEAF, n], "leaves"), _mean(found[DET, n], "leaves"), recovered))
    columns = (
        StudyColumn("rows", "whole"),
        *(
            StudyColumn(f"{title}, {name}", "number", 2, short=True)
            for title in DISTANCES.values()
            for name in ("ours", "DET", "histogram")
        ),
        StudyColumn("leaves, ours", "number", 1),
        StudyColumn("leaves, DET", "number", 1),
        StudyColumn("our tree is the true one", "share", 0),
    )
    notes: tuple[str, ...] = (
        (
            f"Means over the trees. The true trees have up to {LEAVES} leaves; neighbours of nearly the same density "
            "cannot be told apart from few rows, and a tree that joins them is not counted as the true one. The paper "
            "proves consistency and prints no numbers."
        ),
    )
    notes += (
        (
            "No method is tuned. Our tree has at most 100 leaves, more than any of the truths, which are trees: this "
            "favours "
            "trees over the histogram. DET has no limit and splits leaves of any size."
        ),
    )
    return StudyTable("distances", "Mean distance to the truth", columns, tuple(lines), notes)


def _chart(found: Mapping[tuple[str, int], list[dict[str, Any]]], rows: Sequence[int]) -> Chart:
    panels = []
    for what, title in DISTANCES.items():
        series = []
        for name in (LEAF, DET, HISTOGRAM):
            spread = [[away[what] for away in found[name, n]] for n in rows]
            middle = tuple(float(np.median(distances_at)) for distances_at in spread)
            low, high = (tuple(float(np.quantile(distances_at, q)) for distances_at in spread) for q in (0.1, 0.9))
            series.append(Series(name, tuple(map(float, rows)), middle, True, low, high))
        panels.append(Panel(title, "rows", "distance to the truth", tuple(series), True, True))
    words = "Medians over the true trees, with bands from the tenth to the ninetieth percentile."
    return Chart("consistency-distance", "Distance to the true density", tuple(panels), words)
