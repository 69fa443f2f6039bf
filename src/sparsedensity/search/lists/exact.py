"""Exact search for rule lists: the best one there is, with a proof, or a bound on how much better it could be.

Prefixes grow by one rule at a time. Those that leave the same points and have used up as many antecedents of every
size are one state, of which only the best is kept; on a small domain that alone is dynamic programming over sets of
points. A state is dropped when even the best leaves for what remains, and the cheapest rules, cannot lead to a better
list than the best known.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from sparsedensity.errors import DataError
from sparsedensity.kernels import prefixes as kernels
from sparsedensity.posterior import SparseRules
from sparsedensity.problem import Problem
from sparsedensity.search.base import TIE
from sparsedensity.search.bounds import upper_bound
from sparsedensity.search.lists.anneal import one_more_rule_pays, told
from sparsedensity.search.lists.antecedents import MOST_LISTED, Antecedents
from sparsedensity.search.lists.exact_arrays import (
    cells_of,
    count_uses,
    first_layer,
    larger,
    layer_of,
    log_heads,
    log_surplus,
    prior_of,
    smooth,
)
from sparsedensity.search.trees.exact.estimate import MOST_BYTES, MOST_SECONDS, about
from sparsedensity.structures import RuleList, Structure
from sparsedensity.table import Floats

MOST_POINTS, MOST_BITS = 1 << 14, 1 << 25
"""The most points of a domain, and points times antecedents, that are looked at one by one."""
FIRST_ROOM = 1 << 12
"""The states that a layer has room for at first."""
BLOCK_SECONDS = 0.1
"""Between two looks at the clock, about."""
MOST_PRIORS = 1 << 24
"""The most numbers in a table of the prior."""
SECONDS_A_RULE, POINTS_A_RULE = 4e-7, 32
"""As measured: to try one rule after one prefix; looking at so many points takes as long again."""


@dataclass(frozen=True)
class ListEstimate:
    """What a proof would take at most, known before it begins."""

    prefixes: float
    """The most states there can be: that bounds will drop most of them is not foreseen."""
    bytes: float
    seconds_each: float
    """To extend one prefix by every rule."""
    possible: bool = True
    """Whether the points and priors fit into tables at all."""

    @property
    def seconds(self) -> float:
        """The time for all prefixes."""
        return self.prefixes * self.seconds_each

    @property
    def hopeless(self) -> bool:
        """Whether a proof is out of reach."""
        return not self.possible or self.bytes > MOST_BYTES or self.seconds > MOST_SECONDS


@dataclass
class ListProof:
    """How far a proof has come."""

    structure: RuleList
    log_posterior: float
    upper_bound: float
    work: Iterator[int] = field(default_factory=lambda: iter(()), repr=False)
    moves: int = 0
    """How many prefixes were visited."""
    finished: bool = False

    @property
    def threshold(self) -> float:
        """What a list must exceed to be better than the best known."""
        return self.log_posterior + TIE * max(1.0, abs(self.log_posterior))


@dataclass(frozen=True, eq=False)
class ExactLists:
    """A search over all prefixes.

    >>> from sparsedensity import datasets
    >>> from sparsedensity.engines import MemoryEngine
    >>> from sparsedensity.search import run
    >>> from sparsedensity.table import Table
    >>> truth = datasets.random_tree(rows=100, sizes=(3, 2))
    >>> table = Table.of(truth.domain, truth.codes)
    >>> antecedents = Antecedents(table)
    >>> found = run(ExactLists(antecedents), Problem(MemoryEngine(table), SparseRules(antecedents.counts)))
    >>> found.proven, found.gap
    (True, 0.0)
    """

    antecedents: Antecedents
    warm: RuleList | None = None
    """A list to begin with; what is returned is never worse."""
    anytime: bool = False
    """Where a proof is out of reach, try as long as there is time and memory instead of refusing."""
    name: str = "exact"

    def init(self, problem: Problem[SparseRules], rng: np.random.Generator) -> ListProof:
        """The warm list or the empty one, and the bound that costs nothing."""
        start = RuleList.of(problem.domain, [])
        if self.warm is not None and self._allows(self.warm, problem):
            start = max(start, self.warm, key=problem.score)
        bound = upper_bound(problem)
        assert bound is not None
        proof = ListProof(start, problem.score(start), bound)
        ahead = estimate_list(problem, self.antecedents, proof.threshold)
        if ahead.hopeless and not self.anytime:
            raise too_large(ahead)
        proof.finished = not ahead.possible
        if ahead.possible:
            proof.work = prove(problem, self.antecedents, proof)
        return proof

    def _allows(self, rules: RuleList, problem: Problem[SparseRules]) -> bool:
        """Whether a warm list keeps the limits."""
        known = all(map(self.antecedents.has, rules.rules))
        return rules.domain == problem.domain and known and rules.n_leaves <= (problem.max_leaves or rules.n_leaves)

    def step(self, problem: Problem[SparseRules], state: ListProof, rng: np.random.Generator) -> ListProof:
        """A block of prefixes."""
        done = next(state.work, None)
        state.moves += done or 0
        state.finished = done is None
        return state

    def best(self, problem: Problem[SparseRules], state: ListProof) -> RuleList:
        """The best list so far, in reading order."""
        return told(problem, self.antecedents, state.structure)

    def limited(self, problem: Problem[SparseRules], state: ListProof, best: Structure) -> bool:
        """Whether the list is as long as it may be and one more rule at its end would pay."""
        return one_more_rule_pays(problem, self.antecedents, best)

    def archive(self, problem: Problem[SparseRules], state: ListProof) -> Mapping[int, Structure]:
        """Nothing but the best list: prefixes that cannot lead to it are dropped."""
        return {}


def estimate_list(
    problem: Problem[SparseRules], antecedents: Antecedents, at_least: float | None = None
) -> ListEstimate:
    """The prefixes, memory and time of an exact search at most, given the log posterior of a list known.

    >>> from sparsedensity import datasets
    >>> from sparsedensity.engines import MemoryEngine
    >>> from sparsedensity.table import Table
    >>> truth = datasets.random_tree(rows=100, sizes=(2, 2))
    >>> table = Table.of(truth.domain, truth.codes)
    >>> antecedents = Antecedents(table, max_conditions=1)
    >>> estimate_list(Problem(MemoryEngine(table), SparseRules(antecedents.counts)), antecedents).prefixes
    16.0
    """
    counts = antecedents.counts
    points, total = math.prod(problem.domain.sizes), sum(counts)
    if points > MOST_POINTS or total > MOST_LISTED or points * total > MOST_BITS:
        return ListEstimate(math.inf, math.inf, math.inf, possible=False)
    known = problem.score(RuleList.of(problem.domain, [])) if at_least is None else at_least
    longest = longest_of(problem, antecedents, known)
    uses = count_uses(counts, longest)
    prefixes = sum(min(_float(math.comb(total, m)), 2.0 ** min(points, 1000) * uses[m]) for m in range(longest + 1))
    width = 8 * (-(-points // 64) + 9)
    possible = sum(uses) * (longest + 1) <= MOST_PRIORS
    return ListEstimate(prefixes, prefixes * width, _seconds(total, points), possible)


def _seconds(rules: int, points: int) -> float:
    """To extend one prefix by so many rules."""
    return rules * SECONDS_A_RULE * (1 + points / POINTS_A_RULE)


def longest_of(problem: Problem[SparseRules], antecedents: Antecedents, known: float) -> int:
    """No list of more rules than this is better than one that is known."""
    limit = _most_rules(problem, antecedents)
    if not limit:
        return 0
    rules: Floats = np.arange(limit + 1.0)
    n, a = problem.engine.n, smooth(problem.posterior.pseudocount)
    fewest = np.min(np.maximum(np.array([c for c in antecedents.counts if c])[:, None] - rules[:-1], 1.0), axis=0)
    cheapest = np.concatenate([[0.0], -np.cumsum(np.log(fewest))])
    bounds = log_heads(problem, limit) + cheapest + _fit_of_rows(problem) + log_surplus(n, rules + 1, a)
    return int(np.max(np.flatnonzero(bounds > known), initial=0))


def prove(problem: Problem[SparseRules], antecedents: Antecedents, proof: ListProof) -> Iterator[int]:
    """Extend all prefixes layer by layer until none can lead to a better list; yields the prefixes visited since."""
    longest = longest_of(problem, antecedents, proof.threshold)
    if longest:
        growth = Growth(problem, antecedents, longest, proof)
        while growth.bound > proof.threshold:
            if growth.too_large:
                return
            yield from growth.extend()
            proof.upper_bound = min(proof.upper_bound, max(growth.bound, proof.log_posterior))
    proof.upper_bound = proof.log_posterior


class Link(NamedTuple):
    """Of a layer that was left behind: the prefix before the last rule, and that rule."""

    parent: np.ndarray
    rule: np.ndarray


class Growth:
    """The prefixes of one number of rules after another."""

    def __init__(self, problem: Problem[SparseRules], antecedents: Antecedents, longest: int, proof: ListProof) -> None:
        self.problem, self.antecedents, self.proof = problem, antecedents, proof
        self.cells, self.prior = cells_of(problem, antecedents), prior_of(problem, longest)
        self.layer = first_layer(self.cells)
        self.links: list[Link] = []
        self.best = kernels.Best(np.array([proof.log_posterior, proof.threshold]), np.full(1, -1, np.int64))
        most = len(self.cells) + 1
        self.scratch = kernels.Scratch(
            np.empty_like(self.cells.everything), np.empty(most), np.empty(most), np.empty((4, kernels.MOST_ITEMS + 1))
        )

    @property
    def rules(self) -> int:
        """How many rules the prefixes have."""
        return len(self.links)

    @property
    def bound(self) -> float:
        """What no list that begins with one of the prefixes exceeds."""
        if self.rules + 1 == len(self.prior.head):
            return -math.inf
        n = int(self.layer.n[0])
        return float(np.max(self.layer.value[:n] + self.layer.more[:n], initial=-np.inf))

    @property
    def too_large(self) -> bool:
        """Whether the next layer may need more memory than there is."""
        held = sum(array.nbytes for array in self.layer) + sum(link.parent.nbytes * 2 for link in self.links)
        return held > MOST_BYTES / 4

    def extend(self) -> Iterator[int]:
        """Extend every prefix by every rule; yields the prefixes visited since."""
        room = max(FIRST_ROOM, _power(2 * self._most_children))
        longer, done, n = layer_of(self.layer.left.shape[1], room), 0, int(self.layer.n[0])
        block = max(1, int(BLOCK_SECONDS / _seconds(self._most_children, len(self.cells))))
        while done < n:
            stopped = self._extend(done, min(n, done + block), longer)
            self._settle(longer)
            if stopped < min(n, done + block):
                longer = larger(longer, 2 * len(longer.use))
            yield stopped - done
            done = stopped
        self.links.append(Link(self.layer.parent[:n].copy(), self.layer.rule[:n].copy()))
        self.layer = longer

    @property
    def _most_children(self) -> int:
        return len(self.cells.rules.size) + int(self.prior.used.shape[1]) + 1

    def _extend(self, begin: int, end: int, longer: kernels.Layer) -> int:
        stopped: int = kernels.extend(
            self.cells.held, self.cells.rules, self.prior, np.int64(self.rules + 1), self.layer, np.int64(begin),
            np.int64(end), longer, self.best, self.scratch,
        )  # fmt: skip
        return stopped

    def _settle(self, longer: kernels.Layer) -> None:
        """Note a better list."""
        at = int(self.best.at[0])
        if at < 0:
            return
        self.proof.structure = self._list(at, longer)
        self.proof.log_posterior = float(self.best.score[0])
        self.proof.upper_bound = max(self.proof.upper_bound, self.proof.log_posterior)
        self.best.at[0] = -1

    def _list(self, at: int, longer: kernels.Layer) -> RuleList:
        """The list of a prefix of the next layer."""
        links = [*self.links, Link(self.layer.parent, self.layer.rule), Link(longer.parent, longer.rule)]
        numbers: list[int] = []
        for parent, rule in reversed(links[1:]):
            numbers.append(int(rule[at]))
            at = int(parent[at])
        return self.list_of(numbers[::-1])

    def list_of(self, numbers: Sequence[int]) -> RuleList:
        """The list of some antecedents; of those that nothing is left for, the first that will do."""
        left, used, rules = self.cells.everything, set(numbers), list[int]()
        bits, size = self.cells.rules
        for number in numbers:
            alike = np.flatnonzero((size == -1 - number) & ~(bits & left).any(axis=1)).tolist()
            rules.append(number if number >= 0 else next(i for i in alike if i not in used))
            used.add(rules[-1])
            left = left & ~bits[rules[-1]]
        listed, conditions = self.antecedents.listed[0], self.antecedents.conditions
        return RuleList.of(self.problem.domain, [[conditions[c] for c in listed[i] if c >= 0] for i in rules])


def too_large(ahead: ListEstimate) -> DataError:
    """The sentence for a table whose proof is out of reach."""
    return DataError(
        f"An exact search for rule lists of this table could visit {about(ahead.prefixes)} prefixes and take "
        f"{about(ahead.bytes / 1e9)} GB of memory and {about(ahead.seconds / 60)} minutes. Use search='anneal', set a "
        "time_limit to get the best list known with a bound, lower max_rules or max_conditions, or raise min_support."
    )


def _most_rules(problem: Problem[SparseRules], antecedents: Antecedents) -> int:
    total = sum(antecedents.counts)
    return min(total, (problem.max_leaves or total + 1) - 1)


def _fit_of_rows(problem: Problem[SparseRules]) -> float:
    """The sum over distinct rows of n ln (n / V), volumes relative to the whole domain."""
    engine = problem.engine
    weights = engine.table.weights
    logs = engine.value_weights(engine.all_rows()) @ np.log(engine.domain.measures)
    return float(weights @ np.log(weights) - logs + engine.n * engine.domain.log_volume)


def _power(number: int) -> int:
    """The least power of two that is no smaller."""
    return 1 << (number - 1).bit_length()


def _float(number: int) -> float:
    return float(number) if number.bit_length() < 1000 else math.inf
