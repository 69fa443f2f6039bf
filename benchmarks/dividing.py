"""The shared tables, divided into rows to learn from and rows to hold out."""

from collections.abc import Iterator
from typing import NamedTuple

import polars as pl
from sklearn.model_selection import KFold

from benchmarks.paper_data import binary_tables, paper_tables
from sparsedensity import Domain

PARTS = 5
"""A test set that is given is scored in so many parts, so that it has an error too."""


class Fold(NamedTuple):
    """Rows to learn from, and the parts of those that are held out: each is scored by itself."""

    train: pl.DataFrame
    tests: tuple[pl.DataFrame, ...]


class Divided(NamedTuple):
    """A table, its domain and its folds."""

    name: str
    frame: pl.DataFrame
    domain: Domain
    """Of the whole table, every column a category."""
    folds: tuple[Fold, ...]


def divided_tables(folds: int) -> Iterator[Divided]:
    """Every shared table that is here: the paper's in folds, the binary ones as they are published."""
    for name, frame in paper_tables():
        cuts = KFold(folds, shuffle=True, random_state=0).split(frame)
        yield _divided(name, frame, *(Fold(frame[train], (frame[test],)) for train, test in cuts))
    for (name, train), (_, test) in zip(binary_tables("train"), binary_tables("test"), strict=True):
        parts = tuple(test[part::PARTS] for part in range(PARTS))
        yield _divided(name, pl.concat([train, test]), Fold(train, parts))


def _divided(name: str, frame: pl.DataFrame, *folds: Fold) -> Divided:
    return Divided(name, frame, Domain.infer(frame, kinds="nominal"), folds)
