"""The paper's five methods with its grids, under the names that studies call them by.

>>> list(paper_methods())
['Leaf-sparse tree', 'Branch-sparse tree', 'Rule list', 'DET for categories', 'Full histogram']
>>> sum(len(method.choices(1761)) for method in paper_methods().values())
30
"""

from __future__ import annotations

from typing import Any

from sparsedensity import BranchSparseTree, GreedyTree, Histogram, LeafSparseTree, SparseRuleList
from sparsedensity.evaluation import Method, Share

LEAF = "Leaf-sparse tree"
BRANCH = "Branch-sparse tree"
LIST = "Rule list"
DET = "DET for categories"
HISTOGRAM = "Full histogram"
MLPACK = "mlpack's DET"

LEAF_SIZES = {"min_leaf": (1, 3, 5), "max_leaf": (5, 10, 50, 100, Share(10), Share(5))}
"""The least weight of a leaf, and the weight up to which a leaf is not split, as the paper tried them for DET."""
MOST_LEAVES = 100
"""Of every tree."""


def paper_methods(
    *, list_iterations: int = 5000, time_limit: float | None = None, search: str = "auto"
) -> dict[str, Method]:
    """The paper's five methods with the parameters it chose from; pseudocounts 2 for trees and 1 for lists.

    A nested evaluation fits hundreds of models, so each search runs once, without restarts.

    Parameters
    ----------
    list_iterations
        The proposals of a search for lists, by default a tenth of those of a single fit.
    time_limit
        Seconds for every fit beside that; then the numbers depend on the machine.
    search
        How trees and lists are searched. A proof may take seconds; with ``"anneal"`` no fit waits for one.
    """
    spend: dict[str, Any] = {"restarts": 1, "time_limit": time_limit, "search": search}
    tree: dict[str, Any] = {**spend, "pseudocount": 2, "max_leaves": MOST_LEAVES}
    rules: dict[str, Any] = {**spend, "iterations": list_iterations, "pseudocount": 1}
    greedy: dict[str, Any] = {"pseudocount": 2, "max_leaves": MOST_LEAVES, "time_limit": time_limit}
    return {
        LEAF: Method(LeafSparseTree(**tree), {"expected_leaves": (5, 8, 10)}),
        BRANCH: Method(BranchSparseTree(**tree), {"expected_branches": (2, 3)}),
        LIST: Method(SparseRuleList(**rules), {"expected_rules": (3, 5, 7), "expected_conditions": (1, 2)}),
        DET: Method(GreedyTree("ise", **greedy), LEAF_SIZES),
        HISTOGRAM: Method(Histogram()),
    }
