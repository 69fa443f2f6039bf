"""The full histogram: every point of the domain a bin."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparsedensity.domain import Domain
from sparsedensity.engines import MemoryEngine
from sparsedensity.estimators.base import DensityEstimator
from sparsedensity.estimators.learner import Learned, Learner
from sparsedensity.posterior import FullHistogram
from sparsedensity.search import Found
from sparsedensity.search.base import Watch
from sparsedensity.structures import Cells


@dataclass(frozen=True)
class HistogramLearner(Learner):
    """Takes every occupied point as it is."""

    pseudocount: float

    def posterior(self, domain: Domain) -> FullHistogram:
        """What is believed, on any domain."""
        return FullHistogram(self.pseudocount)

    def learn(self, engine: MemoryEngine, watch: list[Watch]) -> Learned:
        """The points that occur, with their log evidence."""
        begin, belief = time.perf_counter(), self.posterior(engine.domain)
        cells = Cells(engine.domain, engine.table.codes)
        score = belief.log_posterior(cells, np.append(engine.table.weights, 0.0))
        seconds = time.perf_counter() - begin
        found = Found("enumeration", cells, score, "finished", len(cells.codes), seconds, proven=True)
        return Learned(belief, found)


@dataclass(eq=False, repr=False, kw_only=True)
class Histogram(DensityEstimator):
    """Every point of the domain is a bin: the baseline that everyone knows and nobody can read.

    ``leaves_`` holds the occupied points and, last, all others together; ``n_leaves_`` counts every point.
    ``log_posterior_`` is the log evidence: with nothing to choose there is no prior on the structure.

    Parameters
    ----------
    pseudocount
        Added to every point (alpha).
    density, kinds, bins, domain, missing, unknown, n_jobs, progress
        As in :class:`GreedyTree`.

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

    def learner(self) -> HistogramLearner:
        """What is believed; there is nothing to search."""
        return HistogramLearner(self.pseudocount)
