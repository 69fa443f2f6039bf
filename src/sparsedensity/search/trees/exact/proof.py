"""A proof: the best tree known rises and the bound falls until they meet.

The work is cut into cases: without the feature prior a single one. Each case has the tables of its regions and a hull
of what passes at a price per leaf have told; what they leave open is closed by lists or by a table.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field

import numpy as np

from sparsedensity.problem import AnyProblem
from sparsedensity.search.base import Proof
from sparsedensity.search.near import TooManyError
from sparsedensity.search.trees.exact.best_by_region import BranchTables, LeafCounts, LeafTables, Tables, counts_of
from sparsedensity.search.trees.exact.depth_limited import ShallowLattice, ShallowTables
from sparsedensity.search.trees.exact.estimate import QUICK_STEPS, gives_every_size, has_table, sizes_kept
from sparsedensity.search.trees.exact.leaf_count_bounds import LeafCountBounds
from sparsedensity.search.trees.exact.plans import Plan, best_plan, tree_of
from sparsedensity.search.trees.exact.regions import Lattice
from sparsedensity.search.trees.exact.within_slack import MOST_CHOICES, Label, Lists, Within
from sparsedensity.structures import Tree

STEEP = 10.0
"""A price that pays for every leaf this many times what all rows are worth: the tree with the most leaves is best."""
FEW_CHOICES = 50_000
"""Lists longer than this give way to a table over the number of leaves, where one is within reach."""
MOST_TABLE_STEPS = 2e11


@dataclass
class TreeProof(Proof):
    """How far a proof of trees has come."""

    beyond: float = -math.inf
    """The best log posterior known of a tree with more leaves than the limit,"""
    beyond_bound: float = math.inf
    """and what none of them exceeds."""
    archive: dict[int, tuple[float, Tree]] = field(default_factory=dict, repr=False)

    def keep(self, score: float, tree: Tree) -> None:
        """Keep a tree that is the best known of its number of leaves."""
        if tree.n_leaves not in self.archive or score > self.archive[tree.n_leaves][0]:
            self.archive[tree.n_leaves] = score, tree

    @property
    def limit_binds(self) -> bool | None:
        """Whether a tree above the limit is better; ``None`` if that is not known."""
        if self.beyond > self.threshold:
            return True
        return False if self.beyond_bound <= self.threshold else None

    @property
    def still_beyond(self) -> float:
        """What a tree above the limit must exceed to tell us something: nothing does once one is known to."""
        return math.inf if self.beyond > self.threshold else self.threshold


@dataclass
class Case:
    """The trees whose splits use exactly some features; without the feature prior, any of all features."""

    features: tuple[int, ...]
    log_prior: float
    """What the prior adds for so many features."""
    upper_bound: float
    exactly: bool
    """Whether a tree must use all of the features to belong to this case."""
    beyond: float = math.inf
    """What no tree of this case with more leaves than the limit exceeds."""


def cases(problem: AnyProblem, bound: float) -> list[Case]:
    """One case for all features; with the feature prior one for every set of them, larger sets first."""
    columns = len(problem.domain)
    by_features = problem.posterior.by_features(np.arange(columns + 1), columns)
    if by_features is None:
        return [Case(tuple(range(columns)), 0.0, bound, exactly=False)]
    splittable = [f for f, size in enumerate(problem.domain.sizes) if size > 1]
    sets = [some for d in range(len(splittable), -1, -1) for some in itertools.combinations(splittable, d)]
    return [Case(some, float(by_features[len(some)]), bound, exactly=True) for some in sets]


def prove(problem: AnyProblem, proof: TreeProof, depth: int | None = None) -> Iterator[int]:
    """Raise the best tree and lower the bound until they meet; yields the regions visited since the last time."""
    every, search = cases(problem, proof.upper_bound), None
    for case in every:
        if case.upper_bound > proof.threshold:
            search = None  # its tables are let go before those of the next are made
            search = CaseSearch(problem, proof, case, depth)
            for done in search.prove():
                proof.upper_bound = max(proof.log_posterior, *(case.upper_bound for case in every))
                yield done
            pass_on(search, every)
    bound = max(case.upper_bound for case in every)
    proof.upper_bound = bound if bound > proof.threshold else proof.log_posterior
    if proof.limit_binds is None:
        yield from _look_beyond(problem, proof, every, search, depth)
    if not every[0].exactly:
        if search is None:
            search = CaseSearch(problem, proof, every[0], depth)
            yield from search.begin()
        yield from search.fill_archive()


def _look_beyond(
    problem: AnyProblem, proof: TreeProof, every: list[Case], search: CaseSearch | None, depth: int | None
) -> Iterator[int]:
    """Whether a tree above the limit is better, now that the best within it is known."""
    for case in every:
        if case.beyond > proof.still_beyond:
            if search is None or search.case is not case:
                search = None
                search = CaseSearch(problem, proof, case, depth)
                yield from search.begin()
            yield from search.look_beyond()
            pass_on(search, every)
    proof.beyond_bound = max(case.beyond for case in every)


def pass_on(search: CaseSearch, every: list[Case]) -> None:
    """What no tree of some features exceeds, no tree of fewer of them does."""
    for case in every:
        if set(case.features) < set(search.case.features):
            bound = search.free_best + case.log_prior
            case.upper_bound, case.beyond = min(case.upper_bound, bound), min(case.beyond, bound)


class CaseSearch:
    """The proof of one case."""

    def __init__(self, problem: AnyProblem, proof: TreeProof, case: Case, depth: int | None = None) -> None:
        self.problem, self.proof, self.case, self.depth = problem, proof, case, depth
        self.tables = tables_of(problem, case.features, depth)
        self.lattice = self.tables.lattice
        by_leaves = problem.posterior.by_leaves(np.arange(1, self.lattice.points + 1), problem.engine.n)
        self.priced = bool((by_leaves != by_leaves[0]).any())
        """Whether the posterior looks at the number of leaves,"""
        self.by_leaves = self.priced or (problem.max_leaves or np.inf) < self.lattice.points
        """and whether that number must be known: for this, or because there is a limit."""
        self.limit = min(problem.max_leaves or self.lattice.points, self.lattice.points) if self.by_leaves else 0
        self.by_size = np.concatenate([[-np.inf], by_leaves]) + case.log_prior
        self.hull = LeafCountBounds(self.by_size if self.by_leaves else self.by_size[1:2], self.limit)
        self.free_best = math.inf
        """The best log posterior without the features' part, by any number of leaves; known after a pass at price 0."""

    def prove(self, most_choices: int = MOST_CHOICES, most_steps: float = MOST_TABLE_STEPS) -> Iterator[int]:
        """Bound by prices, then close what they leave open."""
        yield from self.begin()
        if self.refinable:
            yield from self.refine(lambda: self.proof.threshold, self.limit)
        yield from self.close(most_choices, most_steps)

    def begin(self) -> Iterator[int]:
        """The weights of all regions, what is known of the ends of the curve, and a pass near the best."""
        yield from self.tables.count()
        if self.by_leaves:
            self.hull.touched[1] = self.tables.as_leaf
        if not self.priced:
            yield from self.at_price(0.0)
            return
        if isinstance(self.tables, LeafTables):
            self.hull.touched[self.lattice.points] = self.tables.lattice.points_sum(self.tables.leaf)
        else:
            yield from self.at_price(-STEEP * (1 + abs(self.tables.as_leaf)))
        yield from self.at_price(self._first_price())

    def refine(self, threshold: Callable[[], float], limit: int) -> Iterator[int]:
        """Passes at one price after the other, as long as another line may lower a bound above a threshold."""
        while (chord := self.hull.next_chord(threshold(), limit)) is not None:
            yield from self.at_price(chord.price)
            self.hull.note_flat(chord)

    def close(self, most_choices: int, most_steps: float) -> Iterator[int]:
        """Close what prices leave open, by short lists of trees or else by a table over the number of leaves."""
        table = isinstance(self.tables, LeafTables) and has_table(self.problem, self._most_open(), most_steps)
        try:
            yield from self.close_by_lists(min(FEW_CHOICES, most_choices) if table else most_choices)
        except TooManyError:
            if table:
                yield from self.close_by_table()

    def close_by_lists(self, most_choices: int) -> Iterator[int]:
        """List the trees that lose less than the gap, for every price whose line leaves one."""
        while (group := self.hull.open_group(self.threshold)) is not None:
            price, leaves = group
            slack = float(self.hull.scores[leaves].max()) - self.proof.log_posterior
            listed = yield from self.within(price, slack, 1, most_choices)
            for label, entries in listed.items():
                if self.is_wanted(label):
                    self.offer(entries[0].plan, label, self.tables.best - entries[0].loss + price * label.leaves)
            self.hull.closed[leaves] = True
            self._lower()

    def close_by_table(self) -> Iterator[int]:
        """The best tree of every number of leaves, up to the largest that is open."""
        assert isinstance(self.tables, LeafTables)
        counts = LeafCounts(self.tables, self._most_open())
        yield from counts.solve()
        sums = counts.sums[self.lattice.root]
        k = int((self.hull.heads[: len(sums)] + sums).argmax())
        self.offer(counts.plan(self.lattice.root, k), Label(k, 0), float(sums[k]))
        self.hull.closed[: len(sums)] = True
        self._lower()

    def _most_open(self) -> int:
        """The largest number of leaves that is open."""
        scores = self.hull.scores[: self.hull.limit + 1]
        return max(1, int(np.flatnonzero(scores > self.threshold).max(initial=1)))

    def look_beyond(self) -> Iterator[int]:
        """The same proof without the limit, until a better tree is found or none can be, or it would take long."""
        self.hull.limit = len(self.hull.heads) - 1
        yield from self.refine(lambda: self.threshold, self.hull.limit)
        yield from self.close(FEW_CHOICES, QUICK_STEPS)

    @property
    def threshold(self) -> float:
        """What a tree must exceed to be worth looking for: the best known, by whatever number of leaves counts."""
        return self.proof.threshold if self.hull.limit == self.limit else self.proof.still_beyond

    def fill_archive(self) -> Iterator[int]:
        """The best tree of every size, if a table of them is quick to make; else those that a charge would choose."""
        if gives_every_size(self.problem, self.depth):
            counts = counts_of(self.tables, sizes_kept(self.problem))
            yield from counts.solve()
            for k in range(1, sizes_kept(self.problem) + 1):
                tree = tree_of(self.lattice, counts.plan(self.lattice.root, k))
                self.proof.keep(float(self.by_size[k]) + counts.best(k), tree)
            return
        charge = self.problem.posterior.calibrated(self.problem.domain, most=2).log_splits[2]
        if self.by_leaves:
            yield from self._charge(charge)
        else:
            yield from self.tables.solve(charge)
            tree = tree_of(self.lattice, best_plan(self.tables, self.lattice.root))
            self.proof.keep(float(self.by_size[1]) + self.tables.best + charge * tree.n_leaves, tree)

    def _charge(self, charge: float) -> Iterator[int]:
        """Passes as long as one may find a better tree if every leaf but the first were charged so much more."""
        charged = self.hull.charged(charge)
        archive = self.proof.archive

        def best() -> float:
            return max(score - charge * (leaves - 1) for leaves, (score, _) in archive.items()) + self.proof.tie

        while (chord := charged.next_chord(best(), self.limit)) is not None:
            yield from self.at_price(chord.price)
            charged.note_flat(chord)

    def within(
        self, price: float, slack: float, most: int, most_choices: int = MOST_CHOICES
    ) -> Generator[int, None, Lists]:
        """The trees that lose at most some slack at a price, by label."""
        if self.tables.price != price:
            yield from self.tables.solve(price)
        search = Within(
            self.tables,
            slack + self.proof.tie,
            most=most,
            by_leaves=self.by_leaves,
            by_features=self.case.exactly,
            same_leaves=self.problem.posterior.only_leaves,
            most_leaves=self.hull.limit,
            most_choices=most_choices,
        )
        yield from search.find()
        return search.found()

    def at_price(self, price: float) -> Iterator[int]:
        """A pass, and what it tells."""
        yield from self.tables.solve(price)
        plan = best_plan(self.tables, self.lattice.root)
        label = Label(sum(1 for _ in plan.leaves()) if self.by_leaves else 0, plan.features())
        self.hull.learn(price, self.tables.best, label.leaves)
        if price == 0:
            self.free_best = self.tables.best + float(self.by_size[1:].max()) - self.case.log_prior
        self.offer(plan, label, self.tables.best + price * label.leaves)
        self._lower()

    def offer(self, plan: Plan, label: Label, total: float) -> None:
        """Keep a tree that is better than the best known, of all or of its number of leaves."""
        score = self.score(label, total)
        if label.leaves > self.limit:
            self.proof.beyond = max(self.proof.beyond, score)
            return
        tree = tree_of(self.lattice, plan)
        self.proof.keep(score, tree)
        if score > self.proof.log_posterior:
            self.proof.log_posterior, self.proof.structure = score, tree

    def score(self, label: Label, total: float) -> float:
        """The log posterior of a tree by its label and its sum over leaves or nodes."""
        prior = float(self.by_size[label.leaves if self.by_leaves else 1])
        if self.case.exactly:
            used = np.array([label.features.bit_count()])  # they may be fewer than those of the case
            adds = self.problem.posterior.by_features(used, len(self.problem.domain))
            prior += float(adds[0]) - self.case.log_prior
        return prior + total

    def is_wanted(self, label: Label) -> bool:
        """Whether a tree belongs to this case: it uses every feature of it."""
        return not self.case.exactly or label.features.bit_count() == len(self.case.features)

    def _lower(self) -> None:
        within, beyond = self.hull.bounds(self.limit)
        self.case.upper_bound = min(self.case.upper_bound, within)
        self.case.beyond = min(self.case.beyond, beyond)

    def _first_price(self) -> float:
        """Where the prior's slope says that the best tree lies."""
        k = min(self.proof.structure.n_leaves, self.lattice.points - 1)
        return float(self.hull.heads[k] - self.hull.heads[k + 1]) if k else 0.0

    @property
    def refinable(self) -> bool:
        """Whether prices can help: if leaves cost nothing, only if the best tree of all has too many of them."""
        return self.priced or max(self.hull.touched) > self.limit


def tables_of(problem: AnyProblem, features: tuple[int, ...], depth: int | None) -> Tables:
    """The tables of a method, of all trees or of those of few levels."""
    if depth is not None:
        return ShallowTables(ShallowLattice(problem.domain, features, depth), problem)
    lattice = Lattice(problem.domain, features)
    return LeafTables(lattice, problem) if problem.posterior.only_leaves else BranchTables(lattice, problem)
