"""All near-optimal trees: the set of good models, from the same tables that prove the best one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from sparsedensity.problem import AnyProblem
from sparsedensity.search.near import Near, NearOptimal, list_near
from sparsedensity.search.trees.exact.leaf_count_bounds import LeafCountBounds
from sparsedensity.search.trees.exact.plans import canonical_tree_of, tree_of
from sparsedensity.search.trees.exact.proof import Case, CaseSearch, TreeProof, cases, pass_on
from sparsedensity.search.trees.exact.search import Exact
from sparsedensity.search.trees.exact.within_slack import Entry, Label


def near_optimal(problem: AnyProblem, within: float, at_most: int = 1000, *, depth: int | None = None) -> NearOptimal:
    """The trees whose log posterior is within some nats of the best, at most so many of them.

    Method I: one tree for each set of leaves. Method II: trees up to the order of children. With a ``depth``, those of
    at most so many levels.
    """
    proof = Exact(depth=depth).init(problem, np.random.default_rng(0))
    return list_near(proof, Listing(problem, proof, at_most, depth).within, within, at_most)


def exhaust(steps: Iterator[int]) -> Any:
    """Drive a generator to its end; what it returns."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


class Listing:
    """Lists all trees within a window below the best. Wider windows make use of what narrow ones learned."""

    def __init__(self, problem: AnyProblem, proof: TreeProof, at_most: int, depth: int | None) -> None:
        self.problem, self.proof, self.at_most, self.depth = problem, proof, at_most, depth
        self.cases = cases(problem, math.inf)
        self.drawn = canonical_tree_of if problem.posterior.only_leaves and depth is None else tree_of
        self.threshold = proof.log_posterior
        self.listed: list[Near] = []
        self.hulls: dict[tuple[int, ...], LeafCountBounds] = {}

    def within(self, window: float) -> list[Near]:
        """The trees in a window; more than asked for where there are more."""
        self.threshold, self.listed = self.proof.log_posterior - window - self.proof.tie, []
        for case in self.cases:
            if case.upper_bound > self.threshold:
                self._list(self._bounded(case))
        return self.listed

    def _bounded(self, case: Case) -> CaseSearch:
        """A case after the passes that tell about the numbers of leaves in the window."""
        search = CaseSearch(self.problem, self.proof, case, self.depth)
        if case.features in self.hulls:
            search.hull = self.hulls[case.features]
            search.hull.closed[:] = False
            exhaust(search.tables.count())
        else:
            self.hulls[case.features] = search.hull
            exhaust(search.begin())
            pass_on(search, self.cases)
        if search.refinable:
            exhaust(search.refine(lambda: self.threshold, search.limit))
        return search

    def _list(self, search: CaseSearch) -> None:
        while (group := search.hull.open_group(self.threshold)) is not None:
            price, leaves = group
            slack = float(search.hull.scores[leaves].max()) - self.threshold
            lists = exhaust(search.within(price, slack, self.at_most + 1))
            search.hull.closed[leaves] = True
            asked = set(leaves.tolist())
            for label, entries in lists.items():
                if label.leaves in asked and search.is_wanted(label):
                    self._take(search, price, label, entries)

    def _take(self, search: CaseSearch, price: float, label: Label, entries: list[Entry]) -> None:
        for entry in entries:
            score = search.score(label, search.tables.best - entry.loss + price * label.leaves)
            if score > self.threshold:
                self.listed.append(Near(score, partial(self.drawn, search.lattice, entry.plan)))
