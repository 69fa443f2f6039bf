"""Densities that factor over a forest of columns: each column depends on at most one other.

Without any links the columns are independent. Chow and Liu's tree links them so that the mutual information along the
links is largest: of all trees it gives the table the highest likelihood. Both are there to compare with, not to read.

>>> import numpy as np
>>> from sparsedensity.domain import Domain, Feature
>>> domain = Domain((Feature.nominal("sky", ("dry", "wet")), Feature.nominal("street", ("dry", "wet"))))
>>> table = Table.of(domain, np.array([[0, 0], [0, 0], [1, 1], [1, 1], [1, 0]], np.uint8))
>>> chow_liu(table).parents
(None, 0)
>>> np.exp(chow_liu(table).log_densities(table.codes)).round(3).tolist()
[0.321, 0.343, 0.229]
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import rel_entr

from sparsedensity.domain import Domain
from sparsedensity.table import Codes, Floats, Ints, Table

LARGEST_PAIR = 1 << 22
"""Columns with more combinations of values than this are not linked: such a link says nothing."""
LEAST_INFORMATION = 1e-12
"""Columns with no more mutual information than this, in nats, are not linked."""


@dataclass(frozen=True, eq=False)
class Forest:
    """For every column the column it depends on, and its log densities given each value of that one."""

    domain: Domain
    parents: tuple[int | None, ...]
    logs: tuple[Floats, ...]
    """One row for every value of the parent (one row without a parent), one entry per value."""

    @property
    def n_entries(self) -> int:
        """How many numbers its tables hold."""
        return sum(logs.size for logs in self.logs)

    def log_densities(self, codes: Codes) -> Floats:
        """The log density of every encoded row."""
        total = np.zeros(len(codes))
        for feature, (parent, logs) in enumerate(zip(self.parents, self.logs, strict=True)):
            given = 0 if parent is None else codes[:, parent].astype(np.int64)
            total += logs[given, codes[:, feature].astype(np.int64)]
        return total


def independent(table: Table, pseudocount: float = 1.0) -> Forest:
    """Every column by itself: what you see column by column."""
    return linked(table, (None,) * len(table.domain), pseudocount)


def chow_liu(table: Table, pseudocount: float = 1.0) -> Forest:
    """The tree of columns with the most mutual information along its links."""
    return linked(table, most_informative(mutual_information(table)), pseudocount)


def linked(table: Table, parents: tuple[int | None, ...], pseudocount: float) -> Forest:
    """The forest with given links: ln (n_uv + a) / (n_u + q a) / measure for value v of a column given u of another."""
    domain = table.domain
    logs = []
    for feature, parent in enumerate(parents):
        counts = _weights(table, feature, parent) + pseudocount
        shares = counts / counts.sum(axis=1, keepdims=True)
        logs.append(np.log(shares / domain.measures[domain.span(feature)]))
    return Forest(domain, parents, tuple(logs))


def mutual_information(table: Table) -> Floats:
    """For every two columns what one tells about the other, in nats; 0 for pairs that are not to be linked."""
    features = len(table.domain)
    information = np.zeros((features, features))
    for a, b in combinations(range(features), 2):
        if table.domain.sizes[a] * table.domain.sizes[b] <= LARGEST_PAIR:
            joint = _weights(table, b, a) / table.n
            expected = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
            information[a, b] = information[b, a] = rel_entr(joint, expected).sum()
    return information


def most_informative(information: Floats) -> tuple[int | None, ...]:
    """The parent of every column in the spanning forest of most information; the first column of a part is its root."""
    from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree  # noqa: PLC0415 (heavy)

    useful = np.where(information > LEAST_INFORMATION, information, 0.0)
    forest = minimum_spanning_tree(-useful)
    parents: list[int | None] = [None] * len(information)
    reached: set[int] = set()
    for root in range(len(information)):
        if root not in reached:
            order, before = breadth_first_order(forest, root, directed=False)
            reached.update(order.tolist())
            for feature in order[1:].tolist():
                parents[feature] = int(before[feature])
    return tuple(parents)


def _weights(table: Table, feature: int, parent: int | None) -> Floats:
    """The weight of every value of a column, one row for every value of another."""
    sizes = table.domain.sizes
    rows = 1 if parent is None else sizes[parent]
    place: Ints = table.codes[:, feature].astype(np.int64)
    if parent is not None:
        place = place + table.codes[:, parent].astype(np.int64) * sizes[feature]
    counts = np.bincount(place, table.weights, rows * sizes[feature]).astype(np.float64)
    return counts.reshape(rows, sizes[feature])
