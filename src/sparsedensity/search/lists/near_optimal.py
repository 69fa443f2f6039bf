"""All near-optimal rule lists: those that the bound of the exact search does not rule out, listed one by one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sparsedensity.kernels import list_prefixes as kernels
from sparsedensity.posterior.rule_list import ListPosterior
from sparsedensity.problem import Problem
from sparsedensity.search.base import Proof
from sparsedensity.search.lists.antecedents import Antecedents
from sparsedensity.search.lists.exact import ExactLists
from sparsedensity.search.lists.exact_arrays import all_cells
from sparsedensity.search.lists.exact_estimate import longest_of
from sparsedensity.search.lists.prefix_growth import PrefixGrowth
from sparsedensity.search.near import Near, NearOptimal, TooManyError, list_near

MOST_PREFIXES = 100_000
"""The most prefixes of one number of rules that are held."""

Leaf = tuple[bytes, int]
"""The cells that a rule takes, and its number of conditions less one."""
Key = tuple[Leaf, ...]
"""The leaves of a prefix in no order."""
Bits = NDArray[np.uint64]


@dataclass(frozen=True)
class Prefix:
    """The best order of some rules, by their numbers; -c for one of c conditions that nothing is left for."""

    value: float
    use: int
    left: Bits
    numbers: tuple[int, ...]


def near_optimal_lists(
    problem: Problem[ListPosterior], antecedents: Antecedents, within: float, at_most: int = 1000
) -> NearOptimal:
    """The lists whose log posterior is within some nats of the best, at most so many of them.

    Lists whose rules take the same parts of the domain, with as many conditions, are one.
    """
    proof = ExactLists(antecedents).init(problem, np.random.default_rng(0))

    def listed(window: float) -> list[Near]:
        if not sum(antecedents.counts):  # the empty list is the only one
            return [Near(proof.log_posterior, lambda: proof.structure)]
        return ListListing(problem, antecedents, proof, window).listed()

    return list_near(proof, listed, within, at_most)


class ListListing:
    """Lists all rule lists within a window below the best."""

    def __init__(self, problem: Problem[ListPosterior], antecedents: Antecedents, proof: Proof, window: float) -> None:
        self.least = proof.log_posterior - window - (proof.threshold - proof.log_posterior)
        self.longest = longest_of(problem, antecedents, self.least)
        self.growth = PrefixGrowth(problem, antecedents, max(self.longest, 1), proof)
        self.arrays, self.found = self.growth.arrays, list[Near]()

    def listed(self) -> list[Near]:
        """All of them."""
        empty: Key = ()
        layer = {empty: Prefix(0.0, 0, all_cells(self.arrays.cells), ())}
        for rules in range(self.longest + 1):
            for prefix in layer.values():
                self._take(prefix, rules)
            layer = self._longer(layer, rules + 1) if rules < self.longest else {}
        return self.found

    def _take(self, prefix: Prefix, rules: int) -> None:
        """The prefix as a list, if it is in the window."""
        last, _ = self._rest(prefix, rules)
        if prefix.value + last > self.least:
            self.found.append(Near(prefix.value + last, partial(self.growth.list_of, prefix.numbers)))

    def _longer(self, layer: dict[Key, Prefix], rules: int) -> dict[Key, Prefix]:
        """Every prefix of one rule more that may lead into the window."""
        longer: dict[Key, Prefix] = {}
        for key, prefix in layer.items():
            for leaf, child in self._children(prefix):
                leaves = tuple(sorted((*key, leaf)))
                known = longer.get(leaves)
                if child.value > known.value if known else max(self._rest(child, rules)) > self.least - child.value:
                    longer[leaves] = child
            if len(longer) > MOST_PREFIXES:
                raise TooManyError
        return longer

    def _children(self, prefix: Prefix) -> Iterator[tuple[Leaf, Prefix]]:
        """The prefix with one more rule, once for every part and number of conditions."""
        bits, size = self.arrays.cells.rules, self.arrays.cells.size
        taken = bits & prefix.left
        idle: NDArray[np.bool_] = np.all(taken == 0, axis=1)
        first = {
            (part.tobytes(), int(c)): i for i, (part, c) in enumerate(zip(taken, size, strict=True)) if not idle[i]
        }
        for leaf, number in first.items():
            yield from self._child(prefix, leaf, number, taken[number])
        used = self.arrays.uses.rules["used"][prefix.use]
        for c in np.flatnonzero(np.bincount(size[idle], minlength=len(used)) > used).tolist():
            yield from self._child(prefix, (b"", c), -1 - c, np.zeros_like(prefix.left))

    def _child(self, prefix: Prefix, leaf: Leaf, number: int, part: Bits) -> Iterator[tuple[Leaf, Prefix]]:
        following = self.arrays.uses.rules[prefix.use, leaf[1]]
        if following["after"] >= 0:
            value = prefix.value + float(following["step"]) + kernels.term_of(self.arrays, part)
            yield leaf, Prefix(value, int(following["after"]), prefix.left & ~part, (*prefix.numbers, number))

    def _rest(self, prefix: Prefix, rules: int) -> tuple[float, float]:
        """What the else adds to a prefix, and the most that it adds with further rules."""
        last, more = kernels.terms_of_rest(self.arrays, prefix.left, rules, prefix.use, self.least - prefix.value)
        return last, more
