"""A plain model: made with parameters, the fields of a dataclass, and asked once it is fitted."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import fields
from typing import Any, TypeVar

from sparsedensity.errors import SparseDensityError

M = TypeVar("M", bound="Model")


class Model:
    """Whatever can be fitted: what it then knows has names that end with an underscore."""

    def check_fitted(self) -> None:
        """Refuse a question that only a fitted model answers."""
        if not any(name.endswith("_") for name in vars(self)):
            raise SparseDensityError(f"This {type(self).__name__} is not fitted yet: call fit with a table first.")


def parameter_names(kind: Any) -> list[str]:
    """The parameters of a kind of model: what it is made with, in the order of the alphabet.

    >>> from sparsedensity.models import Histogram
    >>> parameter_names(Histogram)[:3]
    ['bins', 'density', 'domain']
    """
    return sorted(field.name for field in fields(kind) if field.init)


def parameters_of(model: Model) -> dict[str, Any]:
    """The parameters of a model by name."""
    return {name: getattr(model, name) for name in parameter_names(model)}


def unfitted(model: M, **changes: Any) -> M:
    """A copy of a model that is not fitted, shares nothing with it, and has some other parameters.

    >>> from sparsedensity.models import Histogram
    >>> unfitted(Histogram(bins=5), pseudocount=2).bins
    5
    """
    return type(model)(**deepcopy({**parameters_of(model), **changes}))
