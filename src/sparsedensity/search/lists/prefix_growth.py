"""Prefixes of rule lists that grow by one rule at a time, and the best list they lead to."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from sparsedensity.kernels import list_prefixes as kernels
from sparsedensity.posterior.rule_list import ListPosterior
from sparsedensity.problem import Problem
from sparsedensity.search.base import Proof
from sparsedensity.search.lists.antecedents import Antecedents
from sparsedensity.search.lists.exact_arrays import (
    all_cells,
    cells_of,
    first_layer,
    larger,
    layer_of,
    scratch_for,
    uses_of,
)
from sparsedensity.search.lists.exact_estimate import seconds_per_prefix, terms_of
from sparsedensity.search.trees.exact.estimate import MOST_BYTES
from sparsedensity.structures import RuleList

FIRST_ROOM = 1 << 12
"""The states that a layer has room for at first."""
BLOCK_SECONDS = 0.1
"""Between two looks at the clock, about."""


class Link(NamedTuple):
    """Of a layer that was left behind: the prefix before the last rule, and that rule."""

    parent: np.ndarray
    rule: np.ndarray

    @classmethod
    def of(cls, states: np.ndarray) -> Link:
        """The links of some states."""
        return cls(states["parent"].copy(), states["rule"].copy())


class PrefixGrowth:
    """The prefixes of one number of rules after another."""

    def __init__(self, problem: Problem[ListPosterior], antecedents: Antecedents, longest: int, proof: Proof) -> None:
        self.problem, self.antecedents, self.proof = problem, antecedents, proof
        cells, terms = cells_of(problem, antecedents), terms_of(problem, longest)
        self.leader = np.array([(-1, proof.log_posterior, proof.threshold)], kernels.LEADER)[0]
        self.arrays = kernels.PrefixTask(
            cells, terms, uses_of(terms), self.leader, scratch_for(cells, len(terms.of_size) - 1)
        )
        self.layer = first_layer(cells)
        self.links: list[Link] = []

    @property
    def rules(self) -> int:
        """How many rules the prefixes have."""
        return len(self.links)

    @property
    def bound(self) -> float:
        """What no list that begins with one of the prefixes exceeds."""
        if self.rules + 1 == len(self.arrays.terms.of_length):
            return -math.inf
        states = self.layer.state[: self.layer.size["states"]]
        return float(np.max(states["value"] + states["more"], initial=-np.inf))

    @property
    def too_large(self) -> bool:
        """Whether the next layer may need more memory than there is."""
        held = sum(array.nbytes for array in self.layer) + sum(link.parent.nbytes * 2 for link in self.links)
        return held > MOST_BYTES / 4

    def extend(self) -> Iterator[int]:
        """Extend every prefix by every rule; yields the prefixes visited since."""
        room = max(FIRST_ROOM, 1 << (2 * self._most_children - 1).bit_length())  # a power of two
        longer, done, n = layer_of(self.layer.left.shape[1], room), 0, int(self.layer.size["states"])
        block = max(1, int(BLOCK_SECONDS / seconds_per_prefix(self._most_children, len(self.arrays.cells.weight))))
        while done < n:
            end = min(n, done + block)
            stopped = kernels.extend(self.arrays, self.layer, longer, self.rules + 1, done, end)
            self._note_best(longer)
            if stopped < end:
                longer = larger(longer, 2 * len(longer.state))
            yield stopped - done
            done = stopped
        self.links.append(Link.of(self.layer.state[:n]))
        self.layer = longer

    @property
    def _most_children(self) -> int:
        return len(self.arrays.cells.size) + int(self.arrays.uses.rules.shape[1]) + 1

    def _note_best(self, longer: kernels.Layer) -> None:
        """Note a better list."""
        at = int(self.leader["at"])
        if at < 0:
            return
        self.proof.structure = self._list(at, longer)
        self.proof.log_posterior = float(self.leader["score"])
        self.proof.upper_bound = max(self.proof.upper_bound, self.proof.log_posterior)
        self.leader["at"] = -1

    def _list(self, at: int, longer: kernels.Layer) -> RuleList:
        """The list of a prefix of the next layer."""
        links = [*self.links, Link.of(self.layer.state), Link.of(longer.state)]
        numbers: list[int] = []
        for parent, rule in reversed(links[1:]):
            numbers.append(int(rule[at]))
            at = int(parent[at])
        return self.list_of(numbers[::-1])

    def list_of(self, numbers: Sequence[int]) -> RuleList:
        """The list of some antecedents; of those that nothing is left for, the first that will do."""
        left, used, rules = all_cells(self.arrays.cells), set(numbers), list[int]()
        bits, size = self.arrays.cells.rules, self.arrays.cells.size
        for number in numbers:
            alike = np.flatnonzero((size == -1 - number) & ~(bits & left).any(axis=1)).tolist()
            rules.append(number if number >= 0 else next(i for i in alike if i not in used))
            used.add(rules[-1])
            left = left & ~bits[rules[-1]]
        listed, conditions = self.antecedents.listed[0], self.antecedents.conditions
        return RuleList.of(self.problem.domain, [[conditions[c] for c in listed[i] if c >= 0] for i in rules])
