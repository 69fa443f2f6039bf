"""The paper's data sets as a study takes them: the table, its split, and what stands in for what is not to be had."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sparsedensity import Domain, datasets
from sparsedensity.errors import DataError
from sparsedensity.experiments.paper import DATA_SETS

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

ABSENT = {
    "coco_stuff": "the stuff labels of COCO are not among the published tables that we read",
    "coco_stuff_thing": "the paper's table of label hierarchies is not published",
}
"""Sets that cannot be had anywhere, with the reason."""
CENSUS = {"us_census_1990": None, "us_census_1990_1m": 1_150_000}
"""The rows that are taken of the census."""
STAND_INS = {
    "crime": "housebreaks, generated from a known truth: the police's table is private",
    "us_census_1990": "census-like rows of a known truth: the published file is not here",
    "us_census_1990_1m": "census-like rows of a known truth: the published file is not here",
}


class PaperSet(NamedTuple):
    """A table, cut as the paper cut it."""

    name: str
    train: pl.DataFrame
    validation: pl.DataFrame
    domain: Domain
    stands_in: str
    """What it is, where it is not the paper's table; else empty."""


def paper_set(name: str, folder: Path | None, seed: int = 0) -> PaperSet:
    """One of the paper's sets, shuffled and cut after as many training rows as the paper's.

    >>> car = paper_set("car", None)
    >>> car.train.height, car.validation.height
    (1468, 260)
    """
    if name in ABSENT:
        raise DataError(f"{DATA_SETS[name].printed}: {ABSENT[name]}.")
    frame, stands_in = _table(name, folder)
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=seed)
    cut = DATA_SETS[name].train_rows
    return PaperSet(name, shuffled[:cut], shuffled[cut:], Domain.infer(frame), stands_in)


def _table(name: str, folder: Path | None) -> tuple[pl.DataFrame, str]:
    if name == "crime":
        return datasets.load("housebreaks"), STAND_INS[name]
    if name not in CENSUS:
        return datasets.load(name, folder=folder), ""
    rows = CENSUS[name] or DATA_SETS[name].rows
    try:
        return datasets.load("us_census_1990", folder=folder)[:rows], ""
    except DataError:
        return datasets.load("census_like", rows=rows), STAND_INS[name]
