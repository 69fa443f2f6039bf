"""How the time of a fit grows with rows, columns, values and leaves, and a million rows beside mlpack's DET.

Rows are drawn from a known tree of 100 leaves. Every fit has default settings, but for a limit of 100 on rules too,
and for the limit that grows. Seconds are those of the processor, of all threads together, from a frame to a model, its
kernels loaded before; beside them is the number of leaves or rules found. A line ends at the first fit that takes more
than ``BENCH_SECONDS`` by the clock. Its slope is that of its upper half, by least squares in logs: 1 if the time grows
as the size does.

``BENCH_PARTS=rows,columns,values,leaves,million`` names the parts to run, all of them by default, and ``BENCH_PLOT`` a
file for the plot.
"""

import importlib.util
import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np

from benchmarks.printing import header
from reproduction import charts
from reproduction.datasets.random_trees import random_tree
from reproduction.study import Chart, Panel, Series
from sparsedensity import LeafSparseTree, SparseRuleList
from sparsedensity.datasets import Truth
from sparsedensity.errors import SearchWarning
from sparsedensity.search.base import size_of
from sparsedensity.table import Codes
from sparsedensity.writing import write_text

MOST_SECONDS = float(os.environ.get("BENCH_SECONDS", "300"))
TRUE_LEAVES = 100
GROWING = {
    "rows": (1_000, 10_000, 100_000, 1_000_000, 10_000_000),
    "columns": (5, 20, 100, 300, 1_000),
    "values": (2, 10, 50, 200, 1_000),
    "leaves": (5, 20, 100, 300, 1_000),
}
"""What grows, each alone."""
WORDS = {"rows": "rows", "columns": "columns", "values": "values per column", "leaves": "leaves or rules, at most"}
SETTINGS: Mapping[str, Any] = {"kinds": "nominal", "time_limit": MOST_SECONDS}
MODELS: Mapping[str, Callable[[int], Any]] = {
    "uniform tree": lambda leaves: LeafSparseTree(max_leaves=leaves, **SETTINGS),
    "profile tree": lambda leaves: LeafSparseTree(max_leaves=leaves, leaf="profile", **SETTINGS),
    "rule list": lambda leaves: SparseRuleList(max_rules=leaves, **SETTINGS),
}


class Size(NamedTuple):
    """The size of a table, and of its model at most."""

    rows: int = 10_000
    columns: int = 20
    values: int = 4
    leaves: int = 100


class Spent(NamedTuple):
    """The processor seconds of a fit, and how many leaves or rules it found."""

    seconds: float
    found: int


Line = dict[int, Spent]
"""The fits of one model, by the size of what grows."""


def main() -> None:
    warnings.simplefilter("ignore", SearchWarning)
    chosen = os.environ.get("BENCH_PARTS", ",".join([*GROWING, "million"])).split(",")
    for model in MODELS:
        fit(model, Size(rows=500))  # loads or compiles
    grown = {part: grow(part) for part in GROWING if part in chosen}
    if "million" in chosen:
        million(Size(1_000_000))
    if grown and (plot := os.environ.get("BENCH_PLOT")):
        write_text(charts.by_itself(drawn(grown)), plot)


def grow(part: str) -> dict[str, Line]:
    """Fit larger and larger tables, and print a line per size."""
    print(f"\n### {part}\n{header(part, *(title for model in MODELS for title in (f'{model}, s', 'found')))}")
    lines: dict[str, Line] = {model: {} for model in MODELS}
    going = list(MODELS)
    for number in GROWING[part]:
        for model in tuple(going):
            if spent := fit(model, Size()._replace(**{part: number})):
                lines[model][number] = spent
            else:
                going.remove(model)
        print(f"| {number:,} | {' | '.join(in_words(line.get(number)) for line in lines.values())} |", flush=True)
    print(f"| slope | {' | '.join(f'{slope(line):.2f} |' for line in lines.values())} |", flush=True)
    return lines


@cache
def fit(model: str, size: Size) -> Spent | None:
    """What a fit takes; nothing if it was stopped. Parts that meet at a size share its fits."""
    frame = draw(size.rows, size.columns, size.values).frame
    begin = time.process_time()
    fitted = MODELS[model](size.leaves).fit(frame)
    seconds = time.process_time() - begin
    return None if fitted.search_.reason == "time limit" else Spent(seconds, size_of(fitted.structure_))


@lru_cache(1)
def draw(rows: int, columns: int, values: int) -> Truth:
    """A table drawn from a known tree, kept for the next model."""
    return random_tree(rows, [values] * columns, TRUE_LEAVES, seed=1)


def in_words(spent: Spent | None) -> str:
    return "– | –" if spent is None else f"{spent.seconds:.2f} | {spent.found:,}"


def slope(line: Line) -> float:
    """The power of the size by which the time grows, in the upper half of the sizes.

    >>> round(slope({1: Spent(5.0, 9), 10: Spent(5.0, 9), 100: Spent(50.0, 9)}), 6)
    1.0
    """
    upper = sorted(line)[min(len(line) // 2, max(len(line) - 2, 0)) :]
    if len(upper) < 2:
        return float("nan")
    return float(np.polyfit(np.log(upper), np.log([line[size].seconds for size in upper]), 1)[0])


def million(size: Size) -> None:
    """Fits of so many rows beside mlpack's DET, unpruned, to which codes are numbers."""
    theirs = seconds_of_det(draw(size.rows, size.columns, size.values).codes)
    print(f"\n### million\n{header(f'{size.rows:,} rows, {size.columns} columns', 'processor s', 'of DET', 'found')}")
    if theirs is not None:
        print(f"| mlpack's DET, unpruned | {theirs:.1f} | 1.00 | |")
    for model in MODELS:
        if spent := fit(model, size):
            ratio = "" if theirs is None else f"{spent.seconds / theirs:.2f}"
            print(f"| {model} | {spent.seconds:.1f} | {ratio} | {spent.found} |", flush=True)


def seconds_of_det(codes: Codes) -> float | None:
    """The processor seconds of mlpack's DET without pruning."""
    if importlib.util.find_spec("mlpack") is None:
        print("\nmlpack is skipped: it is not installed (pip install mlpack).")
        return None
    from mlpack import det

    numbers = codes.astype(np.float64)
    begin = time.process_time()
    det(training=numbers, skip_pruning=True)
    return time.process_time() - begin


def drawn(grown: Mapping[str, Mapping[str, Line]]) -> Chart:
    """Seconds against sizes, on logarithmic axes, beside a line that grows as the size does."""
    panels = []
    for part, lines in grown.items():
        series = [curve(model, line) for model, line in lines.items() if line]
        slopes = "slopes: " + ", ".join(f"{model} {slope(line):.2f}" for model, line in lines.items())
        panels.append(Panel(slopes, WORDS[part], "processor seconds", (*series, linear(series)), True, True))
    rows = 2 if len(panels) == len(GROWING) else 1
    return Chart("growth", "Processor seconds of a fit as its table grows", tuple(panels), rows=rows, one_scale=True)


def curve(model: str, line: Line) -> Series:
    return Series(model, tuple(map(float, line)), tuple(spent.seconds for spent in line.values()), line=True)


def linear(curves: Sequence[Series]) -> Series:
    """A guide for the eye: from the lowest point up to the last point of the slowest curve."""
    low = min(second for one in curves for second in one.y)
    x, high = max(((one.x[-1], one.y[-1]) for one in curves), key=lambda end: end[1])
    start = max(min(one.x[0] for one in curves), x * low / high)
    return Series("linear", (start, x), (high * start / x, high), line=True, faint=True)
