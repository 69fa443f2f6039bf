"""Exact search for trees: the best one there is, with a proof, or a bound on how much better it could be.

Dynamic programming over all regions of the domain (``best_by_region``) finds the best tree at a price per leaf. If
leaves cost nothing and no limit binds, one pass at price 0 is enough. Otherwise passes at several prices bound the
score of every number of leaves (``leaf_count_bounds``), and what these bounds leave open is closed by listing the few
trees that lose less than the gap (``within_slack``). A prior on the features used is proven for one set of features
after the other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sparsedensity.engines import whole_table
from sparsedensity.problem import AnyProblem
from sparsedensity.search.base import Best
from sparsedensity.search.bounds import may_bind, upper_bound
from sparsedensity.search.trees.exact.estimate import estimate, too_large
from sparsedensity.search.trees.exact.proof import TreeProof, prove
from sparsedensity.structures import Tree, canonical


@dataclass(frozen=True)
class Exact:
    """Dynamic programming over all regions.

    >>> from sparsedensity import GreedyTree, datasets
    >>> from sparsedensity.engines import MemoryEngine
    >>> from sparsedensity.posterior import LeafSparse
    >>> from sparsedensity.problem import Problem
    >>> from sparsedensity.search import run
    >>> table = GreedyTree().fit(datasets.load("simulated")).rows_
    >>> found = run(Exact(), Problem(MemoryEngine(table), LeafSparse()))
    >>> found.proven, found.gap
    (True, 0.0)
    """

    warm: Tree | None = None
    """A tree to begin with; what is returned is never worse."""
    anytime: bool = False
    """If a proof is out of reach, return the warm tree with a bound instead of refusing."""
    depth: int | None = None
    """Only trees of at most so many levels: far fewer regions on a wide table."""
    name: str = "exact"

    def init(self, problem: AnyProblem, rng: np.random.Generator) -> TreeProof:
        """The warm tree or a single leaf, and the bound that costs nothing."""
        whole_table(problem.engine)
        ahead = estimate(problem, self.depth)
        if ahead.hopeless and not self.anytime:
            raise too_large(ahead)
        start = Tree.leaf(problem.domain)
        bound = upper_bound(problem)
        proof = TreeProof(start, problem.score(start), math.inf if bound is None else bound, finished=ahead.hopeless)
        proof.keep(proof.log_posterior, start)
        if self.warm is not None and self._allows(self.warm, problem):
            score = problem.score(self.warm)
            proof.keep(score, self.warm)
            if score > proof.log_posterior:
                proof.structure, proof.log_posterior = self.warm, score
        proof.beyond_bound = math.inf if may_bind(problem) is None else -math.inf
        if not ahead.hopeless:
            proof.work = prove(problem, proof, self.depth)
        return proof

    def _allows(self, tree: Tree, problem: AnyProblem) -> bool:
        """Whether a warm tree keeps the limits."""
        deep = self.depth is not None and max(leaf.depth for leaf in tree.leaves()) > self.depth
        return tree.domain == problem.domain and tree.n_leaves <= (problem.max_leaves or tree.n_leaves) and not deep

    def step(self, problem: AnyProblem, state: TreeProof, rng: np.random.Generator) -> TreeProof:
        """A block of regions."""
        state.advance()
        return state

    def best(self, problem: AnyProblem, state: TreeProof) -> Best:
        """The best tree so far, those met on the way, and the bound."""
        return Best(
            displayed_tree(problem, state.structure, self.depth),
            {leaves: tree for leaves, (_, tree) in sorted(state.archive.items())},
            {leaves: score for leaves, (score, _) in sorted(state.archive.items())},
            limit_binds=state.limit_binds,
            upper_bound=None if state.upper_bound == math.inf else state.upper_bound,
        )


def displayed_tree(problem: AnyProblem, tree: Tree, depth: int | None = None) -> Tree:
    """The tree to show: if only leaves matter, there is a choice; the smallest tree may have more levels."""
    if not problem.posterior.only_leaves:
        return tree
    return canonical(tree) if depth is None else tree.merged()
