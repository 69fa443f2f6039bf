"""The tables of the paper and others, divided into rows to learn from and rows to hold out."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.model_selection import KFold

from benchmarks.paper_data import binary_tables, paper_tables
from sparsedensity import Domain

PARTS = 5
"""A test set that is given is scored in so many parts, so that it has an error too."""

Rows = NDArray[np.int64]


class Fold(NamedTuple):
    """Rows to learn from, and the parts of those that are held out: each is scored by itself."""

    train: pl.DataFrame
    tests: tuple[pl.DataFrame, ...]


@dataclass(frozen=True)
class Divided:
    """A table, and for every fold the rows to learn from and the parts to hold out."""

    name: str
    frame: pl.DataFrame
    cuts: tuple[tuple[Rows, list[Rows]], ...]

    @cached_property
    def domain(self) -> Domain:
        """That of the whole table, every column a category."""
        return Domain.infer(self.frame, kinds="nominal")

    def folds(self) -> Iterator[Fold]:
        """The rows themselves."""
        for train, tests in self.cuts:
            yield Fold(self.frame[train], tuple(self.frame[test] for test in tests))


def divided_tables(folds: int) -> list[Divided]:
    """Every table that is here: the paper's in folds, the binary ones as they are published."""
    tables = [in_folds(name, frame, folds) for name, frame in paper_tables()]
    published = zip(binary_tables("train"), binary_tables("test"), strict=True)
    return tables + [as_published(name, train, test) for (name, train), (_, test) in published]


def in_folds(name: str, frame: pl.DataFrame, folds: int) -> Divided:
    """A table whose rows are held out in turn."""
    cuts = KFold(folds, shuffle=True, random_state=0).split(frame)
    return Divided(name, frame, tuple((train, [test]) for train, test in cuts))


def as_published(name: str, train: pl.DataFrame, test: pl.DataFrame) -> Divided:
    """A table with a test set of its own."""
    rows = np.arange(train.height + test.height)
    parts = [rows[train.height + part :: PARTS] for part in range(PARTS)]
    return Divided(name, pl.concat([train, test]), ((rows[: train.height], parts),))
