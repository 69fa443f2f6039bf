"""All near-optimal rule lists: those that the bound of the exact search does not rule out, listed one by one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sparsedensity.errors import DataError
from sparsedensity.kernels import list_prefixes as kernels
from sparsedensity.posterior.base import check_positive
from sparsedensity.posterior.rule_list import ListPosterior
from sparsedensity.problem import Problem, check_limit
from sparsedensity.search.lists.antecedents import Antecedents
from sparsedensity.search.lists.exact import ExactLists
from sparsedensity.search.lists.exact_arrays import all_cells
from sparsedensity.search.lists.exact_estimate import longest_of
from sparsedensity.search.lists.prefix_growth import ListProof, PrefixGrowth
from sparsedensity.structures import RuleList

FIRST_WINDOW = 0.25
"""Nats below the best to list first; doubled until there are enough lists."""
MOST_PREFIXES = 100_000
"""The most prefixes of one number of rules that are held."""

Leaf = tuple[bytes, int]
"""The cells that a rule takes, and its number of conditions less one."""
Key = tuple[Leaf, ...]
"""The leaves of a prefix in no order."""
Bits = NDArray[np.uint64]


@dataclass(frozen=True)
class ScoredList:
    """A listed rule list with its log posterior."""

    log_posterior: float
    structure: RuleList = field(repr=False)


@dataclass(frozen=True)
class NearOptimalLists:
    """The lists whose log posterior is within some nats of the optimum, the best first.

    Lists whose rules take the same parts of the domain, with as many conditions, are one.
    """

    lists: tuple[ScoredList, ...] = field(repr=False)
    within: float
    complete: bool
    """Whether these are all; if not there are more, and these are the best."""

    def __len__(self) -> int:
        return len(self.lists)

    def __iter__(self) -> Iterator[ScoredList]:
        return iter(self.lists)

    def __str__(self) -> str:
        number = f"{len(self):,}" if self.complete else f"at least {len(self):,}"
        return f"{number} within {self.within:g} nats of the optimum"


@dataclass(frozen=True)
class Prefix:
    """The best order of some rules, by their numbers; -c for one of c conditions that nothing is left for."""

    value: float
    use: int
    left: Bits
    numbers: tuple[int, ...]


class TooManyPrefixesError(Exception):
    """There are more prefixes than can be held."""


def near_optimal_lists(
    problem: Problem[ListPosterior], antecedents: Antecedents, within: float, at_most: int = 1000
) -> NearOptimalLists:
    """The lists whose log posterior is within some nats of the best, at most so many of them.

    >>> from sparsedensity import GreedyTree, datasets
    >>> from sparsedensity.engines import MemoryEngine
    >>> from sparsedensity.posterior import SparseRules
    >>> table = GreedyTree().fit(datasets.load("simulated")).rows_
    >>> antecedents = Antecedents(table)
    >>> problem = Problem(MemoryEngine(table), SparseRules(antecedents.counts))
    >>> print(near_optimal_lists(problem, antecedents, within=1.0))
    1 within 1 nats of the optimum
    """
    check_positive("within", within)
    check_limit("at_most", at_most)
    proof, window, listed = proven(problem, antecedents), min(FIRST_WINDOW, within), list[ScoredList]()
    while True:
        try:
            listed = ListListing(problem, antecedents, proof, window).listed()
        except TooManyPrefixesError:
            return _answer(listed, within, at_most, complete=False)
        if window >= within or len(listed) > at_most:
            return _answer(listed, within, at_most, complete=len(listed) <= at_most)
        window = min(2 * window, within)


def _answer(listed: list[ScoredList], within: float, at_most: int, *, complete: bool) -> NearOptimalLists:
    if not listed:
        raise DataError(f"More lists of this table lie within {FIRST_WINDOW} nats of the best than can be listed.")
    best = sorted(listed, key=lambda scored: -scored.log_posterior)[:at_most]
    return NearOptimalLists(tuple(best), within, complete)


def proven(problem: Problem[ListPosterior], antecedents: Antecedents) -> ListProof:
    """The finished proof of a problem."""
    proof = ExactLists(antecedents).init(problem, np.random.default_rng(0))
    for _ in proof.work:
        pass
    if proof.upper_bound > proof.threshold:
        raise DataError("The best list of this table was not proven, so what is near it is not known.")
    return proof


class ListListing:
    """Lists all rule lists within a window below the best."""

    def __init__(
        self, problem: Problem[ListPosterior], antecedents: Antecedents, proof: ListProof, window: float
    ) -> None:
        self.least = proof.log_posterior - window - (proof.threshold - proof.log_posterior)
        self.longest = longest_of(problem, antecedents, self.least)
        self.growth = PrefixGrowth(problem, antecedents, max(self.longest, 1), proof)
        self.arrays, self.found = self.growth.arrays, list[ScoredList]()

    def listed(self) -> list[ScoredList]:
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
            self.found.append(ScoredList(prefix.value + last, self.growth.list_of(prefix.numbers)))

    def _longer(self, layer: dict[Key, Prefix], rules: int) -> dict[Key, Prefix]:
        """Every prefix of one rule more that may lead into the window."""
        longer: dict[Key, Prefix] = {}
        for key, prefix in layer.items():
            for leaf, child in self._children(prefix):
                leaves = tuple(sorted((*key, leaf)))
                known = longer.get(leaves)
                if child.value > known.value if known else self._leads_on(child, rules):
                    longer[leaves] = child
            if len(longer) > MOST_PREFIXES:
                raise TooManyPrefixesError
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

    def _leads_on(self, prefix: Prefix, rules: int) -> bool:
        """Whether a prefix, as it is or with further rules, may be in the window."""
        return max(self._rest(prefix, rules)) > self.least - prefix.value

    def _rest(self, prefix: Prefix, rules: int) -> tuple[float, float]:
        """What the else adds to a prefix, and the most that it adds with further rules."""
        last, more = kernels.terms_of_rest(self.arrays, prefix.left, rules, prefix.use, self.least - prefix.value)
        return last, more
