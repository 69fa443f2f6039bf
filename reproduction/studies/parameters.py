"""The best prior of every method on every set, and the size of the model it leads to."""

from __future__ import annotations

from collections.abc import Sequence

from reproduction.grids import METHODS, MOST_RULES, Absent, Grid, grids
from reproduction.methods import MOST_LEAVES
from reproduction.paper import BEST, DATA_SETS
from reproduction.study import CellValue, Chart, Panel, Series, Setting, Study, StudyColumn, StudyTable

PRINTED = {
    "leaf": (("expected_leaves",), "leaves"),
    "branch": (("expected_branches",), "branch_leaves"),
    "list": (("expected_rules", "expected_conditions"), "rules"),
}
"""Where the paper's table has the priors and the size of each method."""


def study(setting: Setting) -> Study:
    """Choose by the likelihood of the validation rows, as the paper."""
    found = list(grids(setting))
    measured = [grid for grid in found if isinstance(grid, Grid)]
    absent = [one for one in found if isinstance(one, Absent)]
    return Study(
        "parameters",
        "Best priors and sizes",
        "For every set and method the prior with the highest likelihood of the validation rows, and the number of "
        "leaves (of rules, for lists) of that model. The fits are those of the run-time study.",
        tuple(_sentences(measured)),
        (_table(measured, absent), _spread(measured)),
        (_chart(measured),),
    )


def _sentences(measured: Sequence[Grid]) -> list[str]:
    said = []
    for method, title in METHODS.items():
        searches = [grid for grid in measured if grid.method == method]
        larger = sum(grid.best.size > getattr(BEST[grid.name], PRINTED[method][1]) for grid in searches)
        smaller = sum(grid.best.size < getattr(BEST[grid.name], PRINTED[method][1]) for grid in searches)
        limit = MOST_RULES if method == "list" else MOST_LEAVES
        bound = sum(grid.best.size >= limit for grid in searches)
        said.append(
            f"{title}: our best model is larger than the paper's on {larger} of {len(searches)} sets and smaller on "
            f"{smaller}; on {bound} it has as many {'rules' if method == 'list' else 'leaves'} as the limit of "
            f"{limit} allows."
        )
    flat = [grid for grid in measured if _range(grid) < 0.001]
    said.append(
        f"In {len(flat)} of {len(measured)} searches the parameters make a difference of less than 0.001 in "
        "log-likelihood per validation row: which prior is best says little there."
    )
    return said


def _range(grid: Grid) -> float:
    scores = [one.validation for one in grid.tried]
    return max(scores) - min(scores)


def _table(measured: Sequence[Grid], absent: Sequence[Absent]) -> StudyTable:
    by_set = {(grid.name, grid.method): grid for grid in measured}
    shown = [name for name in DATA_SETS if (name, "leaf") in by_set or any(one.name == name for one in absent)]
    rows = [(BEST[name].printed, *_cells(name, {m: by_set.get((name, m)) for m in METHODS})) for name in shown]
    columns = [StudyColumn("data set")]
    for method in METHODS:
        size = "rules" if method == "list" else "leaves"
        columns += [
            StudyColumn(f"{method}, prior", paper=True),
            StudyColumn(f"{method}, prior"),
            StudyColumn(f"{method}, {size}", "whole", paper=True),
            StudyColumn(f"{method}, {size}", "whole"),
        ]
    notes = (
        (
            "The prior of a list is expected rules / expected conditions. Why sizes differ from the paper's was not "
            "measured: its models and splits are not published, and its search and limits are others."
        ),
        *_nothing_to_find(measured),
        *(one.why for one in absent),
    )
    return StudyTable("best", "Best priors and sizes, the paper's and ours", tuple(columns), tuple(rows), notes)


def _nothing_to_find(measured: Sequence[Grid]) -> list[str]:
    flat = [BEST[grid.name].printed for grid in measured if grid.method == "leaf" and grid.best.size == 1]
    return [f"One leaf is the best tree of {', '.join(flat)}: the density is uniform."] if flat else []


def _cells(name: str, by_method: dict[str, Grid | None]) -> list[CellValue]:
    cells: list[CellValue] = []
    for method, grid in by_method.items():
        priors, size = PRINTED[method]
        printed = " / ".join(str(getattr(BEST[name], prior)) for prior in priors)
        ours = None if grid is None else " / ".join(str(grid.best.parameters[prior]) for prior in priors)
        cells += [printed, ours, getattr(BEST[name], size), None if grid is None else grid.best.size]
    return cells


def _spread(measured: Sequence[Grid]) -> StudyTable:
    rows = tuple(
        (
            BEST[grid.name].printed,
            METHODS[grid.method],
            " / ".join(map(str, one.parameters.values())),
            one.validation,
            one.size,
            one.log_posterior,
        )
        for grid in measured
        for one in grid.tried
    )
    columns = (
        StudyColumn("data set"),
        StudyColumn("method"),
        StudyColumn("prior"),
        StudyColumn("log-likelihood per validation row", "number", 4),
        StudyColumn("leaves or rules", "whole"),
        StudyColumn("log posterior", "number", 1),
    )
    return StudyTable("all", "Every parameter that was tried", columns, rows)


def _chart(measured: Sequence[Grid]) -> Chart:
    series = []
    for method, title in METHODS.items():
        searches = [grid for grid in measured if grid.method == method]
        x = tuple(float(getattr(BEST[grid.name], PRINTED[method][1])) for grid in searches)
        series.append(Series(title, x, tuple(float(grid.best.size) for grid in searches)))
    panel = Panel("", "leaves or rules, paper", "leaves or rules, ours", tuple(series))
    return Chart("parameters-sizes", "Sizes of the best models", (panel,), "One dot per data set.")
