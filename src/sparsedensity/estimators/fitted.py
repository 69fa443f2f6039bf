"""What a fitted model answers: densities, probabilities, explanations, words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils.validation import check_is_fitted, check_random_state

from sparsedensity.density import Density
from sparsedensity.domain import Domain
from sparsedensity.errors import ColumnsError, DataError, ParameterError, warn
from sparsedensity.estimators import frames
from sparsedensity.estimators.events import Event, column_of, event_weights, plain
from sparsedensity.estimators.explaining import explain_rows
from sparsedensity.estimators.shown import ShownDensity
from sparsedensity.ingest import Encoded, Source, check_weights, encode, open_source
from sparsedensity.ingest.encode import unknown_value
from sparsedensity.posterior import Posterior
from sparsedensity.report import model
from sparsedensity.report.explanation import Explanation
from sparsedensity.report.model import Leaf, Report
from sparsedensity.report.words import counted
from sparsedensity.search import Found
from sparsedensity.table import Floats

MOST_COMBINATIONS = 1_000_000
MOST_SAMPLES = 2**31 - 1


def log_likelihood(logs: Floats, sample_weight: Any = None) -> float:
    """The sum of the log densities of rows; rows of weight 0 do not count, whatever their density."""
    weights = check_weights(sample_weight, len(logs))
    return float(logs.sum() if weights is None else weights[weights > 0] @ logs[weights > 0])


class FittedDensity(ShownDensity, DensityMixin, BaseEstimator):
    """A density that is constant in each of a few leaves, once it is fitted."""

    title: ClassVar[str]
    """What the model is called in reports."""

    unknown: Any
    n_jobs: int | None

    domain_: Domain
    found_: Found
    density_: Density
    posterior_: Posterior
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    frame_: frames.Frame
    weighted_: bool

    @property
    def structure_(self) -> Any:
        """The tree, rule list or cells."""
        check_is_fitted(self)
        return self.found_.structure

    @property
    def search_(self) -> Found:
        """How the structure was found."""
        check_is_fitted(self)
        return self.found_

    @property
    def log_posterior_(self) -> float:
        """The log posterior of the structure."""
        check_is_fitted(self)
        return self.found_.log_posterior

    @property
    def n_leaves_(self) -> int | float:
        """The number of leaves."""
        return int(self.structure_.n_leaves)

    @property
    def leaves_(self) -> tuple[Leaf, ...]:
        """Every leaf with its conditions, weight, probability, volume, density and interval."""
        check_is_fitted(self)
        return self._leaves

    def score_samples(self, X: Any) -> Floats:
        """The log density of every row; minus infinity for a row outside the domain."""
        check_is_fitted(self)
        return self._by_leaf(X, self.density_.log_densities, -np.inf)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The log-likelihood: the sum of the log densities of all rows."""
        return log_likelihood(self.score_samples(X), sample_weight)

    def unusualness(self, X: Any) -> Floats:
        """For every row the share of the model's mass that is denser: 0 is the most common there is, 1 the rarest."""
        check_is_fitted(self)
        return self._by_leaf(X, self.density_.unusualness, 1.0)

    def apply(self, X: Any) -> NDArray[np.int64]:
        """The number of the leaf of every row; -1 for a row outside the domain."""
        check_is_fitted(self)
        encoded = self._encode(X)
        leaves = self.density_.leaf_numbers(encoded.codes, jobs=self._jobs())
        leaves[encoded.outside] = -1
        return leaves

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Any:
        """New rows drawn from the model, in the kind of table it was fitted on."""
        check_is_fitted(self)
        if not _is_whole(n_samples) or not 0 <= n_samples <= MOST_SAMPLES:
            raise ParameterError("n_samples", n_samples, f"a whole number from 0 to {MOST_SAMPLES:,}")
        rng = generator(random_state)
        codes = self.density_.draw(int(n_samples), rng)
        return frames.decode(self.domain_, codes, rng, self.frame_)

    def probability(self, event: Event) -> float:
        """The probability of an event: for some columns the values they take.

        ``{"class": "3rd", "age": ["child"]}`` names values, ``{"fare": (10, 20)}`` an interval of a continuous
        column (of whole numbers both ends count), ``None`` a missing value. Other columns may take any value.
        """
        check_is_fitted(self)
        return self.density_.probability(event_weights(self.domain_, event))

    def conditional(self, features: str | Sequence[str], given: Event | None = None) -> dict[Any, float]:
        """The distribution of one or more columns, given an event.

        Keys are values for one column and tuples of values for several, as :meth:`probability` takes them: bins are
        (low, high), whole numbers with both ends included, and missing is None.
        """
        check_is_fitted(self)
        names = [features] if isinstance(features, str) else features
        if not isinstance(names, Sequence) or not names or len(set(names)) < len(names):
            raise DataError(f"Name one or more different columns, not {features!r}.")
        columns = [column_of(self.domain_, name) for name in names]
        if math.prod(self.domain_.sizes[column] for column in columns) > MOST_COMBINATIONS:
            raise DataError(
                f"{', '.join(names)} have more than {MOST_COMBINATIONS:,} combinations. Name fewer columns."
            )
        masses = self.density_.joint(columns, event_weights(self.domain_, given or {}))
        if not masses.sum() > 0:
            raise DataError(f"The event {given!r} has probability 0, so nothing can be conditional on it.")
        shares = masses / masses.sum()
        values = [[plain(of, value) for value in of.values] for of in map(self.domain_.__getitem__, columns)]
        if isinstance(features, str):
            return dict(zip(values[0], shares.tolist(), strict=True))
        return {
            tuple(values[axis][i] for axis, i in enumerate(place)): float(share)
            for place, share in np.ndenumerate(shares)
        }

    def explain(self, X: Any) -> list[Explanation]:
        """For every row the path in words, how unusual it is, and which single change would make it most ordinary."""
        check_is_fitted(self)
        source = open_source(X)
        return explain_rows(self.density_, source, self._encode_source(source), self.unknown == "nearest")

    def report(self) -> Report:
        """Plain data about the fitted model, for renderers."""
        check_is_fitted(self)
        return model.report_of(
            f"{self.title} with {self._size_in_words()}",
            self.leaves_,
            self.structure_,
            self.found_,
            weighted=self.weighted_,
            posterior=self.posterior_,
        )

    def _size_in_words(self) -> str:
        return counted(self.n_leaves_, "leaf", "leaves")

    @cached_property
    def _leaves(self) -> tuple[Leaf, ...]:
        intervals = self.posterior_.intervals(self.structure_, self.density_.weights)
        return model.leaves_of(self.density_, intervals)

    def _jobs(self) -> int:
        if self.n_jobs is None:
            return 1
        if not _is_whole(self.n_jobs) or self.n_jobs == 0 or self.n_jobs < -1:
            raise ParameterError(
                "n_jobs", self.n_jobs, "a whole number of 1 or more, -1 for all cores, or None for one"
            )
        return int(self.n_jobs)

    def _encode(self, X: Any) -> Encoded:
        return self._encode_source(open_source(X))

    def _encode_source(self, source: Source) -> Encoded:
        """Codes of rows to be scored, their columns checked, values outside the domain handled as asked."""
        self._check_columns(source)
        encoded = encode(source, self.domain_, nearest=self.unknown == "nearest", strict=self.unknown == "error")
        if encoded.unknown is not None:
            feature, value = encoded.unknown
            rows = int(encoded.outside.sum())
            warn(
                f"{f'{rows:,} rows lie' if rows > 1 else '1 row lies'} outside the domain, density 0: "
                f"{unknown_value(self.domain_[feature], value, self.unknown == 'nearest')} To measure folds or parts "
                "of a table alike, fit with domain=Domain.infer(whole_table)."
            )
        return encoded

    def _check_columns(self, source: Source) -> None:
        fitted = getattr(self, "feature_names_in_", None)
        if source.named and fitted is not None:
            source.check_names(fitted.tolist())
        elif source.named != (fitted is not None):
            name = type(self).__name__
            known, other = ("X has", "without") if source.named else ("X does not have valid", "with")
            warn(f"{known} feature names, but {name} was fitted {other} feature names", UserWarning)
        if len(source.names) != self.n_features_in_:
            raise ColumnsError(
                f"X has {len(source.names)} features, but {type(self).__name__} is expecting {self.n_features_in_} "
                "features as input."
            )

    def _by_leaf(self, X: Any, by_leaf: Floats, outside: float) -> Floats:
        """A number for every row: that of its leaf, or another one outside the domain."""
        encoded = self._encode(X)
        out: Floats = by_leaf[self.density_.leaf_numbers(encoded.codes, jobs=self._jobs())]
        out[encoded.outside] = outside
        return out


def check_seed(random_state: Any) -> None:
    """Refuse what is no random state, without drawing from one that is."""
    if not isinstance(random_state, np.random.Generator | np.random.RandomState):
        generator(random_state)


def generator(random_state: Any) -> np.random.Generator:
    """A generator from whatever scikit-learn takes for a random state."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if random_state is None:
        return np.random.default_rng()
    try:
        state = check_random_state(random_state)
    except (TypeError, ValueError):
        raise ParameterError(
            "random_state", random_state, "a whole number from 0 to 4,294,967,295, a NumPy generator or None"
        ) from None
    return np.random.default_rng(state.randint(0, 2**31 - 1, size=4))


def _is_whole(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)
