"""The paper's tables by name: bundled, generated, or read in their published form; and data of known truth.

>>> from sparsedensity import datasets
>>> datasets.load("titanic").shape
(2201, 3)
>>> datasets.describe("connect4")
'Every open position of Connect-4 after eight discs (UCI), generated.'
>>> [described.name for described in datasets.PAPER][:4]
['balance', 'bank_full', 'car', 'chess_krkp']
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sparsedensity.datasets.bundled import simulated, titanic
from sparsedensity.datasets.census import CENSUS_ROWS, census_like
from sparsedensity.datasets.connect4 import connect4
from sparsedensity.datasets.designs import balance, car, nursery
from sparsedensity.datasets.generated import Truth, factorial, random_tree
from sparsedensity.datasets.housebreaks import HOUSEBREAK_ROWS, housebreaks
from sparsedensity.datasets.paper import PAPER, PaperSet
from sparsedensity.errors import DataError

if TYPE_CHECKING:
    import polars

__all__ = [
    "NAMES",
    "PAPER",
    "PaperSet",
    "Truth",
    "balance",
    "car",
    "census_like",
    "connect4",
    "describe",
    "factorial",
    "housebreaks",
    "load",
    "nursery",
    "random_tree",
    "simulated",
    "titanic",
]


@dataclass(frozen=True)
class Made:
    """A set that is made on the spot."""

    make: Callable[..., Any]
    description: str
    rows: int | None = None
    columns: int | None = None
    """``None`` where the options decide."""


MADE = {
    "titanic": Made(titanic, "The people aboard the Titanic: class, sex, age (Dawson 1995).", 2201, 3),
    "simulated": Made(simulated, "Rows from a tree of six leaves: the paper's recovery experiment.", 1000, 3),
    "balance": Made(balance, "A balance with two arms: a full design (UCI Balance Scale), generated.", 625, 4),
    "car": Made(car, "Prices, sizes and safety of cars: a full design (UCI Car Evaluation), generated.", 1728, 6),
    "nursery": Made(nursery, "Families and a nursery school: a full design (UCI Nursery), generated.", 12960, 8),
    "connect4": Made(connect4, "Every open position of Connect-4 after eight discs (UCI), generated.", 67557, 42),
    "census_like": Made(
        census_like, "Like the US Census of 1990, of known truth; options rows, seed, leaves.", CENSUS_ROWS, 68
    ),
    "housebreaks": Made(
        housebreaks, "Like the paper's crime data, of known truth; options rows, seed.", HOUSEBREAK_ROWS, 6
    ),
    "factorial": Made(factorial, "Every combination of values once; options levels=3,3,4."),
    "random-tree": Made(random_tree, "Rows drawn from a random density tree; options rows, sizes, leaves, seed."),
}
NAMES = tuple(MADE)


def describe(name: str) -> str:
    """One line about a data set."""
    return _known(name).description


def load(name: str, **options: Any) -> polars.DataFrame:
    """A data set by name.

    >>> load("factorial", levels=(2, 3)).height
    6
    """
    known = _known(name)
    try:
        made = known.make(**options)
    except TypeError:
        raise DataError(f"{name!r} does not take the options {', '.join(options)}. {describe(name)}") from None
    frame: polars.DataFrame = made.frame if isinstance(made, Truth) else made
    return frame


def _known(name: str) -> Made:
    if name not in MADE:
        raise DataError(f"There is no data set {name!r}. Known: {', '.join(NAMES)}.")
    return MADE[name]
