"""Search for rule lists: several chains that anneal, climb, and then sample the posterior side by side.

Every chain first cools from a hot start, where rules drawn by what they would gain are grown onto what random cuts
leave; then it climbs, takes out rules and puts the best of all antecedents at the best of all places. From there it
samples the posterior itself by Metropolis-Hastings, until the Gelman-Rubin statistic over all chains says that they
agree. If not all rows can be brought home, the antecedents know a sample of them, and the best lists are counted on all
rows.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sparsedensity.kernels import is_compiled, list_moves
from sparsedensity.posterior.rule_list import ListPosterior
from sparsedensity.problem import Problem
from sparsedensity.search.base import Best, each
from sparsedensity.search.lists.antecedents import Antecedents
from sparsedensity.search.lists.chain import ListChain, ListChains, Work
from sparsedensity.search.lists.chain_arrays import task_of
from sparsedensity.structures import RuleList, Structure
from sparsedensity.structures.rule_order import in_reading_order
from sparsedensity.table import Floats

DONE = object()
BLOCK = 1_000
"""Proposals of each chain between two looks at the clock."""
HOT, COLD = 20.0, 0.05
ANNEALED, CLIMBED = 0.2, 0.26
"""The shares of the proposals after which a chain has annealed, and has climbed."""
LEAST_BLOCKS = 6
"""The chains agree after so many blocks of samples at the earliest."""
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
    iterations: int = 50_000
    """Proposals of each chain."""
    chains: int = 4
    r_hat: float = 1.05
    """The chains have sampled enough when the Gelman-Rubin statistic is below this."""
    jobs: int = 1
    warm: RuleList | None = None
    """Where the first chain starts."""
    name: str = "chains"

    def init(self, problem: Problem[ListPosterior], rng: np.random.Generator) -> ListChains:
        """Every chain at the empty list; the first then grows greedily, or starts at the warm list."""
        task = task_of(problem.posterior, self.antecedents, LONGEST + 1)
        limit = min(LONGEST, sum(self.antecedents.counts), (problem.max_leaves or LONGEST + 1) - 1)
        chains = [ListChain(task, limit, deepest(self.antecedents), rng) for rng in rng.spawn(self.chains)]
        state = ListChains(chains, finished=limit == 0)
        if limit > 0:
            if self.warm is not None:
                chains[0].set(self.antecedents.numbers(self.warm.rules)[:limit])
            chains[0].grow(0.0)
        return state

    def step(self, problem: Problem[ListPosterior], state: ListChains, rng: np.random.Generator) -> ListChains:
        """One block of proposals for every chain."""
        share = state.done / self.iterations
        proposals = min(BLOCK, max(1, self.iterations - state.done))
        if share < ANNEALED:
            hot = HOT ** (1 - share / ANNEALED)
            each(state.chains, lambda chain: chain.anneal(hot, proposals), self._threads)
        elif share < CLIMBED:
            cold = COLD ** ((share - ANNEALED) / (CLIMBED - ANNEALED))
            each(state.chains, lambda chain: chain.walk(cold, COLD, proposals), self._threads)
        elif self._improves(state):
            return state
        else:
            self._sample(state, proposals)
        state.done += proposals
        return state

    def best(self, problem: Problem[ListPosterior], state: ListChains) -> Best:
        """The best list seen, without rules that nothing reaches, in reading order; and that of each length."""
        sizes = np.flatnonzero(state.scores > -np.inf).tolist()
        archive = {n: self._list(problem, state.best_rules(n)) for n in sizes}
        ranked = sorted(sizes, key=lambda n: -state.scores[n])
        few = ranked[: 1 if self.antecedents.sampled is None else CANDIDATES]
        best = archive[few[0]] if len(few) == 1 else max((archive[n] for n in few), key=problem.score)
        rules = tidied(problem, self.antecedents, best)
        return Best(
            rules,
            archive=archive,
            limit_binds=one_more_rule_pays(problem, self.antecedents, rules),
            r_hat=state.r_hat,
            restarts=self.chains,
            sampled=self.antecedents.sampled,
        )

    def _sample(self, state: ListChains, proposals: int) -> None:
        """Sample the posterior with every chain, and see whether they agree."""
        state.traces.append(np.array(each(state.chains, lambda chain: chain.sample(proposals), self._threads)))
        state.r_hat = gelman_rubin(np.concatenate(state.traces[len(state.traces) // 2 :], axis=1))
        state.finished = len(state.traces) >= LEAST_BLOCKS and state.r_hat < self.r_hat

    def _improves(self, state: ListChains) -> bool:
        """Improve what annealing found for a moment; False when that is done."""
        state.improving = state.improving or self._improving(state)
        return next(state.improving, DONE) is not DONE

    def _improving(self, state: ListChains) -> Iterator[None]:
        """Improve the best list, then the best lists of fewer rules; the chains share the lengths among them."""
        yield from self._work([chain.polish() for chain in state.chains])
        shorter = range(1, min(int(np.argmax(state.scores)), MOST_LENGTHS + 1))
        yield from self._work([chain.shorten(shorter[i :: self.chains]) for i, chain in enumerate(state.chains)])

    def _work(self, works: list[Work]) -> Iterator[None]:
        """Let every chain do its work, several at a time, a moment at a time."""
        while works:
            done = each(works, _is_done_after_a_moment, self._threads)
            works = [work for work, is_done in zip(works, done, strict=True) if not is_done]
            yield

    @property
    def _threads(self) -> int:
        """One until all is compiled: what is compiled in the main thread can be ended by Ctrl-C."""
        return self.jobs if is_compiled(list_moves.walk) else 1

    def _list(self, problem: Problem[ListPosterior], rules: Sequence[Sequence[int]]) -> RuleList:
        conditions = self.antecedents.conditions
        return RuleList.of(problem.domain, [[conditions[c] for c in rule] for rule in rules])


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
    task = task_of(problem.posterior, antecedents, best.n_rules + 1)
    chain = ListChain(task, best.n_rules + 1, deepest(antecedents), np.random.default_rng(0))
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


def _without_unreachable(rules: RuleList) -> RuleList | None:
    """The list without the last of its rules that no point of the domain can reach, if there is one."""
    empty = np.flatnonzero(rules.log_volumes[:-1] == -np.inf)
    if not len(empty):
        return None
    return RuleList.of(rules.domain, [rule for i, rule in enumerate(rules.rules) if i != empty[-1]])
