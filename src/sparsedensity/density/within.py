"""What rows are worth within their leaves, column by column."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sparsedensity.domain import Domain
from sparsedensity.table import Codes, Floats


def added_up(by_value: Floats, domain: Domain, leaves: NDArray[np.int64], codes: Codes) -> Floats:
    """For every row the sum over columns of what its leaf (one line each) says of its value."""
    sums = np.zeros(len(leaves))
    for feature, start in enumerate(domain.starts[:-1]):
        sums += by_value[leaves, start + codes[:, feature].astype(np.int64)]
    return sums
