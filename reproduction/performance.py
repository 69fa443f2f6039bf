"""Likelihood against sparsity: the paper's comparison of all methods, fold by fold."""

from __future__ import annotations

from dataclasses import asdict, replace
from importlib.util import find_spec
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from reproduction.methods import LEAF_SIZES, MLPACK, paper_methods
from reproduction.study import Chart, Panel, Series, Setting, StudyColumn, StudyTable
from sparsedensity import Domain
from sparsedensity.evaluation import (
    CrossValidation,
    Evaluation,
    FoldScore,
    Method,
    MlpackTree,
    evaluate,
    reference_methods,
    standard_error,
)

if TYPE_CHECKING:
    import polars as pl

FOLDS, QUICK_FOLDS = 5, 2
QUICK_SECONDS = 0.2
MLPACK_LEAVES = {**LEAF_SIZES, "min_leaf": (1,)}
"""What mlpack's DET chooses from: 6 of the paper's 18 pairs, because it prunes every tree by folds of its own."""
WIDE = 50
"""From so many leaves on the axis is logarithmic."""


class Performance(NamedTuple):
    """What an evaluation found, as a study shows it."""

    evaluation: Evaluation
    tables: tuple[StudyTable, StudyTable]
    chart: Chart

    def per_row(self, method: str) -> list[float]:
        """The held-out log-likelihood per row of one method, fold by fold; empty if it was not compared."""
        return [fold.per_row for fold in self.evaluation.of(method)]

    def above(self, method: str, other: str, called: str) -> str:
        """By how much one method is above another, in words: "0.01 above DET (standard error 0.002)"."""
        gains = [a - b for a, b in zip(self.per_row(method), self.per_row(other), strict=True)]
        side = "above" if fmean(gains) > 0 else "below"
        return f"{abs(fmean(gains)):.4f} {side} {called} (standard error {standard_error(gains):.4f})"


def performance(setting: Setting, name: str, frame: pl.DataFrame, search: str = "auto") -> Performance:
    """Cross-validate the paper's methods with its grids, nested."""
    folds = QUICK_FOLDS if setting.quick else FOLDS
    keep = setting.parts.beside(f"{name}-folds")
    methods = _methods(search, setting.quick)
    what = f"cross-validating {name}"

    def tell(done: int, of: int) -> None:
        setting.say(f"{what}, {done} of {of} folds")

    def compute() -> dict[str, Any]:
        cv, domain = CrossValidation(folds, inner=folds, jobs=setting.jobs), Domain.infer(frame, kinds="nominal")
        found = evaluate(frame, methods, cv, domain=domain, keep=keep, progress=tell)
        return {"folds": [asdict(fold) for fold in found.folds]}

    found = Evaluation(tuple(FoldScore(**fold) for fold in setting.part(what, compute)["folds"]))
    return Performance(found, (_summary(found), _every_fold(found)), _chart(name, found))


def in_folds(setting: Setting) -> str:
    """How the methods are compared, in words."""
    if setting.quick:
        return f"in {QUICK_FOLDS} folds, their parameters fixed"
    return f"in {FOLDS} folds, their parameters chosen by nested cross-validation from the paper's grids"


def _methods(search: str, quick: bool) -> dict[str, Method]:
    """The paper's methods, mlpack's DET if it is installed, and last the references, which are the quickest."""
    methods = paper_methods(time_limit=QUICK_SECONDS if quick else None, search=search)
    if quick:
        return {name: replace(method, grid={}) for name, method in (methods | reference_methods()).items()}
    if find_spec("mlpack") is not None:
        methods[MLPACK] = Method(MlpackTree(pseudocount=2), MLPACK_LEAVES)
    return methods | reference_methods()


def _summary(found: Evaluation) -> StudyTable:
    rows = []
    for method in found.methods:
        folds = found.of(method)
        per_row = [fold.per_row for fold in folds]
        leaves = fmean(fold.leaves for fold in folds)
        rows.append(
            (
                method,
                leaves,
                fmean(per_row),
                standard_error(per_row),
                sum(fold.seconds + fold.choosing_seconds for fold in folds),
            )
        )
    rows.sort(key=lambda row: -row[2])
    columns = (
        StudyColumn("method"),
        StudyColumn("leaves", "number", 1),
        StudyColumn("held-out log-likelihood per row", "number", 4),
        StudyColumn("standard error", "number", 4),
        StudyColumn("seconds, all folds and parameters", "number", 1),
    )
    notes = [
        (
            "Means over the folds, best first. The paper shows these numbers as dots of a figure and prints none. "
            "Independent columns and Chow and Liu's tree are no pictures of a table: they are there as a measure; "
            "their leaves are numbers that they hold."
        ),
    ]
    if MLPACK in found.methods:
        notes.append(
            "mlpack's DET chooses from 6 of the paper's 18 pairs of leaf sizes, to save time: all sizes up to which a "
            "leaf is not split, each with leaves of one row and more."
        )
    return StudyTable("methods", "Held-out likelihood and sparsity", columns, tuple(rows), tuple(notes))


def _every_fold(found: Evaluation) -> StudyTable:
    rows = tuple(
        (
            fold.method,
            fold.fold,
            ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in fold.parameters.items()),
            fold.leaves,
            fold.log_likelihood,
            fold.rows,
        )
        for fold in found.folds
    )
    columns = (
        StudyColumn("method"),
        StudyColumn("fold", "whole"),
        StudyColumn("parameters chosen by the inner folds"),
        StudyColumn("leaves", "whole"),
        StudyColumn("log-likelihood of the test rows", "number", 2),
        StudyColumn("test rows", "whole"),
    )
    return StudyTable("folds", "Every fold", columns, rows)


def _chart(name: str, found: Evaluation) -> Chart:
    wide = max(fold.leaves for fold in found.folds) > WIDE
    series = []
    for place, method in enumerate(found.methods):
        folds = found.of(method)
        aside = 0.06 * (place - (len(found.methods) - 1) / 2)
        x = tuple(fold.leaves * (1 + aside / 5) if wide else fold.leaves + aside for fold in folds)
        series.append(Series(method, x, tuple(fold.log_likelihood for fold in folds)))
    panel = Panel("", "leaves", "log-likelihood of the test rows", tuple(series), log_x=wide)
    words = "One dot per fold, moved a little sideways so that methods can be told apart. Up and left is better."
    return Chart(f"{name}-scatter", "Likelihood against sparsity", (panel,), words)
