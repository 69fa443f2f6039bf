"""Our leaf-sparse tree beside DET, set by set: at DET's size, and at DET's likelihood."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import fmean
from typing import Any

from sparsedensity import LeafSparseTree, datasets
from sparsedensity.errors import DataError
from sparsedensity.experiments.against_det import SideBySide, against_det, mean_gain
from sparsedensity.experiments.evaluation import Method
from sparsedensity.experiments.fitting import warm_up
from sparsedensity.experiments.paper import DATA_SETS
from sparsedensity.experiments.sets import paper_table
from sparsedensity.experiments.study import Cell, Chart, Column, Panel, Series, Setting, Study, Table

UNIFORM = ("balance", "car", "nursery")
"""Full factorials: every tree of more than one leaf is noise."""
SETS = (
    "simulated", "titanic", "crime", "compas", *UNIFORM, "chess_krkp", "mushroom", "telco_churn", "heloc", "bank_full",
    "connect4", "coco_thing",
)  # fmt: skip
QUICK_SETS = ("simulated", "titanic")
FOLDS, INNER = 5, 2
QUICK_FOLDS = 2
SECONDS, QUICK_SECONDS = 10.0, 0.2
"""The time limit of one of our searches."""

Found = Mapping[str, Sequence[SideBySide]]


def study(setting: Setting) -> Study:
    """Compare on every set that is to be had."""
    found: dict[str, list[SideBySide]] = {}
    absent: list[str] = []
    for name in QUICK_SETS if setting.quick else SETS:
        try:
            part = setting.part(title_of(name), lambda name=name: _compare(name, setting))  # type: ignore[misc]
        except DataError as error:
            absent.append(str(error))
            continue
        found[name] = [SideBySide(**row) for row in part["folds"]]
    folds = QUICK_FOLDS if setting.quick else FOLDS
    return Study(
        "det",
        "Against DET, at its size and at its likelihood",
        f"DET, made valid for categories, chooses its leaf sizes from the paper's grid by {INNER} inner folds. Our "
        "tree has 8 expected leaves, pseudocount 2, and no more leaves than DET's. Then: the fewest leaves with which "
        f"our tree reaches DET's likelihood. All on held-out rows, {folds} folds.",
        tuple(_sentences(found)),
        (_table(found, absent), _every_fold(found)),
        (_chart(found),),
    )


def title_of(name: str) -> str:
    """What the set is called."""
    return "Simulated" if name == "simulated" else DATA_SETS[name].title


def _compare(name: str, setting: Setting) -> dict[str, Any]:
    folds, seconds = (QUICK_FOLDS, QUICK_SECONDS) if setting.quick else (FOLDS, SECONDS)
    warm_up()
    ours = Method(LeafSparseTree(8, pseudocount=2, time_limit=seconds, random_state=0))
    rows = against_det(_load(name, setting.data), ours=ours, folds=folds, inner=INNER, jobs=setting.jobs)
    return {"folds": [asdict(row) for row in rows]}


def _load(name: str, folder: Path | None) -> Any:
    return datasets.load(name) if name == "simulated" else paper_table(name, folder)[0]


def _verdict(rows: Sequence[SideBySide]) -> str:
    gain, error = mean_gain(rows)
    if gain > error:
        return "above"
    return "within the error" if gain >= -error else "below"


def _sentences(found: Found) -> list[str]:
    verdicts = {name: _verdict(rows) for name, rows in found.items()}
    skewed = [name for name in found if name not in UNIFORM]
    below = [title_of(name) for name, verdict in verdicts.items() if verdict == "below"]
    above = sum(verdicts[name] == "above" for name in skewed)
    rows = [row for own in found.values() for row in own]
    reached = [row for row in rows if row.leaves_to_match is not None]
    fewer = [row for row in reached if (row.leaves_to_match or 0) < row.det_leaves]
    said = [
        (
            "At DET's size our tree has at least its held-out log-likelihood, within the standard error of the folds, "
            f"on {len(found) - len(below)} of {len(found)} sets{': not on ' + ', '.join(below) if below else ''}."
        ),
        f"It is above DET by more than the standard error on {above} of the {len(skewed)} sets that are not uniform.",
        (
            f"Our tree reaches DET's likelihood in {len(reached)} of {len(rows)} folds, in {len(fewer)} of them with "
            "fewer leaves."
        ),
    ]
    if fewer:
        share = fmean((row.leaves_to_match or 0) / row.det_leaves for row in reached)
        said.append(f"On average it needs {100 * share:.0f} % of DET's leaves where it reaches its likelihood.")
    return said


def _table(found: Found, absent: Sequence[str]) -> Table:
    columns = (
        Column("data set"),
        Column("DET, leaves", "number", 1),
        Column("ours, leaves", "number", 1),
        Column("DET, per row", "number", 4),
        Column("ours, per row", "number", 4),
        Column("difference", "number", 4),
        Column("standard error", "number", 4),
        Column("ours is"),
        Column("leaves to reach DET", "number", 1),
        Column("in folds"),
    )
    notes = (
        (
            "Held-out log-likelihood per row; means over the folds, and the standard error of the difference. Leaves "
            "to reach DET are means over the folds in which our tree, with no more leaves than DET's, gets there. "
            "Balance, Car and Nursery are full factorials: uniform, so that every split is noise."
        ),
        "The paper prints no numbers for DET but 3 leaves on its simulated data.",
        *absent,
    )
    return Table("sets", "DET and our tree", columns, tuple(_row(*item) for item in found.items()), notes)


def _row(name: str, rows: Sequence[SideBySide]) -> tuple[Cell, ...]:
    gain, error = mean_gain(rows)
    matched = [row.leaves_to_match for row in rows if row.leaves_to_match is not None]
    return (
        title_of(name),
        fmean(row.det_leaves for row in rows),
        fmean(row.leaves for row in rows),
        fmean(row.det_log_likelihood / row.rows for row in rows),
        fmean(row.log_likelihood / row.rows for row in rows),
        gain,
        error,
        _verdict(rows),
        fmean(matched) if matched else None,
        f"{len(matched)} of {len(rows)}",
    )


def _every_fold(found: Found) -> Table:
    columns = (
        Column("data set"),
        Column("fold", "whole"),
        Column("test rows", "whole"),
        Column("DET, leaves", "whole"),
        Column("DET, log-likelihood", "number", 2),
        Column("ours, leaves", "whole"),
        Column("ours, log-likelihood", "number", 2),
        Column("leaves to reach DET", "whole"),
    )
    rows = tuple(
        (
            title_of(name),
            row.fold,
            row.rows,
            row.det_leaves,
            row.det_log_likelihood,
            row.leaves,
            row.log_likelihood,
            row.leaves_to_match,
        )
        for name, own in found.items()
        for row in own
    )
    return Table("folds", "Every fold", columns, rows)


def _chart(found: Found) -> Chart:
    series = []
    largest = max(row.det_leaves for own in found.values() for row in own)
    ends = (1.0, float(max(largest, 2)))
    x, y, names = [], [], []
    for name, own in found.items():
        matched = [row for row in own if row.leaves_to_match is not None]
        if matched:
            x.append(math.exp(fmean(math.log(row.det_leaves) for row in matched)))
            y.append(math.exp(fmean(math.log(row.leaves_to_match or 1) for row in matched)))
            names.append(title_of(name).partition(" (")[0])
    series.append(Series("our leaves for DET's likelihood", tuple(x), tuple(y), names=tuple(names)))
    series.append(Series("as many as DET", ends, ends, line=True, faint=True))
    panel = Panel("", "leaves of DET", "our leaves with the same likelihood", tuple(series), True, True)
    words = "One dot a set (geometric means over the folds in which our tree gets there). Below the line is fewer."
    return Chart("det-leaves", "Leaves for the same held-out likelihood", (panel,), words)
