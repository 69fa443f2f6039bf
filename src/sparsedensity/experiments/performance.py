"""Likelihood against sparsity: the paper's comparison of all methods, fold by fold."""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from sparsedensity.experiments.evaluation import Fold, evaluate, paper_methods
from sparsedensity.experiments.study import Chart, Column, Panel, Series, Setting, Table, standard_error

if TYPE_CHECKING:
    import polars as pl

FOLDS, QUICK_FOLDS = 5, 2
QUICK_SECONDS = 0.2


class Performance(NamedTuple):
    """What an evaluation found, as a study shows it."""

    folds: tuple[Fold, ...]
    tables: tuple[Table, Table]
    chart: Chart

    def held_out(self, method: str) -> float:
        """The held-out log-likelihood per row of one method."""
        own = [fold for fold in self.folds if fold.method == method]
        return sum(fold.log_likelihood for fold in own) / sum(fold.rows for fold in own)


def performance(setting: Setting, name: str, frame: pl.DataFrame) -> Performance:
    """Cross-validate the paper's methods with its grids, nested."""
    setting.say(f"cross-validating {name}")
    folds = QUICK_FOLDS if setting.quick else FOLDS
    keep = setting.kept.beside(f"{name}-folds")
    methods = paper_methods(references=True, time_limit=QUICK_SECONDS if setting.quick else None)
    if setting.quick:
        methods = {name: replace(method, grid={}) for name, method in methods.items()}
    found = evaluate(frame, methods, folds=folds, inner=folds, seed=0, jobs=setting.jobs, keep=keep)
    return Performance(found.folds, (_summary(found.folds), _every_fold(found.folds)), _chart(name, found.folds))


def _by_method(folds: tuple[Fold, ...]) -> dict[str, list[Fold]]:
    found: dict[str, list[Fold]] = {}
    for fold in folds:
        found.setdefault(fold.method, []).append(fold)
    return found


def _summary(folds: tuple[Fold, ...]) -> Table:
    rows = []
    for method, own in _by_method(folds).items():
        per_row = [fold.log_likelihood / fold.rows for fold in own]
        leaves = fmean(fold.leaves for fold in own)
        rows.append(
            (
                method,
                leaves,
                fmean(per_row),
                standard_error(per_row),
                sum(fold.seconds + fold.choosing_seconds for fold in own),
            )
        )
    rows.sort(key=lambda row: -row[2])
    columns = (
        Column("method"),
        Column("leaves", "number", 1),
        Column("held-out log-likelihood per row", "number", 4),
        Column("standard error", "number", 4),
        Column("seconds, all folds and parameters", "number", 1),
    )
    notes = ("Means over the folds, best first. The paper shows these numbers as dots of a figure and prints none.",)
    return Table("methods", "Held-out likelihood and sparsity", columns, tuple(rows), notes)


def _every_fold(folds: tuple[Fold, ...]) -> Table:
    rows = tuple(
        (
            fold.method,
            fold.fold,
            ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in fold.parameters.items()),
            fold.leaves,
            fold.log_likelihood,
            fold.rows,
        )
        for fold in folds
    )
    columns = (
        Column("method"),
        Column("fold", "whole"),
        Column("parameters chosen by the inner folds"),
        Column("leaves", "whole"),
        Column("log-likelihood of the test rows", "number", 2),
        Column("test rows", "whole"),
    )
    return Table("folds", "Every fold", columns, rows)


def _chart(name: str, folds: tuple[Fold, ...]) -> Chart:
    series = tuple(
        Series(method, tuple(float(fold.leaves) for fold in own), tuple(fold.log_likelihood for fold in own))
        for method, own in _by_method(folds).items()
    )
    panel = Panel("", "leaves", "log-likelihood of the test rows", series, log_x=True)
    words = "One dot a fold. Up and left is better: likelier with fewer leaves."
    return Chart(f"{name}-scatter", "Likelihood against sparsity", (panel,), words)
