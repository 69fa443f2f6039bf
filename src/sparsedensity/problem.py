"""A problem: where the rows are, what is believed, and the limits a search must respect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from sparsedensity.domain import Domain
from sparsedensity.engines import MemoryEngine
from sparsedensity.errors import ParameterError
from sparsedensity.posterior import Posterior
from sparsedensity.structures import Structure

P = TypeVar("P", bound=Posterior)


@dataclass(frozen=True)
class Problem(Generic[P]):
    """What a search is asked to solve."""

    engine: MemoryEngine
    posterior: P
    max_leaves: int | None = None

    def __post_init__(self) -> None:
        check_limit("max_leaves", self.max_leaves)

    @property
    def domain(self) -> Domain:
        """The space the rows live in."""
        return self.engine.domain

    def score(self, structure: Structure) -> float:
        """The log posterior of a structure, counted on all rows."""
        return self.posterior.log_posterior(structure, self.engine.leaf_weights(structure))


def check_limit(name: str, value: object) -> None:
    """Refuse a limit that is not None or a whole number of at least 1."""
    if value is None:
        return
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
        raise ParameterError(name, value, "a whole number of 1 or more, or None for no limit")
