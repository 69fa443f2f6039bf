"""Small tables by name: the people aboard the Titanic, and data whose true density is known.

>>> from sparsedensity import datasets
>>> datasets.load("titanic").shape
(2201, 3)
>>> truth = datasets.random_tree(rows=100, sizes=(3, 2), leaves=3)
>>> truth.frame.height, truth.tree.n_leaves
(100, 3)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING, Any

from sparsedensity.datasets.bundled import simulated, titanic
from sparsedensity.datasets.generated import Truth, factorial, random_tree
from sparsedensity.datasets.housebreaks import HOUSEBREAK_ROWS, housebreaks
from sparsedensity.errors import DataError

if TYPE_CHECKING:
    import polars

__all__ = [
    "BUNDLED",
    "NAMES",
    "BundledSet",
    "Truth",
    "describe",
    "factorial",
    "housebreaks",
    "load",
    "random_tree",
    "simulated",
    "titanic",
]


@dataclass(frozen=True)
class BundledSet:
    """A data set that comes with the package."""

    make: Callable[..., Any]
    description: str
    rows: int | None = None
    columns: int | None = None
    """``None`` if the options decide."""


BUNDLED = {
    "titanic": BundledSet(titanic, "The people aboard the Titanic: class, sex, age (Dawson 1995).", 2201, 3),
    "simulated": BundledSet(simulated, "Rows from a tree of six leaves: the paper's recovery experiment.", 1000, 3),
    "housebreaks": BundledSet(
        housebreaks, "Like the paper's crime data, of known truth; options rows, seed.", HOUSEBREAK_ROWS, 6
    ),
    "factorial": BundledSet(factorial, "Every combination of values once; options levels=3,3,4."),
    "random-tree": BundledSet(random_tree, "Rows drawn from a random density tree; options rows, sizes, leaves, seed."),
}
NAMES = tuple(BUNDLED)


def describe(name: str) -> str:
    """One line about a data set.

    >>> describe("titanic")
    'The people aboard the Titanic: class, sex, age (Dawson 1995).'
    """
    return _bundled(name).description


def load(name: str, **options: Any) -> polars.DataFrame:
    """A data set by name; generators take options.

    >>> load("factorial", levels=(2, 3)).height
    6
    """
    make = _bundled(name).make
    try:
        signature(make).bind(**options)
    except TypeError:
        raise DataError(f"{name!r} does not take the options {', '.join(options)}. {describe(name)}") from None
    made = make(**options)
    frame: polars.DataFrame = made.frame if isinstance(made, Truth) else made
    return frame


def _bundled(name: str) -> BundledSet:
    if name not in BUNDLED:
        raise DataError(f"There is no data set {name!r}. Known: {', '.join(NAMES)}.")
    return BUNDLED[name]
