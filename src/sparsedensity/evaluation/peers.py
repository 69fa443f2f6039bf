"""What our models are compared with, as estimators: independent columns and Chow and Liu's tree."""

from __future__ import annotations

from sparsedensity.estimators import Estimator
from sparsedensity.evaluation.methods import Method
from sparsedensity.models import forest


class IndependentColumns(Estimator, forest.IndependentColumns):
    __doc__ = forest.IndependentColumns.__doc__


class ChowLiuTree(Estimator, forest.ChowLiuTree):
    __doc__ = forest.ChowLiuTree.__doc__


def reference_methods() -> dict[str, Method]:
    """Densities that are not pictures of a table, as a measure of what a picture costs.

    >>> list(reference_methods())
    ['Independent columns', 'Chow-Liu tree']
    """
    return {kind.title: Method(kind()) for kind in (IndependentColumns, ChowLiuTree)}
