"""The models that are almost as good as the best: each a fitted model of its own, and what they share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from sparsedensity.models.paths import refound, weighing_rows
from sparsedensity.region import Region
from sparsedensity.report.near_optimal import Agreement, agreement
from sparsedensity.search.near import Near
from sparsedensity.structures import Structure, Tree

if TYPE_CHECKING:
    from sparsedensity.models.base import DensityModel

E = TypeVar("E", bound="DensityModel")


@dataclass(frozen=True, eq=False)
class NearModels(Sequence[Any], Generic[E]):
    """The models whose log posterior is within some nats of the optimum, the best first.

    Each is a fitted model: it can be shown, drawn, saved and asked like any other. Printed, they say what all of them
    share and where they differ.
    """

    model: E = field(repr=False)
    listed: Sequence[Near] = field(repr=False)
    within: float
    complete: bool
    """Whether these are all; if not there are more, and these are the best."""
    built: dict[int, E] = field(default_factory=dict, init=False, repr=False)

    def __len__(self) -> int:
        return len(self.listed)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        number = range(len(self))[place]
        if number not in self.built:
            self.built[number] = self._build(self.listed[number])
        return self.built[number]

    @cached_property
    def agreement(self) -> Agreement:
        """What they share and where they differ."""
        structures = [each.structure for each in self.listed]
        return agreement(structures, self._shares(structures), self.within, complete=self.complete)

    def to_text(self, width: int | None = None) -> str:
        """What they share and where they differ, in the width of the terminal."""
        return self.agreement.to_text(width)

    def __str__(self) -> str:
        return self.to_text()

    def _build(self, listed: Near) -> E:
        best, structure, score = self.listed[0].log_posterior, listed.structure, listed.log_posterior
        search, proven = self.model.found_, score >= best
        binds = search.limit_binds if proven else None
        found = replace(
            search, structure=structure, log_posterior=score, upper_bound=best, proven=proven, limit_binds=binds
        )
        return refound(self.model, found)

    def _shares(self, structures: Sequence[Structure]) -> dict[Region, float]:
        """The share of the rows in every leaf of every tree."""
        engine, shares = weighing_rows(self.model), dict[Region, float]()
        for tree in structures:
            if isinstance(tree, Tree) and not shares.keys() >= set(tree.regions):
                weights = engine.leaf_weights(tree)
                shares.update(zip(tree.regions, (weights / weights.sum()).tolist(), strict=True))
        return shares


class NearTrees(NearModels[E]):
    """Near-optimal trees."""

    @property
    def trees(self) -> Sequence[E]:
        """The trees, the best first, each a fitted model."""
        return self


class NearLists(NearModels[E]):
    """Near-optimal rule lists."""

    @property
    def lists(self) -> Sequence[E]:
        """The lists, the best first, each a fitted model."""
        return self
