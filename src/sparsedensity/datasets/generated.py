"""Data of known truth: full factorials, random density trees, and rows from any tree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from sparsedensity.density import Density
from sparsedensity.domain import Domain, Feature
from sparsedensity.errors import ParameterError
from sparsedensity.problem import check_whole
from sparsedensity.structures import Tree
from sparsedensity.structures.tree import Split
from sparsedensity.table import Codes, Floats

MOST_POINTS = 50_000_000


@dataclass(frozen=True, eq=False)
class Truth:
    """Rows, and the density tree that made them."""

    codes: Codes = field(repr=False)
    domain: Domain = field(repr=False)
    tree: Tree = field(repr=False)
    probabilities: Floats

    @property
    def frame(self) -> pl.DataFrame:
        """The rows as a table of values."""
        return pl.DataFrame({f.name: _labels(f).gather(self.codes[:, i]) for i, f in enumerate(self.domain)})

    def log_density(self, codes: Codes) -> Floats:
        """The true log density of rows."""
        logs: Floats = (np.log(self.probabilities) - self.tree.log_volumes)[self.tree.leaf_numbers(codes)]
        return logs


def factorial(levels: Sequence[int] | int = (5, 5, 5, 5)) -> pl.DataFrame:
    """Every combination of values once: a uniform density in which there is nothing to find.

    >>> factorial((2, 3)).rows()
    [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
    """
    sizes = _sizes("levels", levels)
    if math.prod(sizes) > MOST_POINTS:
        raise ParameterError("levels", levels, f"whole numbers whose product is at most {MOST_POINTS:,}")
    columns = np.indices(sizes).reshape(len(sizes), -1)
    return pl.DataFrame({f"x{i + 1}": column for i, column in enumerate(columns)})


def random_tree(
    rows: int = 1000, sizes: Sequence[int] | int = (4, 3, 3, 2, 2), leaves: int = 10, seed: int = 0
) -> Truth:
    """Rows drawn from a random density tree: random leaves split on random groups of values.

    >>> truth = random_tree(rows=100, sizes=(3, 2), leaves=3)
    >>> truth.frame.shape, truth.tree.n_leaves
    ((100, 2), 3)
    """
    sizes = _sizes("sizes", sizes)
    rng = checked_rng(seed, rows=rows, leaves=leaves)
    domain = Domain(tuple(Feature.nominal(f"x{i + 1}", range(size)) for i, size in enumerate(sizes)))
    tree = _grow(domain, leaves, rng)
    return draw(tree, rng.dirichlet(np.ones(tree.n_leaves)), rows, rng)


def draw(tree: Tree, probabilities: Sequence[float] | Floats, rows: int, rng: np.random.Generator) -> Truth:
    """Rows drawn from a tree whose leaves, by number, have these probabilities."""
    shares = np.asarray(probabilities, np.float64)
    codes = Density(tree, shares, np.log(shares)).draw(rows, rng)
    return Truth(codes, tree.domain, tree, shares)


def checked_rng(seed: int, **counts: int) -> np.random.Generator:
    """The random numbers of a seed; a seed or a count that is none is refused."""
    for name, count in counts.items():
        check_whole(name, count)
    if not _is_count(seed, least=0):
        raise ParameterError("seed", seed, "a whole number of 0 or more")
    return np.random.default_rng(seed)


def _grow(domain: Domain, leaves: int, rng: np.random.Generator) -> Tree:
    """Split random leaves until there are enough, or none can be split."""
    allowed = [{node: range(size) for node, size in enumerate(domain.sizes)}]
    splits: list[Split] = [None]
    while splits.count(None) < leaves:
        free = [i for i, split in enumerate(splits) if split is None and any(len(v) > 1 for v in allowed[i].values())]
        if not free:
            break
        node = int(rng.choice(free))
        feature = int(rng.choice([f for f, values in allowed[node].items() if len(values) > 1]))
        values = rng.permutation(list(allowed[node][feature])).tolist()
        cut = int(rng.integers(1, len(values)))
        groups = [sorted(values[:cut]), sorted(values[cut:])]
        splits[node] = (feature, [(group, len(splits) + i) for i, group in enumerate(groups)])
        for group in groups:
            allowed.append({**allowed[node], feature: group})  # type: ignore[dict-item]
            splits.append(None)
    return Tree.of_splits(domain, splits).merged()


def _labels(feature: Feature) -> pl.Series:
    """The values of a feature; whole numbers in the smallest type that holds them."""
    labels = pl.Series(feature.values)
    return labels.shrink_dtype() if labels.dtype.is_integer() else labels


def _sizes(name: str, sizes: Sequence[int] | int) -> tuple[int, ...]:
    found = (sizes,) if isinstance(sizes, int) else tuple(sizes)
    if not found or not all(map(_is_count, found)):
        raise ParameterError(name, sizes, "whole numbers of 1 or more, one for each column")
    return tuple(map(int, found))


def _is_count(value: object, least: int = 1) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value >= least)
