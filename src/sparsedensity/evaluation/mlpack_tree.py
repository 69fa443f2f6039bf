"""mlpack's density estimation tree (DET), run on categories as the paper ran it, and its tree as one of ours.

DET cuts columns of real numbers, so categories have to become numbers first. The densities it then reports are those
of the numbers, and over all possible records they do not add up to 1; so only its leaves are taken, and scored with
the volumes of categories. Its tree is a :class:`~sparsedensity.structures.Tree` like any other: it can be shown, asked,
and given to our searches as ``warm_start_from``.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sparsedensity.domain import Domain
from sparsedensity.engines import MemoryEngine
from sparsedensity.errors import DataError, SparseDensityError
from sparsedensity.estimators import DensityEstimator
from sparsedensity.extras import need
from sparsedensity.posterior import LeafSparse
from sparsedensity.problem import check_whole
from sparsedensity.region import Region
from sparsedensity.search import Found
from sparsedensity.search.base import Watch
from sparsedensity.structures import Tree
from sparsedensity.structures.tree import Division
from sparsedensity.table import Codes, Floats, Table

MOST_ROWS = 50_000_000

Cut = tuple[int, frozenset[int]]
"""A feature and its codes that go left."""
CutOf = Callable[[int, float], Cut]
"""The cut that a threshold in a column of numbers is."""


@dataclass(eq=False, repr=False, kw_only=True)
class MlpackTree(DensityEstimator):
    """The tree that mlpack's DET grows on categories, its leaves scored with the volumes of categories.

    Needs mlpack (``pip install sparsedensity[mlpack]``). Every value of a nominal column becomes a column of 0 and 1,
    an ordered column the numbers of its levels. Weights must be whole numbers: DET knows rows only.

    Parameters
    ----------
    min_leaf, max_leaf
        The least rows of a leaf, and the rows up to which a leaf is not split.
    folds
        The folds by which DET chooses how far to prune; ``None`` leaves the tree as it has grown.
    expected_leaves, pseudocount
        The prior (lambda and alpha) of the log posterior and the densities, as in our trees.
    random_state
        Orders the rows, which decides DET's folds.
    density, kinds, bins, domain, missing, unknown, n_jobs, progress
        As in :class:`sparsedensity.estimators.DensityEstimator`.
    """

    title: ClassVar[str] = "mlpack's density estimation tree"

    min_leaf: int = 5
    max_leaf: int = 10
    folds: int | None = 10
    expected_leaves: float = 8
    pseudocount: float = 2
    random_state: int = 0

    @property
    def tree_(self) -> Tree:
        """The tree, for :class:`sparsedensity.LeafSparseTree` and others to start from."""
        tree: Tree = self.structure_
        return tree

    def save(self, path: str | os.PathLike[str]) -> None:
        """Refused: a file would hold a kind of model that needs this room to be read."""
        raise SparseDensityError(
            f"mlpack's tree is not saved to {path}: start a LeafSparseTree from its tree_, and save that."
        )

    def check_parameters(self) -> None:
        """Refuse invalid parameters before any row is read."""
        super().check_parameters()
        check_whole("min_leaf", self.min_leaf)
        check_whole("max_leaf", self.max_leaf)
        if self.folds is not None:
            check_whole("folds", self.folds)

    def as_numbers(self, codes: Codes, domain: Domain, rng: np.random.Generator) -> tuple[Floats, CutOf]:
        """The rows as numbers, and the cut that a threshold is: one-hot, as the paper did."""
        return one_hot(codes, domain)

    def posterior(self, domain: Domain) -> LeafSparse:
        """What is believed before any row is seen."""
        return LeafSparse(self.expected_leaves, self.pseudocount)

    def learn(self, engine: MemoryEngine, watch: list[Watch]) -> tuple[LeafSparse, Found]:
        """The tree of DET, its leaves scored with the volumes of categories."""
        det = need("mlpack", "its density estimation trees").det
        begin = time.perf_counter()
        rng = np.random.default_rng(self.random_state)
        numbers, cut_of = self.as_numbers(_repeated(engine.table, rng), engine.domain, rng)
        pruning: dict[str, Any] = {"skip_pruning": True} if self.folds is None else {"folds": self.folds}
        grown = det(training=numbers, min_leaf_size=self.min_leaf, max_leaf_size=self.max_leaf, **pruning)
        tree = as_tree(engine.domain, nodes_of(grown["output_model"].get_cpp_params()), cut_of)
        belief = self.posterior(engine.domain)
        score = belief.log_posterior(tree, engine.leaf_weights(tree))
        return belief, Found("mlpack", tree, score, "finished", tree.n_leaves - 1, time.perf_counter() - begin)


@dataclass(frozen=True)
class NumberSplit:
    """A split of a tree of numbers: rows with at most the threshold in the column go left. ``None`` is a leaf."""

    column: int
    threshold: float
    left: NumberSplit | None
    right: NumberSplit | None


def nodes_of(parameters: Mapping[str, Any]) -> NumberSplit | None:
    """The splits of an mlpack tree, from what it says about itself.

    >>> leaf = {"hasLeft": False, "hasRight": False, "splitDim": 7, "splitValue": 0.1}
    >>> def pointer(node):
    ...     return {"smartPointer": {"ptr_wrapper": {"valid": 1, "data": node}}}
    >>> root = {"hasLeft": True, "hasRight": True, "splitDim": 2, "splitValue": 0.5}
    >>> nodes_of({"DTree[]": root | {"value0": pointer(leaf), "value1": pointer(leaf)}})
    NumberSplit(column=2, threshold=0.5, left=None, right=None)
    """
    try:
        return _node(next(iter(parameters.values())))
    except RecursionError:
        raise DataError("mlpack's tree is too deep to be read. Raise min_leaf or max_leaf.") from None


def _node(node: Mapping[str, Any]) -> NumberSplit | None:
    if not node["hasLeft"]:
        return None
    left, right = (_node(node[side]["smartPointer"]["ptr_wrapper"]["data"]) for side in ("value0", "value1"))
    return NumberSplit(int(node["splitDim"]), float(node["splitValue"]), left, right)


def as_tree(domain: Domain, root: NumberSplit | None, cut_of: CutOf) -> Tree:
    """Our tree with the splits of a tree of numbers; a split that divides no values of its region is left out."""
    Place = tuple[NumberSplit | None, Region]

    def divide(place: Place) -> Division[Place]:
        node, region = place
        while node is not None:
            feature, side = cut_of(node.column, node.threshold)
            left, right = region.only(feature, side), region.only(feature, region.allowed[feature] - side)
            if left.allowed[feature] and right.allowed[feature]:
                branches = ((node.left, left), (node.right, right))
                return feature, [(below.allowed[feature], (child, below)) for child, below in branches]
            node = node.left if left.allowed[feature] else node.right
        return None

    return Tree.grown(domain, (root, domain.everything()), divide)


def one_hot(codes: Codes, domain: Domain) -> tuple[Floats, CutOf]:
    """A column of 0 and 1 for every value of a nominal feature, the number of its level for an ordered one."""
    one_column: list[int | None] = [None]  # of an ordered feature
    columns = [(i, code) for i, of in enumerate(domain) for code in (one_column if of.ordered else range(of.size))]
    numbers = np.stack([codes[:, i] if code is None else codes[:, i] == code for i, code in columns], axis=1)

    def cut_of(column: int, threshold: float) -> Cut:
        feature, value = columns[column]
        return feature, frozenset(
            code for code in range(domain.sizes[feature]) if (code if value is None else code == value) <= threshold
        )

    return numbers.astype(np.float64), cut_of


def _repeated(table: Table, rng: np.random.Generator) -> Codes:
    """Every row as often as its weight says, in random order: DET takes its folds from rows that follow each other."""
    if np.any(table.weights != np.floor(table.weights)) or table.n > MOST_ROWS:
        raise DataError("mlpack's DET counts rows: give it whole weights that add up to 50 million at most.")
    return rng.permutation(np.repeat(table.codes, table.weights.astype(np.int64), axis=0))
