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
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.special import ndtr, ndtri

from sparsedensity.domain import Domain
from sparsedensity.engines import MemoryEngine
from sparsedensity.errors import DataError, SparseDensityError
from sparsedensity.estimators import DensityEstimator
from sparsedensity.estimators.learner import Learned, Learner
from sparsedensity.estimators.parameters import check_word
from sparsedensity.extras import need
from sparsedensity.posterior import LeafSparse
from sparsedensity.problem import check_whole
from sparsedensity.region import Region
from sparsedensity.search import Found
from sparsedensity.search.base import Watch
from sparsedensity.structures import Tree
from sparsedensity.structures.tree import Division
from sparsedensity.table import Codes, Floats, Table

SIGMAS = 3.0
"""A sampled number stays within so many standard deviations of the middle of its interval: these are its ends."""
MOST_ROWS = 50_000_000

Side = frozenset[int]
"""The codes of a feature that go left."""
Cut = tuple[int, Side]


class MlpackTree(DensityEstimator):
    """The tree that mlpack's DET grows on categories, its leaves scored with the volumes of categories.

    Needs mlpack (``pip install sparsedensity[mlpack]``). Weights must be whole numbers: DET knows rows only.

    Parameters
    ----------
    encoding
        How categories become numbers: ``"one-hot"`` gives every value of a nominal column a column of 0 and 1, as the
        paper did; ``"sampled"`` draws a number from an interval of its value for every value, the more frequent the
        wider (the paper's Algorithm 2). Ordered columns become the numbers of their levels in ``"one-hot"``.
    min_leaf, max_leaf
        The least rows of a leaf, and the rows up to which a leaf is not split.
    folds
        The folds by which DET chooses how far to prune; ``None`` leaves the tree as it has grown.
    expected_leaves, pseudocount
        The prior (lambda and alpha) of the log posterior and the densities, as in our trees.
    random_state
        Orders the rows, which decides DET's folds, and draws the sampled numbers.
    density, kinds, bins, domain, missing, unknown, n_jobs, progress
        As in :class:`sparsedensity.GreedyTree`.
    """

    title: ClassVar[str] = "mlpack's density estimation tree"

    def __init__(
        self,
        encoding: Literal["one-hot", "sampled"] = "one-hot",
        *,
        min_leaf: int = 5,
        max_leaf: int = 10,
        folds: int | None = 10,
        expected_leaves: float = 8,
        pseudocount: float = 2,
        random_state: int = 0,
        density: Literal["mean", "empirical"] = "mean",
        kinds: Any = None,
        bins: Any = 10,
        domain: Domain | None = None,
        missing: Literal["category", "drop", "error"] = "category",
        unknown: Literal["zero", "nearest", "error"] = "zero",
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> None:
        self.encoding = encoding
        self.min_leaf = min_leaf
        self.max_leaf = max_leaf
        self.folds = folds
        self.expected_leaves = expected_leaves
        self.pseudocount = pseudocount
        self.random_state = random_state
        self.density = density
        self.kinds = kinds
        self.bins = bins
        self.domain = domain
        self.missing = missing
        self.unknown = unknown
        self.n_jobs = n_jobs
        self.progress = progress

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

    def learner(self) -> DetLearner:
        """What is believed, and how DET grows."""
        return DetLearner.of(self)


@dataclass(frozen=True)
class DetLearner(Learner):
    """Lets mlpack's DET grow a tree."""

    encoding: str
    min_leaf: int
    max_leaf: int
    folds: int | None
    expected_leaves: float
    pseudocount: float
    random_state: int

    def __post_init__(self) -> None:
        check_word("encoding", self.encoding, ENCODINGS)
        check_whole("min_leaf", self.min_leaf)
        check_whole("max_leaf", self.max_leaf)
        if self.folds is not None:
            check_whole("folds", self.folds)

    def posterior(self, domain: Domain) -> LeafSparse:
        """What is believed, on any domain."""
        return LeafSparse(self.expected_leaves, self.pseudocount)

    def learn(self, engine: MemoryEngine, watch: list[Watch]) -> Learned:
        """The tree of DET, its leaves scored with the volumes of categories."""
        det = need("mlpack", "its density estimation trees").det
        begin = time.perf_counter()
        rng = np.random.default_rng(self.random_state)
        numbers, cut_of = ENCODINGS[self.encoding](_repeated(engine.table, rng), engine.domain, rng)
        settings: dict[str, Any] = {"min_leaf_size": self.min_leaf, "max_leaf_size": self.max_leaf}
        pruning = {"skip_pruning": True} if self.folds is None else {"folds": self.folds}
        grown = det(training=numbers, **settings, **pruning)["output_model"]
        tree = as_tree(engine.domain, _splits_of(grown), cut_of)
        belief = self.posterior(engine.domain)
        score = belief.log_posterior(tree, engine.leaf_weights(tree))
        return Learned(belief, Found("mlpack", tree, score, "finished", tree.n_leaves - 1, time.perf_counter() - begin))


@dataclass(frozen=True)
class NumberSplit:
    """A split of a tree of numbers: rows with at most the threshold in the column go left. ``None`` is a leaf."""

    column: int
    threshold: float
    left: NumberSplit | None
    right: NumberSplit | None


def _splits_of(grown: Any) -> NumberSplit | None:
    try:
        return nodes_of(grown.get_cpp_params())
    except RecursionError:
        raise DataError("mlpack's tree is too deep to be read. Raise min_leaf or max_leaf.") from None


def nodes_of(parameters: Mapping[str, Any]) -> NumberSplit | None:
    """The splits of an mlpack tree, from what it says about itself.

    >>> leaf = {"hasLeft": False, "hasRight": False, "splitDim": 7, "splitValue": 0.1}
    >>> def pointer(node):
    ...     return {"smartPointer": {"ptr_wrapper": {"valid": 1, "data": node}}}
    >>> root = {"hasLeft": True, "hasRight": True, "splitDim": 2, "splitValue": 0.5}
    >>> nodes_of({"DTree[]": root | {"value0": pointer(leaf), "value1": pointer(leaf)}})
    NumberSplit(column=2, threshold=0.5, left=None, right=None)
    """
    return _node(next(iter(parameters.values())))


def _node(node: Mapping[str, Any]) -> NumberSplit | None:
    if not node["hasLeft"]:
        return None
    left, right = (_node(node[side]["smartPointer"]["ptr_wrapper"]["data"]) for side in ("value0", "value1"))
    return NumberSplit(int(node["splitDim"]), float(node["splitValue"]), left, right)


def as_tree(domain: Domain, root: NumberSplit | None, cut_of: Callable[[int, float], Cut]) -> Tree:
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


def one_hot(codes: Codes, domain: Domain, _rng: np.random.Generator) -> tuple[Floats, Callable[[int, float], Cut]]:
    """A column of 0 and 1 for every value of a nominal feature, the number of its level for an ordered one."""
    columns = [
        (feature, code)
        for feature, of in enumerate(domain)
        for code in ([None] if of.ordered else range(of.size))  # an ordered feature is one column
    ]
    numbers = np.stack(
        [codes[:, feature] if code is None else codes[:, feature] == code for feature, code in columns], axis=1
    ).astype(np.float64)

    def cut_of(column: int, threshold: float) -> Cut:
        feature, value = columns[column]
        return feature, frozenset(
            code for code in range(domain.sizes[feature]) if (code if value is None else code == value) <= threshold
        )

    return numbers, cut_of


def sampled(codes: Codes, domain: Domain, rng: np.random.Generator) -> tuple[Floats, Callable[[int, float], Cut]]:
    """The paper's Algorithm 2: a random number from the interval of every value, which is as long as its share.

    The intervals lie in [0, 1], those of nominal values by falling frequency, those of levels in their order. A
    threshold within an interval sends the value to the side on which its middle lies.
    """
    numbers = np.empty(codes.shape)
    middles: list[Floats] = []
    for column, feature in enumerate(domain):
        shares = np.bincount(codes[:, column], minlength=feature.size) / len(codes)
        order = np.arange(feature.size) if feature.ordered else np.argsort(-shares, kind="stable")
        ends = np.empty(feature.size)
        ends[order] = np.cumsum(shares[order])
        middles.append(ends - shares / 2)
        values = codes[:, column].astype(np.int64)
        numbers[:, column] = middles[-1][values] + shares[values] / (2 * SIGMAS) * _truncated_normal(len(codes), rng)

    def cut_of(column: int, threshold: float) -> Cut:
        return column, frozenset(np.flatnonzero(middles[column] <= threshold).tolist())

    return numbers, cut_of


def _truncated_normal(size: int, rng: np.random.Generator) -> Floats:
    """Draws of a normal distribution that ends at three standard deviations."""
    drawn: Floats = ndtri(rng.uniform(ndtr(-SIGMAS), ndtr(SIGMAS), size))
    return drawn


def _repeated(table: Table, rng: np.random.Generator) -> Codes:
    """Every row as often as its weight says, in random order: DET takes its folds from rows that follow each other."""
    if np.any(table.weights != np.floor(table.weights)) or table.n > MOST_ROWS:
        raise DataError("mlpack's DET knows rows and no weights: give it whole weights, 50 million in all at most.")
    return rng.permutation(np.repeat(table.codes, table.weights.astype(np.int64), axis=0))


ENCODINGS: dict[str, Callable[..., tuple[Floats, Callable[[int, float], Cut]]]] = {
    "one-hot": one_hot,
    "sampled": sampled,
}
