"""How many ways there are to split a domain: what the calibrated prior charges for having chosen one of them."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from sparsedensity.domain import Domain
from sparsedensity.table import Floats


def log_splits(domain: Domain, most: int) -> tuple[float, ...]:
    """Ln W(b) for b = 0, 1, .. most: the ways to split the domain on one feature into b groups, over all features.

    Numbers of groups that no feature can be split into are never asked for, and 0.

    >>> from sparsedensity.domain import Feature
    >>> domain = Domain((Feature.nominal("class", ("1st", "2nd", "3rd")), Feature.ordinal("age", ("child", "adult"))))
    >>> np.exp(log_splits(domain, 3)).round().tolist()
    [1.0, 1.0, 4.0, 1.0]
    """
    kinds = Counter((feature.size, feature.ordered, feature.missing is not None) for feature in domain)
    each = [np.log(count) + _log_ways(*kind, most) for kind, count in kinds.items()]
    logs = logsumexp(each, axis=0)
    return tuple(np.where(np.isfinite(logs), logs, 0.0).tolist())


@lru_cache(maxsize=256)
def _log_ways(size: int, ordered: bool, missing: bool, most: int) -> Floats:
    """Ln of the ways to part the values of one feature into each number of groups; minus infinity for 0 and 1."""
    groups = np.arange(most + 1)
    if not ordered:
        logs = _log_partitions(size, most)
    elif not missing:
        logs = _log_choose(size - 1, groups - 1)
    else:
        with np.errstate(divide="ignore"):
            joined = np.log(groups) + _log_choose(size - 2, groups - 1)
        logs = np.logaddexp(joined, _log_choose(size - 2, groups - 2))
    logs[:2] = -np.inf
    return logs


def _log_partitions(size: int, most: int) -> Floats:
    """Ln of the Stirling numbers of the second kind: S(q, b) = b S(q - 1, b) + S(q - 1, b - 1)."""
    logs = np.full(most + 1, -np.inf)
    logs[0] = 0.0
    with np.errstate(divide="ignore"):
        factor = np.log(np.arange(most + 1))
    for _ in range(size):
        logs[1:] = np.logaddexp(factor[1:] + logs[1:], logs[:-1])
        logs[0] = -np.inf
    return logs


def _log_choose(n: int, k: NDArray[np.int64]) -> Floats:
    """Ln C(n, k); minus infinity if there is no way."""
    logs = np.full(len(k), -np.inf)
    some = (k >= 0) & (k <= n)
    logs[some] = gammaln(n + 1) - gammaln(k[some] + 1) - gammaln(n - k[some] + 1)
    return logs
