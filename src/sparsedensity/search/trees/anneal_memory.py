"""The memory of one chain: rows, posterior and regions as the kernels read them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sparsedensity.engines import MemoryEngine
from sparsedensity.kernels import moves, regions
from sparsedensity.posterior import BranchSparse, LeafSparse
from sparsedensity.problem import AnyProblem
from sparsedensity.structures import Tree
from sparsedensity.table import Codes, Floats, Table

MOST_LEAVES = 20_000
"""How large a tree can get without a limit."""


def limit_of(problem: AnyProblem) -> int:
    """The most leaves a tree can have."""
    points = math.prod(problem.domain.sizes)
    return int(min(problem.max_leaves or MOST_LEAVES, MOST_LEAVES, points))


def on_grid(weights: Floats) -> Floats:
    """Weights as multiples of n 2^-50, so that sums and differences of them are exact in any order."""
    whole: Floats = np.ascontiguousarray(weights, np.float64)
    if np.array_equal(whole, np.rint(whole)):
        return whole
    unit = 2.0 ** (math.ceil(math.log2(whole.sum())) - 50)
    rounded: Floats = np.rint(whole / unit) * unit
    return rounded


def single_leaf_score(problem: AnyProblem, weights: Floats) -> float:
    """The log posterior of the tree that is one leaf."""
    return float(problem.posterior.log_posterior(Tree.leaf(problem.domain), np.array([weights.sum()])))


def empty_tree(problem: AnyProblem, nodes: int) -> moves.Grown:
    """Room for a tree."""
    return moves.Grown(
        np.zeros((nodes, moves.NODE_COLUMNS), np.int64),
        np.zeros((nodes, 3)),
        np.zeros((nodes, max(problem.domain.sizes)), np.int16),
        np.zeros(moves.USES + len(problem.domain), np.int64),
    )


def plant(tree: moves.Grown, score: float) -> None:
    """Make a tree a single leaf: the root, node 0."""
    tree.meta[:] = 0
    tree.meta[[moves.LEAVES, moves.HIGH, moves.FREE]] = 1, 1, -1
    tree.nodes[0] = 0
    tree.nodes[0, [moves.FEATURE, moves.FIRST, moves.NEXT, moves.PARENT]] = -1
    tree.nodes[0, moves.BELOW], tree.gains[0] = 1, (0.0, 0.0, score)


def copy_tree(tree: moves.Grown, to: moves.Grown) -> None:
    """Overwrite one tree with another."""
    for old, new in zip(to, tree, strict=True):
        old[:] = new


def make_space(problem: AnyProblem, rows: Codes, weights: Floats, nodes: int) -> regions.Space:
    """The memory of one chain: at most about 60 megabytes, of which only what is used is touched."""
    values, p, widest = int(problem.domain.starts[-1]), len(problem.domain), max(problem.domain.sizes)
    slots = max(min(int(24e6 / (8 * (values + p))), 65_000), 64)
    held = max(min(int(24e6 / (values + 104)), 200_000), 6 * nodes + 2000)
    lists = max(3 * len(weights), min(4_000_000, 64 * len(weights) + 1000))
    width = max(values + 2, 2 * widest + 4, 16)
    space = regions.Space(
        codes=np.ascontiguousarray(rows),
        weights=weights,
        features=make_features(problem),
        keys=np.random.default_rng(12345).integers(1, 2**62, values),
        measures=np.ascontiguousarray(problem.domain.measures, np.float64),
        belief=make_belief(problem.posterior),
        sizes=make_sizes(problem.posterior, float(weights.sum()), nodes),
        regions=np.zeros((held, 8), np.int64),
        worths=np.zeros((held, 3)),
        allowed=np.zeros((held, values), np.uint8),
        counts=np.zeros((slots, values + p)),
        rows=np.zeros(lists, np.int32),
        table=np.zeros(1 << math.ceil(math.log2(2 * held + 2)), np.int32),
        ints=np.zeros((regions.BACK + regions.MOST_GROUPS + 1, width), np.int64),
        floats=np.zeros((regions.SUMS + regions.MOST_GROUPS + 1, width)),
    )
    open_root(space, MemoryEngine(Table(problem.domain, rows, weights)))
    return space


def open_root(space: regions.Space, engine: MemoryEngine) -> None:
    """The region of the whole domain."""
    n = len(space.weights)
    space.rows[:n] = np.arange(n)
    space.allowed[0] = 1
    space.counts[0, : space.allowed.shape[1]] = engine.value_weights(engine.all_rows())
    key = int(np.bitwise_xor.reduce(space.keys))
    space.regions[0, [regions.KEY, regions.ORIGIN, regions.LENGTH, regions.BEST]] = key, -1, n, -1
    space.worths[0, regions.WEIGHT] = space.weights.sum()
    space.table[(key ^ (key >> 29)) & (space.table.size - 1)] = 1
    space.ints[regions.USED, [regions.REGIONS, regions.SLOTS, regions.ROWS]] = 1, 1, n


def make_belief(posterior: LeafSparse | BranchSparse) -> Floats:
    """The posterior as numbers."""
    branchy = isinstance(posterior, BranchSparse)
    rate = posterior.expected_branches if isinstance(posterior, BranchSparse) else posterior.expected_leaves
    g = posterior.feature_probability if isinstance(posterior, BranchSparse) else None
    odds = math.nan if g is None else math.log(g) - math.log1p(-g)
    a, most = posterior.pseudocount, regions.MOST_GROUPS if branchy else 2
    return np.array([branchy, rate, a, odds, math.lgamma(a), most], np.float64)


def make_sizes(posterior: LeafSparse | BranchSparse, n: float, most: int) -> Floats:
    """What each number of leaves adds to the log posterior beside the gains of the splits."""
    if isinstance(posterior, BranchSparse):
        return np.zeros(most + 1)
    return np.array([0.0, *(posterior.log_head(k, n) for k in range(1, most + 1))])


def make_features(problem: AnyProblem) -> NDArray[np.int64]:
    """Where the values of each feature begin and end, whether they have an order, the missing value."""
    starts = problem.domain.starts.tolist()
    return np.array(
        [
            [start, stop, feature.ordered, -1 if feature.missing is None else start + feature.missing]
            for feature, start, stop in zip(problem.domain, starts, starts[1:], strict=False)
        ],
        np.int64,
    )
