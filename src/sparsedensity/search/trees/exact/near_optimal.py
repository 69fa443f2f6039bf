"""All near-optimal trees: the set of good models, from the same tables that prove the best one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from sparsedensity.errors import DataError
from sparsedensity.posterior.base import check_positive
from sparsedensity.problem import AnyProblem, check_limit
from sparsedensity.search.trees.exact.leaf_count_bounds import LeafCountBounds
from sparsedensity.search.trees.exact.plans import NumberedRegions, Plan, tree_of
from sparsedensity.search.trees.exact.proof import Case, CaseSearch, Proof, cases, pass_on
from sparsedensity.search.trees.exact.search import Exact
from sparsedensity.search.trees.exact.within_slack import Entry, Label, TooManyError
from sparsedensity.structures import Tree, canonical

FIRST_WINDOW = 0.25
"""Nats below the best to list first; doubled until there are enough trees."""


@dataclass(frozen=True)
class NearTree:
    """A listed tree with its log posterior; built when it is asked for."""

    log_posterior: float
    plan: Plan = field(repr=False)
    lattice: NumberedRegions = field(repr=False)
    canonical: bool = field(repr=False)
    """Whether to show the smallest tree with the same leaves: only leaves matter."""

    @cached_property
    def structure(self) -> Tree:
        """The tree."""
        tree = tree_of(self.lattice, self.plan)
        return canonical(tree) if self.canonical else tree


@dataclass(frozen=True)
class NearOptimal:
    """The trees whose log posterior is within some nats of the optimum, the best first.

    Method I: one tree for each set of leaves. Method II: trees up to the order of children.
    """

    trees: tuple[NearTree, ...] = field(repr=False)
    within: float
    complete: bool
    """Whether these are all; if not there are more, and these are the best."""

    def __len__(self) -> int:
        return len(self.trees)

    def __iter__(self) -> Iterator[NearTree]:
        return iter(self.trees)

    def __str__(self) -> str:
        number = f"{len(self):,}" if self.complete else f"at least {len(self):,}"
        return f"{number} within {self.within:g} nats of the optimum"


def near_optimal(problem: AnyProblem, within: float, at_most: int = 1000, *, depth: int | None = None) -> NearOptimal:
    """The trees whose log posterior is within some nats of the best, at most so many of them.

    With a ``depth``, those of at most so many levels.

    >>> from sparsedensity import GreedyTree, datasets
    >>> from sparsedensity.engines import MemoryEngine
    >>> from sparsedensity.posterior import LeafSparse
    >>> from sparsedensity.problem import Problem
    >>> table = GreedyTree().fit(datasets.load("simulated")).rows_
    >>> problem = Problem(MemoryEngine(table), LeafSparse())
    >>> print(near_optimal(problem, within=1.0))
    1 within 1 nats of the optimum
    """
    check_positive("within", within)
    check_limit("at_most", at_most)
    listing = Listing(problem, proven(problem, depth), at_most, depth)
    window, listed = min(FIRST_WINDOW, within), list[NearTree]()
    while True:
        try:
            listed = listing.within(window)
        except TooManyError:
            return _answer(listed, within, at_most, complete=False)
        if window >= within or len(listed) > at_most:
            return _answer(listed, within, at_most, complete=len(listed) <= at_most)
        window = min(2 * window, within)


def _answer(listed: list[NearTree], within: float, at_most: int, *, complete: bool) -> NearOptimal:
    if not listed:
        raise DataError(f"More trees of this table lie within {FIRST_WINDOW} nats of the best than can be listed.")
    best = sorted(listed, key=lambda tree: -tree.log_posterior)[:at_most]
    return NearOptimal(tuple(best), within, complete)


def proven(problem: AnyProblem, depth: int | None) -> Proof:
    """The finished proof of a problem."""
    proof = Exact(depth=depth).init(problem, np.random.default_rng(0))
    exhaust(proof.work)
    if proof.upper_bound > proof.threshold:
        raise DataError("The optimum of this table was not proven, so what is near it is not known.")
    return proof


def exhaust(steps: Iterator[int]) -> Any:
    """Drive a generator to its end; what it returns."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


class Listing:
    """Lists all trees within a window below the best. Wider windows make use of what narrow ones learned."""

    def __init__(self, problem: AnyProblem, proof: Proof, at_most: int, depth: int | None) -> None:
        self.problem, self.proof, self.at_most, self.depth = problem, proof, at_most, depth
        self.cases = cases(problem, math.inf)
        self.canonical = problem.posterior.only_leaves and depth is None
        self.threshold = proof.log_posterior
        self.listed: list[NearTree] = []
        self.hulls: dict[tuple[int, ...], LeafCountBounds] = {}

    def within(self, window: float) -> list[NearTree]:
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
                self.listed.append(NearTree(score, entry.plan, search.lattice, self.canonical))
