"""What an estimator believes and how it searches, as plain settings without a face."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Self

from sparsedensity.domain import Domain
from sparsedensity.engines import MemoryEngine
from sparsedensity.posterior import Posterior
from sparsedensity.search import Found
from sparsedensity.search.base import Watch
from sparsedensity.structures import Structure


class Learned(NamedTuple):
    """What was believed and what was found."""

    posterior: Posterior
    found: Found


@dataclass(frozen=True)
class Learner(ABC):
    """Learns the structure of a density from rows. Its fields are parameters, checked when it is made."""

    @classmethod
    def of(cls, model: Any, **known: Any) -> Self:
        """A learner whose other fields are the parameters of the same names of an estimator."""
        names = [field.name for field in fields(cls) if field.name not in known]
        return cls(**known, **{name: getattr(model, name) for name in names})

    @abstractmethod
    def posterior(self, domain: Domain) -> Posterior:
        """What is believed before any row is seen."""

    @abstractmethod
    def learn(self, engine: MemoryEngine, watch: list[Watch]) -> Learned:
        """Choose the structure."""

    def learn_fold(self, engine: MemoryEngine) -> Found:
        """Choose the structures of all sizes for one fold of a cross-validation; less thorough if that saves time."""
        return self.learn(engine, []).found

    def choose(self, engine: MemoryEngine, found: Found) -> Structure:
        """The structure that a fit to the rows of a fold would choose, given what the search of the fold found."""
        return found.structure

    def every_size(self, engine: MemoryEngine, found: Found) -> Mapping[int, Structure]:
        """The best structure of every size; a model from a file has none, so they are learned again."""
        return found.archive or self.learn_fold(engine).archive
