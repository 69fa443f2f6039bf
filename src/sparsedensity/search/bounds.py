"""An upper bound on the log posterior of every structure, cheap enough for any table.

The evidence of a structure is an average of likelihoods, so no more than the largest likelihood; and no density makes
the rows likelier than a separate bin for every distinct row. To that comes the best that the prior can give.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import gammaln

from sparsedensity.posterior import BranchSparse, LeafSparse, SparseRules
from sparsedensity.problem import Problem
from sparsedensity.table import Floats

MOST_COUNTED = 1_000_000
"""Numbers of leaves beyond this are bounded together."""


def upper_bound(problem: Problem[Any]) -> float | None:
    """What no structure's log posterior exceeds; ``None`` for a posterior without a bound.

    >>> from sparsedensity import datasets
    >>> from sparsedensity.engines import MemoryEngine
    >>> from sparsedensity.structures import Tree
    >>> from sparsedensity.table import Table
    >>> truth = datasets.random_tree(rows=100)
    >>> problem = Problem(MemoryEngine(Table.of(truth.domain, truth.codes)), LeafSparse())
    >>> upper_bound(problem) > problem.score(truth.tree)
    True
    """
    posterior, likelihood = problem.posterior, log_likelihood_of_rows(problem)
    if isinstance(posterior, LeafSparse):
        return likelihood + best_log_poisson(posterior.expected_leaves, _most_leaves(problem))
    if isinstance(posterior, BranchSparse):
        return _branch_sparse(problem, posterior, likelihood)
    if isinstance(posterior, SparseRules):
        return likelihood + _best_list(posterior)
    return None


def log_likelihood_of_rows(problem: Problem[Any]) -> float:
    """The log-likelihood of a separate bin for every distinct row: the sum of w ln (w / (n V))."""
    weights = problem.engine.table.weights
    return float(weights @ np.log(weights / problem.engine.n)) - log_volume_of_rows(problem)


def log_volume_of_rows(problem: Problem[Any]) -> float:
    """The sum over all rows of the log volume of the point they are at."""
    engine = problem.engine
    return float(engine.value_weights(engine.all_rows()) @ np.log(engine.domain.measures))


def best_log_poisson(rate: float, most: int) -> float:
    """The largest ln Poisson(k) of k = 1..most."""
    k = min(max(1, math.floor(rate)), most)
    return -rate + k * math.log(rate) - math.lgamma(k + 1)


def _most_leaves(problem: Problem[Any]) -> int:
    points = math.prod(problem.domain.sizes)
    return min(points, problem.max_leaves or points)


def _branch_sparse(problem: Problem[BranchSparse], posterior: BranchSparse, likelihood: float) -> float:
    """One leaf is scored as it is; any other tree pays for a root of two branches at least.

    An inner node of b branches makes b - 1 leaves more and so adds b (ln lambda - lambda) - ln b! to the prior:
    less than 0, and least for b = 2.
    """
    rate, n = posterior.expected_branches, problem.engine.n
    alone = -rate - n * problem.domain.log_volume + log_features(posterior, len(problem.domain), 0)
    if _most_leaves(problem) == 1:
        return alone
    features = max(log_features(posterior, len(problem.domain), d) for d in range(1, len(problem.domain) + 1))
    return max(alone, likelihood - rate + 2 * (math.log(rate) - rate) - math.log(2) + features)


def log_features(posterior: BranchSparse, columns: int, used: int) -> float:
    """The feature prior of a tree that uses some of the columns; 0 without the option."""
    g = posterior.feature_probability
    if g is None:
        return 0.0
    return math.log(math.comb(columns, used)) + used * math.log(g) + (columns - used) * math.log1p(-g)


def looks_at_features(posterior: object) -> bool:
    """Whether a posterior looks at the set of features that a tree uses."""
    return isinstance(posterior, BranchSparse) and posterior.feature_probability is not None


def _best_list(posterior: SparseRules) -> float:
    """The best prior of any length, each rule for free; a dropped Dirichlet constant is given back."""
    most = min(sum(posterior.antecedents), MOST_COUNTED)
    m: Floats = np.arange(most + 1, dtype=np.float64)
    logs = m * math.log(posterior.expected_rules) - gammaln(m + 1) - posterior.log_norm
    if posterior.as_printed:
        a = posterior.pseudocount
        logs += (m + 1) * gammaln(a) - gammaln((m + 1) * a)
    return float(logs.max())
