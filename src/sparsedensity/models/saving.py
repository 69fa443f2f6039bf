"""Models as files."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from sparsedensity.domain import Domain
from sparsedensity.engines import LeafWeights
from sparsedensity.errors import DataError, ModelFileError, SparseDensityError
from sparsedensity.ingest.decode import FRAMES
from sparsedensity.models.answers import adopt
from sparsedensity.models.base import DensityModel
from sparsedensity.models.branch_sparse import BranchSparseTree
from sparsedensity.models.folds import HeldOut
from sparsedensity.models.greedy import GreedyTree
from sparsedensity.models.histogram import Histogram
from sparsedensity.models.leaf_sparse import LeafSparseTree
from sparsedensity.models.parameters import LARGEST_SEED
from sparsedensity.models.plain import parameters_of
from sparsedensity.models.rule_list import SparseRuleList
from sparsedensity.posterior import Posterior, TreePosterior
from sparsedensity.posterior.base import check_share
from sparsedensity.posterior.profiles import background_of
from sparsedensity.scalars import is_whole
from sparsedensity.search import Found
from sparsedensity.search.base import Mode
from sparsedensity.structures import RuleList, Structure, Tree, by_value, files
from sparsedensity.table import Floats
from sparsedensity.version import __version__

MODELS: dict[str, type[DensityModel]] = {
    kind.__name__: kind for kind in (LeafSparseTree, BranchSparseTree, SparseRuleList, GreedyTree, Histogram)
}
SEARCH_FIELDS = ("method", "log_posterior", "reason", "moves", "seconds", "limit_binds", "upper_bound", "proven")


def save(model: DensityModel, path: str | os.PathLike[str]) -> None:
    """Write a fitted model."""
    search = model.search_
    known = [name for name in files.IF_KNOWN if (value := getattr(search, name)) is not None and math.isfinite(value)]
    files.write_document(
        path,
        {
            "library": __version__,
            "model": type(model).__name__,
            "title": model.report().title,
            "parameters": {name: _plain(value) for name, value in parameters_of(model).items()},
            **_honest_to_json(model),
            "search": {name: _plain(getattr(search, name)) for name in (*SEARCH_FIELDS, *known)}
            | _modes_to_json(search),
            **{f"{name}_": _plain(getattr(model.posterior_, name)) for name in model.from_rows},
            "domain": files.domain_to_json(model.domain_),
            **(
                {"left_out": list(model.domain_.left_out), "columns": _columns(model)} if model.domain_.left_out else {}
            ),
            "named_columns": hasattr(model, "feature_names_in_"),
            "weighted": model.weighted_,
            "frame": model.frame_,
            "structure": files.structure_to_json(model.structure_),
            "leaves": _leaves_to_json(model),
            **_background_to_json(model),
        },
        files.EVEN_VERSION if model.density_.profiles is None else files.VERSION,
    )


def load(path: str | os.PathLike[str], kinds: Mapping[str, type[DensityModel]] = MODELS) -> DensityModel:
    """Read a model that was saved with ``save``, as one of some kinds, by the name in the file."""
    document = files.read_document(path)
    kind = kinds.get(str(document.get("model")))
    if kind is None:
        raise ModelFileError(
            Path(path), f"holds a model of the unknown kind {document.get('model')!r}. Known: {', '.join(kinds)}."
        )
    try:
        return _rebuild(kind, document)
    except SparseDensityError as error:
        raise ModelFileError(Path(path), f"is damaged: {error}") from error
    except KeyError as error:
        raise ModelFileError(Path(path), f"is damaged: it lacks {error}.") from error
    except (TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        raise ModelFileError(Path(path), f"is damaged: it is not structured like a model ({error}).") from error


def _rebuild(kind: type[DensityModel], document: dict[str, Any]) -> DensityModel:
    domain = replace(files.domain_from_json(document["domain"]), left_out=tuple(document.get("left_out", ())))
    structure = files.structure_from_json(document["structure"], domain)
    parameters = document["parameters"]
    if parameters.get("domain") is not None:
        parameters["domain"] = domain
    model = kind(**parameters)
    model.check_parameters()
    posterior = model.posterior(domain)
    for name in model.from_rows:
        posterior = replace(posterior, **{name: tuple(document[f"{name}_"])})  # type: ignore[type-var]
    counts = _counts_from_json(document["leaves"], structure, posterior)
    if isinstance(posterior, TreePosterior) and counts.by_value is not None:
        background = _background_from_json(document, domain, counts.by_value)
        posterior = posterior.with_leaf(posterior.leaf._replace(background=background))
    if document["frame"] not in FRAMES:
        raise DataError(f"{document['frame']!r} is not a kind of table.")
    found = _found_from_json(structure, document["search"])
    if (honest := document.get("honest")) is not None:
        model.held_out_ = _held_out_from_json(**honest)
    model.frame_, model.weighted_ = document["frame"], bool(document["weighted"])
    columns = document.get("columns", domain.names)
    model.n_features_in_ = len(columns)
    if document["named_columns"]:
        model.feature_names_in_ = np.array(columns, dtype=object)
    adopt(model, posterior, found, counts)
    return model


def _leaves_to_json(model: DensityModel) -> list[dict[str, Any]]:
    """The leaves; with profiles, the weight at every value in each."""
    leaves, profiles = [leaf.as_dict() for leaf in model.leaves_], model.density_.profiles
    if profiles is None:
        return leaves
    return [
        {**leaf, "values": by_value.to_json(model.domain_, weights)}
        for leaf, weights in zip(leaves, profiles.weights, strict=True)
    ]


def _counts_from_json(leaves: list[dict[str, Any]], structure: Structure, posterior: Posterior) -> LeafWeights:
    weights = np.array([leaf["weight"] for leaf in leaves], np.float64)
    if len(weights) != structure.n_leaves or not (np.isfinite(weights) & (weights >= 0)).all() or not weights.any():
        raise DataError("the weights of its leaves do not fit its structure.")
    return LeafWeights(weights, None if posterior.even else by_value.leaf_values_from_json(leaves, structure))


def _background_to_json(model: DensityModel) -> dict[str, Any]:
    """What the profiles of an honest model were searched against: its leaves hold other rows."""
    if model.held_out_ is None or model.density_.profiles is None:
        return {}
    assert isinstance(model.posterior_, TreePosterior)
    return {"background": by_value.to_json(model.domain_, model.posterior_.leaf.background)}


def _background_from_json(document: dict[str, Any], domain: Domain, counted: Floats) -> Floats:
    """What the profiles were searched against: the rows in the leaves, unless the model is honest."""
    if document.get("honest") is None:
        return background_of(domain, counted.sum(axis=0))
    shares: Floats = by_value.from_json(domain, [document["background"]])[0]
    if not shares.all() or not np.allclose(np.add.reduceat(shares, domain.starts[:-1]), 1.0):
        raise DataError("the shares of its background do not add up to 1 in every column.")
    return shares


def _columns(model: DensityModel) -> list[str]:
    """The columns of the fit, those that were left out among them."""
    names = getattr(model, "feature_names_in_", None)
    return [f"x{i}" for i in range(model.n_features_in_)] if names is None else names.tolist()


def _found_from_json(structure: Structure, search: dict[str, Any]) -> Found:
    checked = files.checked_search(search)
    known: dict[str, Any] = {name: checked[name] for name in files.IF_KNOWN if name in checked}
    modes = tuple(
        Mode(files.structure_from_json(mode["structure"], structure.domain), mode["log_posterior"], mode["restarts"])
        for mode in checked.get("modes", ())
    )
    return Found(structure=structure, modes=modes, **known, **{name: checked[name] for name in SEARCH_FIELDS})


def _modes_to_json(search: Found) -> dict[str, Any]:
    """Where restarts ended, if they do not agree."""
    modes = [
        {**mode._asdict(), "structure": files.structure_to_json(mode.structure)}
        for mode in search.modes
        if isinstance(mode.structure, RuleList)
    ]
    return {"modes": _plain(modes)} if modes else {}


def _honest_to_json(model: DensityModel) -> dict[str, Any]:
    """What an honest model says of its rows: how they were divided, and the weight of those that were searched."""
    return {} if model.held_out_ is None else {"honest": asdict(model.held_out_)}


def _held_out_from_json(share: float, seed: int, whole: bool, searched: float) -> HeldOut:
    check_share("its honest share", share)
    if not is_whole(seed) or not 0 <= seed <= LARGEST_SEED or not 0 < searched < math.inf:
        raise DataError("what it says about honest estimation is not what an honest model says.")
    return HeldOut(float(share), seed, bool(whole), float(searched))


def _plain(value: Any) -> Any:
    """A parameter as JSON: arrays as lists, a domain by the fact that it was declared.

    What a model starts from and a generator of random numbers are not kept.
    """
    match value:
        case Domain():
            plain: Any = "declared"
        case DensityModel() | Tree() | RuleList() | np.random.Generator() | np.random.RandomState():
            plain = None
        case os.PathLike():
            plain = os.fspath(value)
        case _ if hasattr(value, "tolist"):
            plain = value.tolist()
        case dict():
            plain = {str(key): _plain(item) for key, item in value.items()}
        case list() | tuple() | range():
            plain = [_plain(item) for item in value]
        case _:
            plain = value
    return plain
