"""What more leaves or rules than the limit allows would buy, and what leaves with profiles would."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from sparsedensity.engines import LeafWeights, MemoryEngine
from sparsedensity.models.answers import adopt, density_of, read_rows
from sparsedensity.models.baselines import independent_columns, per_row
from sparsedensity.models.folds import are_counts, hold_out
from sparsedensity.models.parameters import jobs_of
from sparsedensity.models.paths import counted, divided
from sparsedensity.models.progress import telling
from sparsedensity.search.base import size_of

if TYPE_CHECKING:
    from sparsedensity.models.answers import Rows
    from sparsedensity.models.base import DensityModel
    from sparsedensity.table import Table

FEWEST_ROWS, MOST_ROWS = 100, 20_000
"""Of fewer rows a look would say little; of more it takes a sample."""
SCORED = 0.25
"""The share of the rows that profiles are measured on; they learn from the others."""


class Further(NamedTuple):
    """Another model that a quick look found, beside the fitted one."""

    size: int
    limit: int | None
    """The limit under which it was found."""
    before: float
    """The log-likelihood per row of the fitted model,"""
    after: float
    """and that of the other one: a whole search would find one at least as probable."""


def look_further(model: DensityModel, X: Any, sample_weight: Any = None) -> Further | None:
    """Look quickly for a model of up to twice the limit; ``None`` if the limit does not bind, or nothing was found."""
    limit = _limit(model)
    if limit is None or not _limit_reached(model):
        return None
    with telling(model.progress, "looking what more would buy"):
        rows = read_rows(model, X, sample_weight)
        searched, weighing = divided(model, rows, rows.weights)
        found = model.learn_beyond(searched, 2 * limit)
        if found is None or found.log_posterior <= model.log_posterior_:
            return None
        larger = density_of(model, found.structure, counted(model, weighing, found.structure))
        scores = (per_row(density, weighing.table) for density in (model.density_, larger))
        return Further(size_of(found.structure), 2 * limit, *scores)


def look_at_profiles(model: DensityModel, X: Any, sample_weight: Any = None) -> Further | None:
    """Look quickly for a better tree under the same limit whose leaves have profiles.

    Both are scored on rows that the profiles did not learn from; the fitted tree did, which is in its favour. ``None``
    unless uniform leaves reach their limit or lose to independent columns, or if nothing better was found.
    """
    if getattr(model, "leaf", None) != "uniform" or getattr(model, "depth", None) is not None:
        return None
    with telling(model.progress, "looking what profiles would buy"):
        parts = _apart(model, read_rows(model, X, sample_weight))
        if parts is None:
            return None
        train, test = parts
        before = per_row(model.density_, test)
        if not _limit_reached(model) and before >= independent_columns(train, test):
            return None
        profiled = _grown_with_profiles(model, train)
        after = per_row(profiled.density_, test)
        better = after > before > -math.inf
        return Further(size_of(profiled.structure_), _limit(model), before, after) if better else None


def _limit(model: DensityModel) -> int | None:
    return None if model.unit is None else getattr(model, f"max_{model.unit}")


def _limit_reached(model: DensityModel) -> bool:
    limit = _limit(model)
    return limit is not None and size_of(model.structure_) >= limit and model.search_.limit_binds is not False


def _apart(model: DensityModel, rows: Rows) -> tuple[Table, Table] | None:
    """Rows to learn from and other rows to score, drawn from all; ``None`` if they are too few to say anything."""
    count = rows.weights.sum() if are_counts(rows.weights) else len(rows.weights)
    if count < FEWEST_ROWS:
        return None
    some = rows.weights if count <= MOST_ROWS else hold_out(rows.weights, MOST_ROWS / count, seed=0).test
    train, test = hold_out(some, SCORED, seed=0)
    return rows.table(model.domain_, train), rows.table(model.domain_, test)


def _grown_with_profiles(model: DensityModel, table: Table) -> DensityModel:
    """The same model of other rows, grown greedily, with profiles in its leaves."""
    profiled = replace(model, leaf="profile", search="greedy")  # type: ignore[call-arg]
    engine = MemoryEngine(table, jobs_of(model.n_jobs))
    posterior, found = profiled.learn(engine, [])
    adopt(profiled, posterior, found, LeafWeights.on(engine, found.structure, even=posterior.even))
    return profiled
