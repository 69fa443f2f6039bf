"""What more leaves or rules than the limit allows would buy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sparsedensity.estimators.answers import LeafCounts, density_of, read_rows
from sparsedensity.estimators.baselines import per_row
from sparsedensity.estimators.paths import divided
from sparsedensity.estimators.progress import telling
from sparsedensity.search.base import size_of

if TYPE_CHECKING:
    from sparsedensity.estimators.base import DensityEstimator


class Further(NamedTuple):
    """A larger model that a quick look found, beside the fitted one."""

    size: int
    limit: int
    """The limit under which it was found."""
    before: float
    """The log-likelihood per row of the fitted model,"""
    after: float
    """and that of the larger one: a whole search would find one at least as probable."""


def look_further(model: DensityEstimator, X: Any, sample_weight: Any = None) -> Further | None:
    """Look quickly for a model of up to twice the limit; ``None`` if the limit does not bind, or nothing was found."""
    limit = None if model.unit is None else getattr(model, f"max_{model.unit}")
    if limit is None or size_of(model.structure_) < limit or model.search_.limit_binds is False:
        return None
    with telling(model.progress, "looking what more would buy"):
        rows = read_rows(model, X, sample_weight)
        searched, weighing = divided(model, rows, rows.weights)
        found = model.learn_beyond(searched, 2 * limit)
        if found is None or found.log_posterior <= model.log_posterior_:
            return None
        larger = density_of(model, found.structure, LeafCounts.on(weighing, found.structure, model.posterior_))
        scores = (per_row(density, weighing.table) for density in (model.density_, larger))
        return Further(size_of(found.structure), 2 * limit, *scores)
