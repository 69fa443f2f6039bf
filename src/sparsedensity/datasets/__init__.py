"""Bundled tables and generators of known truth.

>>> from sparsedensity import datasets
>>> datasets.load("titanic").shape
(2201, 3)
>>> sorted(datasets.NAMES)
['factorial', 'random-tree', 'simulated', 'titanic']
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sparsedensity.datasets.bundled import simulated, titanic
from sparsedensity.datasets.generated import Truth, factorial, random_tree
from sparsedensity.errors import DataError

if TYPE_CHECKING:
    import polars

__all__ = ["NAMES", "Truth", "describe", "factorial", "load", "random_tree", "simulated", "titanic"]

_LOADERS: dict[str, tuple[Callable[..., Any], str]] = {
    "titanic": (titanic, "The 2,201 people aboard the Titanic: class, sex, age (Dawson 1995)."),
    "simulated": (simulated, "1,000 rows from a tree of six leaves: the paper's recovery experiment."),
    "factorial": (factorial, "Every combination of values once; options levels=3,3,4."),
    "random-tree": (
        lambda **options: random_tree(**options).frame,
        "Rows drawn from a random density tree; options rows, sizes, leaves, seed.",
    ),
}
NAMES = tuple(_LOADERS)


def describe(name: str) -> str:
    """One line about a data set."""
    return _LOADERS[name][1]


def load(name: str, **options: Any) -> polars.DataFrame:
    """A bundled or generated data set by name.

    >>> load("factorial", levels=(2, 3)).height
    6
    """
    if name not in _LOADERS:
        raise DataError(f"There is no data set {name!r}. Known: {', '.join(NAMES)}.")
    try:
        frame: polars.DataFrame = _LOADERS[name][0](**options)
    except TypeError:
        raise DataError(f"{name!r} does not take the options {', '.join(options)}. {describe(name)}") from None
    return frame
