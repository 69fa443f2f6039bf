"""The full histogram: every point of the domain a bin."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparsedensity.domain import Domain
from sparsedensity.engines import Engine, whole_table
from sparsedensity.models.base import DensityModel
from sparsedensity.posterior import FullHistogram
from sparsedensity.search import Found
from sparsedensity.search.base import Watch
from sparsedensity.structures import Cells


@dataclass(eq=False, repr=False, kw_only=True)
class Histogram(DensityModel):
    """Every point of the domain is a bin: the baseline that everyone knows and nobody can read.

    ``leaves_`` holds the occupied points and, last, all others together; ``n_leaves_`` counts every point.
    ``log_posterior_`` is the log evidence: with nothing to choose there is no prior on the structure.

    Parameters
    ----------
    pseudocount
        Added to every point (alpha).
    density, kinds, bins, domain, missing, unknown, n_jobs, progress
        As in :class:`DensityModel`.

    Examples
    --------
    >>> from sparsedensity import Histogram, datasets
    >>> histogram = Histogram().fit(datasets.load("titanic"))
    >>> histogram.n_leaves_, len(histogram.leaves_)
    (16, 15)
    """

    title: ClassVar[str] = "Full histogram"

    pseudocount: float = 1

    @property
    def n_leaves_(self) -> int | float:
        """The number of points of the domain; infinite if it does not fit a float."""
        points: int | float = self.structure_.n_points
        return points

    def size_in_words(self) -> str:
        """How much there is to read."""
        return f"{self.n_leaves_:,} points, {len(self.structure_.codes):,} of them occupied"

    def posterior(self, domain: Domain) -> FullHistogram:
        """What is believed before any row is seen."""
        return FullHistogram(self.pseudocount)

    def learn(self, engine: Engine, watch: list[Watch]) -> tuple[FullHistogram, Found]:
        """The points that occur, with their log evidence; there is nothing to search."""
        begin, belief = time.perf_counter(), self.posterior(engine.domain)
        table = whole_table(engine)
        cells = Cells(engine.domain, table.codes)
        score = belief.log_posterior(cells, np.append(table.weights, 0.0))
        return belief, Found(
            cells,
            method="enumeration",
            log_posterior=score,
            reason="finished",
            moves=len(cells.codes),
            seconds=time.perf_counter() - begin,
            proven=True,
        )
