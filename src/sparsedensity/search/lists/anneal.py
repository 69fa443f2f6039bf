"""Search for rule lists: parallel tempering by several ladders of chains, then breeding from what they found.

The chains of a ladder walk at temperatures from 1 up and trade places: hot ones change whole lists, cold ones find the
best rules of each. The coldest samples the posterior itself, and the Gelman-Rubin statistic over all ladders, each of
which starts from lists of its own, says whether they agree; if not, the best list of each is kept as a mode. Only then
the best lists of each ladder's chains are annealed, those of all ladders are bred, and the best of them is improved,
and the best ones of fewer rules. If not all rows can be brought home, the antecedents know a sample of them, and the
best lists are counted on all rows.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from sparsedensity.kernels import is_compiled, list_moves
from sparsedensity.posterior.rule_list import ListPosterior
from sparsedensity.problem import Problem
from sparsedensity.search.base import Best, Mode, each, spread_of
from sparsedensity.search.lists.antecedents import Antecedents
from sparsedensity.search.lists.breeding import Breeding
from sparsedensity.search.lists.chain import ListChain, Work
from sparsedensity.search.lists.chain_arrays import scratch_of, task_of
from sparsedensity.search.lists.ladder import COUNTED, Ladder, Ladders, best_list, best_lists, best_rules, scores_of
from sparsedensity.structures import RuleList, Structure
from sparsedensity.structures.rule_order import in_reading_order
from sparsedensity.table import Floats

DONE = object()
HOTTEST = 0.1
"""The highest temperature, as a share of what the best list of one rule gains."""
LEAST_ROUNDS = 20
"""The ladders agree after so many rounds of all temperatures at the earliest."""
NEAR = 1.0
"""Ladders whose best lists are closer than this, in nats, walk on if they do not agree: one may have come late."""
BRED = 6
"""How many lists of each ladder are bred."""
MOST_WORDS = 6e10
"""How many words of rows may be read to breed lists, if as many proposals are made as there are by default."""
MOST_WORDS_OF_BEST, MOST_WORDS_OF_SHORTER = 2e9, 1.2e9
"""How many words of rows may be read to improve the best list, and by each ladder to improve shorter ones."""
PATIENCE = 60
"""How many lists in a row may be bred that are no new best."""
USUAL = 400_000
"""How many proposals those are."""
MOST_LENGTHS = 20
"""Up to this length, the best lists of every length are looked for."""
CANDIDATES = 4
"""How many lists are counted on all rows if a sample was searched."""
SAME = 1e-6
"""Log posteriors closer than this are those of one list."""
LONGEST = 1_000
"""The most rules of a list if no limit is given."""
CLOCK_SECONDS = 0.1
"""The seconds between two looks at the clock while lists are improved."""
MOST_WORDS_PER_LOOK = 50_000_000
"""The most words that a look at every antecedent may read; longer antecedents are left to chance."""


@dataclass(frozen=True, eq=False)
class AnnealLists:
    """Markov chains over rule lists."""

    antecedents: Antecedents
    iterations: int = USUAL
    """Proposals of each ladder; a look at all antecedents counts as many as would take the same time."""
    chains: int = 2
    """The number of ladders."""
    r_hat: float = 1.05
    """The chains have sampled enough when the Gelman-Rubin statistic is below this."""
    jobs: int = 1
    warm: RuleList | None = None
    """Where the coldest chain of the first ladder starts."""
    name: str = "chains"

    def init(self, problem: Problem[ListPosterior], rng: np.random.Generator) -> Ladders:
        """Every chain at a list of its own; the coldest of the first ladder at one grown greedily, or the warm list."""
        task = task_of(problem.posterior, self.antecedents, LONGEST + 1)
        limit = min(LONGEST, sum(self.antecedents.counts), (problem.max_leaves or LONGEST + 1) - 1)
        scratches = [scratch_of(task, limit) for _ in range(self.chains)]
        chains = [partial(ListChain, task, scratch, limit, deepest(self.antecedents)) for scratch in scratches]
        hottest = HOTTEST * gain_of_first_rule(chains[0](rng)) if limit > 0 else 0.0
        ladders = [Ladder(chain, hottest, own) for chain, own in zip(chains, rng.spawn(self.chains), strict=True)]
        state = Ladders(ladders, finished=limit == 0)
        if limit > 0:
            if self.warm is not None:
                ladders[0].cold.set(self.antecedents.numbers(self.warm.rules)[:limit])
            ladders[0].cold.grow()
            effort = self.iterations / USUAL
            state.bred = [Breeding(c(own), effort) for c, own in zip(chains, rng.spawn(self.chains), strict=True)]
        return state

    def step(self, problem: Problem[ListPosterior], state: Ladders, rng: np.random.Generator) -> Ladders:
        """Let one chain of every ladder walk; once that is over, breed and improve lists for a moment."""
        if state.improving is None:
            self._sample(state)
        elif next(state.improving, DONE) is DONE:
            state.finished = self._agree(state) or state.done >= self.iterations
            state.done = state.done if state.finished else self.iterations
        return state

    def best(self, problem: Problem[ListPosterior], state: Ladders) -> Best:
        """The best list seen, without rules that nothing reaches, in reading order; and that of each length."""
        scores = scores_of(state.chains)
        sizes = np.flatnonzero(scores > -np.inf).tolist()
        archive = {n: self._list(problem, best_rules(state.chains, n)) for n in sizes}
        ranked = sorted(sizes, key=lambda n: -scores[n])
        few = ranked[: 1 if self.antecedents.sampled is None else CANDIDATES]
        best = archive[few[0]] if len(few) == 1 else max((archive[n] for n in few), key=problem.score)
        rules = tidied(problem, self.antecedents, best)
        tops = [own.log_posterior for own in state.best_of_each]
        return Best(
            rules,
            archive=archive,
            limit_binds=one_more_rule_pays(problem, self.antecedents, rules),
            r_hat=state.r_hat,
            restarts=self.chains,
            spread=spread_of(tops) if len(tops) > 1 else None,
            modes=() if self._agree(state) else self._modes(problem, state, rules),
            sampled=self.antecedents.sampled,
        )

    def _modes(self, problem: Problem[ListPosterior], state: Ladders, best: RuleList) -> tuple[Mode, ...]:
        """The best list of all, and that of each ladder by itself; those that score the same are one."""
        lists = [self._list(problem, own.rules) for own in state.best_of_each]
        told = [tidied(problem, self.antecedents, rules) for rules in lists]
        modes = [Mode(best, problem.score(best), 0)]
        for score, rules in sorted(((problem.score(rules), rules) for rules in told), key=lambda scored: -scored[0]):
            if modes[-1].log_posterior - score <= SAME:
                modes[-1] = modes[-1]._replace(restarts=modes[-1].restarts + 1)
            else:
                modes.append(Mode(rules, score, 1))
        return tuple(modes)

    def _sample(self, state: Ladders) -> None:
        """Let one chain of every ladder walk; see whether the coldest ones agree, or the proposals are used up."""
        left = self.iterations - state.done
        traces = each(state.ladders, lambda ladder: ladder.step(left), self._threads)
        if noted := [trace for trace in traces if trace is not None]:
            state.traces.append(np.array(noted))
            state.r_hat = split_gelman_rubin(np.concatenate(state.traces[len(state.traces) // 2 :], axis=1))
        if self._agree(state) or (left <= COUNTED and not self._may_agree(state)):
            state.improving = self._improving(state)
        elif left > COUNTED:
            state.done += COUNTED
        else:
            state.further += COUNTED

    def _agree(self, state: Ladders) -> bool:
        """Whether the chains that sample the posterior agree."""
        return len(state.traces) >= LEAST_ROUNDS and state.r_hat is not None and state.r_hat < self.r_hat

    def _may_agree(self, state: Ladders) -> bool:
        """Whether ladders that do not agree may only have come late to one list, and have not walked twice as long."""
        if state.r_hat is None or state.r_hat < self.r_hat or state.further >= self.iterations:
            return False
        tops = [own.log_posterior for own in state.best_of_each]
        return len(tops) > 1 and max(tops) - min(tops) < NEAR

    def _improving(self, state: Ladders) -> Iterator[None]:
        """Anneal the best lists of each ladder, breed from all of them, improve the best; then lists of fewer rules."""
        state.own = state.best_of_each
        cold = [ladder.cold for ladder in state.ladders]
        works = []
        for ladder, breeding in zip(state.ladders, state.bred, strict=True):
            breeding.into = ladder.cold
            works.append(breeding.anneal(best_lists(ladder.rungs, BRED), BRED))
        yield from self._work(works)
        joint = state.bred[0]
        joint.size = BRED * self.chains
        for breeding in state.bred:
            for member in breeding.members:
                joint.admit(member)
        yield from self._work([joint.breed(MOST_WORDS, PATIENCE)])
        cold[0].set(best_list(state.chains))
        yield from self._work([cold[0].improve(cold[0].limit, MOST_WORDS_OF_BEST)])
        shorter = range(1, min(int(np.argmax(scores_of(state.chains))), MOST_LENGTHS + 1))
        yield from self._work([c.shorten(shorter[i :: self.chains], MOST_WORDS_OF_SHORTER) for i, c in enumerate(cold)])

    def _work(self, works: list[Work]) -> Iterator[None]:
        """Let every chain do its work, several at a time, a moment at a time."""
        while works:
            done = each(works, _is_done_after_a_moment, self._threads)
            works = [work for work, is_done in zip(works, done, strict=True) if not is_done]
            yield

    @property
    def _threads(self) -> int:
        """One until all is compiled: what is compiled in the main thread can be ended by Ctrl-C."""
        return self.jobs if is_compiled(list_moves.work) else 1

    def _list(self, problem: Problem[ListPosterior], rules: Sequence[Sequence[int]]) -> RuleList:
        conditions = self.antecedents.conditions
        return RuleList.of(problem.domain, [[conditions[c] for c in rule] for rule in rules])


def gain_of_first_rule(chain: ListChain) -> float:
    """What the best rule gains, put into the empty list."""
    empty = chain.log_posterior
    chain.insert()
    return chain.log_posterior - empty


def tidied(problem: Problem[ListPosterior], antecedents: Antecedents, rules: RuleList) -> RuleList:
    """A list without rules that nothing reaches, if that is no worse, in reading order."""
    while (shorter := _without_unreachable(rules)) is not None and problem.score(shorter) >= problem.score(rules):
        rules = shorter
    ordered = in_reading_order(rules, problem.engine.leaf_weights(rules), antecedents.has)
    return ordered if problem.score(ordered) >= problem.score(rules) - SAME else rules


def one_more_rule_pays(problem: Problem[ListPosterior], antecedents: Antecedents, best: Structure) -> bool | None:
    """Whether the limit binds: one more rule pays, at whatever place. If none does, longer lists may; not known."""
    assert isinstance(best, RuleList)
    if problem.max_leaves is None or problem.max_leaves > sum(antecedents.counts):
        return False
    if best.n_leaves != problem.max_leaves:
        return None
    task, most = task_of(problem.posterior, antecedents, best.n_rules + 1), best.n_rules + 1
    chain = ListChain(task, scratch_of(task, most), most, deepest(antecedents), np.random.default_rng(0))
    chain.set(antecedents.numbers(best.rules))
    conditions = antecedents.conditions
    longer = chain.insert() and RuleList.of(problem.domain, [[conditions[c] for c in rule] for rule in chain.rules])
    return (isinstance(longer, RuleList) and problem.score(longer) > problem.score(best) + SAME) or None


def _is_done_after_a_moment(work: Work) -> bool:
    """Go on with some work for a moment; whether that was all. What is found does not depend on how long it is."""
    end = time.perf_counter() + CLOCK_SECONDS
    while time.perf_counter() < end:
        if next(work, DONE) is DONE:
            return True
    return False


def deepest(antecedents: Antecedents) -> int:
    """The longest antecedents that can be looked at one and all."""
    words = np.cumsum(antecedents.counts) * float(antecedents.rows.obey.shape[1])
    return max(1, int((words <= MOST_WORDS_PER_LOOK).sum()))


def gelman_rubin(traces: Floats) -> float:
    """The Gelman-Rubin statistic of some chains (rows): 1 when they agree, infinite when each sits elsewhere.

    >>> gelman_rubin(np.array([[1.0, 2.0, 1.0, 2.0], [2.0, 1.0, 2.0, 1.0]])) < 1
    True
    >>> gelman_rubin(np.full((3, 10), -5.0)), gelman_rubin(np.array([[1.0, 1.0], [2.0, 2.0]]))
    (1.0, inf)
    """
    samples = traces.shape[1]
    between = float(traces.mean(axis=1).var(ddof=1)) if len(traces) > 1 else 0.0
    within = float(traces.var(axis=1, ddof=1).mean())
    if within < SAME**2:
        return 1.0 if between < SAME**2 else float("inf")
    return float(np.sqrt((samples - 1) / samples + between / within))


def split_gelman_rubin(traces: Floats) -> float:
    """The statistic of the halves of some chains: near 1 only if none of them still drifts.

    >>> rising = np.tile(np.linspace(0, 1, 100), (2, 1))
    >>> round(gelman_rubin(rising), 1), round(split_gelman_rubin(rising), 1)
    (1.0, 2.2)
    """
    half = traces.shape[1] // 2
    return gelman_rubin(np.vstack([traces[:, :half], traces[:, -half:]]))


def _without_unreachable(rules: RuleList) -> RuleList | None:
    """The list without the last of its rules that no point of the domain can reach, if there is one."""
    empty = np.flatnonzero(rules.log_volumes[:-1] == -np.inf)
    if not len(empty):
        return None
    return RuleList.of(rules.domain, [rule for i, rule in enumerate(rules.rules) if i != empty[-1]])
