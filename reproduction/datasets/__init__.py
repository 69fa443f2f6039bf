"""The paper's tables by name: made on the spot, or read in their published form.

>>> from reproduction import datasets
>>> datasets.load("titanic").shape
(2201, 3)
>>> datasets.describe("connect4")
'Every open position of Connect-4 after eight discs (UCI), generated.'
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from reproduction.datasets import fetching
from reproduction.datasets.census import CENSUS_ROWS, census_like
from reproduction.datasets.connect4 import connect4
from reproduction.datasets.designs import balance, car, nursery
from reproduction.datasets.places import LocalFiles, find, home, places
from reproduction.datasets.published import PUBLISHED, PublishedSet
from sparsedensity import datasets
from sparsedensity.errors import DataError

__all__ = ["NAMES", "about", "balance", "car", "census_like", "connect4", "describe", "here", "load", "nursery"]


@dataclass(frozen=True)
class MadeSet:
    """A set that is made on the spot."""

    make: Callable[..., Any]
    description: str
    rows: int
    columns: int
    drawn: bool = False
    """Whether its rows are drawn from a known truth, as many as are asked for."""


MADE = {
    "titanic": MadeSet(datasets.titanic, datasets.BUNDLED["titanic"].description, 2201, 3),
    "balance": MadeSet(balance, "A balance with two arms: a full design (UCI Balance Scale), generated.", 625, 4),
    "car": MadeSet(car, "Prices, sizes and safety of cars: a full design (UCI Car Evaluation), generated.", 1728, 6),
    "nursery": MadeSet(nursery, "Families and a nursery school: a full design (UCI Nursery), generated.", 12960, 8),
    "connect4": MadeSet(connect4, "Every open position of Connect-4 after eight discs (UCI), generated.", 67557, 42),
    "housebreaks": MadeSet(datasets.housebreaks, "Like the paper's crime data, of known truth.", 3739, 6, True),
    "census_like": MadeSet(census_like, "Like the US Census of 1990, of known truth.", CENSUS_ROWS, 68, True),
}
NAMES = (*MADE, *PUBLISHED)


def about(name: str) -> MadeSet | PublishedSet:
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


def here(name: str, folder: Path | None = None) -> bool:
    """Whether a data set can be loaded without the network: it is made on the spot, or its files are there.

    >>> here("titanic")
    True
    """
    known = about(name)
    return isinstance(known, MadeSet) or find(known, places(folder)) is not None


def load(name: str, folder: Path | None = None, rows: int | None = None) -> pl.DataFrame:
    """A data set by name, prepared as the paper did; ``rows`` gives the first, or draws so many.

    Published sets are read from ``folder``, from the folder in the environment variable ``SPARSEDENSITY_DATA`` or from
    the cache of this machine, whichever has them first, in their published form or as prepared tables. What none of
    them has is fetched, which is said on standard error, and kept in the first that can be written. Whatever was read
    is held against the counts that the paper prints and against a digest.

    >>> load("census_like", rows=100).shape
    (100, 68)
    """
    known = about(name)
    if isinstance(known, PublishedSet):
        found = find(known, places(folder)) or LocalFiles(known, (fetching.fetch(known, home(folder)),))
        return found.read()[:rows]
    if not known.drawn:
        frame: pl.DataFrame = known.make()
        return frame[:rows]
    drawn: pl.DataFrame = known.make(**({} if rows is None else {"rows": rows})).frame
    return drawn
