"""Tables that are elsewhere: lazy frames, whose rows stay where they are unless few of them are different."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals as nw

from sparsedensity.errors import ColumnsError, DataError


@dataclass(frozen=True)
class LazyTable:
    """A lazy frame, and the column that weighs its rows if there is one."""

    frame: nw.LazyFrame[Any]
    weight: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Its columns without the weights."""
        return tuple(name for name in self.frame.collect_schema().names() if name != self.weight)


def lazy_table(X: Any, sample_weight: Any) -> LazyTable | None:
    """A table that is elsewhere; ``None`` for one that is in memory."""
    try:
        frame = nw.from_native(X, pass_through=True)
    except nw.exceptions.DuplicateError:  # whoever opens the table says so in a sentence
        return None
    if not isinstance(frame, nw.LazyFrame):
        return None
    if sample_weight is not None and not isinstance(sample_weight, str):
        raise DataError("The rows of this table are elsewhere, and so are their weights: name a column of weights.")
    if sample_weight is not None:
        check_weight_column(sample_weight, frame.collect_schema().names())
    return LazyTable(frame, sample_weight)


def check_weight_column(name: str, names: list[str]) -> None:
    """Refuse a column of weights that is not there."""
    if name not in names:
        raise ColumnsError(f"There is no column {name!r} to weigh the rows. Columns: {', '.join(map(str, names))}.")
