"""The paper's table of run times, with its seconds beside ours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import geometric_mean

from reproduction.grids import (
    METHODS,
    MOST_RULES,
    NEARLY,
    QUICK_SECONDS,
    SECONDS,
    Absent,
    Grid,
    grids,
)
from reproduction.methods import MOST_LEAVES
from reproduction.paper import DATA_SETS, RUN_TIMES, SINGLE_MACHINE
from reproduction.study import (
    CellValue,
    Chart,
    Panel,
    Series,
    Setting,
    Study,
    StudyColumn,
    StudyTable,
)

MOST = f"{100 * NEARLY:g} %"
LEAST = 0.01
"""Seconds below this are counted as this."""


def study(setting: Setting) -> Study:
    """Time every method on every set."""
    found = list(grids(setting))
    measured = [grid for grid in found if isinstance(grid, Grid)]
    absent = [one for one in found if isinstance(one, Absent)]
    limit = QUICK_SECONDS if setting.quick else SECONDS
    return Study(
        "runtime",
        "Run time on the paper's 17 data sets",
        "As in the paper: every method is fitted to the training rows with every parameter of its grid (3 for "
        "leaf-sparse trees, 2 for branch-sparse trees, 6 for rule lists). The seconds of the best parameters, by the "
        "likelihood of the validation rows, and of all of them together. Ours are wall-clock seconds with "
        f"{setting.jobs} thread{'s' if setting.jobs > 1 else ''}, after compiling, from a table in memory to a fitted "
        "model.",
        tuple(_sentences(measured)),
        (_seconds(measured, absent, limit), _details(measured)),
        (_chart(measured),),
    )


def _ratios(measured: Sequence[Grid], method: str) -> list[float]:
    """How many times the paper's seconds of the whole parameter search are ours."""
    searches = [grid for grid in measured if grid.method == method]
    return [getattr(RUN_TIMES[grid.name], f"{method}_all") / grid.seconds for grid in searches]


def _sentences(measured: Sequence[Grid]) -> list[str]:
    sets = list(dict.fromkeys(grid.name for grid in measured))
    total = sum(grid.seconds for grid in measured)
    theirs = sum(getattr(RUN_TIMES[grid.name], f"{grid.method}_all") for grid in measured)
    proven = sum(one.proven for grid in measured for one in grid.tried)
    fits = sum(len(grid.tried) for grid in measured)
    said = [
        (
            f"The whole parameter search on {len(sets)} sets takes us {_time(total)}; the paper's seconds for the "
            f"same sets add up to {_time(theirs)}, on another machine."
        ),
        f"{proven} of {fits} fits end with a proof that no better model exists; the paper's search proves nothing.",
    ]
    for method, title in METHODS.items():
        ratios = _ratios(measured, method)
        slower = sum(ratio < 1 for ratio in ratios)
        said.append(
            f"{title}: the paper's seconds are {_times(geometric_mean(ratios))} times ours in the geometric mean over "
            f"the sets (from {_times(min(ratios))} to {_times(max(ratios))} times); "
            + (f"we are slower on {slower} of {len(ratios)}." if slower else "we are faster on every one.")
        )
    soon = [getattr(RUN_TIMES[grid.name], f"{grid.method}_best") / max(grid.best.nearly, LEAST) for grid in measured]
    said.append(
        f"A search goes on while that pays. {MOST} of what it gains over its first look is there earlier: the paper's "
        f"seconds for one fit are {_times(geometric_mean(soon))} times that in the geometric mean over sets and "
        f"methods (from {_times(min(soon))} to {_times(max(soon))} times)."
    )
    return said


def _seconds(measured: Sequence[Grid], absent: Sequence[Absent], limit: float) -> StudyTable:
    rows: list[tuple[CellValue, ...]] = []
    by_set = {(grid.name, grid.method): grid for grid in measured}
    for name in DATA_SETS:
        if not any((name, method) in by_set for method in METHODS):
            if any(one.name == name for one in absent):
                rows.append(_row(name, {}))
            continue
        rows.append(_row(name, {method: by_set[name, method] for method in METHODS}))
    columns = [
        StudyColumn("data set"),
        StudyColumn("training rows", "whole", paper=True),
        StudyColumn("pairs", "whole", paper=True),
    ]
    for what in ("best", "all"):
        for method in METHODS:
            columns += [
                StudyColumn(f"{method}, {what}", "number", 2, paper=True),
                StudyColumn(f"{method}, {what}", "number", 2),
            ]
    stand_ins = {grid.name: grid.stands_in for grid in measured if grid.stands_in}
    notes = [
        (
            "Best: one fit with the best parameters. All: the whole parameter search. Leaf is the leaf-sparse tree, "
            "branch the branch-sparse tree, list the rule list."
        ),
        (
            f"One fit each; the paper averages five. Our searches are stopped after {limit:g} s (reading, "
            f"scoring and what cannot be stopped come on top); trees have at most {MOST_LEAVES} leaves and "
            f"lists at most {MOST_RULES} rules, as the longest of the paper. A search that ends earlier has proven its "
            "model or has stopped improving; one that is stopped would have gone on to a better model. How good the "
            "paper's models were after its seconds is not printed, so what each buys with a second cannot be compared."
        ),
        _single_machine(),
        *(f"{DATA_SETS[name].title} is not the paper's table: {why}." for name, why in stand_ins.items()),
        *(one.why for one in absent),
    ]
    return StudyTable("seconds", "Seconds, the paper's and ours", tuple(columns), tuple(rows), tuple(notes))


def _single_machine() -> str:
    """What the paper reports for one machine: not always near its table."""
    told = [f"{row.printed} {row.leaf:g} / {row.branch:g} / {row.list:g}" for row in SINGLE_MACHINE.values()]
    return (
        "The paper's seconds are from a cluster. For one machine (i7-6700) its text gives, leaf / branch / list: "
        f"{'; '.join(told)}. Ours are from another machine, so ratios compare machines too."
    )


def _row(name: str, by_method: dict[str, Grid]) -> tuple[CellValue, ...]:
    printed = RUN_TIMES[name]
    cells: list[CellValue] = [printed.printed, printed.train_rows, printed.pairs]
    for what in ("best", "all"):
        for method in METHODS:
            grid = by_method.get(method)
            ours = None if grid is None else grid.best.seconds if what == "best" else grid.seconds
            cells += [getattr(printed, f"{method}_{what}"), ours]
    return tuple(cells)


def _details(measured: Sequence[Grid]) -> StudyTable:
    rows = tuple(
        (
            RUN_TIMES[grid.name].printed,
            METHODS[grid.method],
            grid.best.seconds,
            grid.best.nearly,
            grid.best.size,
            grid.best.log_posterior,
            grid.best.proven,
            grid.best.reason,
        )
        for grid in measured
    )
    columns = (
        StudyColumn("data set"),
        StudyColumn("method"),
        StudyColumn("seconds", "number", 2),
        StudyColumn(f"seconds to {MOST} of the gain", "number", 2),
        StudyColumn("leaves or rules", "whole"),
        StudyColumn("log posterior", "number", 1),
        StudyColumn("proven"),
        StudyColumn("ended by"),
    )
    notes = (
        (
            f"The fit of the best parameters. {MOST} of the gain: of what the search gained over its first "
            "look, which is the greedy tree if it begins with one."
        ),
    )
    return StudyTable("fits", "How the best fits ended", columns, rows, notes)


def _chart(measured: Sequence[Grid]) -> Chart:
    panels = []
    for method, title in METHODS.items():
        searches = [grid for grid in measured if grid.method == method]
        x = tuple(math.log10(RUN_TIMES[g.name].train_rows) * RUN_TIMES[g.name].pairs for g in searches)
        printed = tuple(getattr(RUN_TIMES[g.name], f"{method}_best") for g in searches)
        ours = tuple(g.best.seconds for g in searches)
        series = (Series("paper", x, printed, faint=True), Series("ours", x, ours))
        panels.append(Panel(title, "log10 of training rows × pairs", "seconds, best parameters", series, True, True))
    words = "Complexity is the logarithm of the number of training rows times the number of feature-value pairs."
    return Chart("runtime-complexity", "Run time against complexity", tuple(panels), words)


def _times(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.2g}"


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:,.1f} s"
    return f"{seconds / 60:,.1f} minutes" if seconds < 7200 else f"{seconds / 3600:,.1f} hours"
