"""A table whose rows can be picked: what cross-validation needs of any kind of table."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from sparsedensity.domain import Domain
from sparsedensity.errors import DataError
from sparsedensity.ingest import check_weights, encode, open_source
from sparsedensity.table import Codes, Floats


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a table that lie in a domain and have weight."""

    domain: Domain
    table: Any
    codes: Codes
    weights: Floats

    @cached_property
    def fingerprint(self) -> str:
        """The same for equal rows in the same order, however they are stored."""
        digest = hashlib.sha256(repr(self.domain.features).encode())
        for part in (self.codes, self.weights):
            digest.update(np.ascontiguousarray(part).tobytes())
        return digest.hexdigest()[:16]

    def take(self, used: NDArray[np.bool_]) -> Any:
        """Some of the rows, as the kind of table they came in."""
        return take(self.table, np.flatnonzero(used))


def rows_of(X: Any, sample_weight: Any = None, domain: Domain | None = None) -> Rows:
    """The rows of a table that count, in a domain that is inferred unless it is given."""
    source = open_source(X)
    weights = check_weights(sample_weight, source.n_rows)
    if domain is None:
        domain = Domain.infer(X, sample_weight=sample_weight)
    source.check_names(domain.names)
    encoded = encode(source, domain)
    own = np.ones(source.n_rows) if weights is None else weights
    used = np.flatnonzero(~encoded.outside & (own > 0))
    if not len(used):
        raise DataError("No row of the table lies in the domain.")
    return Rows(domain, take(X, used), encoded.codes[used], own[used])


def take(X: Any, rows: NDArray[np.integer[Any]]) -> Any:
    """Rows of any table by their numbers.

    >>> take([{"a": 1}, {"a": 2}, {"a": 3}], np.array([0, 2]))
    [{'a': 1}, {'a': 3}]
    """
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, nw.DataFrame):
        return frame[rows, :].to_native()
    if isinstance(X, Sequence) and len(X) and isinstance(X[0], Mapping | Sequence):
        return [X[row] for row in rows.tolist()]
    return np.asarray(X)[rows]
