"""An upper bound on the log posterior of every structure, cheap enough for any table.

The evidence of a structure is an average of likelihoods, so no more than the largest likelihood; and no density makes
the rows likelier than a separate bin for every distinct row. Plus the best the prior allows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sparsedensity.engines import Engine
from sparsedensity.problem import Problem


def upper_bound(problem: Problem[Any]) -> float | None:
    """What no structure's log posterior exceeds; ``None`` if nothing is known."""
    likelihood = log_likelihood_of_rows(problem.engine)
    if likelihood is None or not problem.posterior.bounded:
        return None
    bound = problem.posterior.best_log_prior(problem.domain, most_leaves(problem))
    return float(max(bound.one_leaf + problem.one_leaf_term(), likelihood + bound.others))


def log_likelihood_of_rows(engine: Engine) -> float | None:
    """The log-likelihood of a separate bin for every distinct row: the sum of w ln (w / (n V))."""
    table = engine.collapsed()
    if table is None:
        return None
    return float(table.weights @ np.log(table.weights / engine.n)) - log_volume_of_rows(engine)


def log_volume_of_rows(engine: Engine) -> float:
    """The sum over all rows of the log volume of the point they are at."""
    return float(engine.value_weights() @ np.log(engine.domain.measures))


def most_leaves(problem: Problem[Any]) -> int:
    """The most leaves a structure can have."""
    points = math.prod(problem.domain.sizes)
    return min(points, problem.max_leaves or points)


def may_bind(problem: Problem[Any]) -> bool | None:
    """Whether the limit keeps a search from a better tree, before any is known: not if no tree has more leaves."""
    return None if (problem.max_leaves or math.inf) < math.prod(problem.domain.sizes) else False
