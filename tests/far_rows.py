"""Rows that are elsewhere: an engine that cannot bring its distinct rows home."""

from dataclasses import dataclass, field

from sparsedensity.engines import MemoryEngine


@dataclass
class FarRows:
    """Counts and draws like memory, but has no collapsed table; and knows what was counted."""

    near: MemoryEngine
    passes: list = field(default_factory=list)

    @property
    def domain(self):
        return self.near.domain

    @property
    def n(self):
        return self.near.n

    def value_weights(self):
        return self.near.value_weights()

    def leaf_weights(self, structure):
        self.passes.append(structure)
        return self.near.leaf_weights(structure)

    def leaf_value_weights(self, structure):
        self.passes.append(structure)
        return self.near.leaf_value_weights(structure)

    def sample(self, size, rng):
        return self.near.sample(size, rng)

    def collapsed(self):
        return None
