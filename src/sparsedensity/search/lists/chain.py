"""A chain: one walk through rule lists, with all that follows from the list it is at."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.special import gammaln

from sparsedensity.kernels import lists as kernels
from sparsedensity.posterior import SparseRules
from sparsedensity.search.lists.antecedents import Antecedents, log_share_of_sizes, records
from sparsedensity.table import Floats

NOTES = 100
"""How often a block notes the log posterior."""
MOST_BOXES, POOL = 1 << 8, 1 << 12
"""A list is passed over if what its rules leave anywhere, or all its leaves, fall into more disjoint boxes than this:
the fewer, the more lists can be tried, which finds better ones."""
FIRST_ROOM = 32
"""The rules there is room for at first; there are twice as many whenever a list comes near."""
MOST_WORDS, WORDS_OF_A_TERM = 3e9, 100
"""How many words of rows a chain may read to improve its best list, and again to improve shorter ones;
the volume and the terms of a leaf count as so many words."""
KICKS = 20
"""How often the best list is taken apart and put together again, while half of those words are left."""
SHORT_WALK, COLDEST = 2_000, 0.05
"""How long a chain looks for a shorter list, and down to which temperature it cools."""
LARGEST_TABLE = 1 << 22
"""Up to this total of whole weights, lnG is looked up."""


Work = Generator[None, None, None]
"""Something that a chain does look by look, so that others may look at the clock."""


class Chain:
    """A walk through rule lists."""

    def __init__(self, task: kernels.Task, limit: int, deepest: int, rng: np.random.Generator) -> None:
        self.task, self.limit, self.deepest, self.rng = task, limit, deepest, rng
        values = len(task.conditions.measure)
        self.pool = kernels.Pool(np.zeros((POOL, -(-values // 64)), np.uint64), np.ones(POOL), np.ones(1, np.int64))
        for value in range(values):
            self.pool.mask[0, value >> 6] |= np.uint64(1) << np.uint64(value & 63)
        self._room = _room(task, limit)
        self._room_for = min(limit, FIRST_ROOM)
        self._archive, self.current, self._draft = self._rooms(self._room_for)
        self.set([])

    @property
    def n(self) -> int:
        """How many rules the list has that it is at."""
        return int(self.current.n[0])

    @property
    def rules(self) -> list[list[int]]:
        """The list it is at, by the numbers of the conditions."""
        return _rules(self.current.rule, self.current.size, self.n)

    @property
    def log_posterior(self) -> float:
        """The log posterior of the list it is at."""
        return float(self.current.score.sum())

    @property
    def scores(self) -> Floats:
        """The best log posterior seen for each number of rules."""
        return self._archive.score

    def best_rules(self, n: int) -> list[list[int]]:
        """The best list of n rules seen."""
        return _rules(self._archive.rule[n], self._archive.size[n], n)

    def set(self, rules: Sequence[Sequence[int]]) -> None:
        """Go to a list; to the longest part from its top that there is room for, if its boxes are too many."""
        self._make_room(2 * len(rules))
        for j, rule in enumerate(rules):
            self._draft.rule[j, : len(rule)] = rule
            self._draft.size[j] = len(rule)
        n = len(rules)
        while not self._settle(0, n):
            n -= 1

    def walk(self, hot: float, cold: float, proposals: int) -> Floats:
        """Propose and accept at temperatures from hot to cold; the log posterior at even steps."""
        self._make_room(2 * self.n)
        return self._walk(hot, cold, proposals, self._room_for)

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
        """Insert the antecedent that gains most, at its best place from the first on; False where none pays."""
        self._make_room(2 * self.n)
        gain, place = kernels.best_insertion(
            self.task, self.current, self.pool, self._draft, self._room, np.int64(self.deepest), np.int64(first),
            sparse, noise, self.rng,
        )  # fmt: skip
        return gain > kernels.TIE and self._settle(place, self.n + 1)

    def _settle(self, lo: int, n: int) -> bool:
        """Make the draft the list, which is the same before place lo; False where there is no room."""
        return bool(
            kernels.settle(self.task, self.current, self.pool, self._draft, self._archive, np.int64(lo), np.int64(n))
        )

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
            failed = 0 if self.log_posterior > score + kernels.TIE else failed + 1
            if failed:
                self.set(before)
            yield
        return left

    def _words_of_a_look(self) -> float:
        """About how many words of rows a look at every antecedent at every place reads."""
        antecedents = float(self.task.belief.of_size["antecedents"][: self.deepest + 1].sum())
        return antecedents * (len(self.task.rows.everything) + WORDS_OF_A_TERM) * (self.n + 1)

    def _walk(self, hot: float, cold: float, proposals: int, limit: int) -> Floats:
        trace: Floats = np.empty(min(NOTES, proposals))
        kernels.walk(
            self.task, self.current, self.pool, self._draft, self._archive, np.int64(limit), hot, cold,
            np.int64(proposals), self.rng, trace,
        )  # fmt: skip
        return trace

    def _make_room(self, rules: int) -> None:
        """Room for lists of so many rules, if the limit allows them; what there is stays."""
        rules = min(self.limit, max(rules, FIRST_ROOM))
        if rules <= self._room_for:
            return
        archive, before = self._archive, self.rules
        self._archive, self.current, self._draft = self._rooms(rules)
        for n in range(self._room_for + 1):
            self._archive.score[n] = archive.score[n]
            self._archive.rule[n, :n], self._archive.size[n, :n] = archive.rule[n, :n], archive.size[n, :n]
        self._room_for = rules
        self.set(before)

    def _rooms(self, rules: int) -> tuple[kernels.Archive, kernels.Rules, kernels.Draft]:
        most = self.task.choice.listed.shape[1]
        archive = kernels.Archive(
            np.full(rules + 1, -np.inf),
            np.full((rules + 1, rules, most), -1, np.int64),
            np.zeros((rules + 1, rules), np.int64),
        )
        return archive, self._rules_room(rules), self._draft_room(rules)

    def _rules_room(self, rules: int) -> kernels.Rules:
        """The empty list, with room for so many rules."""
        most, words = self.task.choice.listed.shape[1], len(self.task.rows.everything)
        room = kernels.Rules(
            np.zeros(1, np.int64), np.full((rules, most), -1, np.int64), np.zeros(rules, np.int64), np.zeros(2),
            np.zeros((rules + 1, words), np.uint64), np.zeros((rules + 1, words), np.uint64),
            np.zeros((rules + 1, MOST_BOXES), np.int32), np.zeros((rules + 1, MOST_BOXES), np.int32),
            np.zeros(rules + 1, kernels.PLACE),
        )  # fmt: skip
        room.rest[0] = self.task.rows.everything
        room.at["n_rest"][0], room.at["top"] = 1, 1
        return room

    def _draft_room(self, rules: int) -> kernels.Draft:
        most, words = self.task.choice.listed.shape[1], len(self.task.rows.everything)
        return kernels.Draft(
            np.full((rules + 1, most), -1, np.int64), np.zeros(rules + 1, np.int64), np.zeros(most + 1),
            np.zeros(words, np.uint64), np.zeros((2, words), np.uint64), np.zeros((2, MOST_BOXES), np.int32),
        )  # fmt: skip


@dataclass
class Walks:
    """All chains, and what they have in common."""

    chains: list[Chain]
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


def task_of(n: float, posterior: SparseRules, antecedents: Antecedents, rules: int) -> kernels.Task:
    """A posterior and its antecedents as the kernels read them, with tables for up to so many rules."""
    counts, a = antecedents.counts, float(posterior.pseudocount)
    sizes = np.arange(len(counts) + 1)
    m = np.arange(rules + 1)
    length = m * math.log(posterior.expected_rules) - gammaln(m + 1) - posterior.log_norm
    k = m + 1.0
    head = -gammaln(n + k * a) - n * antecedents.table.domain.log_volume
    if not posterior.as_printed:
        head += gammaln(k * a) - k * math.lgamma(a)
    rate = sizes * math.log(posterior.expected_conditions) - gammaln(sizes + 1)
    weights = antecedents.table.weights
    whole = n <= LARGEST_TABLE and bool((weights == np.round(weights)).all())
    table = gammaln(np.arange(int(n) + 1 if whole else 1) + a)
    belief = kernels.Belief(
        records(kernels.LENGTH, length, head), records(kernels.SIZE, rate, np.array([0.0, *counts])), table, a
    )
    return kernels.Task(antecedents.rows, antecedents.places, belief, _choice(posterior, antecedents))


def _choice(posterior: SparseRules, antecedents: Antecedents) -> kernels.Choice:
    """Antecedents are drawn much as the prior draws them: a size by its Poisson, then any one of that size."""
    counts = np.array([0.0, *antecedents.counts])
    logs = log_share_of_sizes(antecedents.counts, posterior.expected_conditions)
    up_to = np.cumsum(np.exp(logs))
    up_to[int(np.max(np.flatnonzero(counts), initial=0)) :] = 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        log_share = logs - np.log(counts)
    listed, begin = antecedents.listed
    of_size = records(kernels.DRAW, np.append(up_to, 1.0), np.append(log_share, -np.inf), begin)
    return kernels.Choice(of_size, listed, antecedents.least)


def _room(task: kernels.Task, rules: int) -> kernels.Room:
    """Scratch for a look at every antecedent at every place of lists of up to so many rules."""
    deep, words, values = task.choice.listed.shape[1] + 1, len(task.rows.everything), len(task.conditions.measure)
    return kernels.Room(
        np.empty((deep, words), np.uint64),
        np.empty((deep, POOL)),
        np.empty((values, POOL)),
        np.empty(rules + 2, np.int64),
        np.empty((deep, rules + 1)),
        np.empty((deep, rules + 1)),
        np.empty(deep, np.int64),
    )


def _rules(rule: np.ndarray, size: np.ndarray, n: int) -> list[list[int]]:
    return [rule[j, : size[j]].tolist() for j in range(n)]
