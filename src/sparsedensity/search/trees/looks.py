"""Looks at counted regions: the best ways to divide them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sparsedensity.kernels import count, divisions
from sparsedensity.kernels.belief import NOTHING
from sparsedensity.kernels.counted_parts import MOST_GROUPS
from sparsedensity.kernels.row_bits import Rows
from sparsedensity.posterior.trees import belief_of, prepared_terms, space_of
from sparsedensity.problem import AnyProblem
from sparsedensity.search.trees.anneal_memory import make_desk
from sparsedensity.search.trees.assembly import Known
from sparsedensity.search.trees.counted_regions import Key, allowed_in
from sparsedensity.search.trees.screening import telling_features
from sparsedensity.table import Floats, Table


class Looks:
    """Looks at regions once each. Even leaf models need no more than counts, others the rows of a sample."""

    def __init__(self, problem: AnyProblem, sample: Table) -> None:
        self.problem, self.sample, self.even = problem, sample, bool(problem.posterior.even)
        self.done: set[Key] = set()
        domain = problem.domain
        self.belief = belief_of(problem.posterior, domain, problem.engine.n, 1, MOST_GROUPS)
        self.space, self.desk = space_of(domain), make_desk(int(domain.starts[-1]), max(domain.sizes), self.even)
        self.rng = np.random.default_rng(0)

    def at(self, region: Key, counts: Floats) -> Iterator[Known]:
        """The best division of a region for each number of groups, unless it was looked at before."""
        if region in self.done:
            return
        self.done.add(region)
        domain, allowed = self.problem.domain, allowed_in(region)
        gain, feature = np.full(MOST_GROUPS + 1, NOTHING), np.full(MOST_GROUPS + 1, -1)
        found = divisions.BestDivisions(gain, feature, np.full((len(gain), len(allowed)), -1, np.int16))
        counted = self._counted(allowed, counts)
        features = self._features(counted)
        divisions.best_divisions(self.belief, self.space, self.desk, counted, features, self.rng, found)
        for b in np.flatnonzero(feature >= 0).tolist():
            span = domain.span(int(feature[b]))
            parts = []
            for name in range(b):
                part = allowed.copy()
                part[span] = found.labels[b, span] == name
                parts.append(part.tobytes())
            yield Known(int(feature[b]), tuple(parts), float(gain[b]), self.even)

    def _counted(self, allowed: NDArray[np.uint8], counts: Floats) -> divisions.CountedRegion:
        """A region as divisions read it: as it was counted, or as its rows in the sample are."""
        domain, sample = self.problem.domain, self.sample
        if self.even:
            return divisions.CountedRegion(allowed, counts, float(counts[domain.span(0)].sum()), 0.0, None)
        rows, counts = rows_in(sample, allowed), np.zeros(len(allowed))
        count.value_weights(sample.codes, sample.weights, rows, domain.starts, counts)
        (term,) = prepared_terms(self.belief.leaf, self.space, counts[None], allowed[None])
        weight = float(counts[domain.span(0)].sum())
        held = Rows(sample.columns, *sample.units, sample.uncommon, rows, len(self.done))
        return divisions.CountedRegion(allowed, counts, weight, float(term), held)

    def _features(self, region: divisions.CountedRegion) -> NDArray[np.int64]:
        """The features to divide a region by: all, unless every part is counted and they are very many."""
        if self.even:
            return np.arange(len(self.problem.domain))
        if not len(region.rows.which):
            return np.arange(0)
        return telling_features(self.sample, region.rows.which, region.allowed, self._shares)

    @cached_property
    def _shares(self) -> Floats:
        """The share of every value in the whole table."""
        return self.problem.engine.value_weights() / self.problem.engine.n


def rows_in(table: Table, allowed: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """The places of the rows of a table that lie in a region."""
    inside = np.ones(len(table), bool)
    for feature in range(len(table.domain)):
        values = allowed[table.domain.span(feature)] > 0
        if not values.all():
            inside &= values[table.codes[:, feature]]
    return np.flatnonzero(inside).astype(np.uint32)
