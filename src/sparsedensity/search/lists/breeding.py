"""Breeding: a few lists are annealed one by one, then two and two are crossed, while that finds better ones.

Where there are few antecedents, chains walk and cool. Elsewhere, annealing takes out a rule or two at a time and draws
others. Most antecedents are of no use to lists that are any good, so it looks at few of them: those that were worth
most when all were looked at last. Crossing draws from the rules of both parents only. What parents have in common
stays, and where they differ the better choice is soon found.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsedensity.search.lists.chain import ListChain, Work

FEW = 200
"""How many conditions, alone or in pairs, are looked at while lists are annealed."""
FIRST_LOOKS = 5
"""How many looks at all antecedents there are before."""
STEPS, MOST_STEPS, FEW_PER_ALL = 25, 400, 3
"""How often rules are drawn anew between two looks at all antecedents, at least, and while one list is annealed, at
most; and how many times as long as such a look drawing takes, at least."""
APART = 2
"""How many rules are taken out at a time, at most; where lists are crossed, twice as many."""
CROSSINGS = 60
"""How often rules of both parents are drawn anew."""
HOT, WARM, COLD = 0.003, 0.0003, 0.0001
"""The temperatures at which lists, and crossed lists, are first annealed, and the last one, as shares of the gain over
the empty list. They are never below 1."""
WORDS_OF_ONE, WORDS_OF_CROSSED = 1e9, 3.5e8
"""How many words of rows are read to anneal one list, and one that was crossed."""
PART = 0.5
"""The part of a list that annealing starts from."""
TINY = 100
"""Up to so many antecedents, a walk takes no time."""
WALKS, PROPOSALS, PROPOSALS_OF_A_LOOK = 40, 5_000, 20
"""How many walks there are then, of how many proposals, and how many of these for each rule that is drawn anew."""
COOLING = 3.0, 0.1
"""The temperatures of such a walk."""
SAME = 1e-6

Rules = list[list[int]]


class Member(NamedTuple):
    """A list of the population."""

    log_posterior: float
    rules: Rules


class Breeding:
    """A population of lists, distinct in their log posteriors, and a chain that improves them."""

    def __init__(self, chain: ListChain, effort: float) -> None:
        self.chain, self.effort, self.size = chain, effort, 0
        self.into = chain
        """The chain that remembers what is found."""
        self.members: list[Member] = []
        self._rank = np.full(chain.scratch.worth.shape, chain.antecedents)
        self._empty = chain.log_posterior
        self._read, self._few = 0.0, chain.antecedents

    @property
    def best(self) -> Member:
        """The best list of the population; of equals the first."""
        return max(self.members, key=lambda member: member.log_posterior)

    def begin(self, start: Rules, count: int) -> Work:
        """A population of up to so many lists: the start, and others that are annealed."""
        self.size = count
        self._begin(start)
        self._admit()
        yield from self._from_nothing() if self.chain.antecedents <= TINY else self._from_parts(start)

    def _from_nothing(self) -> Work:
        """Let the chain walk from the empty list while it cools, again and again."""
        for _ in range(max(1, round(self.effort * WALKS))):
            self._begin([])
            self.chain.walk(*COOLING, PROPOSALS, PROPOSALS_OF_A_LOOK)
            self._admit()
            yield

    def _from_parts(self, start: Rules) -> Work:
        """Anneal random parts of a list. Twice the same best is enough."""
        for _ in range(FIRST_LOOKS):
            self.chain.set(self._part_of(start))
            self._look_at_all()
            yield
        for _ in range(self.size - 1):
            self._begin(self._part_of(start))
            yield from self._cool(HOT, self.effort * WORDS_OF_ONE)
            before, found = len(self.members), self._admit()
            if len(self.members) == before and found >= self.best.log_posterior - SAME:
                break

    def cross(self, most_words: float, patience: int) -> Work:
        """Cross two lists of the population at a time and anneal what comes of it; the worst list makes room for it."""
        idle, end = 0, self._read + self.effort * most_words
        while idle < patience and len(self.members) > 1 and self._read < end:
            best = self.best.log_posterior
            one, other = self.chain.rng.choice(len(self.members), 2, replace=False)
            self._begin(self.members[one].rules)
            self._mix(self.members[one].rules, self.members[other].rules)
            self.chain.set(self.chain.best_list)
            yield from self._cool(WARM, self.effort * WORDS_OF_CROSSED)
            self._admit()
            idle = 0 if self.best.log_posterior > best + SAME else idle + 1

    def admit(self, new: Member) -> None:
        """Let a list into the population, if it is not there; if that is full, in place of the one most like it."""
        if any(abs(new.log_posterior - old.log_posterior) <= SAME for old in self.members):
            return
        if len(self.members) < self.size:
            self.members.append(new)
            return
        like = max(range(self.size), key=lambda i: _common(self.members[i].rules, new.rules))
        if new.log_posterior > self.members[like].log_posterior:
            self.members[like] = new

    def _part_of(self, rules: Rules) -> Rules:
        return [rule for rule in rules if self.chain.rng.random() < PART]

    def _begin(self, rules: Rules) -> None:
        """Go to a list, and remember nothing else."""
        self.chain.memory.archive.score.fill(-np.inf)
        self.chain.set(rules)

    def _admit(self) -> float:
        """Hand over what was found; its log posterior."""
        self.into.remember(self.chain)
        rules = self.chain.best_list
        found = Member(float(self.chain.scores[len(rules)]), rules)
        self.admit(found)
        return found.log_posterior

    def _cool(self, hot: float, words: float) -> Work:
        """Draw rules of the list anew, ever colder, until so many words are read."""
        chain, end, begin = self.chain, self._read + words, self._read
        gain = chain.log_posterior - self._empty
        last, steps = begin, 0
        while self._read < end and steps < MOST_STEPS:
            if self._read >= last:
                last = FEW_PER_ALL * self._look_at_all() + self._read
            cooled = max((self._read - begin) / words, steps / MOST_STEPS)
            self._regrow(gain * hot * (COLD / hot) ** min(1.0, cooled), STEPS, APART)
            steps += STEPS
            yield

    def _look_at_all(self) -> float:
        """Take out a rule and insert the best of all antecedents; those worth most in such looks are the few.

        Returns how many words were read.
        """
        chain, worth = self.chain, self.chain.scratch.worth
        rules = chain.rules
        if rules:
            place = int(chain.rng.integers(len(rules)))
            chain.set(rules[:place] + rules[place + 1 :])
        worth.fill(-np.inf)
        words = chain.words_of_a_look(chain.antecedents)
        self._read += words
        if not chain.insert():
            chain.set(rules)
        if worth.size > FEW:
            self._rank += 1
            best = np.argpartition(worth, -FEW, axis=None)[-FEW:]
            best = best[np.argsort(-worth.flat[best])]
            self._rank.flat[best] = np.minimum(self._rank.flat[best], np.arange(FEW))
            self._look_at(np.argpartition(self._rank, FEW, axis=None)[:FEW])
        else:
            self._look_at(np.arange(worth.size))
        return words

    def _mix(self, one: Rules, other: Rules) -> None:
        """Draw rules of two lists, from the first on."""
        conditions = len(self._rank)
        self._look_at([rule[0] * conditions + rule[:2][-1] for rule in one + other])
        gain = self.chain.log_posterior - self._empty
        for share in np.geomspace(HOT, COLD, 4):
            self._regrow(gain * share, CROSSINGS // 4, 2 * APART)

    def _look_at(self, few: Sequence[int] | NDArray[np.int64]) -> None:
        """Name the pairs of conditions to look at, by their numbers."""
        marks = self.chain.scratch.few
        marks.fill(False)
        if marks.size:
            marks.flat[few] = True
            np.fill_diagonal(marks, marks.any(axis=1))
        self._few = int(marks.sum()) if marks.size else self.chain.antecedents

    def _regrow(self, temperature: float, steps: int, apart: int) -> None:
        self._read += self.chain.words_of_a_look(self._few) * steps * (1 + apart) / 2
        self.chain.regrow(max(1.0, temperature), steps, apart)


def _common(one: Rules, other: Rules) -> int:
    """How many rules two lists have in common."""
    return len({tuple(rule) for rule in one} & {tuple(rule) for rule in other})
