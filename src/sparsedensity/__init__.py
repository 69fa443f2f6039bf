"""Interpretable density estimation for tables of categories.

>>> from sparsedensity import LeafSparseTree, datasets
>>> tree = LeafSparseTree().fit(datasets.load("titanic"))
>>> tree.probability({"class": "3rd", "age": "child"}) < 0.04
True
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from sparsedensity.version import __version__

if TYPE_CHECKING:
    from sparsedensity import datasets, evaluation
    from sparsedensity.domain import Domain, Feature
    from sparsedensity.estimators import (
        BranchSparseTree,
        GreedyTree,
        Histogram,
        LeafSparseTree,
        SparseRuleList,
        load,
    )
    from sparsedensity.models import compare
    from sparsedensity.report.comparison import Comparison
    from sparsedensity.report.explanation import Explanation
    from sparsedensity.report.model import Leaf

_HOMES = {
    "BranchSparseTree": "sparsedensity.estimators",
    "Comparison": "sparsedensity.report.comparison",
    "Domain": "sparsedensity.domain",
    "Explanation": "sparsedensity.report.explanation",
    "Feature": "sparsedensity.domain",
    "GreedyTree": "sparsedensity.estimators",
    "Histogram": "sparsedensity.estimators",
    "Leaf": "sparsedensity.report.model",
    "LeafSparseTree": "sparsedensity.estimators",
    "SparseRuleList": "sparsedensity.estimators",
    "compare": "sparsedensity.models",
    "load": "sparsedensity.estimators",
}

__all__ = [
    "BranchSparseTree",
    "Comparison",
    "Domain",
    "Explanation",
    "Feature",
    "GreedyTree",
    "Histogram",
    "Leaf",
    "LeafSparseTree",
    "SparseRuleList",
    "__version__",
    "compare",
    "datasets",
    "evaluation",
    "load",
]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first asked for, so that importing the package stays instant."""
    if name in ("datasets", "evaluation"):
        return importlib.import_module(f"sparsedensity.{name}")
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
