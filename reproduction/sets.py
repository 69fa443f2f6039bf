"""The paper's data sets as a study takes them: the table, its split, and what stands in for what is not available."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from reproduction import datasets
from reproduction.datasets.fetching import FetchError
from reproduction.paper import DATA_SETS
from sparsedensity import Domain

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl


ORDERED = ("compas", "coco_thing")
"""The sets whose published files say which rows are for training: those come first."""


class TrainingCut(NamedTuple):
    """A table, cut as the paper cut it."""

    name: str
    train: pl.DataFrame
    validation: pl.DataFrame
    domain: Domain
    stands_in: str
    """What it is if it is not the paper's table; else empty."""


def paper_cut(name: str, folder: Path | None, seed: int = 0) -> TrainingCut:
    """One of the paper's sets, cut after as many training rows as the paper's; shuffled before, but for `ORDERED`.

    >>> car = paper_cut("car", None)
    >>> car.train.height, car.validation.height
    (1468, 260)
    """
    frame, stands_in = paper_table(name, folder)
    rows = frame if name in ORDERED else frame.sample(fraction=1.0, shuffle=True, seed=seed)
    cut = DATA_SETS[name].train_rows
    return TrainingCut(name, rows[:cut], rows[cut:], Domain.infer(frame, kinds="nominal"), stands_in)


def paper_table(name: str, folder: Path | None) -> tuple[pl.DataFrame, str]:
    """One of the paper's sets, or what stands in for it with a word on what that is."""
    check_public(name)
    described = DATA_SETS[name]
    if described.loaded is not None:
        try:
            return datasets.load(described.loaded, folder, described.first_rows), ""
        except FetchError:
            if described.stand_in is None:
                raise
    assert described.stand_in is not None
    why = "the table is private" if described.loaded is None else "the published file is not here"
    frame = datasets.load(described.stand_in, rows=described.first_rows)
    return frame, f"{described.stand_in}, rows of a known truth, because {why}"


def check_public(name: str) -> None:
    """Refuse a set that is not available anywhere, in one sentence."""
    described = DATA_SETS[name]
    if described.loaded is None and described.stand_in is None:
        raise FetchError(f"{described.title}: the paper's table is not public.")
