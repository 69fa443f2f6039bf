"""How much each column matters: what the log-likelihood per row loses when the splits on the column are merged.

Merging averages the density over the column: every record gets the mean density, by measure, of the records that
differ from it in this column alone. The other columns keep what they say, and this one says nothing any more. Under
the model itself the loss is a Kullback-Leibler divergence, so it is never below 0, and 0 for a column that no leaf
uses. On rows of a table it can be negative: the column then misleads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sparsedensity.density import Density
from sparsedensity.density.changes import leaves_by_value
from sparsedensity.density.merging import TooManyPartsError
from sparsedensity.table import Codes, Floats

DRAWS = 20_000
"""Records drawn from a model whose merged density has too many parts to list."""


class Losses(NamedTuple):
    """What the log-likelihood per row loses, by column."""

    by_feature: Floats
    exact: bool
    """False if the loss of some column was estimated from records drawn from the model."""


def expected_losses(density: Density) -> Losses:
    """The losses on the records that the model expects."""
    losses, exact = np.zeros(len(density.structure.domain)), True
    possible = density.probabilities > 0
    whole = float(density.probabilities[possible] @ density.log_densities[possible])
    for feature in density.used_features:
        try:
            masses, logs = density.averaged(feature)
            loss = whole - float(masses @ logs)
        except TooManyPartsError:
            exact, codes = False, density.draw(DRAWS, np.random.default_rng(0))
            loss = loss_on(density, feature, codes, np.ones(len(codes)))
        losses[feature] = max(0.0, loss)
    return Losses(losses, exact)


def losses_on(density: Density, codes: Codes, weights: Floats) -> Losses:
    """The losses on the rows of a table."""
    losses = np.zeros(len(density.structure.domain))
    for feature in density.used_features:
        losses[feature] = loss_on(density, feature, codes, weights)
    return Losses(losses, exact=True)


def loss_on(density: Density, feature: int, codes: Codes, weights: Floats) -> float:
    """The mean loss over rows when one column is merged; a row that has density 0 either way loses nothing."""
    logs = density.log_densities[density.leaf_numbers(codes)]
    merged = averaged_at(density, feature, codes)
    with np.errstate(invalid="ignore"):
        each = np.where(logs == merged, 0.0, logs - merged)
    return float(weights @ each / weights.sum())


def averaged_at(density: Density, feature: int, codes: Codes) -> Floats:
    """The log density at some rows, averaged over a column."""
    domain = density.structure.domain
    measures = domain.measures[domain.span(feature)]
    shares = np.log(measures / measures.sum())
    blocks = [
        np.logaddexp.reduce(density.log_densities[leaves] + shares, axis=1)
        for _, leaves in leaves_by_value(density, codes, feature)
    ]
    return np.concatenate(blocks)
