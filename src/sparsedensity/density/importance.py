"""How much each column matters: what the log-likelihood per row loses when the splits on the column are merged.

Merging averages the density over the column: every record gets the mean density, by measure, of the records that
differ from it in this column alone. The other columns keep what they say, and this one says nothing any more. Under
the model itself the loss is a Kullback-Leibler divergence, so it is never below 0, and 0 for a column that no leaf
uses. On rows of a table it can be negative: the column then misleads.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from sparsedensity.density import Density
from sparsedensity.density.changes import Neighbours, neighbours
from sparsedensity.density.merging import TooManyPartsError
from sparsedensity.table import Codes, Floats

DRAWS = 20_000
"""Records drawn from a model whose merged density has too many parts to list."""

LOWEST = float(np.finfo(np.float64).min)


class Losses(NamedTuple):
    """What the log-likelihood per row loses, by column."""

    by_feature: Floats
    exact: bool
    """False if the loss of some column was estimated from records drawn from the model."""


def expected_losses(density: Density) -> Losses:
    """The losses on the records that the model expects."""
    if density.profiles is not None:
        codes, _, masses, listed = density.records(DRAWS)
        return Losses(losses_on(density, codes, masses).by_feature.clip(0.0), listed)
    losses, unlisted = np.zeros(len(density.structure.domain)), []
    possible = density.probabilities > 0
    whole = float(density.probabilities[possible] @ density.log_densities[possible])
    for feature in density.used_features:
        try:
            masses, logs = density.averaged(feature)
            losses[feature] = whole - float(masses @ logs)
        except TooManyPartsError:
            unlisted.append(feature)
    if unlisted:
        losses += losses_on(density, density.draw(DRAWS, np.random.default_rng(0)), np.ones(DRAWS), unlisted).by_feature
    return Losses(losses.clip(0.0), not unlisted)


def losses_on(density: Density, codes: Codes, weights: Floats, features: Iterable[int] | None = None) -> Losses:
    """The mean losses over rows, of some features or of all; a row that has density 0 either way loses nothing."""
    losses = np.zeros(len(density.structure.domain))
    merged = list(density.used_features if features is None else features)
    for begin, near in neighbours(density, codes):
        logs = density.log_densities_at(near.codes, density.leaf_numbers(near.codes))
        for feature in merged:
            averages = averaged(near, feature)
            with np.errstate(invalid="ignore"):
                each = np.where(logs == averages, 0.0, logs - averages)
            losses[feature] += (weights[begin : begin + len(each)] * each).sum()
    return Losses(losses / weights.sum(), exact=True)


def averaged(near: Neighbours, feature: int) -> Floats:
    """The log density at some rows, averaged over a column."""
    domain = near.density.structure.domain
    measures = domain.measures[domain.span(feature)]
    logs = near.log_densities(feature) + np.log(measures / measures.sum())
    highest = np.maximum(logs.max(axis=1), LOWEST)
    with np.errstate(divide="ignore"):
        sums: Floats = highest + np.log(np.exp(logs - highest[:, None]).sum(axis=1))
    return sums
