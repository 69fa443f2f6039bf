"""The paper's Algorithm 2: categories as random numbers, on which mlpack's DET is then grown."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from sparsedensity import Domain
from sparsedensity.evaluation.mlpack_tree import Cut, CutOf, MlpackTree

SIGMAS = 3.0
"""A sampled number stays within so many standard deviations of the middle of its interval: these are its ends."""


class SampledMlpackTree(MlpackTree):
    """mlpack's DET on numbers drawn from an interval of each value, the more frequent the wider."""

    def as_numbers(self, codes: NDArray[Any], domain: Domain, rng: np.random.Generator) -> tuple[NDArray[Any], CutOf]:
        """A random number from the interval of every value, which is as long as its share.

        The intervals lie in [0, 1], those of nominal values by falling frequency, those of levels in their order. A
        threshold within an interval sends the value to the side on which its middle lies.
        """
        numbers = np.empty(codes.shape)
        middles: list[NDArray[Any]] = []
        for column, feature in enumerate(domain):
            shares = np.bincount(codes[:, column], minlength=feature.size) / len(codes)
            order = np.arange(feature.size) if feature.ordered else np.argsort(-shares, kind="stable")
            ends = np.empty(feature.size)
            ends[order] = np.cumsum(shares[order])
            middles.append(ends - shares / 2)
            values = codes[:, column].astype(np.int64)
            normal = ndtri(rng.uniform(ndtr(-SIGMAS), ndtr(SIGMAS), len(codes)))
            numbers[:, column] = middles[-1][values] + shares[values] / (2 * SIGMAS) * normal

        def cut_of(column: int, threshold: float) -> Cut:
            return column, frozenset(np.flatnonzero(middles[column] <= threshold).tolist())

        return numbers, cut_of
