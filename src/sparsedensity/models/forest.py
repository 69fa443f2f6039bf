"""What our models are compared with: independent columns and Chow and Liu's tree.

They answer what our models answer as far as a comparison needs it: ``fit``, ``score_samples``, ``score``,
``n_leaves_`` and the same ways to read a table.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

import numpy as np

from sparsedensity.density.forest import Forest, chow_liu, independent
from sparsedensity.domain import Domain
from sparsedensity.ingest import Reading, encode, open_source, read_table
from sparsedensity.models.answers import log_likelihood
from sparsedensity.models.plain import Model
from sparsedensity.posterior.base import check_positive
from sparsedensity.table import Floats, Table


@dataclass(eq=False, repr=False, kw_only=True)
class ForestDensity(Model):
    """A density in which every column depends on at most one other.

    Parameters
    ----------
    pseudocount
        Added to every value of a column, for every value of the column it depends on.
    kinds, bins, domain, missing, unknown
        As in :class:`DensityModel`.
    """

    title: ClassVar[str]

    pseudocount: float = 1
    kinds: Any = None
    bins: Any = 10
    domain: Domain | None = None
    missing: Literal["category", "drop", "error"] = "category"
    unknown: Literal["zero", "nearest", "error"] = "zero"

    domain_: Domain = field(init=False)
    forest_: Forest = field(init=False)
    n_features_in_: int = field(init=False)

    @abstractmethod
    def _learn(self, table: Table) -> Forest:
        """Choose the links and fill the tables."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the density of a table; what it takes is what :meth:`sparsedensity.GreedyTree.fit` takes."""
        reading = Reading(self.kinds, self.bins, self.domain, self.missing, self.unknown)
        check_positive("pseudocount", self.pseudocount)
        source = open_source(X)
        table = read_table(source, reading, sample_weight)
        self.n_features_in_ = len(source.names)
        self.domain_, self.forest_ = table.domain, self._learn(table)
        return self

    @property
    def n_leaves_(self) -> int:
        """How many numbers one would have to read: the entries of its tables."""
        self.check_fitted()
        return self.forest_.n_entries

    def score_samples(self, X: Any) -> Floats:
        """The log density of every row; minus infinity for a row outside the domain."""
        self.check_fitted()
        source = open_source(X).known_to(self.domain_)
        source.check_names(self.domain_.names)
        encoded = encode(source, self.domain_, nearest=self.unknown == "nearest", strict=self.unknown == "error")
        return np.where(encoded.outside, -np.inf, self.forest_.log_densities(encoded.codes))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The log-likelihood: the sum of the log densities of all rows."""
        return log_likelihood(self.score_samples(X), sample_weight)


class IndependentColumns(ForestDensity):
    """Every column on its own: what you see column by column. Parameters as in :class:`ForestDensity`.

    >>> from sparsedensity import datasets
    >>> people = datasets.load("titanic")
    >>> model = IndependentColumns().fit(people)
    >>> model.n_leaves_, round(model.score(people) / 2201, 3)
    (8, -1.994)
    """

    title: ClassVar[str] = "Independent columns"

    def _learn(self, table: Table) -> Forest:
        return independent(table, self.pseudocount)


class ChowLiuTree(ForestDensity):
    """Chow and Liu's tree of columns: of all networks in which a column has one parent, the most likely.

    A strong reference that nobody can read as a picture of the table: its tables hold a number for every pair of
    linked values. Parameters as in :class:`ForestDensity`.

    >>> from sparsedensity import datasets
    >>> people = datasets.load("titanic")
    >>> model = ChowLiuTree().fit(people)
    >>> model.links_
    (('sex', 'class'), ('age', 'class'))
    >>> model.n_leaves_, round(model.score(people) / 2201, 3)
    (20, -1.867)
    """

    title: ClassVar[str] = "Chow-Liu tree"

    @property
    def links_(self) -> tuple[tuple[str, str], ...]:
        """Every column that depends on another, with that one."""
        self.check_fitted()
        names = self.domain_.names
        pairs = zip(names, self.forest_.parents, strict=True)
        return tuple((name, names[parent]) for name, parent in pairs if parent is not None)

    def _learn(self, table: Table) -> Forest:
        return chow_liu(table, self.pseudocount)
