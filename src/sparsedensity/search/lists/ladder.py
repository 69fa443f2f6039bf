"""Parallel tempering: chains at temperatures from 1 up, which trade places, so that what a hot one finds cools down."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from sparsedensity.search.lists.breeding import Breeding, Member
from sparsedensity.search.lists.chain import ListChain
from sparsedensity.table import Floats

STEP = 2.2
"""How many times as hot as its neighbour each chain is."""
BLOCK = 500
"""Proposals between two trades."""
COUNTED = 2 * BLOCK
"""How many proposals a block counts as: half of its time goes to looks at all antecedents."""


class Ladder:
    """Chains at temperatures from 1 up; the first samples the posterior itself."""

    def __init__(
        self, chain: Callable[[np.random.Generator], ListChain], hottest: float, rng: np.random.Generator
    ) -> None:
        count = 1 + math.ceil(math.log(max(hottest, 1.0)) / math.log(STEP))
        self.temperatures = np.geomspace(1.0, hottest, count).tolist() if count > 1 else [1.0]
        *of_chains, self._rng = rng.spawn(count + 1)
        self.rungs = [chain(own) for own in of_chains]
        self.every = self.rungs[0].proposals_of_a_look
        self._next, self._rounds = 0, 0

    @property
    def cold(self) -> ListChain:
        """The chain that samples the posterior."""
        return self.rungs[0]

    def step(self, most: int) -> Floats | None:
        """Let the next chain make up to so many proposals; what the coldest notes. After the last of them, they trade.

        In the first round all are hot, so that each starts from a list of its own.
        """
        which, self._next = self._next, (self._next + 1) % len(self.rungs)
        chain, first = self.rungs[which], self._rounds == 0
        temperature = self.temperatures[-1 if first and chain.n == 0 else which]
        trace = chain.walk(temperature, temperature, min(BLOCK, most), self.every)
        if self._next == 0:
            self._trade()
        return trace if which == 0 and not first else None

    def _trade(self) -> None:
        """Neighbours trade places as often as the product of their posteriors asks; odd and even pairs in turn."""
        for i in range(self._rounds % 2, len(self.rungs) - 1, 2):
            cold, hot = self.rungs[i : i + 2]
            colder = 1 / self.temperatures[i] - 1 / self.temperatures[i + 1]
            if self._rng.random() < math.exp(min(0.0, colder * (hot.log_evidence - cold.log_evidence))):
                self.rungs[i : i + 2] = hot, cold
        self._rounds += 1


@dataclass
class Ladders:
    """Several ladders that know nothing of each other, and what they have in common."""

    ladders: list[Ladder]
    done: int = 0
    """Proposals of each ladder so far."""
    further: int = 0
    """Those made beyond what was asked for, so that one that came late may agree with the others."""
    traces: list[Floats] = field(default_factory=list)
    """The log posterior of every chain that samples it, a block at a time."""
    r_hat: float | None = None
    bred: list[Breeding] = field(default_factory=list)
    """The lists that each ladder breeds, once its chains have walked."""
    improving: Iterator[None] | None = None
    """The improvement of what the chains found, once it has begun."""
    own: list[Member] = field(default_factory=list)
    """The best list of each ladder before any list was annealed or bred."""
    finished: bool = False

    @property
    def moves(self) -> int:
        """Proposals of all ladders so far."""
        return self.done * len(self.ladders)

    @property
    def chains(self) -> list[ListChain]:
        """The chains of all ladders."""
        return [chain for ladder in self.ladders for chain in ladder.rungs]

    @property
    def best_of_each(self) -> list[Member]:
        """The best list of each ladder, found by itself."""
        if self.own:
            return self.own
        return [Member(float(scores_of(one.rungs).max()), best_list(one.rungs)) for one in self.ladders]

    @property
    def log_posterior(self) -> float:
        """The best log posterior so far."""
        return float(scores_of(self.chains).max())


def scores_of(chains: Sequence[ListChain]) -> Floats:
    """The best log posterior of each number of rules that some chains have seen."""
    longest = max(len(chain.scores) for chain in chains)
    padded = [np.pad(c.scores, (0, longest - len(c.scores)), constant_values=-np.inf) for c in chains]
    best: Floats = np.max(padded, axis=0)
    return best


def best_rules(chains: Sequence[ListChain], n: int) -> list[list[int]]:
    """The best list of n rules that some chains have seen; of equals that of the first chain."""
    having = [chain for chain in chains if len(chain.scores) > n]
    return max(having, key=lambda chain: float(chain.scores[n])).best_rules(n)


def best_list(chains: Sequence[ListChain]) -> list[list[int]]:
    """The best list that some chains have seen."""
    return best_rules(chains, int(np.argmax(scores_of(chains))))


def best_lists(chains: Sequence[ListChain], most: int) -> list[list[list[int]]]:
    """The best lists that some chains have seen, one of each, of so many chains."""
    best = sorted(chains, key=lambda chain: -float(chain.scores.max()))
    return [chain.best_list for chain in best[:most]]
