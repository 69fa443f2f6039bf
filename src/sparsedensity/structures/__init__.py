"""Structures: what a model looks like, without any numbers from data.

A structure divides the domain into leaves. Three exist: a :class:`Tree`, a :class:`RuleList`, and :class:`Cells`
(every point a leaf). All are frozen arrays; all number their leaves from 0 and answer the same questions.

>>> import numpy as np
>>> from sparsedensity import Domain, Feature
>>> from sparsedensity.structures import Tree
>>> domain = Domain((Feature.nominal("sex", ("female", "male")), Feature.nominal("age", ("adult", "child"))))
>>> tree = Tree.of_splits(domain, [(0, [({0}, 1), ({1}, 2)]), None, None])  # the root is split by sex
>>> boy = np.array([[1, 1]])
>>> tree.n_leaves, tree.leaf_numbers(boy).tolist()
(2, [1])
"""

from sparsedensity.structures.base import Structure, in_threads
from sparsedensity.structures.canonical import canonical
from sparsedensity.structures.cells import Cells
from sparsedensity.structures.rules import Condition, RuleList
from sparsedensity.structures.tree import Node, Tree

__all__ = ["Cells", "Condition", "Node", "RuleList", "Structure", "Tree", "canonical", "in_threads"]
