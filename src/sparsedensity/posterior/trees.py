"""A posterior of trees: a structure prior, which says what sizes, splits and features cost, and a leaf model.

The log posterior of a tree of K leaves that uses d features is

    by_leaves(K) + by_features(d)
    + sum over splits of [ by_branches(b) - lnG(n_i + totals(b)) + sum over children of lnG(n_c + a) ]
    + sum over leaves of the leaf model's term.

If only the leaves matter (``only_leaves``), what the splits add comes down to lnG(n_l + a) - lnG(a) for every leaf, and
a prior is its table by leaves alone. A search asks for these tables and scalars and for the data of the leaf model; it
never asks which posterior it has.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from sparsedensity.domain import Domain
from sparsedensity.kernels import belief as kernels
from sparsedensity.posterior.base import PriorBound, log_volume_terms
from sparsedensity.posterior.splits import log_splits
from sparsedensity.structures import Tree
from sparsedensity.table import Floats

Numbers = NDArray[np.int64]
UNIFORM = kernels.Uniform()
KEY_BITS, KEY_SEED = 62, 12345
MOST_WHOLE = 1 << 16
"""For how many whole weights log gammas are computed once for all."""


class TreePosterior(ABC):
    """What every posterior of trees tells a search."""

    pseudocount: float
    leaf: Any
    """The data of the leaf model: a NamedTuple whose type chooses the compiled term."""
    only_leaves: bool = True
    """Whether trees with the same leaves score the same."""
    log_splits: tuple[float, ...] = ()
    """Ln of the ways to split the domain, by the number of children; without it the choice among splits is free."""

    def calibrated(self, domain: Domain, most: float = math.inf) -> Self:
        """The same belief with a charge for having chosen each split among all there are, for so many children."""
        most = 2 if self.only_leaves else max(int(min(most, max(domain.sizes))), 2)
        return replace(self, log_splits=log_splits(domain, most))  # type: ignore[type-var]

    def with_leaf(self, leaf: Any) -> Self:
        """The same belief with another leaf model."""
        return replace(self, leaf=leaf)  # type: ignore[type-var]

    @property
    def even(self) -> bool:
        """Whether the leaf model spreads records evenly."""
        return kernels.is_even(self.leaf)

    @property
    def bounded(self) -> bool:
        """Whether the terms of the leaf model are at most the log of a density of the rows."""
        return type(self.leaf) in kernels.BOUNDED

    @abstractmethod
    def by_leaves(self, leaves: Numbers, n: float) -> Floats:
        """What each number of leaves adds, for a table of weight n."""

    @abstractmethod
    def best_log_prior(self, domain: Domain, most_leaves: int) -> PriorBound:
        """The log prior of one leaf, and what no other tree's exceeds."""

    @abstractmethod
    def log_probabilities(self, structure: Tree, weights: Floats) -> Floats:
        """The log of the posterior mean of every leaf's probability."""

    @abstractmethod
    def intervals(self, structure: Tree, weights: Floats, level: float = 0.95) -> Floats:
        """Lower and upper end of a credible interval for every leaf's probability, given the structure."""

    def by_branches(self, branches: Numbers) -> Floats:
        """What a split into each number of children adds."""
        return (1 - branches).astype(np.float64) * math.lgamma(self.pseudocount)

    def totals(self, branches: Numbers) -> Floats:
        """The pseudocounts of all children of a split, as the Dirichlet of their parent sees them."""
        return np.full(len(branches), float(self.pseudocount))

    def by_features(self, used: Numbers, columns: int) -> Floats | None:
        """What each number of features used, out of all columns, adds; ``None`` if features cost nothing."""
        return None

    def log_posterior(self, structure: Tree, weights: Floats, value_weights: Floats | None = None) -> float:
        """The log posterior of a tree with some weight in each leaf.

        ``value_weights``, the weight in each leaf at each value, is asked for by leaf models that are not even.
        """
        shape = float(self.leaf_evidence(weights).sum()) if self.only_leaves else self._log_splits(structure, weights)
        used = self.by_features(np.array([structure.n_features_used]), len(structure.domain))
        return (
            float(self.by_leaves(np.array([structure.n_leaves]), float(weights.sum()))[0])
            + shape
            + (0.0 if used is None else float(used[0]))
            + self.leaf_terms(structure, weights, value_weights)
        )

    def log_shape(self, tree: Tree, n: float) -> float:
        """What the leaves and the branches of a tree add, whatever rows there are."""
        splits = 0.0 if self.only_leaves else float(self.by_branches(tree.branches).sum())
        return splits + float(self.by_leaves(np.array([tree.n_leaves]), n)[0])

    def leaf_terms(self, structure: Tree, weights: Floats, value_weights: Floats | None = None) -> float:
        """The sum of the terms of all leaves."""
        if self.even:
            return log_volume_terms(weights, structure.log_volumes)
        assert value_weights is not None
        return float(counted_terms(self.leaf, structure.domain, value_weights, structure.masks).sum())

    def region_terms(self, domain: Domain, allowed: NDArray[Any], value_weights: Floats) -> Floats:
        """The terms of several regions, each as a leaf, by the values they allow and the weight at every value."""
        if not self.even:
            return counted_terms(self.leaf, domain, value_weights, allowed)
        sides = np.add.reduceat(domain.measures * allowed, domain.starts[:-1], axis=1)
        terms: Floats = -value_weights[:, domain.span(0)].sum(axis=1) * np.log(sides).sum(axis=1)
        return terms

    def leaf_evidence(self, weights: Floats) -> Floats:
        """What the weight of every leaf adds beside its leaf term, if only leaves matter."""
        evidence: Floats = gammaln(weights + self.pseudocount) - gammaln(self.pseudocount)
        return evidence

    def log_split(self, below: Floats) -> float:
        """What one split adds, by the weights of its children."""
        b = np.array([len(below)])
        head = self.by_branches(b) - gammaln(below.sum() + self.totals(b))
        return float(head[0] + gammaln(below + self.pseudocount).sum())

    def _log_splits(self, tree: Tree, weights: Floats) -> float:
        return math.fsum(self.log_split(below) for _, below in splits_with_weights(tree, weights))


def splits_with_weights(tree: Tree, weights: Floats) -> Iterator[tuple[list[int], Floats]]:
    """For every inner node, parents first: the node followed by its children, and the children's weights."""
    held = np.zeros(len(tree.feature))
    order = [node.index for node in tree.walk()]
    for node in reversed(order):
        number = tree.leaf_number[node]
        held[node] = weights[number] if number >= 0 else sum(held[child] for child in tree.groups(node))
    for node in order:
        if tree.feature[node] >= 0:
            children = list(tree.groups(node))
            yield [node, *children], held[children]


def counted_terms(leaf: Any, domain: Domain, value_weights: Floats, allowed: NDArray[Any]) -> Floats:
    """The terms of several regions by a leaf model that is not even."""
    space = space_of(domain)
    return prepared_terms(kernels.prepare(leaf, space), space, value_weights, allowed)


def prepared_terms(data: Any, space: kernels.Space, value_weights: Floats, allowed: NDArray[Any]) -> Floats:
    """The same, given the data of the leaf model as its compiled function gets them."""
    out = np.empty(len(value_weights))
    kernels.terms(data, np.ascontiguousarray(value_weights), (allowed > 0).view(np.uint8), space, out)
    return out


def space_of(domain: Domain) -> kernels.Space:
    """A domain as the kernels read it."""
    features = np.zeros(len(domain), kernels.FEATURE)
    features["start"], features["stop"] = domain.starts[:-1], domain.starts[1:]
    features["ordered"] = [feature.ordered for feature in domain]
    places = zip(domain, domain.starts.tolist(), strict=False)
    features["missing"] = [-1 if feature.missing is None else start + feature.missing for feature, start in places]
    values = np.zeros(int(domain.starts[-1]), kernels.VALUE)
    values["measure"] = domain.measures
    values["key"] = np.random.default_rng(KEY_SEED).integers(1, 2**KEY_BITS, len(values))
    return kernels.Space(features, values)


def belief_of(
    posterior: TreePosterior, domain: Domain, n: float, most_leaves: int, most_branches: int
) -> kernels.Belief:
    """A posterior as the kernels read it, for trees of up to so many leaves."""
    columns = len(domain)
    children = np.arange(max(*domain.sizes, 2) + 1)
    branches = np.zeros(len(children), kernels.BRANCHES)
    branches["adds"][1:], branches["total"] = posterior.by_branches(children[1:]), posterior.totals(children)
    by_leaves = np.concatenate([[0.0], posterior.by_leaves(np.arange(1, most_leaves + 1), n)])
    by_features = posterior.by_features(np.arange(columns + 1), columns)
    log_gammas = gammaln(np.arange(min(int(n), MOST_WHOLE) + 1) + posterior.pseudocount)
    of_nothing = branches["adds"] - gammaln(branches["total"]) + children * log_gammas[0]
    return kernels.Belief(
        pseudocount=float(posterior.pseudocount),
        log_gammas=log_gammas,
        most_added=float(of_nothing[2:].max()),
        branches=branches,
        by_leaves=by_leaves,
        by_features=np.zeros(0) if by_features is None else by_features,
        most_branches=2 if posterior.only_leaves else most_branches,
        leaf=kernels.prepare(posterior.leaf, space_of(domain)),
    )
