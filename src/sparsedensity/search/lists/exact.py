"""Exact search for rule lists: the best one there is, with a proof, or a bound on how much better it could be.

Prefixes grow by one rule at a time. Those that leave the same points and have used up as many antecedents of every
size are one state, of which only the best is kept; on a small domain that alone is dynamic programming over sets of
points. A state is dropped when even the best leaves for what remains, and the cheapest rules, cannot lead to a better
list than the best known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sparsedensity.engines import whole_table
from sparsedensity.posterior.rule_list import ListPosterior
from sparsedensity.problem import Problem
from sparsedensity.search.base import Best, Proof
from sparsedensity.search.bounds import upper_bound
from sparsedensity.search.lists.anneal import one_more_rule_pays, tidied
from sparsedensity.search.lists.antecedents import Antecedents
from sparsedensity.search.lists.exact_estimate import estimate_list, longest_of, too_large
from sparsedensity.search.lists.prefix_growth import PrefixGrowth
from sparsedensity.structures import RuleList


@dataclass(frozen=True, eq=False)
class ExactLists:
    """A search over all prefixes.

    >>> from sparsedensity import GreedyTree, datasets
    >>> from sparsedensity.engines import MemoryEngine
    >>> from sparsedensity.posterior import SparseRules
    >>> from sparsedensity.search import run
    >>> table = GreedyTree().fit(datasets.load("simulated")).rows_
    >>> antecedents = Antecedents(table)
    >>> found = run(ExactLists(antecedents), Problem(MemoryEngine(table), SparseRules(antecedents.counts)))
    >>> found.proven, found.gap
    (True, 0.0)
    """

    antecedents: Antecedents
    warm: RuleList | None = None
    """A list to begin with; what is returned is never worse."""
    anytime: bool = False
    """If a proof is out of reach, try as long as there is time and memory instead of refusing."""
    name: str = "exact"

    def init(self, problem: Problem[ListPosterior], rng: np.random.Generator) -> Proof:
        """The warm list or the empty one, and the bound that costs nothing."""
        whole_table(problem.engine)
        start = RuleList.of(problem.domain, [])
        if self.warm is not None and self._allows(self.warm, problem):
            start = max(start, self.warm, key=problem.score)
        bound = upper_bound(problem)
        assert bound is not None
        proof = Proof(start, problem.score(start), bound)
        ahead = estimate_list(problem, self.antecedents, proof.threshold)
        if ahead.hopeless and not self.anytime:
            raise too_large(ahead)
        proof.finished = not ahead.possible
        if ahead.possible:
            proof.work = prove(problem, self.antecedents, proof)
        return proof

    def _allows(self, rules: RuleList, problem: Problem[ListPosterior]) -> bool:
        """Whether a warm list keeps the limits."""
        known = all(map(self.antecedents.has, rules.rules))
        return rules.domain == problem.domain and known and rules.n_leaves <= (problem.max_leaves or rules.n_leaves)

    def step(self, problem: Problem[ListPosterior], state: Proof, rng: np.random.Generator) -> Proof:
        """A block of prefixes."""
        state.advance()
        return state

    def best(self, problem: Problem[ListPosterior], state: Proof) -> Best:
        """The best list so far, in reading order; prefixes that cannot lead to it are dropped, so no others."""
        rules = tidied(problem, self.antecedents, state.structure)
        binds = one_more_rule_pays(problem, self.antecedents, rules)
        return Best(rules, limit_binds=binds, upper_bound=state.upper_bound)


def prove(problem: Problem[ListPosterior], antecedents: Antecedents, proof: Proof) -> Iterator[int]:
    """Extend all prefixes layer by layer until none can lead to a better list; yields the prefixes visited since."""
    longest = longest_of(problem, antecedents, proof.threshold)
    if longest:
        growth = PrefixGrowth(problem, antecedents, longest, proof)
        while growth.bound > proof.threshold:
            if growth.too_large:
                return
            yield from growth.extend()
            proof.upper_bound = min(proof.upper_bound, max(growth.bound, proof.log_posterior))
    proof.upper_bound = proof.log_posterior
