"""Method II: the prior says how many branches a person wants at each split."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sparsedensity.posterior.base import check_positive, check_share, log_dirichlet, log_volume_terms
from sparsedensity.structures import Tree
from sparsedensity.table import Floats

DRAWS = 4096


@dataclass(frozen=True)
class BranchSparse:
    """Poisson prior on the branches of every node (lambda), a Dirichlet at every inner node (alpha).

    ``feature_probability`` (gamma) adds the optional prior on the number of features used.
    """

    expected_branches: float = 2.0
    pseudocount: float = 2.0
    feature_probability: float | None = None

    def __post_init__(self) -> None:
        check_positive("expected_branches", self.expected_branches)
        check_positive("pseudocount", self.pseudocount)
        if self.feature_probability is not None:
            check_share("feature_probability", self.feature_probability)

    def log_posterior(self, structure: Tree, weights: Floats) -> float:
        """Additive over nodes, but for the feature prior."""
        return (
            self.log_prior(structure)
            + math.fsum(log_dirichlet(below, self.pseudocount) for _, below in _inner(structure, weights))
            + log_volume_terms(weights, structure.log_volumes)
        )

    def log_prior(self, tree: Tree) -> float:
        """-lambda for every node, b ln lambda - ln b! for every inner node, and the feature prior."""
        branches = [len(tree.groups(node)) for node in np.flatnonzero(tree.feature >= 0).tolist()]
        rate = self.expected_branches
        nodes = -rate * len(tree.feature)
        return nodes + math.fsum(b * math.log(rate) - math.lgamma(b + 1) for b in branches) + self.log_features(tree)

    def log_features(self, tree: Tree) -> float:
        """Ln C(p, d) + d ln g + (p - d) ln (1 - g) for d features used out of p columns; 0 without the option."""
        g = self.feature_probability
        if g is None:
            return 0.0
        p, d = len(tree.domain), len(set(tree.feature[tree.feature >= 0].tolist()))
        return math.log(math.comb(p, d)) + d * math.log(g) + (p - d) * math.log1p(-g)

    def log_probabilities(self, structure: Tree, weights: Floats) -> Floats:
        """The product along the path of (n_c + a) / (n_i + b_i a)."""
        logs = np.zeros(len(structure.feature))
        for children, below in _inner(structure, weights):
            shares = (below + self.pseudocount) / (below.sum() + len(below) * self.pseudocount)
            logs[children[1:]] = logs[children[0]] + np.log(shares)
        return _by_leaf(structure, logs)

    def intervals(self, structure: Tree, weights: Floats, level: float = 0.95) -> Floats:
        """Quantiles of seeded draws of the path product."""
        rng = np.random.default_rng(0)
        logs = np.zeros((len(structure.feature), DRAWS))
        for children, below in _inner(structure, weights):
            gammas = _log_gammas((below + self.pseudocount)[:, None], (len(below), DRAWS), rng)
            logs[children[1:]] = logs[children[0]] + gammas - np.logaddexp.reduce(gammas, axis=0)
        tail = (1 - level) / 2
        return np.quantile(np.exp(_by_leaf(structure, logs)), [tail, 1 - tail], axis=1).T


def _inner(tree: Tree, weights: Floats) -> Iterator[tuple[list[int], Floats]]:
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


def _log_gammas(shape: Floats, size: tuple[int, int], rng: np.random.Generator) -> Floats:
    """Logs of gamma draws: G(s) = G(s + 1) U^(1/s) keeps those that would underflow at a small shape."""
    logs: Floats = np.log(rng.standard_gamma(shape + 1, size)) - rng.standard_exponential(size) / shape
    return logs


def _by_leaf(tree: Tree, by_node: Floats) -> Floats:
    leaves = np.flatnonzero(tree.leaf_number >= 0)
    ordered: Floats = by_node[leaves[np.argsort(tree.leaf_number[leaves])]]
    return ordered
