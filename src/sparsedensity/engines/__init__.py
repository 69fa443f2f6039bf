"""Engines: where the rows are and how to count them. Memory first."""

from sparsedensity.engines.memory import MemoryEngine

__all__ = ["MemoryEngine"]
