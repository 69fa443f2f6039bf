"""Tables of means with their errors."""

from collections.abc import Sequence

import numpy as np

from sparsedensity.evaluation import standard_error


def header(*titles: str) -> str:
    """The first two lines of a table: the first column holds words, the others numbers."""
    return f"| {' | '.join(titles)} |\n| --- {'| --: ' * (len(titles) - 1)}|"


def with_error(values: Sequence[float]) -> str:
    """A mean and its standard error.

    >>> with_error([0.25, 0.75])
    '0.500 ± 0.250'
    """
    return f"{np.mean(values):.3f} ± {standard_error(values):.3f}"
