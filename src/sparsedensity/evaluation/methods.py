"""The methods that are compared: the paper's with its grids, and those an analyst puts beside a model.

>>> list(paper_methods())
['Leaf-sparse tree', 'Branch-sparse tree', 'Rule list', 'DET for categories', 'Full histogram']
>>> sum(len(method.choices(1761)) for method in paper_methods().values())
30
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sklearn.model_selection import ParameterGrid

from sparsedensity.estimators import BranchSparseTree, GreedyTree, Histogram, LeafSparseTree, SparseRuleList
from sparsedensity.evaluation.peers import ChowLiuTree, IndependentColumns

LEAF = "Leaf-sparse tree"
BRANCH = "Branch-sparse tree"
LIST = "Rule list"
DET = "DET for categories"
HISTOGRAM = "Full histogram"
MLPACK = "mlpack's DET"


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


LEAF_SIZES = {"min_leaf": (1, 3, 5), "max_leaf": (5, 10, 50, 100, Share(10), Share(5))}
"""The least weight of a leaf, and the weight up to which a leaf is not split, as the paper tried them for DET."""


def paper_methods(
    *,
    max_leaves: int | None = 100,
    max_rules: int | None = None,
    list_iterations: int = 5000,
    time_limit: float | None = None,
    search: str = "auto",
) -> dict[str, Method]:
    """The paper's five methods with the parameters it chose from; pseudocounts 2 for trees and 1 for lists.

    A nested evaluation fits hundreds of models, so each search runs once, without restarts.

    Parameters
    ----------
    max_leaves, max_rules
        The most leaves of every tree and the most rules of a list.
    list_iterations
        The proposals of a search for lists, by default a tenth of those of a single fit.
    time_limit
        Seconds for every fit beside that; then the numbers depend on the machine.
    search
        How trees and lists are searched. A proof may take seconds; with ``"anneal"`` no fit waits for one.
    """
    spend: dict[str, Any] = {"restarts": 1, "time_limit": time_limit, "search": search}
    tree: dict[str, Any] = {**spend, "pseudocount": 2, "max_leaves": max_leaves}
    rules: dict[str, Any] = {**spend, "iterations": list_iterations, "pseudocount": 1, "max_rules": max_rules}
    greedy: dict[str, Any] = {"pseudocount": 2, "max_leaves": max_leaves, "time_limit": time_limit}
    return {
        LEAF: Method(LeafSparseTree(**tree), {"expected_leaves": (5, 8, 10)}),
        BRANCH: Method(BranchSparseTree(**tree), {"expected_branches": (2, 3)}),
        LIST: Method(SparseRuleList(**rules), {"expected_rules": (3, 5, 7), "expected_conditions": (1, 2)}),
        DET: Method(GreedyTree("ise", **greedy), LEAF_SIZES),
        HISTOGRAM: Method(Histogram()),
    }


def reference_methods() -> dict[str, Method]:
    """Densities that are not pictures of a table, as a measure of what a picture costs."""
    return {kind.title: Method(kind()) for kind in (IndependentColumns, ChowLiuTree)}
