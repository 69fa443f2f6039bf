"""How far a fitted density is from the truth, summed over every point of a small domain."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def distances(log_truth: NDArray[np.float64], log_fitted: NDArray[np.float64]) -> dict[str, float]:
    """Total variation and Kullback-Leibler divergence between two densities on the same points.

    >>> same = np.log([0.25, 0.75])
    >>> distances(same, same)
    {'variation': 0.0, 'divergence': 0.0}
    >>> distances(same, np.log([0.75, 0.25]))["variation"]
    0.5
    """
    truth, fitted = np.exp(log_truth), np.exp(log_fitted)
    seen = truth > 0
    return {
        "variation": float(0.5 * np.abs(truth - fitted).sum()),
        "divergence": float(truth[seen] @ (log_truth - log_fitted)[seen]),
    }
