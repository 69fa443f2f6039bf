"""Method II: the prior says how many branches a person wants at each split."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln

from sparsedensity.domain import Domain
from sparsedensity.posterior.base import PriorBound, check_positive, check_pseudocount, check_share
from sparsedensity.posterior.trees import UNIFORM, Numbers, TreePosterior, splits_with_weights
from sparsedensity.structures import Tree
from sparsedensity.table import Floats

DRAWS = 4096


@dataclass(frozen=True)
class BranchSparse(TreePosterior):
    """Poisson prior on the branches of every node (lambda), a Dirichlet at every inner node (alpha).

    ``feature_probability`` (gamma) adds the optional prior on the number of features used. Calibrated, every split
    into b branches pays ln W(b).
    """

    expected_branches: float = 2.0
    pseudocount: float = 2.0
    feature_probability: float | None = None
    leaf: Any = UNIFORM
    log_splits: tuple[float, ...] = ()

    only_leaves = False

    def __post_init__(self) -> None:
        check_positive("expected_branches", self.expected_branches)
        check_pseudocount(self.pseudocount)
        if self.feature_probability is not None:
            check_share("feature_probability", self.feature_probability)

    def by_leaves(self, leaves: Numbers, n: float) -> Floats:
        """-lambda: that of the root, whatever the number of leaves."""
        return np.full(len(leaves), -float(self.expected_branches))

    def by_branches(self, branches: Numbers) -> Floats:
        """-b lambda for the children, b ln lambda - ln b! for the node, and lnG(b a) - b lnG(a) of its Dirichlet.

        Calibrated, also -ln W(b).
        """
        a = float(self.pseudocount)
        adds: Floats = self.log_prior(branches) + gammaln(branches * a) - branches * math.lgamma(a)
        return adds

    def log_prior(self, branches: Numbers) -> Floats:
        """What a split into b children and its children add to the prior."""
        rate = self.expected_branches
        logs: Floats = branches * (math.log(rate) - rate) - gammaln(branches + 1)
        return logs - np.array(self.log_splits)[branches] if self.log_splits else logs

    def totals(self, branches: Numbers) -> Floats:
        """A pseudocount for every child."""
        return branches.astype(np.float64) * self.pseudocount

    def by_features(self, used: Numbers, columns: int) -> Floats | None:
        """Ln C(p, d) + d ln g + (p - d) ln (1 - g) for d features used out of p columns."""
        g = self.feature_probability
        if g is None:
            return None
        ways = np.array([math.log(math.comb(columns, d)) for d in used.tolist()])
        logs: Floats = ways + used * math.log(g) + (columns - used) * math.log1p(-g)
        return logs

    def best_log_prior(self, domain: Domain, most_leaves: int) -> PriorBound:
        """One node, and a root of two branches at least.

        An inner node of b branches makes b - 1 leaves more and so adds b (ln lambda - lambda) - ln b! to the prior,
        less what it is charged for the choice: always less than 0, so that a single split has the best prior.
        """
        rate, columns = self.expected_branches, len(domain)
        split = float(self.log_prior(np.arange(2, max(*domain.sizes, 2) + 1)).max())
        features = self.by_features(np.arange(columns + 1), columns)
        none, some = (0.0, 0.0) if features is None else (float(features[0]), float(features[1:].max()))
        return PriorBound(none - rate, some - rate + split)

    def log_probabilities(self, structure: Tree, weights: Floats) -> Floats:
        """The product along the path of (n_c + a) / (n_i + b_i a)."""
        logs = np.zeros(len(structure.feature))
        for children, below in splits_with_weights(structure, weights):
            shares = (below + self.pseudocount) / (below.sum() + len(below) * self.pseudocount)
            logs[children[1:]] = logs[children[0]] + np.log(shares)
        return _by_leaf(structure, logs)

    def intervals(self, structure: Tree, weights: Floats, level: float = 0.95) -> Floats:
        """Quantiles of seeded draws of the path product."""
        rng = np.random.default_rng(0)
        logs = np.zeros((len(structure.feature), DRAWS))
        for children, below in splits_with_weights(structure, weights):
            gammas = _log_gammas((below + self.pseudocount)[:, None], (len(below), DRAWS), rng)
            logs[children[1:]] = logs[children[0]] + gammas - np.logaddexp.reduce(gammas, axis=0)
        tail = (1 - level) / 2
        return np.quantile(np.exp(_by_leaf(structure, logs)), [tail, 1 - tail], axis=1).T


def _log_gammas(shape: Floats, size: tuple[int, int], rng: np.random.Generator) -> Floats:
    """Logs of gamma draws: G(s) = G(s + 1) U^(1/s) keeps those that would underflow at a small shape."""
    logs: Floats = np.log(rng.standard_gamma(shape + 1, size)) - rng.standard_exponential(size) / shape
    return logs


def _by_leaf(tree: Tree, by_node: Floats) -> Floats:
    leaves = np.flatnonzero(tree.leaf_number >= 0)
    ordered: Floats = by_node[leaves[np.argsort(tree.leaf_number[leaves])]]
    return ordered
