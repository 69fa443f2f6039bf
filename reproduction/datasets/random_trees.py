"""Rows drawn from random density trees, as many features, values and leaves as are asked for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sparsedensity import Domain, Feature
from sparsedensity.datasets import Truth
from sparsedensity.datasets.truth import checked_rng, draw
from sparsedensity.structures import Tree
from sparsedensity.structures.tree import Split


def random_tree(rows: int = 1000, sizes: Sequence[int] = (4, 3, 3, 2, 2), leaves: int = 10, seed: int = 0) -> Truth:
    """Rows drawn from a random density tree: random leaves split on random groups of values.

    >>> truth = random_tree(rows=100, sizes=(3, 2), leaves=3)
    >>> truth.frame.shape, truth.tree.n_leaves
    ((100, 2), 3)
    """
    rng = checked_rng(seed, rows=rows, leaves=leaves)
    domain = Domain(tuple(Feature.nominal(f"x{i + 1}", range(size)) for i, size in enumerate(sizes)))
    tree = _grow(domain, leaves, rng)
    return draw(tree, rng.dirichlet(np.ones(tree.n_leaves)), rows, rng)


def _grow(domain: Domain, leaves: int, rng: np.random.Generator) -> Tree:
    """Split random leaves until there are enough, or none can be split."""
    allowed = [{node: list(range(size)) for node, size in enumerate(domain.sizes)}]
    splits: list[Split] = [None]
    while splits.count(None) < leaves:
        free = [i for i, split in enumerate(splits) if split is None and any(len(v) > 1 for v in allowed[i].values())]
        if not free:
            break
        node = int(rng.choice(free))
        feature = int(rng.choice([f for f, values in allowed[node].items() if len(values) > 1]))
        values = rng.permutation(allowed[node][feature]).tolist()
        cut = int(rng.integers(1, len(values)))
        groups = [sorted(values[:cut]), sorted(values[cut:])]
        splits[node] = (feature, [(group, len(splits) + i) for i, group in enumerate(groups)])
        for group in groups:
            allowed.append({**allowed[node], feature: group})
            splits.append(None)
    return Tree.of_splits(domain, splits).merged()
