"""What is asked of rows that stay where they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sparsedensity.density import Density
from sparsedensity.domain import Domain

HIDDEN = "sparsedensity_"
"""How the columns begin that no user sees."""
LEAF, LOG_DENSITY, UNUSUALNESS, EXPLANATION = "leaf", "log_density", "unusualness", "explanation"
"""The columns that rows can be given."""


@dataclass(frozen=True, eq=False)
class Scoring:
    """New columns for the rows of a lazy frame."""

    density: Density
    columns: Sequence[str]
    nearest: bool = False
    """Whether a number outside the range goes to the outermost bin."""
    texts: Sequence[str] = ()
    """An explanation for every leaf and, last, for what lies outside the domain; if that is asked for."""
    prefix: str = ""
    """What the names of the new columns begin with."""

    @cached_property
    def features(self) -> list[int]:
        """The features that have to be read: those that the density depends on, or any one."""
        used: list[int] = np.flatnonzero(self.density.used).tolist()
        return used or [0]

    @cached_property
    def domain(self) -> Domain:
        """The features that have to be read, as a domain of their own."""
        return Domain(tuple(self.density.structure.domain[feature] for feature in self.features))
