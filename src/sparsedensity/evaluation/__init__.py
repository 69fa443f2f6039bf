"""How good is a model? Nested cross-validation, the usual alternatives beside it, and a comparison at DET's size.

>>> from sparsedensity import LeafSparseTree, datasets
>>> from sparsedensity.evaluation import CrossValidation, IndependentColumns, Method, evaluate
>>> methods = {"tree": Method(LeafSparseTree()), "independent": Method(IndependentColumns())}
>>> print(evaluate(datasets.load("titanic"), methods, CrossValidation(folds=3)).to_text())
             leaves  per row      +-  to the best      +-
tree              9  -1.8711  0.0158         best
independent       8  -1.9967  0.0156      -0.1256  0.0056

A method is an estimator and, if it is to choose its parameters, a grid. :func:`reference_methods` gives independent
columns and a Chow-Liu tree; :class:`MlpackTree` is mlpack's DET as a peer. :func:`against_det` compares our tree with
DET's at DET's size.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from sparsedensity.evaluation.cross_validation import CrossValidation, evaluate
from sparsedensity.evaluation.finished import ResultFile
from sparsedensity.evaluation.methods import Method, Share
from sparsedensity.evaluation.rows import TimedFit, timed_fit
from sparsedensity.evaluation.scores import Evaluation, FoldScore, Summary
from sparsedensity.evaluation.side_by_side import SideBySide, against_det, mean_gain
from sparsedensity.models.folds import standard_error

if TYPE_CHECKING:
    from sparsedensity.evaluation.mlpack_tree import MlpackTree
    from sparsedensity.evaluation.peers import ChowLiuTree, IndependentColumns, reference_methods

_ESTIMATORS = {
    "ChowLiuTree": "peers",
    "IndependentColumns": "peers",
    "MlpackTree": "mlpack_tree",
    "reference_methods": "peers",
}
"""Names that need scikit-learn, by the module that has them."""

__all__ = [
    "ChowLiuTree",
    "CrossValidation",
    "Evaluation",
    "FoldScore",
    "IndependentColumns",
    "Method",
    "MlpackTree",
    "ResultFile",
    "Share",
    "SideBySide",
    "Summary",
    "TimedFit",
    "against_det",
    "evaluate",
    "mean_gain",
    "reference_methods",
    "standard_error",
    "timed_fit",
]


def __getattr__(name: str) -> Any:
    """Load an estimator when it is first asked for: the command line evaluates plain models."""
    if name in _ESTIMATORS:
        return getattr(importlib.import_module(f"{__name__}.{_ESTIMATORS[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
