"""Our leaf-sparse tree beside DET, set by set: at DET's size, and at DET's likelihood."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import fmean
from typing import Any

from reproduction.fitting import warm_up
from reproduction.methods import DET, MOST_LEAVES, paper_methods
from reproduction.paper import DATA_SETS, QUOTED
from reproduction.sets import paper_table
from reproduction.study import CellValue, Chart, Panel, Series, Setting, Study, StudyColumn, StudyTable
from sparsedensity import Domain, LeafSparseTree, datasets
from sparsedensity.errors import DataError
from sparsedensity.evaluation import CrossValidation, Method, SideBySide, against_det, mean_gain

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
TIE = 1e-9
"""Log-likelihoods per row that differ by no more are equal: the same tree, summed in another order."""

BySet = Mapping[str, Sequence[SideBySide]]


def study(setting: Setting) -> Study:
    """Compare on every set that is available."""
    found: dict[str, list[SideBySide]] = {}
    stand_ins: list[str] = []
    absent: list[str] = []
    for name in QUICK_SETS if setting.quick else SETS:
        try:
            part = setting.part(title_of(name), lambda name=name: _compare(name, setting))  # type: ignore[misc]
        except DataError as error:
            absent.append(str(error))
            continue
        found[name] = [SideBySide(**row) for row in part["folds"]]
        if part["stands_in"]:
            stand_ins.append(f"{title_of(name)} is not the paper's table: {part['stands_in']}.")
    folds = QUICK_FOLDS if setting.quick else FOLDS
    return Study(
        "det",
        "Against DET, at its size and at its likelihood",
        f"DET, made valid for categories, chooses its leaf sizes from the paper's grid by {INNER} inner folds; its "
        f"tree has at most {MOST_LEAVES} leaves. Our tree has 8 expected leaves, pseudocount 2, and no more leaves "
        "than DET's. Then: the fewest leaves with which our tree reaches DET's likelihood. All on held-out rows, "
        f"{folds} folds.",
        tuple(_sentences(found)),
        (_table(found, [*stand_ins, *absent]), _every_fold(found)),
        (_chart(found),),
    )


def title_of(name: str) -> str:
    """What the set is called."""
    return "Simulated" if name == "simulated" else DATA_SETS[name].title


def _compare(name: str, setting: Setting) -> dict[str, Any]:
    folds, seconds = (QUICK_FOLDS, QUICK_SECONDS) if setting.quick else (FOLDS, SECONDS)
    warm_up()
    ours = Method(LeafSparseTree(8, pseudocount=2, time_limit=seconds, random_state=0))
    frame, stands_in = _load(name, setting.data)
    cv = CrossValidation(folds, inner=INNER, jobs=setting.jobs)
    domain = Domain.infer(frame, kinds="nominal")
    rows = against_det(frame, cv, domain=domain, det=paper_methods()[DET], ours=ours)
    return {"folds": [asdict(row) for row in rows], "stands_in": stands_in}


def _load(name: str, folder: Path | None) -> tuple[Any, str]:
    """The table, and what it is if it is not the paper's."""
    return (datasets.load(name), "") if name == "simulated" else paper_table(name, folder)


def _verdict(rows: Sequence[SideBySide]) -> str:
    gain, error = mean_gain(rows)
    error = max(error, TIE)
    if gain > error:
        return "above"
    return "within the error" if gain >= -error else "below"


def _sentences(found: BySet) -> list[str]:
    verdicts = {name: _verdict(rows) for name, rows in found.items()}
    skewed = [name for name in found if name not in UNIFORM]
    below = [title_of(name) for name, verdict in verdicts.items() if verdict == "below"]
    above = sum(verdicts[name] == "above" for name in skewed)
    rows = [row for folds in found.values() for row in folds]
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
        said.append(f"On average it needs {100 * share:.0f} % of DET's leaves if it reaches its likelihood.")
    return said


def _table(found: BySet, words: Sequence[str]) -> StudyTable:
    columns = (
        StudyColumn("data set"),
        StudyColumn("DET, leaves", "number", 1),
        StudyColumn("ours, leaves", "number", 1),
        StudyColumn("DET, per row", "number", 4),
        StudyColumn("ours, per row", "number", 4),
        StudyColumn("difference", "number", 4),
        StudyColumn("standard error", "number", 4),
        StudyColumn("ours is"),
        StudyColumn("leaves to reach DET", "number", 1),
        StudyColumn("in folds"),
    )
    notes = (
        (
            "Held-out log-likelihood per row; means over the folds, and the standard error of the difference. Leaves "
            "to reach DET are means over the folds in which our tree, with no more leaves than DET's, gets there. "
            "Balance, Car and Nursery are full factorials: uniform, so that every split is noise."
        ),
        _at_the_limit(found),
        _printed(),
        *words,
    )
    return StudyTable("sets", "DET and our tree", columns, tuple(_row(*item) for item in found.items()), notes)


def _at_the_limit(found: BySet) -> str:
    """How often DET would have grown further."""
    rows = [row for folds in found.values() for row in folds]
    bound = sum(row.det_leaves >= MOST_LEAVES for row in rows)
    return (
        f"DET's tree may have {MOST_LEAVES} leaves, a limit that the paper does not have for DET: in {bound} of "
        f"{len(rows)} folds it has as many."
    )


def _printed() -> str:
    leaves, density, lowest, highest = (
        QUOTED[name].value
        for name in (
            "simulated, leaves of DET",
            "det, largest density on titanic",
            "det, lowest log-likelihood on crime",
            "det, highest log-likelihood on crime",
        )
    )
    return (
        f"Of DET the paper prints {leaves:.0f} leaves on its simulated data, densities of single observations as large "
        f"as {density} on the Titanic, and log-likelihoods from {lowest:.0f} to {highest:.0f} on its crime data. The "
        "last two come of densities above 1, which no category can have, so nothing here compares with them."
    )


def _row(name: str, rows: Sequence[SideBySide]) -> tuple[CellValue, ...]:
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


def _every_fold(found: BySet) -> StudyTable:
    columns = (
        StudyColumn("data set"),
        StudyColumn("fold", "whole"),
        StudyColumn("test rows", "whole"),
        StudyColumn("DET, leaves", "whole"),
        StudyColumn("DET, log-likelihood", "number", 2),
        StudyColumn("ours, leaves", "whole"),
        StudyColumn("ours, log-likelihood", "number", 2),
        StudyColumn("leaves to reach DET", "whole"),
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
        for name, folds in found.items()
        for row in folds
    )
    return StudyTable("folds", "Every fold", columns, rows)


def _chart(found: BySet) -> Chart:
    series = []
    largest = max(row.det_leaves for folds in found.values() for row in folds)
    ends = (1.0, float(max(largest, 2)))
    x, y, names = [], [], []
    for name, folds in found.items():
        matched = [row for row in folds if row.leaves_to_match is not None]
        if matched:
            x.append(math.exp(fmean(math.log(row.det_leaves) for row in matched)))
            y.append(math.exp(fmean(math.log(row.leaves_to_match or 1) for row in matched)))
            names.append(title_of(name).partition(" (")[0])
    series.append(Series("our leaves for DET's likelihood", tuple(x), tuple(y), names=tuple(names)))
    series.append(Series("as many as DET", ends, ends, line=True, faint=True))
    panel = Panel("", "leaves of DET", "our leaves with the same likelihood", tuple(series), True, True)
    words = "One dot per set (geometric means over the folds in which our tree gets there). Below the line is fewer."
    return Chart("det-leaves", "Leaves for the same held-out likelihood", (panel,), words)
