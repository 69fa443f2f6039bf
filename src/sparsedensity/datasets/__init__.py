"""Small tables by name: the people aboard the Titanic, and data whose true density is known.

>>> from sparsedensity import datasets
>>> datasets.load("titanic").shape
(2201, 3)
>>> truth = datasets.housebreaks(rows=100)
>>> truth.frame.height, truth.tree.n_leaves
(100, 13)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING, Any

from sparsedensity.datasets.bundled import simulated, titanic
from sparsedensity.datasets.housebreaks import HOUSEBREAK_ROWS, housebreaks
from sparsedensity.datasets.truth import Truth
from sparsedensity.errors import DataError, in_short
from sparsedensity.scalars import is_one_of

if TYPE_CHECKING:
    import polars

__all__ = ["BUNDLED", "NAMES", "BundledSet", "Truth", "housebreaks", "load", "simulated", "titanic"]


@dataclass(frozen=True)
class BundledSet:
    """A data set that comes with the package.

    >>> BUNDLED["titanic"].rows, BUNDLED["titanic"].columns
    (2201, 3)
    """

    make: Callable[..., Any]
    description: str
    rows: int
    columns: int


BUNDLED = {
    "titanic": BundledSet(titanic, "The people aboard the Titanic: class, sex, age (Dawson 1995).", 2201, 3),
    "simulated": BundledSet(simulated, "Rows from a tree of six leaves: the paper's recovery experiment.", 1000, 3),
    "housebreaks": BundledSet(
        housebreaks, "Like the paper's crime data, of known truth; options rows, seed.", HOUSEBREAK_ROWS, 6
    ),
}
"""The bundled data sets by name."""
NAMES = tuple(BUNDLED)
"""Their names."""


def load(name: str, **options: Any) -> polars.DataFrame:
    """A data set by name; a generator takes options.

    >>> load("housebreaks", rows=500, seed=1).height
    500
    """
    if not is_one_of(name, NAMES):
        raise DataError(f"There is no data set {in_short(name)}. Known: {', '.join(NAMES)}.")
    known = BUNDLED[name]
    try:
        signature(known.make).bind(**options)
    except TypeError:
        raise DataError(f"{name!r} does not take the options {', '.join(options)}. {known.description}") from None
    made = known.make(**options)
    frame: polars.DataFrame = made.frame if isinstance(made, Truth) else made
    return frame
