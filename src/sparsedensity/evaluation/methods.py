"""The methods that are compared: estimators with the parameters to choose from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sklearn.model_selection import ParameterGrid

from sparsedensity.evaluation.peers import ChowLiuTree, IndependentColumns


@dataclass(frozen=True)
class Share:
    """A parameter that grows with the table: the weight that is learned from, divided by a number, rounded down."""

    parts: int


@dataclass(frozen=True)
class Method:
    """An estimator and the parameters to choose from; of equals the first is taken."""

    estimator: Any
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def choices(self, weight: float) -> list[dict[str, Any]]:
        """Every combination of the grid, for a table of so much weight.

        >>> Method(None, {"max_leaf": (5, Share(10))}).choices(208)
        [{'max_leaf': 5}, {'max_leaf': 20}]
        """
        return [
            {name: int(weight // value.parts) if isinstance(value, Share) else value for name, value in choice.items()}
            for choice in ParameterGrid(dict(self.grid))
        ]


def reference_methods() -> dict[str, Method]:
    """Densities that are not pictures of a table, as a measure of what a picture costs."""
    return {kind.title: Method(kind()) for kind in (IndependentColumns, ChowLiuTree)}
