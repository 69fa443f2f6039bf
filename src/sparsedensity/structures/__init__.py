"""Structures: what a model looks like, without any numbers from data.

A structure divides the domain into leaves. Three exist: a :class:`Tree`, a :class:`RuleList`, and :class:`Cells`
(every point a leaf). All are frozen arrays; all number their leaves from 0 and answer the same questions.
"""

from sparsedensity.structures.base import Structure, in_threads
from sparsedensity.structures.canonical import canonical
from sparsedensity.structures.cells import Cells
from sparsedensity.structures.rules import Condition, RuleList
from sparsedensity.structures.tree import Node, Tree

__all__ = ["Cells", "Condition", "Node", "RuleList", "Structure", "Tree", "canonical", "in_threads"]
