"""Simpler ways to estimate a density, held out beside a model: what it has to beat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sparsedensity.density import Density
from sparsedensity.density.forest import independent
from sparsedensity.models.folds import standard_error
from sparsedensity.posterior import FullHistogram
from sparsedensity.report.standing import HISTOGRAM, INDEPENDENT, ONE_LEAF, Score
from sparsedensity.structures import Cells
from sparsedensity.table import Table


def baselines(train: Table, test: Table) -> dict[str, float]:
    """The held-out scores of the full histogram, of columns independent of each other, and of one leaf."""
    cells, weights = Cells(train.domain, train.codes), np.append(train.weights, 0.0)
    histogram = Density(cells, weights, FullHistogram().log_probabilities(cells, weights))
    return {
        HISTOGRAM: per_row(histogram, test),
        INDEPENDENT: independent_columns(train, test),
        ONE_LEAF: -train.domain.log_volume,
    }


def independent_columns(train: Table, test: Table) -> float:
    """The held-out score of columns that are independent of each other."""
    return float(test.weights @ independent(train).log_densities(test.codes) / test.n)


def summarised(folds: Sequence[Mapping[str, float]]) -> tuple[Score, ...]:
    """The mean and the standard error of every score over the folds."""
    each = {name: [fold[name] for fold in folds] for name in (folds[0] if folds else ())}
    return tuple(Score(name, float(np.mean(values)), standard_error(values)) for name, values in each.items())


def per_row(density: Density, table: Table) -> float:
    """The log-likelihood per row of a table."""
    logs = density.log_densities_at(table.codes, density.leaf_numbers(table.codes))
    return float(table.weights @ logs / table.n)
