"""All near-optimal trees: the set of good models, from the same tables that prove the best one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from sparsedensity.errors import DataError
from sparsedensity.posterior.base import check_positive
from sparsedensity.problem import Problem, check_limit
from sparsedensity.search.exact import CaseSearch, Exact, Proof, cases, pass_on, shown
from sparsedensity.search.lattice import Lattice
from sparsedensity.search.tables import Plan, tree_of
from sparsedensity.search.within import Entry, Label, TooManyError
from sparsedensity.structures import Tree

FIRST_WINDOW = 0.25
"""Nats below the best to list first; doubled until there are enough trees."""


class Scored(NamedTuple):
    """A tree with its log posterior."""

    log_posterior: float
    structure: Tree


@dataclass(frozen=True)
class NearOptimal:
    """The trees whose log posterior is within some nats of the optimum, the best first.

    Method I: one tree for each set of leaves. Method II: trees up to the order of children.
    """

    trees: tuple[Scored, ...] = field(repr=False)
    within: float
    complete: bool
    """Whether these are all; if not there are more, and these are the best."""

    def __len__(self) -> int:
        return len(self.trees)

    def __iter__(self) -> Iterator[Scored]:
        return iter(self.trees)

    def __str__(self) -> str:
        number = f"{len(self):,}" if self.complete else f"at least {len(self):,}"
        return f"{number} within {self.within:g} nats of the optimum"


def near_optimal(problem: Problem[Any], within: float, at_most: int = 1000) -> NearOptimal:
    """The trees whose log posterior is within some nats of the best, at most so many of them.

    >>> from sparsedensity import datasets
    >>> from sparsedensity.engines import MemoryEngine
    >>> from sparsedensity.posterior import LeafSparse
    >>> from sparsedensity.table import Table
    >>> truth = datasets.random_tree(rows=100, sizes=(3, 2, 2))
    >>> problem = Problem(MemoryEngine(Table.of(truth.domain, truth.codes)), LeafSparse())
    >>> print(near_optimal(problem, within=1.0))
    6 within 1 nats of the optimum
    """
    check_positive("within", within)
    check_limit("at_most", at_most)
    proof = proven(problem)
    window = min(FIRST_WINDOW, within)
    while True:
        try:
            listed = _Listing(problem, proof, window, at_most).run()
        except TooManyError:
            raise DataError(
                f"Too many trees of this table lie within {window:g} nats of the best to list any. Ask for fewer nats."
            ) from None
        if window >= within or len(listed) > at_most:
            return _answer(problem, listed, within, at_most)
        window = min(2 * window, within)


def proven(problem: Problem[Any]) -> Proof:
    """The finished proof of a problem."""
    proof = Exact().init(problem, np.random.default_rng(0))
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


class _Listing:
    """One listing of all trees within a window below the best."""

    def __init__(self, problem: Problem[Any], proof: Proof, window: float, at_most: int) -> None:
        self.problem, self.proof, self.at_most = problem, proof, at_most
        self.threshold = proof.log_posterior - window - proof.tie
        self.listed: list[Named] = []

    def run(self) -> list[Named]:
        """The trees above the threshold; more than asked for where there are more."""
        every = cases(self.problem, math.inf)
        for case in every:
            if case.upper_bound > self.threshold:
                search = CaseSearch(self.problem, self.proof, case)
                self._bound(search)
                pass_on(search, every)
                self._list(search)
        return self.listed

    def _bound(self, search: CaseSearch) -> None:
        """Passes until no other price tells more about a number of leaves in the window."""
        exhaust(search.begin())
        if search.refinable:
            exhaust(search.refine(lambda: self.threshold, search.limit))

    def _list(self, search: CaseSearch) -> None:
        while (group := search.hull.open_group(self.threshold)) is not None:
            price, leaves = group
            slack = float(search.hull.scores[leaves].max()) - self.threshold
            lists = exhaust(search.within(price, slack, self.at_most + 1))
            search.hull.close(leaves)
            asked = set(leaves.tolist())
            for label, entries in lists.items():
                if label.leaves in asked and search.is_wanted(label):
                    self._take(search, price, label, entries)

    def _take(self, search: CaseSearch, price: float, label: Label, entries: list[Entry]) -> None:
        for entry in entries:
            score = search.score(label, search.tables.best - entry.loss + price * label.leaves)
            if score > self.threshold:
                self.listed.append(Named(score, search.lattice, entry.plan))


class Named(NamedTuple):
    """A listed tree before it is built."""

    log_posterior: float
    lattice: Lattice
    plan: Plan


def _answer(problem: Problem[Any], listed: list[Named], within: float, at_most: int) -> NearOptimal:
    best = sorted(listed, key=lambda named: -named.log_posterior)[:at_most]
    trees = (Scored(own.log_posterior, shown(problem, tree_of(own.lattice, own.plan))) for own in best)
    return NearOptimal(tuple(trees), within, len(listed) <= at_most)
