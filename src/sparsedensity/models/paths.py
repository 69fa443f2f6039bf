"""The sparsity path of a fitted model: the best structure of every size, fitted and cross-validated."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from sparsedensity.engines import LeafWeights, MemoryEngine
from sparsedensity.errors import DataError
from sparsedensity.ingest.lazy import at_home
from sparsedensity.models.answers import Rows, adopt, density_of, read_rows
from sparsedensity.models.baselines import baselines, per_row, summarised
from sparsedensity.models.folds import folds_of, standard_error
from sparsedensity.models.parameters import jobs_of
from sparsedensity.models.progress import telling
from sparsedensity.problem import Problem
from sparsedensity.report.path import PathPoint, SparsityPath
from sparsedensity.report.standing import Score
from sparsedensity.search.base import Found, score_archive
from sparsedensity.search.interrupts import whole_or_interrupted
from sparsedensity.structures import Structure, Tree, canonical
from sparsedensity.table import Floats, Table

if TYPE_CHECKING:
    from sparsedensity.models.base import DensityModel

E = TypeVar("E", bound="DensityModel")
FOLDS_EFFORT = 1.25
"""What all folds of a cross-validation may take together, in searches of all rows: counted in work, not in seconds."""


@dataclass(frozen=True)
class LearnedFold:
    """What a model learned from the rows of one fold, and the rows it did not see."""

    model: DensityModel
    train: Table
    searched: MemoryEngine
    weighing: MemoryEngine
    """The rows that give leaves their weights: those that were searched, unless the model is honest."""
    test: Table
    found: Found

    def by_size(self) -> dict[int, float]:
        """For every size the log-likelihood per row that was held out."""
        return {size: self._held_out(structure) for size, structure in self.found.archive.items()}

    def score(self) -> float:
        """The log-likelihood per held-out row of the structure that the model would choose."""
        return self._held_out(self.model.choose(self.searched, self.found))

    def scores(self) -> dict[str, float]:
        """The log-likelihood per held-out row of the model, then of simpler ways to estimate the density."""
        return {self.model.title: self.score(), **baselines(self.train, self.test)}

    def _held_out(self, structure: Structure) -> float:
        counts = counted(self.model, self.weighing, structure)
        return per_row(density_of(self.model, structure, counts), self.test)


def sparsity_path(model: DensityModel, X: Any, cv: int | None, sample_weight: Any) -> SparsityPath:
    """The path of a model on the table it was fitted on."""
    rows = read_rows(model, *at_home(X, sample_weight, "The path is that of"), strict=model.missing != "drop")
    with telling(model.progress, "cross-validating") as say:
        by_size, scores = score_folds(model, rows, cv, say)
        return replace(path_on(model, rows, by_size), scores=scores)


def path_on(model: DensityModel, rows: Rows, folds: Sequence[Mapping[int, float]]) -> SparsityPath:
    """The path of a model on some rows, with what the folds held out by size; the model keeps the rows for a cut."""
    searched, weighing = divided(model, rows, rows.weights)
    path = score_archive(Problem(searched, model.posterior_), archive_of(model, searched))
    model.rows_, model.held_ = searched.table, None if weighing is searched else weighing.table
    points = []
    for size, scored in path.items():
        counts = scored.counts if weighing is searched else counted(model, weighing, scored.structure)
        fitted = per_row(density_of(model, scored.structure, counts), weighing.table)
        each = [_at_most(fold, size) for fold in folds]
        held_out = (float(np.mean(each)), standard_error(each)) if each else (None, None)
        points.append(PathPoint(size, scored.log_posterior, fitted, *held_out))
    return SparsityPath(tuple(points), model.unit or "leaves")


def cut(model: E, size: int) -> E:
    """The same model at one point of its path."""
    engine = searched_rows(model)
    archive = archive_of(model, engine)
    SparsityPath(tuple(PathPoint(k, 0.0, 0.0) for k in archive), model.unit or "leaves").at(size)
    structure = archive[size]
    if isinstance(structure, Tree) and getattr(model.posterior_, "only_leaves", False):
        structure = canonical(structure)
    scored = score_archive(Problem(engine, model.posterior_), {size: structure})[size]
    found = replace(
        model.found_, structure=structure, log_posterior=scored.log_posterior, limit_binds=None, proven=False
    )
    return refound(model, found)


def refound(model: E, found: Found) -> E:
    """The same model, had its search found something else."""
    other = copy(model)
    counts = counted(model, weighing_rows(model), found.structure)
    adopt(other, model.posterior_, found, counts)
    return other


def counted(model: DensityModel, engine: MemoryEngine, structure: Structure) -> LeafWeights:
    """What the leaves of a structure hold, as far as the posterior of a fitted model asks for it."""
    return LeafWeights.on(engine, structure, even=model.posterior_.even)


def score_folds(
    model: DensityModel, rows: Rows, cv: int | None, say: Callable[[str], None]
) -> tuple[list[dict[int, float]], tuple[Score, ...]]:
    """What every fold held out by size, and how the model and simpler ways score over all of them."""
    folds = [] if cv is None else [(fold.by_size(), fold.scores()) for fold in learn_folds(model, rows, cv, say)]
    return [by_size for by_size, _ in folds], summarised([scores for _, scores in folds])


def learn_folds(model: DensityModel, rows: Rows, cv: int, say: Callable[[str], None]) -> Iterator[LearnedFold]:
    """Search each fold once, by the settings of a model and on its domain, and say which it is."""
    for number, (train, test) in enumerate(folds_of(rows.weights, cv), 1):
        say(f"fold {number} of {cv}")
        searched, weighing = divided(model, rows, train)
        seen = searched.table if weighing is searched else rows.table(model.domain_, train)
        with whole_or_interrupted():
            found = model.learn_fold(searched, FOLDS_EFFORT / cv)
        yield LearnedFold(model, seen, searched, weighing, rows.table(model.domain_, test), found)


def divided(model: DensityModel, rows: Rows, weights: Floats) -> tuple[MemoryEngine, MemoryEngine]:
    """The rows to search, and those that give leaves their weights: the same ones, unless the model is honest."""
    parts = (weights,) if model.held_out_ is None else model.held_out_.divide(weights)
    engines = [MemoryEngine(rows.table(model.domain_, part), jobs_of(model.n_jobs)) for part in parts]
    return engines[0], engines[-1]


def archive_of(model: DensityModel, engine: MemoryEngine) -> Mapping[int, Structure]:
    """The best structure of every size; searched for once if the fit did not keep it."""
    if model.archive_ is None:
        with whole_or_interrupted():
            model.archive_ = model.every_size(engine, model.found_)
    return model.archive_


def searched_rows(model: DensityModel) -> MemoryEngine:
    """The rows that a model was searched on, if it holds them."""
    model.check_fitted()
    if model.rows_ is None:
        raise DataError("This model does not hold the rows it was fitted on: call sparsity_path on its table first.")
    return MemoryEngine(model.rows_, jobs_of(model.n_jobs))


def weighing_rows(model: DensityModel) -> MemoryEngine:
    """The rows that give leaves their weights, if a model holds them: those that were searched, unless it is honest."""
    searched = searched_rows(model)
    return searched if model.held_ is None else MemoryEngine(model.held_, searched.jobs)


def _at_most(fold: Mapping[int, float], size: int) -> float:
    """The fold's number for the largest size it has that is no larger, or for its smallest."""
    return fold[max((k for k in fold if k <= size), default=min(fold))]
