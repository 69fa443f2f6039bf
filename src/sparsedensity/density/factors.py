"""Which values make a row rare: how common each is among the records that share all others."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsedensity.density import Density
from sparsedensity.density.changes import neighbours
from sparsedensity.density.importance import averaged
from sparsedensity.table import Codes, Floats

if TYPE_CHECKING:
    from sparsedensity.posterior.profiles import Profiles


class Factors(NamedTuple):
    """The values of some rows: one line per row, over all features."""

    order: NDArray[np.int64]
    """The features, those whose values speak most against the row first."""
    shares: Floats
    """How often records with the same other values have it; if no leaf asks for the column, its share in the leaf."""
    overall: Floats
    """How often the records of the whole table have it."""


def factors(density: Density, profiles: Profiles, codes: Codes) -> Factors:
    """The values of some rows in leaves with profiles.

    A value speaks against its row if it is rare among the records that share all others, and rarer there than overall:
    the order is that of share squared over overall. Of the orders tried, it most often puts a value first that was
    exchanged for that of another row.
    """
    places = density.structure.domain.starts[:-1] + codes.astype(np.int64)
    shares, overall = _shares(density, profiles, codes, places), profiles.leaf.background[places]
    return Factors(np.argsort(shares**2 / overall, axis=1, kind="stable"), shares, overall)


def _shares(density: Density, profiles: Profiles, codes: Codes, places: NDArray[np.int64]) -> Floats:
    """How often records with the same other values have each value of some rows; in the leaf, if none are expected."""
    domain, leaves = density.structure.domain, density.leaf_numbers(codes)
    shares: Floats = profiles.inside[leaves[:, None], places]
    logs = density.log_densities_at(codes, leaves)
    for begin, near in neighbours(density, codes):
        rows = slice(begin, begin + len(near.codes))
        for feature in density.asked_features:
            measures = domain.measures[domain.span(feature)]
            with np.errstate(invalid="ignore"):
                times = np.exp(logs[rows] - averaged(near, feature))
            found = times * domain.measures[places[rows, feature]] / measures.sum()
            shares[rows, feature] = np.where(np.isnan(times), shares[rows, feature], found)
    return shares
