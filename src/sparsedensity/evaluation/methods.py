"""The methods that are compared: estimators, or plain models, with the parameters to choose from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from sparsedensity.errors import ParameterError


@dataclass(frozen=True)
class Share:
    """A parameter that grows with the table: the weight that is learned from, divided by a number, rounded down.

    >>> Method(None, {"max_leaf": [Share(10)]}).choices(208)
    [{'max_leaf': 20}]
    """

    parts: int


@dataclass(frozen=True)
class Method:
    """An estimator and the parameters to choose from; of equals the first is taken.

    >>> from sparsedensity import GreedyTree
    >>> Method(GreedyTree(), {"expected_leaves": [5, 8]}).choices(1000)
    [{'expected_leaves': 5}, {'expected_leaves': 8}]
    """

    estimator: Any
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, values in self.grid.items():
            if isinstance(values, str) or not hasattr(values, "__len__") or not len(values):
                raise ParameterError(f"The grid of {name!r}", values, "a list of values to choose from")

    def choices(self, weight: float) -> list[dict[str, Any]]:
        """Every combination of the grid, for a table of so much weight.

        >>> Method(None, {"max_leaf": (5, Share(10))}).choices(208)
        [{'max_leaf': 5}, {'max_leaf': 20}]
        """
        names = sorted(self.grid)
        return [
            {
                name: int(weight // value.parts) if isinstance(value, Share) else value
                for name, value in zip(names, choice, strict=True)
            }
            for choice in product(*(self.grid[name] for name in names))
        ]
