"""What a fitted model says about the rows of a table: they are checked, encoded and looked up by leaf."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from sparsedensity.density import Density
from sparsedensity.density.comparison import LeafComparison, same_shares
from sparsedensity.density.importance import expected_losses, losses_on
from sparsedensity.errors import ColumnsError, DataError, warn
from sparsedensity.estimators.folds import count_rows
from sparsedensity.estimators.parameters import jobs_of
from sparsedensity.ingest import Encoded, Source, check_weights, encode, open_source
from sparsedensity.ingest.encode import unknown_value
from sparsedensity.posterior import Posterior
from sparsedensity.report import comparison
from sparsedensity.report import importance as columns
from sparsedensity.report.comparison import Comparison, Outcome
from sparsedensity.report.importance import Importance
from sparsedensity.search import Found
from sparsedensity.structures import Structure
from sparsedensity.table import Codes, Floats, Table

if TYPE_CHECKING:
    from sparsedensity.domain import Domain
    from sparsedensity.estimators.base import DensityEstimator

Number = TypeVar("Number", np.float64, np.int64)


class Rows(NamedTuple):
    """The rows of a table that lie inside a domain and have weight."""

    codes: Codes
    weights: Floats
    numbers: NDArray[np.int64]
    """Which rows of the table they are."""
    outside: float
    """The weight of the rows outside the domain."""

    def weighing(self, weights: Floats) -> Rows:
        """The rows by other weights."""
        used = weights > 0
        return Rows(self.codes[used], weights[used], self.numbers[used], self.outside)

    def table(self, domain: Domain, weights: Floats | None = None) -> Table:
        """The rows as a table, by other weights if they are given."""
        rows = self if weights is None else self.weighing(weights)
        return Table.of(domain, rows.codes, rows.weights)

    def by_leaf(self, model: DensityEstimator) -> Floats:
        """The weight in every leaf of a model."""
        leaves = model.density_.leaf_numbers(self.codes, jobs=jobs_of(model.n_jobs))
        return np.bincount(leaves, self.weights, model.density_.structure.n_leaves).astype(np.float64)


def adopt(model: DensityEstimator, posterior: Posterior, found: Found, weights: Floats) -> None:
    """Make a model what was found, with so much weight in each leaf."""
    model.__dict__.pop("leaves_", None)
    model.domain_, model.posterior_, model.found_ = found.structure.domain, posterior, found
    model.density_ = density_of(model, found.structure, weights)


def density_of(model: DensityEstimator, structure: Structure, weights: Floats) -> Density:
    """The density of a structure with so much weight in each leaf, estimated as a model is told to."""
    if model.density == "empirical":
        with np.errstate(divide="ignore"):
            logs = np.log(weights / weights.sum())
    else:
        logs = model.posterior_.log_probabilities(structure, weights)
    return Density(structure, weights, logs)


def by_leaf(model: DensityEstimator, X: Any, values: NDArray[Number], outside: float) -> NDArray[Number]:
    """A number for every row: that of its leaf, or another one outside the domain."""
    encoded = encode_rows(model, open_source(X))
    out = values[model.density_.leaf_numbers(encoded.codes, jobs=jobs_of(model.n_jobs))]
    out[encoded.outside] = outside
    return out


def log_likelihood(logs: Floats, sample_weight: Any = None) -> float:
    """The sum of the log densities of rows; rows of weight 0 do not count, whatever their density."""
    weights = check_weights(sample_weight, len(logs))
    return float(logs.sum() if weights is None else weights[weights > 0] @ logs[weights > 0])


def read_rows(model: DensityEstimator, source: Source, sample_weight: Any, *, strict: bool = False) -> Rows:
    """The rows that count; `strict` refuses one outside the domain."""
    check_columns(model, source)
    given = check_weights(sample_weight, source.n_rows)
    weights = np.ones(source.n_rows) if given is None else given
    nearest = model.unknown == "nearest"
    encoded = encode(source, model.domain_, nearest=nearest, strict=strict, keep=weights > 0)
    numbers = np.flatnonzero(~encoded.outside & (weights > 0))
    return Rows(encoded.codes[numbers], weights[numbers], numbers, float(weights[encoded.outside].sum()))


def compare(model: DensityEstimator, X: Any, sample_weight: Any = None, source: str = "") -> Comparison:
    """Where a table differs from the one a model was fitted to. Rows outside the domain are a difference too."""
    rows, density = read_rows(model, open_source(X), sample_weight, strict=model.unknown == "error"), model.density_
    observed = rows.by_leaf(model)
    leaves = LeafComparison.of(density.probabilities, density.weights, observed, rows.outside)
    return comparison.against_model(model.report(), leaves, _outcome(model, rows, observed), source)


def _outcome(model: DensityEstimator, rows: Rows, observed: Floats) -> Outcome:
    """The test against the rows that were kept from the search; all of them lie inside the domain."""
    if model.held_out_ is None:
        return comparison.CHOSEN
    if not model.held_out_.whole or not count_rows(rows.weights):
        return comparison.FRACTIONAL
    return same_shares(model.density_.weights, observed) if observed.any() else comparison.NOTHING_INSIDE


def importance(model: DensityEstimator, X: Any, sample_weight: Any) -> Importance:
    """How much each column matters, to the records that a model expects or to the rows of a table."""
    if X is None:
        return columns.importance(model.domain_, expected_losses(model.density_))
    rows = read_rows(model, open_source(X), sample_weight, strict=model.unknown == "error")
    if not len(rows.codes):
        raise DataError("No row of the table lies in the domain.")
    return columns.importance(model.domain_, losses_on(model.density_, rows.codes, rows.weights))


def encode_rows(model: DensityEstimator, source: Source) -> Encoded:
    """Codes of rows to be scored, their columns checked, values outside the domain handled as asked."""
    check_columns(model, source)
    nearest = model.unknown == "nearest"
    encoded = encode(source, model.domain_, nearest=nearest, strict=model.unknown == "error")
    if encoded.unknown is not None:
        feature, value = encoded.unknown
        rows = int(encoded.outside.sum())
        warn(
            f"{f'{rows:,} rows lie' if rows > 1 else '1 row lies'} outside the domain, density 0: "
            f"{unknown_value(model.domain_[feature], value, nearest)} To measure folds or parts of a table alike, fit "
            "with domain=Domain.infer(whole_table)."
        )
    return encoded


def remember_columns(model: DensityEstimator, source: Source) -> None:
    """Note how many columns there are, and their names if they have any."""
    model.n_features_in_ = len(source.names)
    model.__dict__.pop("feature_names_in_", None)
    if source.named:
        model.feature_names_in_ = np.array(source.names, dtype=object)


def check_columns(model: DensityEstimator, source: Source) -> None:
    """Refuse a table whose columns are not those of the fit, in scikit-learn's words."""
    fitted, name = getattr(model, "feature_names_in_", None), type(model).__name__
    if source.named and fitted is not None:
        source.check_names(fitted.tolist())
    elif source.named != (fitted is not None):
        known, other = ("X has", "without") if source.named else ("X does not have valid", "with")
        warn(f"{known} feature names, but {name} was fitted {other} feature names", UserWarning)
    if len(source.names) != model.n_features_in_:
        raise ColumnsError(
            f"X has {len(source.names)} features, but {name} is expecting {model.n_features_in_} features as input."
        )
