"""Engines: where the rows are and how to count them. Memory first."""

from sparsedensity.engines.base import Engine, LeafWeights, Searched, whole_table
from sparsedensity.engines.memory import MemoryEngine
from sparsedensity.engines.remembered import RememberingEngine

__all__ = ["Engine", "LeafWeights", "MemoryEngine", "RememberingEngine", "Searched", "whole_table"]
