"""A chain: one walk through rule lists, with all that follows from the list it is at."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import numpy as np

from sparsedensity.kernels import list_insert, list_moves, list_state
from sparsedensity.search.lists.chain_arrays import memory_of, pool_of
from sparsedensity.table import Floats

NOTES = 100
"""How often a block notes the log posterior."""
FIRST_ROOM = 32
"""The rules there is room for at first; there are twice as many whenever a list comes near."""
ANTECEDENTS_PER_PROPOSAL = 5
"""How many antecedents are looked at, at every place, in the time of a proposal."""
WORDS_OF_A_TERM, WORDS_OF_A_LEAF = 200, 30_000
"""The terms of a leaf take the time of so many words of rows, and its boxes that of so many, whatever is looked at."""
SHORT_WALK, COLDEST = 2_000, 0.05
"""How long a chain looks for a shorter list, and down to which temperature it cools."""
NOTHING: Floats = np.empty(0)
BEST = list_insert.Wanted(0, 0, False, 0.0, 0.0, False)
NO_WALK = list_moves.ListWalk(0, 1.0, 1.0, 0, 0, 0, 0)

Work = Generator[None, None, None]
"""Something that a chain does look by look, so that others may look at the clock."""


class ListChain:
    """A walk through rule lists."""

    def __init__(
        self,
        task: list_state.ListTask,
        scratch: list_insert.LookScratch,
        limit: int,
        deepest: int,
        rng: np.random.Generator,
    ) -> None:
        self.task, self.limit, self.deepest, self.rng = task, limit, deepest, rng
        self.scratch = scratch
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
    def log_evidence(self) -> float:
        """The part of it that temperatures divide."""
        return float(self.memory.state.now["log_evidence"])

    @property
    def scores(self) -> Floats:
        """The best log posterior seen for each number of rules."""
        return self.memory.archive.score

    @property
    def best_list(self) -> list[list[int]]:
        """The best list seen."""
        return self.best_rules(int(np.argmax(self.scores)))

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
        while not self._do(BEST, n):
            n -= 1

    def walk(self, hot: float, cold: float, proposals: int, every: int = 0) -> Floats:
        """Propose and accept at temperatures from hot to cold; the log posterior at even steps.

        After one of `every` so many proposals, a rule is drawn anew from all antecedents at all places.
        """
        self._make_room(2 * self.n)
        return self._walk(hot, cold, proposals, self._room, every)

    def regrow(self, temperature: float, steps: int, apart: int) -> None:
        """So many times, take out up to so many rules and draw others instead, from the few that the scratch names."""
        self._make_room(2 * self.n)
        self._walk(temperature, temperature, steps, self._room, apart=apart)

    def remember(self, other: ListChain) -> None:
        """Take over the best lists of each length that another chain has seen."""
        self._make_room(len(other.scores) - 1)
        mine, its = self.memory.archive, other.memory.archive
        better = np.flatnonzero(its.score > mine.score[: len(its.score)] + self.task.recipe.least_gain)
        longest = its.rule.shape[1]
        mine.score[better] = its.score[better]
        mine.rule[better, :longest], mine.size[better, :longest] = its.rule[better], its.size[better]

    def grow(self) -> None:
        """Divide the else by the antecedent that gains most while that pays.

        Sparse parts go first: what a rule takes is divided no more, and the dense rest is worth dividing.
        """
        for sparse in (True, False):
            while self.n < self.limit and self.insert(self.n, sparse):
                pass

    def insert(self, first: int = 0, sparse: bool = False) -> bool:
        """Insert the antecedent that gains most, at its best place from the first on; False if none pays."""
        self._make_room(2 * self.n)
        return self._do(list_insert.Wanted(self.deepest, first, sparse, 0.0, 0.0, False), -1)

    def shorten(self, lengths: Sequence[int], most_words: float) -> Work:
        """Look for the best lists of at most so many rules, from the best of that length so far; then come back."""
        before = self.rules
        for length in lengths:
            self.set(before[:length] if self.scores[length] == -np.inf else self.best_rules(length))
            self._walk(1.0, COLDEST, SHORT_WALK, length)
            yield from self.improve(length, most_words / len(lengths))
        self.set(before)

    def improve(self, limit: int, left: float) -> Work:
        """Take out each rule in turn and insert the best antecedent at the best place, while that pays.

        Reads about as many words of rows as are left to read, at most.
        """
        place, failed = 0, 0
        while failed <= self.n and left > 0:
            before, score = self.rules, self.log_posterior
            if self.n == limit or failed:
                place = (place + 1) % self.n
                self.set(before[:place] + before[place + 1 :])
            left -= self.words_of_a_look(self.antecedents)
            self.insert()
            failed = 0 if self.log_posterior > score + self.task.recipe.least_gain else failed + 1
            if failed:
                self.set(before)
            yield

    @property
    def antecedents(self) -> int:
        """How many antecedents a look at all of them looks at."""
        return int(self.task.terms.of_size["antecedents"][: self.deepest + 1].sum())

    def words_of_a_look(self, antecedents: int) -> float:
        """About how many words of rows a look at some antecedents at every place reads."""
        words = len(self.task.rows.everything) + WORDS_OF_A_TERM
        return (float(antecedents) * words + WORDS_OF_A_LEAF) * (self.n + 1)

    @property
    def proposals_of_a_look(self) -> int:
        """How many proposals take about as long as a look at every antecedent at every place."""
        return max(1, int(self.antecedents / ANTECEDENTS_PER_PROPOSAL))

    def _walk(self, hot: float, cold: float, proposals: int, limit: int, every: int = 0, apart: int = 0) -> Floats:
        trace: Floats = np.empty(min(NOTES, proposals))
        walk = list_moves.ListWalk(proposals, float(hot), float(cold), limit, self.deepest, every, apart)
        list_moves.work(self.task, self.memory, self.scratch, list_moves.ListJob(walk, BEST, -1), trace, self.rng)
        return trace

    def _do(self, wanted: list_insert.Wanted, drafted: int) -> bool:
        """Insert a rule, or go to the draft of so many rules; False if that cannot be."""
        job = list_moves.ListJob(NO_WALK, wanted, drafted)
        return bool(list_moves.work(self.task, self.memory, self.scratch, job, NOTHING, self.rng))

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


def _rules(rule: np.ndarray, size: np.ndarray, n: int) -> list[list[int]]:
    return [rule[j, : size[j]].tolist() for j in range(n)]
