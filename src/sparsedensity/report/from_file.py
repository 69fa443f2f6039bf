"""A saved model read for showing only: no estimator is made, so nothing heavy is loaded."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsedensity.density import Density
from sparsedensity.errors import SparseDensityError
from sparsedensity.report import model
from sparsedensity.report.model import Leaf, Report
from sparsedensity.structures import Cells, Structure, Tree, by_value, files

if TYPE_CHECKING:
    from sparsedensity.posterior.profiles import Profiles


@dataclass(frozen=True, repr=False)
class SavedModel:
    """What a model file says, under the names that a fitted model has."""

    kind: str
    search_: Any
    log_posterior_: float
    n_leaves_: int | float
    leaves_: tuple[Leaf, ...]
    report: Callable[[], Report]


def read(path: str | os.PathLike[str]) -> SavedModel | None:
    """Read a model file; ``None`` if it must be loaded in full to be shown, or to say what is wrong with it."""
    document = files.read_document(path)
    try:
        return _saved(document)
    except (SparseDensityError, LookupError, TypeError, ValueError, AttributeError, OverflowError):
        return None


def _saved(document: dict[str, Any]) -> SavedModel:
    domain = files.domain_from_json(document["domain"])
    structure = files.structure_from_json(document["structure"], domain)
    weights, logs, intervals = _numbers(document["leaves"], structure.n_leaves)
    search = SimpleNamespace(**files.checked_search(document["search"]))
    density = Density(structure, weights, logs, _profiles(document, structure))
    leaves = model.leaves_of(density, intervals)
    searched = None if document.get("honest") is None else float(document["honest"]["searched"])
    weighted, seed = document["weighted"], document["parameters"].get("random_state")
    report = model.report_of(
        document["title"], leaves, density, search, weighted=weighted, searched=searched, seed=seed
    )
    size = structure.n_points if isinstance(structure, Cells) else structure.n_leaves
    return SavedModel(document["model"], search, float(search.log_posterior), size, leaves, lambda: report)


def _profiles(document: dict[str, Any], structure: Structure) -> Profiles | None:
    """What the leaves hold, if they have profiles."""
    parameters = document["parameters"]
    if parameters.get("leaf") != "profile":
        return None
    from sparsedensity.posterior.profiles import Profiles, check_profile, profile_leaf  # noqa: PLC0415 (heavy)

    weights = by_value.leaf_values_from_json(document["leaves"], structure)
    pseudocount, probability = parameters["profile_pseudocount"], parameters["profile_probability"]
    check_profile(pseudocount, probability)
    assert isinstance(structure, Tree)
    return Profiles.of(profile_leaf(structure.domain, None, pseudocount, probability), structure, weights)


def _numbers(leaves: list[dict[str, Any]], count: int) -> tuple[Any, Any, Any]:
    """Weights, log probabilities and intervals of the leaves, as they were when the model was saved."""
    weights = np.array([leaf["weight"] for leaf in leaves], np.float64)
    shares = np.array([leaf["probability"] for leaf in leaves], np.float64)
    intervals = np.array([leaf["interval"] for leaf in leaves], np.float64).reshape(-1, 2)
    sound = len(weights) == count and (weights >= 0).all() and math.isclose(shares.sum(), 1.0, abs_tol=1e-6)
    if not sound or not np.isfinite(weights).all() or not weights.any():
        raise ValueError("the numbers of its leaves do not fit its structure")
    with np.errstate(divide="ignore"):
        return weights, np.log(shares), intervals
