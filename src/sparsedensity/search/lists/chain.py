"""A chain: one walk through rule lists, with all that follows from the list it is at."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from sparsedensity.kernels import list_insert, list_moves, list_state
from sparsedensity.search.lists.chain_arrays import memory_of, pool_of, scratch_of
from sparsedensity.table import Floats

NOTES = 100
"""How often a block notes the log posterior."""
FIRST_ROOM = 32
"""The rules there is room for at first; there are twice as many whenever a list comes near."""
MOST_WORDS, WORDS_OF_A_TERM = 3e9, 100
"""How many words of rows a chain may read to improve its best list, and again to improve shorter ones;
the volume and the terms of a leaf count as so many words."""
KICKS = 20
"""How often the best list is taken apart and put together again, while half of those words are left."""
SHORT_WALK, COLDEST = 2_000, 0.05
"""How long a chain looks for a shorter list, and down to which temperature it cools."""

Work = Generator[None, None, None]
"""Something that a chain does look by look, so that others may look at the clock."""


class ListChain:
    """A walk through rule lists."""

    def __init__(self, task: list_state.ListTask, limit: int, deepest: int, rng: np.random.Generator) -> None:
        self.task, self.limit, self.deepest, self.rng = task, limit, deepest, rng
        self._scratch = scratch_of(task, limit)
        self._room = min(limit, FIRST_ROOM)
        self.memory = memory_of(task, pool_of(len(task.conditions.measure)), self._room)
        self.set([])

    @property
    def n(self) -> int:
        """How many rules the list has that it is at."""
        return int(self.memory.state.now["n"])

    @property
    def rules(self) -> list[list[int]]:
        """The list it is at, by the numbers of the conditions."""
        return _rules(self.memory.state.rule, self.memory.state.size, self.n)

    @property
    def log_posterior(self) -> float:
        """The log posterior of the list it is at."""
        now = self.memory.state.now
        return float(now["log_prior"] + now["log_evidence"])

    @property
    def scores(self) -> Floats:
        """The best log posterior seen for each number of rules."""
        return self.memory.archive.score

    def best_rules(self, n: int) -> list[list[int]]:
        """The best list of n rules seen."""
        return _rules(self.memory.archive.rule[n], self.memory.archive.size[n], n)

    def set(self, rules: Sequence[Sequence[int]]) -> None:
        """Go to a list; to the longest part from its top that there is room for, if its boxes are too many."""
        self._make_room(2 * len(rules))
        draft = self.memory.draft
        for j, rule in enumerate(rules):
            draft.rule[j, : len(rule)] = rule
            draft.size[j] = len(rule)
        n = len(rules)
        while not self._adopt(0, n):
            n -= 1

    def walk(self, hot: float, cold: float, proposals: int) -> Floats:
        """Propose and accept at temperatures from hot to cold; the log posterior at even steps."""
        self._make_room(2 * self.n)
        return self._walk(hot, cold, proposals, self._room)

    def sample(self, proposals: int) -> Floats:
        """Sample the posterior, then look for the best list near to where that ends, and come back."""
        trace = self.walk(1.0, 1.0, proposals)
        before = self.rules
        self.walk(1.0, COLDEST, proposals)
        self.set(before)
        return trace

    def grow(self, noise: float) -> int:
        """Divide the else by the antecedent that gains most (or, with noise, one drawn by its gain) while that pays.

        Sparse parts go first: what a rule takes is divided no more, and the dense rest is worth dividing.
        """
        before = self.n
        for sparse in (True, False):
            while self.n < self.limit and self.insert(self.n, sparse, noise):
                pass
        return self.n - before

    def insert(self, first: int = 0, sparse: bool = False, noise: float = 0.0) -> bool:
        """Insert the antecedent that gains most, at its best place from the first on; False if none pays."""
        self._make_room(2 * self.n)
        wanted = list_insert.Wanted(self.deepest, first, sparse, float(noise))
        gain, place = list_insert.best_insertion(self.task, self.memory, self._scratch, wanted, self.rng)
        return gain > self.task.recipe.least_gain and self._adopt(place, self.n + 1)

    def _adopt(self, begin: int, n: int) -> bool:
        """Make the draft, which differs from a place on, the list; False if there is no room."""
        return bool(list_state.adopt_draft(self.task, self.memory, begin, n))

    def anneal(self, temperature: float, proposals: int) -> None:
        """Leave out some rules and grow others instead; keep that as a Metropolis step would; then walk."""
        before, score = self.rules, self.log_posterior
        share = self.rng.random()
        self.set([rule for rule in before if self.rng.random() < share])
        self.grow(temperature)
        if self.log_posterior < score and self.rng.random() >= math.exp((self.log_posterior - score) / temperature):
            self.set(before)
        self.walk(temperature, temperature, proposals)

    def polish(self) -> Work:
        """Go to the best list and improve it; then take out rules at random, improve that, and keep what is best."""
        self.set(self.best_rules(int(np.argmax(self.scores))))
        left = yield from self.improve(self.limit, MOST_WORDS)
        for _ in range(KICKS):
            if left < MOST_WORDS / 2 or self.n < 2:
                break
            before, score = self.rules, self.log_posterior
            stay = self.rng.random(len(before)) < self.rng.random()
            self.set([rule for rule, kept in zip(before, stay, strict=True) if kept])
            left = yield from self.improve(self.limit, left)
            if self.log_posterior < score:
                self.set(before)

    def shorten(self, lengths: Sequence[int]) -> Work:
        """Look for the best lists of at most so many rules, from the best of that length so far; then come back."""
        before = self.rules
        for length in lengths:
            self.set(before[:length] if self.scores[length] == -np.inf else self.best_rules(length))
            self._walk(1.0, COLDEST, SHORT_WALK, length)
            yield from self.improve(length, MOST_WORDS / len(lengths))
        self.set(before)

    def improve(self, limit: int, left: float) -> Generator[None, None, float]:
        """Take out each rule in turn and insert the best antecedent at the best place, while that pays.

        Reads about as many words of rows as are left to read, at most; returns how many are left then.
        """
        place, failed = 0, 0
        while failed <= self.n and left > 0:
            before, score = self.rules, self.log_posterior
            if self.n == limit or failed:
                place = (place + 1) % self.n
                self.set(before[:place] + before[place + 1 :])
            left -= self._words_of_a_look()
            self.insert()
            failed = 0 if self.log_posterior > score + self.task.recipe.least_gain else failed + 1
            if failed:
                self.set(before)
            yield
        return left

    def _words_of_a_look(self) -> float:
        """About how many words of rows a look at every antecedent at every place reads."""
        antecedents = float(self.task.terms.of_size["antecedents"][: self.deepest + 1].sum())
        return antecedents * (len(self.task.rows.everything) + WORDS_OF_A_TERM) * (self.n + 1)

    def _walk(self, hot: float, cold: float, proposals: int, limit: int) -> Floats:
        trace: Floats = np.empty(min(NOTES, proposals))
        schedule = list_moves.ListSchedule(proposals, float(hot), float(cold), limit)
        list_moves.walk(self.task, self.memory, schedule, trace, self.rng)
        return trace

    def _make_room(self, rules: int) -> None:
        """Room for lists of so many rules, if the limit allows them; what there is stays."""
        rules = min(self.limit, max(rules, FIRST_ROOM))
        if rules <= self._room:
            return
        archive, before = self.memory.archive, self.rules
        self.memory = memory_of(self.task, self.memory.pool, rules)
        for n in range(self._room + 1):
            self.memory.archive.score[n] = archive.score[n]
            self.memory.archive.rule[n, :n] = archive.rule[n, :n]
            self.memory.archive.size[n, :n] = archive.size[n, :n]
        self._room = rules
        self.set(before)


@dataclass
class ListChains:
    """All chains, and what they have in common."""

    chains: list[ListChain]
    done: int = 0
    """Proposals of each chain so far."""
    traces: list[Floats] = field(default_factory=list)
    """The log posterior of every chain while sampling, a block at a time."""
    r_hat: float | None = None
    improving: Iterator[None] | None = None
    """The improvement of what annealing found, once it has begun."""
    finished: bool = False

    @property
    def moves(self) -> int:
        """Proposals of all chains so far."""
        return self.done * len(self.chains)

    @property
    def scores(self) -> Floats:
        """The best log posterior of each number of rules."""
        longest = max(len(chain.scores) for chain in self.chains)
        padded = [np.pad(c.scores, (0, longest - len(c.scores)), constant_values=-np.inf) for c in self.chains]
        best: Floats = np.max(padded, axis=0)
        return best

    @property
    def log_posterior(self) -> float:
        """The best log posterior so far."""
        return float(self.scores.max())

    def best_rules(self, n: int) -> list[list[int]]:
        """The best list of n rules; of equals that of the first chain."""
        having = [chain for chain in self.chains if len(chain.scores) > n]
        return max(having, key=lambda chain: float(chain.scores[n])).best_rules(n)


def _rules(rule: np.ndarray, size: np.ndarray, n: int) -> list[list[int]]:
    return [rule[j, : size[j]].tolist() for j in range(n)]
