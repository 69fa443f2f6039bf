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
from sparsedensity.engines import Engine, whole_table
from sparsedensity.errors import DataError, SparseDensityError
from sparsedensity.estimators import DensityEstimator
from sparsedensity.extras import need
from sparsedensity.posterior import LeafSparse
from sparsedensity.region import Region
from sparsedensity.scalars import check_whole
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
NumberNode = Mapping[str, Any]
"""A node of a tree of numbers, as mlpack writes it."""


@dataclass(eq=False, repr=False, kw_only=True)
class MlpackTree(DensityEstimator):
    """The tree that mlpack's DET grows on categories, its leaves scored with the volumes of categories.

    Needs mlpack (``pip install "sparsedensity[mlpack]"``). Every value of a nominal column becomes a column of 0 and 1,
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
        As in :class:`sparsedensity.models.DensityModel`.

    Examples
    --------
    >>> from sparsedensity import LeafSparseTree
    >>> from sparsedensity.evaluation import Method, MlpackTree
    >>> methods = {"ours": Method(LeafSparseTree()), "mlpack": Method(MlpackTree(max_leaf=20))}  # for `evaluate`
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

    def learn(self, engine: Engine, watch: list[Watch]) -> tuple[LeafSparse, Found]:
        """The tree of DET, its leaves scored with the volumes of categories."""
        det = need("mlpack", "its density estimation trees").det
        begin = time.perf_counter()
        rng = np.random.default_rng(self.random_state)
        numbers, cut_of = self.as_numbers(_repeated(whole_table(engine), rng), engine.domain, rng)
        pruning: dict[str, Any] = {"skip_pruning": True} if self.folds is None else {"folds": self.folds}
        grown = det(training=numbers, min_leaf_size=self.min_leaf, max_leaf_size=self.max_leaf, **pruning)
        (root,) = grown["output_model"].get_cpp_params().values()
        tree = as_tree(engine.domain, root, cut_of)
        belief = self.posterior(engine.domain)
        score = belief.log_posterior(tree, engine.leaf_weights(tree))
        moves, seconds = tree.n_leaves - 1, time.perf_counter() - begin
        found = Found(tree, method="mlpack", log_posterior=score, reason="finished", moves=moves, seconds=seconds)
        return belief, found


def as_tree(domain: Domain, root: NumberNode, cut_of: CutOf) -> Tree:
    """Our tree with the splits of a tree of numbers; a split that divides no values of its region is left out.

    Rows with at most the threshold in the column go left.

    >>> from sparsedensity import Feature
    >>> sex = Domain((Feature.nominal("sex", ("female", "male")),))
    >>> leaf = {"smartPointer": {"ptr_wrapper": {"data": {"hasLeft": False}}}}
    >>> root = {"hasLeft": True, "splitDim": 1, "splitValue": 0.5, "value0": leaf, "value1": leaf}
    >>> as_tree(sex, root, one_hot(np.array([[0], [1]]), sex)[1]).n_leaves
    2
    """
    Place = tuple[NumberNode, Region]

    def divide(place: Place) -> Division[Place]:
        node, region = place
        while node["hasLeft"]:
            feature, side = cut_of(int(node["splitDim"]), float(node["splitValue"]))
            parts = region.only(feature, side), region.only(feature, region.allowed[feature] - side)
            children = [node[key]["smartPointer"]["ptr_wrapper"]["data"] for key in ("value0", "value1")]
            left, right = (part.allowed[feature] for part in parts)
            if left and right:
                return feature, [(left, (children[0], parts[0])), (right, (children[1], parts[1]))]
            node = children[0] if left else children[1]
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
