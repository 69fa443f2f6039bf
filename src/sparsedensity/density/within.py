"""How common rows are within their leaf, which a density does not tell: it is the same all over a leaf."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sparsedensity.domain import Domain
from sparsedensity.table import Codes, Floats


def log_shares(domain: Domain, weights: Floats, leaves: NDArray[np.int64], codes: Codes) -> Floats:
    """For every row the sum over columns of the log of the share of its leaf's weight that has its value.

    `weights` is the weight in every leaf (one row each) at every value of the domain.
    """
    totals = weights[:, domain.span(0)].sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(weights / totals)
    out = np.zeros(len(codes))
    for i, start in enumerate(domain.starts[:-1]):
        out += logs[leaves, start + codes[:, i]]
    return out
