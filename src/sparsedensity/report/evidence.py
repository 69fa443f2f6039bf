"""What a table says about a model: how well it does, what is unusual in it, what each leaf holds."""

from __future__ import annotations

from dataclasses import dataclass, field

from sparsedensity.report.explanation import Explanation
from sparsedensity.report.path import SparsityPath
from sparsedensity.report.standing import Score
from sparsedensity.table import Floats


@dataclass(frozen=True)
class Record:
    """One record of a table, in words, and why it is as unusual as it is."""

    values: tuple[tuple[str, str], ...]
    explanation: Explanation
    weight: float
    """How much weight rows like this one have."""
    identifiers: tuple[tuple[str, str], ...] = ()
    """Columns that the model leaves out because they tell rows apart, with their values."""


@dataclass(frozen=True)
class Evidence:
    """What was computed from a table beside the model itself; what was not is empty."""

    source: str = ""
    """The name of the table."""
    records: tuple[Record, ...] = ()
    """The most unusual records, the most unusual first; of a tie first those that are rarest within their leaf."""
    tied: float = 0.0
    """The weight of the rows that are as unusual as the last of these, if they are not all shown."""
    commonest: tuple[int, ...] = ()
    """The codes of the densest record; of a tie the one that is most common within its leaf."""
    scores: tuple[Score, ...] = ()
    """The model first, then the baselines."""
    folds: int = 0
    path: SparsityPath | None = None
    weights: Floats | None = field(default=None, repr=False)
    """The weight of the rows in every leaf (one row each) by every value of the domain."""
    interrupted: bool = False
    """Whether Ctrl-C ended the gathering before all was there."""
