"""Engines: where the rows are and how to count them. Memory first.

>>> import numpy as np
>>> from sparsedensity import Domain, Feature
>>> from sparsedensity.engines import MemoryEngine
>>> from sparsedensity.structures import Tree
>>> from sparsedensity.table import Table
>>> domain = Domain((Feature.nominal("sex", ("female", "male")),))
>>> engine = MemoryEngine(Table.of(domain, np.array([[0], [1], [1]])))
>>> engine.leaf_weights(Tree.of_splits(domain, [(0, [({0}, 1), ({1}, 2)]), None, None])).tolist()
[1.0, 2.0]
"""

from sparsedensity.engines.base import Engine, LeafWeights, Searched, whole_table
from sparsedensity.engines.memory import MemoryEngine
from sparsedensity.engines.remembered import RememberingEngine

__all__ = ["Engine", "LeafWeights", "MemoryEngine", "RememberingEngine", "Searched", "whole_table"]
