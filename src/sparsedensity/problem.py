"""A problem: where the rows are, what is believed, and the limits a search must respect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from sparsedensity.domain import Domain
from sparsedensity.engines import Engine, LeafWeights
from sparsedensity.errors import ParameterError
from sparsedensity.posterior import Posterior
from sparsedensity.scalars import check_whole, is_number
from sparsedensity.structures import Structure, Tree

MOST_RESTARTS = 1_000_000
"""More searches side by side would fill the memory before the first step."""

P_co = TypeVar("P_co", bound=Posterior, covariant=True)


@dataclass(frozen=True)
class Problem(Generic[P_co]):
    """What a search is asked to solve."""

    engine: Engine
    posterior: P_co
    max_leaves: int | None = None

    def __post_init__(self) -> None:
        check_limit("max_leaves", self.max_leaves)

    @property
    def domain(self) -> Domain:
        """The space the rows live in."""
        return self.engine.domain

    def score(self, structure: Structure) -> float:
        """The log posterior of a structure, counted on all rows."""
        return self.count_and_score(structure)[0]

    def score_of_one_leaf(self) -> float:
        """The log posterior of a single leaf, which needs no count but that of all rows."""
        posterior: Any = self.posterior
        by_value = () if posterior.even else (self.engine.value_weights()[None],)
        return float(posterior.log_posterior(Tree.leaf(self.domain), np.array([self.engine.n]), *by_value))

    def one_leaf_term(self) -> float:
        """What the leaf model says of the whole table as one leaf."""
        posterior: Any = self.posterior
        if posterior.even:
            return -self.engine.n * self.domain.log_volume
        counts = self.engine.value_weights()[None]
        return float(posterior.leaf_terms(Tree.leaf(self.domain), np.array([self.engine.n]), counts))

    def count_and_score(self, structure: Structure) -> tuple[float, LeafWeights]:
        """The log posterior of a structure and what its leaves hold, counted on all rows."""
        posterior: Any = self.posterior
        counts = LeafWeights.on(self.engine, structure, even=posterior.even)
        asked = counts[:1] if counts.by_value is None else counts
        return posterior.log_posterior(structure, *asked), counts


AnyProblem = Problem[Any]


def check_amount(name: str, value: Any, allowed: str = "a number of 0 or more") -> None:
    """Refuse what is not a finite number of 0 or more."""
    if not is_number(value) or value < 0:
        raise ParameterError(name, value, allowed)


def check_time(seconds: object) -> None:
    """Refuse a time limit that is not None or a number of seconds."""
    if seconds is not None:
        check_amount("time_limit", seconds, "a number of seconds of 0 or more, or None for no limit")


def check_limit(name: str, value: object) -> None:
    """Refuse a limit that is not None or a whole number of at least 1."""
    if value is not None:
        check_whole(name, value, "a whole number of 1 or more, or None for no limit")


def check_restarts(restarts: Any) -> None:
    """Refuse what is not a sensible number of searches side by side."""
    check_whole("restarts", restarts, most=MOST_RESTARTS)
