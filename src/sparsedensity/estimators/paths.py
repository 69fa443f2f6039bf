"""The sparsity path of a fitted model: the best structure of every size, fitted and cross-validated."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sparsedensity.density import Density
from sparsedensity.engines import MemoryEngine
from sparsedensity.errors import DataError
from sparsedensity.estimators.base import DensityEstimator
from sparsedensity.estimators.folds import folds_of
from sparsedensity.ingest import check_weights, encode, open_source
from sparsedensity.posterior import LeafSparse
from sparsedensity.problem import Problem
from sparsedensity.report.path import PathPoint, SparsityPath
from sparsedensity.search.base import Found, keep
from sparsedensity.structures import Structure, Tree, canonical
from sparsedensity.table import Codes, Floats, Table

SMALL_TABLE = 1 << 24
"""Bytes of codes up to which a fitted model holds on to its rows."""


class PathEstimator(DensityEstimator):
    """An estimator whose search keeps the best structure of every size."""

    unit = "leaves"
    max_leaves: int | None
    _rows: Table | None = None

    def sparsity_path(self, X: Any, cv: int | None = 5, sample_weight: Any = None) -> SparsityPath:
        """The trade-off to choose from: for every number of leaves the best structure found on a table.

        Give the table the model was fitted on. Each size comes with its log posterior, its log-likelihood per row
        and, with ``cv`` folds, its held-out log-likelihood per row with a standard error; ``cv=None`` leaves that
        out. The domain is fixed once, so that every fold measures volumes alike. :meth:`cut` takes a point of it.
        """
        check_is_fitted(self)
        codes, weights = self._codes(X, sample_weight)
        table = Table.of(self.domain_, codes, weights)
        problem = Problem(MemoryEngine(table, self._jobs()), self.posterior_, self.max_leaves)
        path = keep(problem, self._archive(problem))
        held_out = {} if cv is None else self._cross_validate(codes, weights, cv, list(path))
        self._rows = table
        points = [
            PathPoint(
                size,
                kept.log_posterior,
                _per_row(self._density(kept.structure, kept.weights), table),
                *held_out.get(size, (None, None)),
            )
            for size, kept in path.items()
        ]
        return SparsityPath(tuple(points), self.unit)

    def cut(self, size: int) -> Self:
        """The fitted model at one point of its path: the best found with so many leaves."""
        check_is_fitted(self)
        problem = Problem(self._held_rows(), self.posterior_, self.max_leaves)
        archive = self._archive(problem)
        SparsityPath(tuple(PathPoint(k, 0.0, 0.0) for k in archive), self.unit).at(size)
        structure, log_posterior, weights = keep(problem, {size: self._shown(archive[size])})[size]
        smaller = copy(self)
        found = replace(self.found_, structure=structure, log_posterior=log_posterior, limit_binds=False, proven=False)
        smaller._settle(self.domain_, self.posterior_, found, weights)
        return smaller

    def _archive(self, problem: Problem[Any]) -> Mapping[int, Structure]:
        """The best structure of every size."""
        return self.found_.archive

    def _learn_fold(self, engine: MemoryEngine) -> Found:
        """Choose the structures of one fold."""
        return self._learn(engine, [])

    def _remember_rows(self, table: Table) -> None:
        """Hold on to small tables, so that the path can be cut."""
        self._rows = table if table.codes.nbytes <= SMALL_TABLE else None

    def _held_rows(self) -> MemoryEngine:
        """The rows the model was fitted on, where it holds them."""
        if self._rows is None:
            raise DataError(
                "This model does not hold the rows it was fitted on: call sparsity_path on its table first."
            )
        return MemoryEngine(self._rows, self._jobs())

    def _shown(self, structure: Structure) -> Structure:
        """A structure of the archive as it is shown."""
        if isinstance(structure, Tree) and isinstance(self.posterior_, LeafSparse):
            return canonical(structure)
        return structure

    def _codes(self, X: Any, sample_weight: Any) -> tuple[Codes, Floats]:
        """Encoded rows of positive weight, with their weights."""
        source = open_source(X)
        self._check_columns(source)
        given = check_weights(sample_weight, source.n_rows)
        weights = np.ones(source.n_rows) if given is None else given
        used = weights > 0
        encoded = encode(source, self.domain_, nearest=self.unknown == "nearest", strict=True, keep=used)
        return encoded.codes[used], weights[used]

    def _cross_validate(
        self, codes: Codes, weights: Floats, cv: int, sizes: list[int]
    ) -> dict[int, tuple[float, float]]:
        """For every size the mean and the standard error over the folds of the held-out log-likelihood per row."""
        folds = [
            self._held_out(
                Table.of(self.domain_, codes[train > 0], train[train > 0]),
                Table.of(self.domain_, codes[test > 0], test[test > 0]),
            )
            for train, test in folds_of(weights, cv)
        ]
        by_size = {k: np.array([_at_most(fold, k) for fold in folds]) for k in sizes}
        return {k: (float(v.mean()), float(v.std(ddof=1) / np.sqrt(len(v)))) for k, v in by_size.items()}

    def _held_out(self, train: Table, test: Table) -> dict[int, float]:
        """Fit on some rows; the log-likelihood per row of the others for every size."""
        engine = MemoryEngine(train, self._jobs())
        path = keep(Problem(engine, self.posterior_, self.max_leaves), self._learn_fold(engine).archive)
        return {size: _per_row(self._density(kept.structure, kept.weights), test) for size, kept in path.items()}


def _at_most(fold: Mapping[int, float], size: int) -> float:
    """The fold's number for the largest size it has that is no larger, or for its smallest."""
    return fold[max((k for k in fold if k <= size), default=min(fold))]


def _per_row(density: Density, table: Table) -> float:
    logs = density.log_densities[density.leaf_numbers(table.codes)]
    return float(table.weights @ logs / table.n)
