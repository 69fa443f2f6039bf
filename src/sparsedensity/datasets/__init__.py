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

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparsedensity.datasets.bundled import simulated, titanic
from sparsedensity.datasets.census import CENSUS_ROWS, census_like
from sparsedensity.datasets.connect4 import connect4
from sparsedensity.datasets.designs import balance, car, nursery
from sparsedensity.datasets.generated import Truth, check_count, factorial, random_tree
from sparsedensity.datasets.housebreaks import HOUSEBREAK_ROWS, housebreaks
from sparsedensity.datasets.paper import PAPER, PaperSet
from sparsedensity.datasets.places import Found, find, home, places
from sparsedensity.datasets.published import PUBLISHED, Published
from sparsedensity.errors import DataError

if TYPE_CHECKING:
    import polars

__all__ = [
    "NAMES",
    "PAPER",
    "PaperSet",
    "Truth",
    "about",
    "balance",
    "car",
    "census_like",
    "connect4",
    "describe",
    "factorial",
    "fetch",
    "here",
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
NAMES = (*MADE, *PUBLISHED)


def about(name: str) -> Made | Published:
    """What is known of a data set without loading it."""
    if name not in NAMES:
        raise DataError(f"There is no data set {name!r}. Known: {', '.join(NAMES)}.")
    return MADE[name] if name in MADE else PUBLISHED[name]


def describe(name: str) -> str:
    """One line about a data set.

    >>> describe("mushroom")
    'UCI Mushroom; with the class, without rows that miss a value.'
    """
    return about(name).description


def here(name: str, folder: str | Path | None = None) -> bool:
    """Whether a data set can be loaded without the network: it is made on the spot, or its files are there.

    >>> here("titanic")
    True
    """
    known = about(name)
    return isinstance(known, Made) or find(known, places(folder)) is not None


def fetch(name: str, folder: str | Path | None = None) -> None:
    """Have a published data set on this machine: look for it as :func:`load` does, and fetch it if it is not there."""
    known = about(name)
    if isinstance(known, Published) and not here(name, folder):
        _fetched(known, folder)


def load(name: str, folder: str | Path | None = None, **options: Any) -> polars.DataFrame:
    """A data set by name, prepared as the paper did.

    Published sets are read from ``folder``, from the folder in the environment variable ``SPARSEDENSITY_DATA`` or from
    the cache of this machine, whichever has them first, in their published form or as prepared tables. What none of
    them has is fetched, which is said on standard error, and kept in the first that can be written. Whatever was read
    is held against the counts that the paper prints and against a digest. Of a published set ``rows`` gives the first.

    >>> load("factorial", levels=(2, 3)).height
    6
    """
    check_options(name, options)
    made = _maker(about(name), folder)(**options)
    frame: polars.DataFrame = made.frame if isinstance(made, Truth) else made
    return frame


def check_options(name: str, options: Mapping[str, Any]) -> None:
    """Refuse what a data set does not take, before anything is fetched."""
    known = about(name)
    try:
        signature(_maker(known, None)).bind(**options)
    except TypeError:
        raise DataError(f"{name!r} does not take the options {', '.join(options)}. {describe(name)}") from None
    if isinstance(known, Published) and options.get("rows") is not None:
        check_count("rows", options["rows"])


def _maker(known: Made | Published, folder: str | Path | None) -> Callable[..., Any]:
    """What gives the table, once it has the options."""
    return known.make if isinstance(known, Made) else partial(_published, known, folder)


def _published(known: Published, folder: str | Path | None, rows: int | None = None) -> polars.DataFrame:
    found = find(known, places(folder)) or Found(known, (_fetched(known, folder),))
    return found.read()[:rows]


def _fetched(known: Published, folder: str | Path | None) -> Path:
    from sparsedensity.datasets import fetching  # what it needs of the network, most never need

    return fetching.fetch(known, home(folder))
