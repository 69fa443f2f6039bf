"""What all estimators share: their parameters, and how they learn."""

from __future__ import annotations

import os
from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sparsedensity.density import Density
from sparsedensity.domain import Domain
from sparsedensity.engines import MemoryEngine
from sparsedensity.errors import ParameterError, SearchWarning, warn
from sparsedensity.estimators import frames
from sparsedensity.estimators.fitted import FittedDensity
from sparsedensity.estimators.progress import watching
from sparsedensity.ingest import Reading, Source, open_source, read_table
from sparsedensity.posterior import Posterior
from sparsedensity.search import Found
from sparsedensity.search.base import Watch
from sparsedensity.structures import Structure
from sparsedensity.table import Floats, Table

EARLY_ENDS = ("time limit", "interrupted")


class DensityEstimator(FittedDensity):
    """A density over a table of categories, constant in each of a few leaves."""

    saved: ClassVar[tuple[str, ...]] = ()
    """What is known since the fit and is saved with a model, beside what all models save."""

    density: str
    kinds: Any
    bins: Any
    domain: Domain | None
    missing: Any
    progress: bool

    @abstractmethod
    def _posterior(self, domain: Domain) -> Posterior:
        """What is believed, from the parameters."""

    def _posterior_on(self, engine: MemoryEngine) -> Posterior:
        """What is believed, where that depends on the rows too."""
        return self._posterior(engine.domain)

    @abstractmethod
    def _learn(self, engine: MemoryEngine, watch: list[Watch]) -> Found:
        """Choose the structure."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the density of a table.

        Parameters
        ----------
        X
            A pandas, Polars or PyArrow table, a NumPy array, a list of records or a list of rows.
        y
            Ignored; there for scikit-learn.
        sample_weight
            One weight a row, so that a table of counts is a data set. Rows of weight 0 are left out.
        """
        reading = self._reading()
        self._check_parameters()
        source = open_source(X)
        with watching(self.progress, self.title) as watch:
            engine = MemoryEngine(read_table(source, reading, sample_weight), self._jobs())
            found = self._learn(engine, watch)
        if found.reason in EARLY_ENDS:
            warn(f"The search stopped early ({found.reason}): this is its best so far.", SearchWarning)
        self._remember_columns(source)
        self.weighted_ = sample_weight is not None
        self.frame_ = frames.kind_of(X)
        self._settle(engine.domain, self._posterior_on(engine), found, engine.leaf_weights(found.structure))
        self._remember_rows(engine.table)
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the model as JSON that a person can read; :func:`sparsedensity.load` reads it back."""
        from sparsedensity.estimators.saving import save

        check_is_fitted(self)
        save(self, path)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.categorical = tags.input_tags.allow_nan = True
        return tags

    def _remember_rows(self, table: Table) -> None:
        """Hold on to the rows, where a method needs them later."""

    def _settle(self, domain: Domain, posterior: Posterior, found: Found, weights: Floats) -> None:
        """Turn what was found into the fitted model."""
        self.__dict__.pop("_leaves", None)
        self.domain_, self.posterior_, self.found_ = domain, posterior, found
        self.density_ = self._density(found.structure, weights)

    def _density(self, structure: Structure, weights: Floats) -> Density:
        """The density of a structure with so much weight in each leaf."""
        if self.density == "empirical":
            with np.errstate(divide="ignore"):
                logs = np.log(weights / weights.sum())
        else:
            logs = self.posterior_.log_probabilities(structure, weights)
        return Density(structure, weights, logs)

    def _check_parameters(self) -> None:
        """Refuse what no estimator takes; the rest is checked where it is used."""
        if self.density not in ("mean", "empirical"):
            raise ParameterError("density", self.density, "'mean' or 'empirical'")
        if not isinstance(self.progress, bool | np.bool_):
            raise ParameterError("progress", self.progress, "True or False")

    def _reading(self) -> Reading:
        return Reading(self.kinds, self.bins, self.domain, self.missing, self.unknown)

    def _remember_columns(self, source: Source) -> None:
        self.n_features_in_ = len(source.names)
        if source.named:
            self.feature_names_in_ = np.array(source.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
