"""Breeding: a few lists are annealed one by one, then crossed, ruined or freed of a condition, while that finds better.

Where there are few antecedents, chains walk and cool. Elsewhere, annealing takes out a rule or two at a time and draws
others. Most antecedents are of no use to lists that are any good, so it looks at few of them: those that were worth
most when all were looked at last. Crossing draws from the rules of both parents only. What parents have in common
stays, and where they differ the better choice is soon found. What no parent has is found by ruins: rules that only pay
together are taken out together, and the list is annealed again. Which of two columns is peeled off first is settled by
a whole block of rules that share a condition; they lose it together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsedensity.search.lists.chain import ListChain, Work

FEW, FEW_OF_A_CONDITION = 200, 2
"""How many conditions, alone or in pairs, are looked at while lists are annealed, at least; and how many for each
condition that there is."""
FIRST_LOOKS = 5
"""How many looks at all antecedents there are before."""
STEPS, FEW_PER_ALL = 25, 3
"""How often rules are drawn anew between two looks at all antecedents, at least; and how many times as long as such a
look drawing takes, at least."""
STEPS_OF_ONE, STEPS_OF_CHILD = 200, 75
"""How often rules are drawn anew while a list, or one that was crossed or ruined, is annealed."""
WORDS_OF_ONE, WORDS_OF_CHILD = 1.5e9, 8e8
"""How many words of rows are read then, at most."""
APART = 2
"""How many rules are taken out at a time, at most; where lists are crossed, twice as many."""
CROSSINGS = 60
"""How often rules of both parents are drawn anew."""
RUINED, MOST_RUINED = 0.35, 4
"""How often the best list is ruined instead, and how many rules it loses, unless they are those of one column."""
FREED = 0.35
"""How often rules that share a condition lose it instead."""
EXCHANGED, ALIKE, TRIED = 0.6, 20, 0.25
"""How often they then get another one, how many of those most like it may be tried, and the share of these that is:
with few, the best is not always the same."""
HOT, WARM, COLD = 0.003, 0.0003, 0.0001
"""The temperatures at which lists, and those that were crossed or ruined, are first annealed, and the last one, as
shares of the gain over the empty list. They are never below 1."""
PART = 0.5
"""The part of a list that the first looks are for."""
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

    def anneal(self, starts: Sequence[Rules], size: int) -> Work:
        """A population of up to so many lists: what annealing makes of some to start from."""
        self.size = size
        yield from self._from_nothing() if self.chain.antecedents <= TINY else self._from_lists(starts)

    def _from_nothing(self) -> Work:
        """Let the chain walk from the empty list while it cools, again and again."""
        for _ in range(max(1, round(self.effort * WALKS))):
            self._go_to([])
            self.chain.walk(*COOLING, PROPOSALS, PROPOSALS_OF_A_LOOK)
            self._admit()
            yield

    def _from_lists(self, starts: Sequence[Rules]) -> Work:
        """Anneal some lists, the first of which tells what is worth a look."""
        for _ in range(FIRST_LOOKS):
            self.chain.set([rule for rule in starts[0] if self.chain.rng.random() < PART])
            self._look_at_all()
            yield
        for start in starts:
            self._go_to(start)
            yield from self._cool(HOT, WORDS_OF_ONE, STEPS_OF_ONE)
            self._admit()

    def breed(self, most_words: float, patience: int) -> Work:
        """Cross two lists of the population, ruin the best or free one, and anneal what comes of it, again and again.

        Ends once so many in a row were no new best, or so many words are read.
        """
        idle, end = 0, self._read + self.effort * most_words
        while idle < patience and len(self.members) > 1 and self._read < end:
            best, mark, (one, other) = self.best.log_posterior, self.chain.rng.random(), self._parents()
            if mark < RUINED:
                self._go_to(self._ruin(self.best.rules))
            elif mark < RUINED + FREED:
                self._go_to(self._free(one))
            else:
                self._cross(one, other)
            yield from self._cool(WARM, WORDS_OF_CHILD, STEPS_OF_CHILD)
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

    def _parents(self) -> tuple[Rules, Rules]:
        """Two lists of the population; every other time the first is the best."""
        rng, best = self.chain.rng, self.best
        shuffled = [self.members[i] for i in rng.permutation(len(self.members))]
        if rng.random() < 0.5:
            shuffled.sort(key=lambda member: member is not best)
        return shuffled[0].rules, shuffled[1].rules

    def _ruin(self, rules: Rules) -> Rules:
        """A list without some of its rules: a few of them, or all that have a condition on one column."""
        rng, column = self.chain.rng, self.chain.task.conditions.run["feature"]
        if not rules:
            return rules
        if rng.random() < 0.5:
            gone = rng.permutation(len(rules))[: rng.integers(2, MOST_RUINED + 1)]
            return [rule for i, rule in enumerate(rules) if i not in gone]
        one = column[rng.choice(rules[rng.integers(len(rules))])]
        return [rule for rule in rules if one not in column[rule]]

    def _free(self, rules: Rules) -> Rules:
        """A list whose rules lose a condition that several share, the likelier the more do; if none do, a ruin.

        Or they get another one instead: what rules have in common is often one of many conditions that most rows obey,
        and which of them is best shows only when all rules have it.
        """
        paired = [condition for rule in rules if len(rule) > 1 for condition in rule]
        shared = [condition for condition in paired if paired.count(condition) > 1]
        if not shared:
            return self._ruin(rules)
        lost = shared[self.chain.rng.integers(len(shared))]
        if self.chain.rng.random() < EXCHANGED:
            tried = [self._exchanged(rules, lost, other) for other in self._alike(lost)]
            return max(tried, key=self._score_of, default=rules)
        left = (tuple(condition for condition in rule if condition != lost) for rule in rules)
        return [list(rule) for rule in dict.fromkeys(left) if rule]

    def _exchanged(self, rules: Rules, lost: int, other: int) -> Rules:
        """A list with another condition in place of one; rules that then have only this are left out."""
        column, left = self.chain.task.conditions.run["feature"], dict[tuple[int, ...], None]()
        for rule in rules:
            rest = [condition for condition in rule if condition != lost]
            both = sorted([*rest, other])
            if lost in rule and column[other] not in column[rest] and self._may_be_used(both):
                rest = both
            if rest not in ([], [other]):
                left[tuple(rest)] = None
        return [list(rule) for rule in left]

    def _may_be_used(self, rule: list[int]) -> bool:
        """Whether enough rows obey a rule."""
        rows, least = self.chain.task.rows, self.chain.task.draws.least
        if least <= 0:
            return True
        bits = np.bitwise_and.reduce(rows.obey[rule]).view(np.uint8)
        return bool(rows.weight[np.unpackbits(bits, bitorder="little") > 0].sum() >= least)

    def _alike(self, condition: int) -> list[int]:
        """Some of the conditions on other columns that most nearly the same rows obey."""
        obey, column = self.chain.task.rows.obey, self.chain.task.conditions.run["feature"]
        differ = np.bitwise_count(obey ^ obey[condition]).sum(axis=1, dtype=np.int64)
        others = np.flatnonzero(column != column[condition])
        alike = others[np.argsort(differ[others], kind="stable")[:ALIKE]]
        return [int(other) for other in alike if self.chain.rng.random() < TRIED]

    def _score_of(self, rules: Rules) -> float:
        """The log posterior of a list, at which the chain then is."""
        self.chain.set(rules)
        return self.chain.log_posterior

    def _go_to(self, rules: Rules) -> None:
        """Go to a list, and remember nothing else."""
        self.chain.memory.archive.score.fill(-np.inf)
        self.chain.set(rules)

    def _admit(self) -> None:
        """Hand over what was found, and let it into the population."""
        self.into.remember(self.chain)
        rules = self.chain.best_list
        self.admit(Member(float(self.chain.scores[len(rules)]), rules))

    def _cool(self, hot: float, words: float, steps: int) -> Work:
        """Draw rules of the list anew, ever colder, until so many words are read, or that was done so often."""
        chain, begin, last, done = self.chain, self._read, self._read, 0.0
        gain = chain.log_posterior - self._empty
        while done < 1:
            if self._read >= last:
                last = FEW_PER_ALL * self._look_at_all() + self._read
            self._regrow(gain * hot * (COLD / hot) ** done, STEPS, APART)
            done += STEPS / (self.effort * steps)
            done = max(done, (self._read - begin) / (self.effort * words))
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
        few = max(FEW, FEW_OF_A_CONDITION * len(worth))
        if worth.size > few:
            self._rank += 1
            best = np.argpartition(worth, -few, axis=None)[-few:]
            best = best[np.argsort(-worth.flat[best])]
            self._rank.flat[best] = np.minimum(self._rank.flat[best], np.arange(few))
            self._look_at(np.argpartition(self._rank, few, axis=None)[:few])
        else:
            self._look_at(np.arange(worth.size))
        return words

    def _cross(self, one: Rules, other: Rules) -> None:
        """Draw rules of two lists, from the first on.

        The best list on the way is most often the first itself, and would only be annealed again; so it is kept, and
        the chain stays at the last.
        """
        conditions = len(self._rank)
        self._go_to(one)
        self._look_at([rule[0] * conditions + rule[:2][-1] for rule in one + other])
        gain = self.chain.log_posterior - self._empty
        for share in np.geomspace(HOT, COLD, 4):
            self._regrow(gain * share, CROSSINGS // 4, 2 * APART)
        self._admit()
        self._go_to(self.chain.rules)

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
