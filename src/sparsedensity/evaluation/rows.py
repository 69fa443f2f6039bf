"""Tables whose rows can be taken apart: what cross-validation needs of any kind of table."""

from __future__ import annotations

import hashlib
import time
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from sparsedensity.domain import Domain
from sparsedensity.errors import DataError, SearchWarning
from sparsedensity.evaluation import estimators
from sparsedensity.ingest import check_weights, encode, open_source
from sparsedensity.ingest.lazy import at_home
from sparsedensity.search.interrupts import whole_or_interrupted
from sparsedensity.table import Codes, Floats


class TimedFit(NamedTuple):
    """A fitted model and the seconds it took.

    >>> from sparsedensity import GreedyTree, datasets
    >>> model, seconds = timed_fit(GreedyTree(), datasets.load("titanic"))
    >>> model.n_leaves_
    9
    """

    model: Any
    seconds: float


def timed_fit(model: Any, X: Any, sample_weight: Any = None) -> TimedFit:
    """Fit a model, silent about a search that stops early.

    An estimator answers Ctrl-C with its best so far. Half a model is no measurement, so here Ctrl-C raises
    ``KeyboardInterrupt``.

    >>> from sparsedensity import GreedyTree, datasets
    >>> timed_fit(GreedyTree(), datasets.load("titanic")).model.n_leaves_
    9
    """
    with warnings.catch_warnings(), whole_or_interrupted():
        warnings.simplefilter("ignore", SearchWarning)
        begin = time.perf_counter()
        estimators.fit(model, X, sample_weight)
        return TimedFit(model, time.perf_counter() - begin)


@dataclass(frozen=True, eq=False)
class WeightedRows:
    """The rows of a table that lie in a domain and have weight."""

    domain: Domain
    table: Any
    codes: Codes
    weights: Floats
    numbers: NDArray[np.int64]
    """Which rows of the whole table they are."""
    n_rows: int
    """How many rows the whole table has."""

    @classmethod
    def of(cls, X: Any, sample_weight: Any = None, domain: Domain | None = None) -> WeightedRows:
        """The rows of any table, in a domain that is inferred unless it is given."""
        X, sample_weight = at_home(X, sample_weight, "The evaluation uses")
        source = open_source(X)
        given = check_weights(sample_weight, source.n_rows)
        if domain is None:
            domain = Domain.infer(X, sample_weight=sample_weight)
        known = source.known_to(domain)
        known.check_names(domain.names)
        encoded = encode(known, domain)
        weights = np.ones(source.n_rows) if given is None else given
        used = np.flatnonzero(~encoded.outside & (weights > 0))
        if not len(used):
            raise DataError("No row of the table lies in the domain.")
        table = take(X if known is source else without(X, domain.left_out), used)
        domain = replace(domain, left_out=())  # not even an estimator that knows no domain sees them
        return cls(domain, table, encoded.codes[used], weights[used], used, source.n_rows)

    @cached_property
    def fingerprint(self) -> str:
        """The same for equal rows in the same order, however they are stored."""
        digest = hashlib.sha256(repr(self.domain.features).encode())
        for part in (self.codes, self.weights):
            digest.update(np.ascontiguousarray(part).tobytes())
        return digest.hexdigest()[:16]

    def weighing(self, weights: Floats) -> tuple[Any, Floats]:
        """The rows that have weight among these weights, as the kind of table they came in, with their weights."""
        used = np.flatnonzero(weights > 0)
        return take(self.table, used), weights[used]

    def fit(self, estimator: Any, parameters: Mapping[str, Any], weights: Floats) -> TimedFit:
        """A copy of an estimator with some parameters, fitted to the rows that have weight."""
        return timed_fit(estimators.unfitted(estimator, **parameters), *self.weighing(weights))

    def score(self, model: Any, weights: Floats) -> float:
        """The log-likelihood of the rows that have weight."""
        return estimators.score(model, *self.weighing(weights))


def take(X: Any, rows: NDArray[np.integer[Any]]) -> Any:
    """Rows of any table by their numbers.

    >>> take([{"a": 1}, {"a": 2}, {"a": 3}], np.array([0, 2]))
    [{'a': 1}, {'a': 3}]
    """
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return frame[rows, :].to_native()
    if isinstance(X, Sequence) and len(X) and isinstance(X[0], Mapping | Sequence):
        return [X[row] for row in rows.tolist()]
    return np.asarray(X)[rows]


def without(X: Any, names: Collection[str]) -> Any:
    """Any table without some columns; those of an array are called x0, x1 and so on.

    >>> without([{"id": 7, "a": 1}, {"id": 8, "a": 2}], ["id"])
    [{'a': 1}, {'a': 2}]
    """
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return frame.drop([name for name in frame.columns if str(name) in names]).to_native()
    if isinstance(X, Sequence) and isinstance(X[0], Mapping):
        return [{name: value for name, value in record.items() if str(name) not in names} for record in X]
    kept = [i for i in range(len(X[0])) if f"x{i}" not in names]
    return [[row[i] for i in kept] for row in X] if isinstance(X, Sequence) else np.asarray(X)[:, kept]
