"""What a fitted model says about the rows of a table: they are checked, encoded and looked up by leaf."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsedensity.density import Density
from sparsedensity.density.comparison import LeafComparison, same_shares
from sparsedensity.density.importance import expected_losses, losses_on
from sparsedensity.density.placed import Placed
from sparsedensity.engines import LeafWeights
from sparsedensity.errors import ColumnsError, DataError, ParameterError, in_short, warn
from sparsedensity.ingest import Encoded, Source, check_weights, encode, open_source
from sparsedensity.ingest.decode import decode
from sparsedensity.ingest.encode import Unknown, unknown_value
from sparsedensity.ingest.lazy import at_home, lazy_table, weights_apart
from sparsedensity.models.folds import are_counts
from sparsedensity.models.parameters import generator, jobs_of
from sparsedensity.models.pushdown import Counted, LazilyPlaced
from sparsedensity.posterior import Posterior, Profiles, TreePosterior
from sparsedensity.report import comparison, words
from sparsedensity.report import importance as columns
from sparsedensity.report.comparison import Comparison, Outcome
from sparsedensity.report.importance import Importance
from sparsedensity.scalars import is_whole
from sparsedensity.search import Found
from sparsedensity.structures import Structure, Tree
from sparsedensity.table import Codes, Floats, Table

if TYPE_CHECKING:
    from sparsedensity.domain import Domain
    from sparsedensity.models.base import DensityModel

MOST_SAMPLES = 2**31 - 1
MOST_LISTED = 5
"""Of more columns with unknown values only the first few are named."""


class Rows(NamedTuple):
    """The rows of a table that lie inside a domain and have weight."""

    codes: Codes
    weights: Floats
    numbers: NDArray[np.int64]
    """Which rows of the table they are."""
    outside: float
    """The weight of the rows outside the domain."""
    unknown: tuple[Unknown, ...] = ()
    """The columns with values outside the domain."""

    def check_any(self) -> None:
        """Raise if there are none."""
        if not len(self.codes):
            raise DataError("No row of the table lies in the domain.")

    def weighing(self, weights: Floats) -> Rows:
        """The rows by other weights."""
        used = weights > 0
        return Rows(self.codes[used], weights[used], self.numbers[used], self.outside)

    def table(self, domain: Domain, weights: Floats | None = None) -> Table:
        """The rows as a table, by other weights if they are given."""
        rows = self if weights is None else self.weighing(weights)
        return Table.of(domain, rows.codes, rows.weights)

    def by_leaf(self, model: DensityModel) -> Floats:
        """The weight in every leaf of a model."""
        leaves = model.density_.leaf_numbers(self.codes, jobs=jobs_of(model.n_jobs))
        return np.bincount(leaves, self.weights, model.density_.structure.n_leaves).astype(np.float64)


def adopt(model: DensityModel, posterior: Posterior, found: Found, counts: LeafWeights) -> None:
    """Make a model what was found, with what was counted in its leaves."""
    model.__dict__.pop("leaves_", None)
    model.domain_, model.posterior_, model.found_ = found.structure.domain, posterior, found
    model.density_ = density_of(model, found.structure, counts)


def density_of(model: DensityModel, structure: Structure, counts: LeafWeights) -> Density:
    """The density of a structure with what was counted in its leaves, estimated as a model is told to."""
    weights, posterior = counts.weights, model.posterior_
    if model.density == "empirical":
        with np.errstate(divide="ignore"):
            logs = np.log(weights / weights.sum())
    else:
        logs = posterior.log_probabilities(structure, weights)
    if counts.by_value is None:
        return Density(structure, weights, logs)
    assert isinstance(structure, Tree)
    assert isinstance(posterior, TreePosterior)
    return Density(structure, weights, logs, Profiles.of(posterior.leaf, structure, counts.by_value))


def place_rows(model: DensityModel, X: Any) -> Placed:
    """Where a fitted model puts the rows of a table."""
    model.check_fitted()
    return place(model, encode_rows(model, open_rows(model, X)))


def place_anywhere(model: DensityModel, X: Any) -> Placed | LazilyPlaced:
    """Where a fitted model puts the rows of a table, in memory or elsewhere."""
    model.check_fitted()
    lazy = lazy_table(X, None)
    return place_rows(model, X) if lazy is None else LazilyPlaced.of(model, lazy)


def place(model: DensityModel, encoded: Encoded) -> Placed:
    """Where a model puts encoded rows."""
    leaves = model.density_.leaf_numbers(encoded.codes, jobs=jobs_of(model.n_jobs))
    leaves[encoded.outside] = -1
    return Placed(model.density_, encoded.codes, leaves)


def score(model: DensityModel, X: Any, sample_weight: Any) -> float:
    """The log-likelihood of the rows of a table, in memory or elsewhere."""
    model.check_fitted()
    lazy = lazy_table(X, sample_weight)
    if lazy is not None:
        return LazilyPlaced.of(model, lazy).log_likelihood()
    rows, weights = weights_apart(X, sample_weight)
    return log_likelihood(place_rows(model, rows).log_densities, weights)


def log_likelihood(logs: Floats, sample_weight: Any = None) -> float:
    """The sum of the log densities of rows; rows of weight 0 do not count, whatever their density."""
    weights = check_weights(sample_weight, len(logs))
    return float(logs.sum() if weights is None else weights[weights > 0] @ logs[weights > 0])


def read_rows(
    model: DensityModel, X: Any, sample_weight: Any, *, strict: bool = False, used: NDArray[np.bool_] | None = None
) -> Rows:
    """The rows that count; `strict` refuses one outside the domain in a column in use, which all are by default."""
    source = open_rows(model, X)
    given = check_weights(sample_weight, source.n_rows)
    weights = np.ones(source.n_rows) if given is None else given
    nearest = model.unknown == "nearest"
    encoded = encode(source, model.domain_, nearest=nearest, strict=strict, keep=weights > 0, used=used)
    numbers = np.flatnonzero(~encoded.outside & (weights > 0))
    outside = float(weights[encoded.outside].sum())
    return Rows(encoded.codes[numbers], weights[numbers], numbers, outside, encoded.unknown)


def compare(model: DensityModel, X: Any, sample_weight: Any = None, source: str = "") -> Comparison:
    """Where a table differs from the one a model was fitted to. Rows outside the domain are a difference too."""
    density, lazy = model.density_, lazy_table(X, sample_weight)
    counted = _count(model, X, sample_weight) if lazy is None else LazilyPlaced.of(model, lazy).counted()
    leaves = LeafComparison.of(density.probabilities, density.weights, counted.weights, counted.outside)
    return comparison.against_model(model.report(), leaves, _outcome(model, counted), source)


def _count(model: DensityModel, X: Any, sample_weight: Any) -> Counted:
    """The rows of a table in memory, by the leaves of a model."""
    X, sample_weight = weights_apart(X, sample_weight)
    rows = read_rows(model, X, sample_weight, strict=model.unknown == "error", used=model.density_.used)
    verb = "lies" if rows.outside == 1 else "lie"
    warn_of_unknown(rows.unknown, f"{words.amount(rows.outside, 'rows')} {verb}", model.unknown == "nearest")
    return Counted(rows.by_leaf(model), rows.outside, are_counts(rows.weights))


def _outcome(model: DensityModel, counted: Counted) -> Outcome:
    """The test against the rows that were kept from the search; all of them lie inside the domain."""
    if model.held_out_ is None:
        return comparison.CHOSEN
    if not model.held_out_.whole or not counted.whole:
        return comparison.FRACTIONAL
    observed = counted.weights
    return same_shares(model.density_.weights, observed) if observed.any() else comparison.NOTHING_INSIDE


def importance(model: DensityModel, X: Any, sample_weight: Any) -> Importance:
    """How much each column matters, to the records that a model expects or to the rows of a table."""
    if X is None:
        return columns.importance(model.domain_, expected_losses(model.density_))
    X, sample_weight = at_home(X, sample_weight, "The columns matter so much to")
    rows = read_rows(model, X, sample_weight, strict=model.unknown == "error", used=model.density_.used)
    rows.check_any()
    return columns.importance(model.domain_, losses_on(model.density_, rows.codes, rows.weights))


def sample(model: DensityModel, n_samples: int, random_state: Any) -> Any:
    """New rows drawn from a model, in the kind of table it was fitted on."""
    if not is_whole(n_samples) or not 0 <= n_samples <= MOST_SAMPLES:
        raise ParameterError("n_samples", n_samples, f"a whole number from 0 to {MOST_SAMPLES:,}")
    rng = generator(random_state)
    return decode(model.domain_, model.density_.draw(int(n_samples), rng), rng, model.frame_)


def encode_rows(model: DensityModel, source: Source) -> Encoded:
    """Codes of rows to be scored, values outside the domain handled as asked."""
    nearest = model.unknown == "nearest"
    strict = model.unknown == "error"
    encoded = encode(source, model.domain_, nearest=nearest, strict=strict, used=model.density_.used)
    rows = int(encoded.outside.sum())
    warn_of_unknown(encoded.unknown, f"{rows:,} rows lie" if rows > 1 else "1 row lies", nearest)
    return encoded


def warn_of_unknown(unknown: Sequence[Unknown], who: str, nearest: bool) -> None:
    """Say once which columns hold values outside the domain: those that give density 0, and those that are ignored."""
    used = [column for column in unknown if column.used]
    ignored = [column for column in unknown if not column.used]
    texts = []
    if used:
        feature, _, value, _ = used[0]
        texts.append(f"{who} outside the domain, density 0: {unknown_value(feature, value, nearest, refused=False)}")
        if used[1:]:
            texts.append(f"Also unknown: {_listed(used[1:])}.")
        texts.append("To measure folds or parts of a table alike, fit with domain=Domain.infer(whole_table).")
    if ignored:
        texts.append(f"Ignored, because no leaf asks for these columns: {_listed(ignored)}.")
    if texts:
        warn(" ".join(texts))


def _listed(unknown: Sequence[Unknown]) -> str:
    """Columns with values outside the domain: how many rows, and the first value."""
    some = [
        f"{column.feature.name!r} ({words.counted(column.rows, 'row', 'rows')}, first {in_short(column.value)})"
        for column in unknown[:MOST_LISTED]
    ]
    more = len(unknown) - len(some)
    return ", ".join(some) + (f" and {more:,} more columns" if more else "")


def open_rows(model: DensityModel, X: Any) -> Source:
    """The columns of a table that a model knows; those that were left out at the fit may be there or not."""
    source = open_source(X)
    known = source.known_to(model.domain_)
    check_columns(model, known, len(source.names))
    return known


def remember_columns(model: DensityModel, names: Sequence[str], *, named: bool) -> None:
    """Note how many columns there are, and their names if they have any."""
    model.n_features_in_ = len(names)
    model.__dict__.pop("feature_names_in_", None)
    if named:
        model.feature_names_in_ = np.array(names, dtype=object)


def check_columns(model: DensityModel, source: Source, width: int) -> None:
    """Refuse a table of so many columns if those that it knows are not those of the fit, in scikit-learn's words."""
    fitted, name = hasattr(model, "feature_names_in_"), type(model).__name__
    if source.named and fitted:
        source.check_names(model.domain_.names)
    elif source.named != fitted:
        known, other = ("X has", "without") if source.named else ("X does not have valid", "with")
        warn(f"{known} feature names, but {name} was fitted {other} feature names", UserWarning)
    if len(source.names) != len(model.domain_):
        raise ColumnsError(f"X has {width} features, but {name} is expecting {model.n_features_in_} features as input.")
