"""The structure a search starts from: of a fitted model, of a saved one, or on its own."""

from __future__ import annotations

import os
from typing import Any

from sparsedensity.domain import Domain
from sparsedensity.errors import DataError, ParameterError
from sparsedensity.models.base import DensityModel
from sparsedensity.structures import RuleList, Tree


def check_start(source: Any, allowed: str) -> None:
    """Refuse what cannot hold a structure, before any row is read."""
    if not isinstance(source, str | os.PathLike | DensityModel | Tree | RuleList | None):
        raise ParameterError("warm_start_from", source, allowed)


def start_on(domain: Domain, source: Any, allowed: str) -> Tree | RuleList:
    """The tree or list of a model, of a saved model, or the structure itself; it must have the same domain."""
    model = source
    if isinstance(model, str | os.PathLike):
        from sparsedensity.models.saving import load

        model = load(model)
    structure = model.structure_ if isinstance(model, DensityModel) else model
    if not isinstance(structure, Tree | RuleList):
        raise ParameterError("warm_start_from", source, allowed)
    if structure.domain != domain:
        raise DataError(
            "The model in warm_start_from has another domain than this table. Fit with domain= the domain_ of that "
            "model, or fit that model to this table."
        )
    return structure
