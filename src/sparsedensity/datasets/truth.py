"""Rows of known truth: drawn from a density tree that comes with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from sparsedensity.density import Density
from sparsedensity.domain import Domain, Feature
from sparsedensity.errors import ParameterError
from sparsedensity.scalars import check_whole, is_whole
from sparsedensity.structures import Tree
from sparsedensity.table import Codes, Floats

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class Truth:
    """Rows, and the density tree that made them.

    >>> from sparsedensity.datasets import housebreaks
    >>> truth = housebreaks(rows=1000)
    >>> truth.tree.n_leaves, round(float(truth.probabilities.max()), 3)
    (13, 0.4)
    >>> truth.log_density(truth.codes[:2]).round(2).tolist()
    [-3.32, -1.61]
    """

    codes: Codes = field(repr=False)
    domain: Domain = field(repr=False)
    tree: Tree = field(repr=False)
    probabilities: Floats

    @property
    def frame(self) -> pl.DataFrame:
        """The rows as a table of values."""
        import polars as pl

        return pl.DataFrame({f.name: _labels(f).gather(self.codes[:, i]) for i, f in enumerate(self.domain)})

    def log_density(self, codes: Codes) -> Floats:
        """The true log density of rows."""
        logs: Floats = (np.log(self.probabilities) - self.tree.log_volumes)[self.tree.leaf_numbers(codes)]
        return logs


def draw(tree: Tree, probabilities: Sequence[float] | Floats, rows: int, rng: np.random.Generator) -> Truth:
    """Rows drawn from a tree whose leaves, by number, have these probabilities."""
    shares = np.asarray(probabilities, np.float64)
    codes = Density(tree, shares, np.log(shares)).draw(rows, rng)
    return Truth(codes, tree.domain, tree, shares)


def checked_rng(seed: int, **counts: int) -> np.random.Generator:
    """The random numbers of a seed; an invalid seed or count is refused."""
    for name, count in counts.items():
        check_whole(name, count)
    if not is_whole(seed) or seed < 0:
        raise ParameterError("seed", seed, "a whole number of 0 or more")
    return np.random.default_rng(seed)


def _labels(feature: Feature) -> pl.Series:
    """The values of a feature; whole numbers in the smallest type that holds them."""
    import polars as pl

    labels = pl.Series(feature.values)
    return labels.shrink_dtype() if labels.dtype.is_integer() else labels
