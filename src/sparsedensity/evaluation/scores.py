"""What an evaluation found: every method on every fold, for people and for other programs."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsedensity.models.folds import standard_error
from sparsedensity.report.text import table
from sparsedensity.table import Floats

if TYPE_CHECKING:
    import polars


@dataclass(frozen=True)
class FoldScore:
    """One method on one held-out fold.

    >>> score = FoldScore("greedy", fold=0, parameters={}, leaves=9, log_likelihood=-1383.4, rows=734.0, seconds=0.03)
    >>> round(score.log_likelihood / score.rows, 3)
    -1.885
    """

    method: str
    fold: int
    parameters: Mapping[str, Any]
    """What the inner folds chose."""
    leaves: float
    """The size of the model; infinite for a histogram with more points than a float can count, and not a number for a
    model that has no leaves."""
    log_likelihood: float
    """The sum over the rows of the fold."""
    rows: float
    """The weight of the fold."""
    seconds: float
    """How long the model took to fit, its parameters known."""
    choosing_seconds: float = 0.0
    """How long it took to choose the parameters."""

    @property
    def per_row(self) -> float:
        """The log-likelihood per row."""
        return self.log_likelihood / self.rows


@dataclass(frozen=True)
class Summary:
    """One method over all folds: means, each with its standard error over the folds.

    >>> from sparsedensity import GreedyTree, datasets
    >>> from sparsedensity.evaluation import CrossValidation, Method, evaluate
    >>> found = evaluate(datasets.load("titanic"), {"greedy": Method(GreedyTree())}, CrossValidation(folds=3))
    >>> summary = found.summaries()[0]
    >>> summary.method, summary.leaves, round(summary.error, 3)
    ('greedy', 9.0, 0.016)
    """

    method: str
    leaves: float
    per_row: float
    error: float
    difference: float
    """How far the log-likelihood per row is below that of the best method, fold by fold."""
    difference_error: float


@dataclass(frozen=True)
class Evaluation:
    """Every method on every fold: methods in the order they were given, folds in theirs.

    >>> from sparsedensity import GreedyTree, datasets
    >>> from sparsedensity.evaluation import CrossValidation, Method, evaluate
    >>> found = evaluate(datasets.load("titanic"), {"greedy": Method(GreedyTree())}, CrossValidation(folds=3))
    >>> [round(fold.log_likelihood) for fold in found.folds]
    [-1383, -1386, -1348]
    >>> round(found.summaries()[0].per_row, 3)
    -1.871
    """

    folds: tuple[FoldScore, ...]

    @property
    def methods(self) -> tuple[str, ...]:
        """The names of the methods."""
        return tuple(dict.fromkeys(fold.method for fold in self.folds))

    def of(self, method: str) -> tuple[FoldScore, ...]:
        """The folds of one method."""
        return tuple(fold for fold in self.folds if fold.method == method)

    def summaries(self) -> tuple[Summary, ...]:
        """One summary per method."""
        scores = {method: np.array([fold.per_row for fold in self.of(method)]) for method in self.methods}
        best = max(scores.values(), key=np.mean)
        return tuple(self._summary(method, per_row, best) for method, per_row in scores.items())

    def to_text(self) -> str:
        """One line per method: its size, its log-likelihood per held-out row, and how far that is from the best."""
        titles = ("leaves", "per row", "+-", "to the best", "+-")
        rows = [(summary.method, _cells(summary)) for summary in self.summaries()]
        return "\n".join(table(titles, rows, sys.maxsize))

    def to_svg(self) -> str:
        """Log-likelihood per row against the number of leaves, one point per method and fold."""
        from sparsedensity.evaluation.scatter import scatter

        return scatter(self)

    def to_frame(self) -> polars.DataFrame:
        """One row per method and fold, as a Polars table; the parameters as JSON."""
        import polars

        return polars.DataFrame(
            [
                {**vars(fold), "leaves": float(fold.leaves), "parameters": json.dumps(dict(fold.parameters))}
                for fold in self.folds
            ],
            infer_schema_length=None,
        )

    def _summary(self, method: str, per_row: Floats, best: Floats) -> Summary:
        with np.errstate(invalid="ignore"):
            behind = np.zeros(len(per_row)) if per_row is best else per_row - best
        return Summary(
            method,
            float(np.mean([fold.leaves for fold in self.of(method)])),
            float(per_row.mean()),
            standard_error(per_row.tolist()),
            float(behind.mean()),
            standard_error(behind.tolist()),
        )


def size_in_words(leaves: float) -> str:
    """A number of leaves, a mean of whole numbers, or what no one would count.

    >>> [size_in_words(leaves) for leaves in (9, 9.2, 1440, 2.0**80)]
    ['9', '9.2', '1,440', '1.2e+24']
    """
    if math.isnan(leaves):
        return ""
    if leaves >= 1e7:
        return f"{leaves:.1e}"
    return f"{leaves:,.0f}" if leaves == round(leaves) or leaves >= 1000 else f"{leaves:,.1f}"


def _cells(summary: Summary) -> list[str]:
    behind = summary.difference, summary.difference_error
    to_the_best = [f"{number:.4f}" for number in behind] if summary.difference else ["best", ""]
    return [size_in_words(summary.leaves), f"{summary.per_row:.4f}", f"{summary.error:.4f}", *to_the_best]
