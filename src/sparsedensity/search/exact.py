"""Exact search for trees: the best one there is, with a proof, or a bound on how much better it could be.

Dynamic programming over all regions of the domain (see ``tables``) finds the best tree at a price per leaf. Method II
without a limit that binds needs one pass at price 0. Otherwise passes at several prices bound the score of every
number of leaves (see ``hull``), and what these bounds leave open is closed by listing the few trees that lose less
than the gap (see ``within``). A prior on the features used is proven for one set of features after the other.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from sparsedensity.domain import Domain
from sparsedensity.errors import DataError
from sparsedensity.posterior import BranchSparse, LeafSparse
from sparsedensity.problem import Problem, check_limit
from sparsedensity.search import bounds
from sparsedensity.search.base import TIE
from sparsedensity.search.hull import Hull
from sparsedensity.search.lattice import Lattice, count_sides
from sparsedensity.search.shallow import ShallowLattice, ShallowTables, count_sets, count_states
from sparsedensity.search.tables import BranchTables, LeafCounts, LeafTables, Plan, Tables, best_plan, tree_of
from sparsedensity.search.within import MOST_CHOICES, Label, Lists, TooManyError, Within
from sparsedensity.structures import Structure, Tree, canonical
from sparsedensity.table import Floats

BYTES_A_REGION = 56.0
STEEP = 10.0
"""A price that pays for every leaf this many times what all rows are worth: the tree with the most leaves is best."""
MOST_BYTES = 4e9
MOST_SECONDS = 3600.0
FEW_CHOICES = 50_000
"""Lists longer than this give way to a table over the number of leaves, where one is within reach."""
MOST_TABLE_STEPS = 2e11


class Cost(NamedTuple):
    """Seconds, as measured: to count a region, to visit it and one of its partings in a pass, to count a table."""

    counting: float
    region: float
    parting: float
    table: float = 1e-4
    row: float = 1e-8


LEAF_COST = Cost(1e-7, 2e-8, 2.5e-9)
BRANCH_COST = Cost(3.5e-7, 2e-8, 1e-8)
"""Passes of method II carry the number of groups."""
LEAF_PASSES = 12
"""How many passes method I takes, about."""


@dataclass(frozen=True)
class Estimate:
    """What a proof would take, known before anything is allocated."""

    regions: int
    partings: int
    """Ways to part a region in two, over all regions."""
    bytes: float
    seconds: float

    @property
    def hopeless(self) -> bool:
        """Whether a proof is out of reach."""
        return self.bytes > MOST_BYTES or self.seconds > MOST_SECONDS


def estimate(problem: Problem[Any], depth: int | None = None) -> Estimate:
    """The regions, memory and time of an exact search, in advance.

    >>> from sparsedensity import datasets
    >>> from sparsedensity.engines import MemoryEngine
    >>> from sparsedensity.table import Table
    >>> truth = datasets.random_tree(rows=100, sizes=(4, 2, 2))
    >>> estimate(Problem(MemoryEngine(Table.of(truth.domain, truth.codes)), LeafSparse())).regions
    135
    """
    check_limit("depth", depth)
    domain, method = problem.domain, problem.posterior
    cost = LEAF_COST if isinstance(method, LeafSparse) and depth is None else BRANCH_COST
    passes = LEAF_PASSES if isinstance(method, LeafSparse) else 1
    regions, partings = _count(domain) if depth is None else count_states(domain, depth)
    seconds = _float(regions) * (cost.counting + passes * cost.region) + _float(partings) * passes * cost.parting
    if depth is not None:
        seconds += count_sets(domain, depth) * (cost.table + cost.row * len(problem.engine.table))
    if by_features(method):
        # one lattice for every set of features: each feature has its sides or is left whole
        seconds *= math.prod(1 + 1 / count_sides(feature)[0] for feature in domain)
    return Estimate(regions, partings, BYTES_A_REGION * _float(regions), seconds)


def _count(domain: Domain) -> tuple[int, int]:
    """The regions of a domain and their partings."""
    counts = [count_sides(feature) for feature in domain]
    regions = math.prod(sides for sides, _ in counts)
    return regions, sum(own * (regions // sides) for sides, own in counts)


def _float(number: int) -> float:
    return float(number) if number.bit_length() < 1000 else math.inf


@dataclass
class Proof:
    """How far a proof has come."""

    structure: Tree
    log_posterior: float
    upper_bound: float
    work: Iterator[int] = field(default_factory=lambda: iter(()), repr=False)
    moves: int = 0
    """How many regions were visited, over all passes."""
    finished: bool = False
    beyond: float = -math.inf
    """The best log posterior known of a tree with more leaves than the limit."""
    archive: dict[int, tuple[float, Tree]] = field(default_factory=dict, repr=False)

    @property
    def tie(self) -> float:
        """Log posteriors this close are equal."""
        return TIE * max(1.0, abs(self.log_posterior))

    @property
    def threshold(self) -> float:
        """What a tree must exceed to be better than the best known."""
        return self.log_posterior + self.tie

    @property
    def still_beyond(self) -> float:
        """What a tree above the limit must exceed to tell us something: nothing does once one is known to."""
        return math.inf if self.beyond > self.threshold else self.threshold


@dataclass(frozen=True)
class Exact:
    """Dynamic programming over all regions.

    >>> from sparsedensity import datasets
    >>> from sparsedensity.engines import MemoryEngine
    >>> from sparsedensity.search import run
    >>> from sparsedensity.table import Table
    >>> truth = datasets.random_tree(rows=100, sizes=(3, 2, 2))
    >>> found = run(Exact(), Problem(MemoryEngine(Table.of(truth.domain, truth.codes)), LeafSparse()))
    >>> found.proven, found.gap
    (True, 0.0)
    """

    warm: Tree | None = None
    """A tree to begin with; what is returned is never worse."""
    anytime: bool = False
    """Where a proof is out of reach, return the warm tree with a bound instead of refusing."""
    depth: int | None = None
    """Only trees of at most so many levels: far fewer regions on a wide table."""
    name: str = "exact"

    def init(self, problem: Problem[Any], rng: np.random.Generator) -> Proof:
        """The warm tree or a single leaf, and the bound that costs nothing."""
        ahead = estimate(problem, self.depth)
        if ahead.hopeless and not self.anytime:
            raise too_large(ahead)
        start = Tree.leaf(problem.domain)
        if self.warm is not None and self._allows(self.warm, problem):
            start = max(start, self.warm, key=problem.score)
        bound = bounds.upper_bound(problem)
        assert bound is not None
        proof = Proof(start, problem.score(start), bound, finished=ahead.hopeless)
        if not ahead.hopeless:
            proof.work = prove(problem, proof, self.depth)
        return proof

    def _allows(self, tree: Tree, problem: Problem[Any]) -> bool:
        """Whether a warm tree keeps the limits."""
        deep = self.depth is not None and max(leaf.depth for leaf in tree.leaves()) > self.depth
        return tree.domain == problem.domain and tree.n_leaves <= (problem.max_leaves or tree.n_leaves) and not deep

    def step(self, problem: Problem[Any], state: Proof, rng: np.random.Generator) -> Proof:
        """A block of regions."""
        done = next(state.work, None)
        state.moves += done or 0
        state.finished = done is None
        return state

    def best(self, problem: Problem[Any], state: Proof) -> Tree:
        """The best tree so far; of those with the same leaves the one to show."""
        return shown(problem, state.structure, self.depth)

    def limited(self, problem: Problem[Any], state: Proof, best: Structure) -> bool:
        """Whether a better tree with more leaves is known."""
        return state.beyond > state.threshold

    def archive(self, problem: Problem[Any], state: Proof) -> Mapping[int, Structure]:
        """The best trees met on the way, by their number of leaves."""
        return {leaves: shown(problem, tree, self.depth) for leaves, (_, tree) in sorted(state.archive.items())}


def shown(problem: Problem[Any], tree: Tree, depth: int | None = None) -> Tree:
    """The tree to show: method I sees only leaves, so it may choose; the smallest tree may have more levels."""
    if not isinstance(problem.posterior, LeafSparse):
        return tree
    return canonical(tree) if depth is None else tree.merged()


def too_large(ahead: Estimate) -> DataError:
    """The sentence for a table whose proof is out of reach."""
    return DataError(
        f"An exact search of this table would visit {_about(ahead.regions)} regions and take "
        f"{_about(ahead.bytes / 1e9)} GB of memory and {_about(ahead.seconds / 60)} minutes a proof. "
        "Use search='anneal', set a time_limit to get the best tree known with a bound, or merge values."
    )


def _about(number: float) -> str:
    if number < 1e6:
        return f"{number:,.0f}" if number >= 10 else f"{number:.1g}"
    return f"10^{math.log10(number):.0f}" if number < math.inf else "more than 10^18"


# The proof --------------------------------------------------------------------------------------------------------


@dataclass
class Case:
    """The trees whose splits use exactly some features; without the feature prior, any of all features."""

    features: tuple[int, ...]
    log_prior: float
    """What the feature prior adds for so many features."""
    upper_bound: float


def cases(problem: Problem[Any], bound: float) -> list[Case]:
    """One case for all features; with the feature prior one for every set of them, larger sets first."""
    posterior, p = problem.posterior, len(problem.domain)
    if not by_features(posterior):
        return [Case(tuple(range(p)), 0.0, bound)]
    splittable = [f for f, size in enumerate(problem.domain.sizes) if size > 1]
    sets = [some for d in range(len(splittable), -1, -1) for some in itertools.combinations(splittable, d)]
    return [Case(some, bounds.log_features(posterior, p, len(some)), bound) for some in sets]


def by_features(posterior: object) -> bool:
    """Whether a posterior looks at the set of features that a tree uses."""
    return isinstance(posterior, BranchSparse) and posterior.feature_probability is not None


def prove(problem: Problem[Any], proof: Proof, depth: int | None = None) -> Iterator[int]:
    """Raise the best tree and lower the bound until they meet; yields the regions visited since the last time."""
    every = cases(problem, proof.upper_bound)
    for case in every:
        if case.upper_bound > proof.threshold:
            search = CaseSearch(problem, proof, case, depth)
            for done in search.prove():
                proof.upper_bound = max(proof.log_posterior, *(case.upper_bound for case in every))
                yield done
            pass_on(search, every)
    bound = max(case.upper_bound for case in every)
    proof.upper_bound = bound if bound > proof.threshold else proof.log_posterior


def pass_on(search: CaseSearch, every: list[Case]) -> None:
    """What no tree of some features exceeds, no tree of fewer of them does."""
    for case in every:
        if set(case.features) < set(search.case.features):
            case.upper_bound = min(case.upper_bound, search.free_best + case.log_prior)


class CaseSearch:
    """The proof of one case."""

    def __init__(self, problem: Problem[Any], proof: Proof, case: Case, depth: int | None = None) -> None:
        self.problem, self.proof, self.case, self.depth = problem, proof, case, depth
        self.tables = tables_of(problem, case.features, depth)
        self.lattice = self.tables.lattice
        self.by_features = by_features(problem.posterior)
        self.by_leaves = (
            isinstance(problem.posterior, LeafSparse) or (problem.max_leaves or np.inf) < self.lattice.points
        )
        self.limit = min(problem.max_leaves or self.lattice.points, self.lattice.points) if self.by_leaves else 0
        self.hull = Hull(self._heads(), self.limit)
        self.free_best = math.inf
        """The best sum at price 0, if there was such a pass."""

    def prove(self) -> Iterator[int]:
        """Bound by prices, then close what they leave open."""
        yield from self.begin()
        if self.refinable:
            yield from self.refine(lambda: self.proof.threshold, self.limit)
        yield from self.close()
        if self.by_leaves and self.proof.structure.n_leaves == self.limit:
            yield from self.look_beyond()

    def begin(self) -> Iterator[int]:
        """What is known of the ends of the curve, and a pass near the best."""
        if self.by_leaves:
            self.hull.touched[1] = self.tables.as_leaf
        if not isinstance(self.problem.posterior, LeafSparse):
            yield from self.at_price(0.0)
            return
        if self.depth is None:
            self.hull.touched[self.lattice.points] = points_sum(self.problem)
        else:
            yield from self.at_price(-STEEP * (1 + abs(self.tables.as_leaf)))
        yield from self.at_price(self._first_price())

    def refine(self, threshold: Callable[[], float], limit: int) -> Iterator[int]:
        """Passes at one price after the other, as long as another line may lower a bound above a threshold."""
        while (chord := self.hull.next_chord(threshold(), limit)) is not None:
            yield from self.at_price(chord.price)
            self.hull.settle(chord)

    def close(self) -> Iterator[int]:
        """Close what prices leave open, by short lists of trees or else by a table over the number of leaves."""
        table = self._has_table()
        try:
            yield from self.close_by_lists(FEW_CHOICES if table else MOST_CHOICES)
        except TooManyError:
            if table:
                yield from self.close_by_table()

    def close_by_lists(self, most_choices: int) -> Iterator[int]:
        """List the trees that lose less than the gap, for every price whose line leaves one."""
        while (group := self.hull.open_group(self.proof.threshold)) is not None:
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

    def _has_table(self) -> bool:
        """Whether a table over the number of leaves is within reach."""
        if not isinstance(self.tables, LeafTables):
            return False
        most, (regions, partings) = self._most_open(), _count(self.problem.domain)
        return 8 * regions * most < MOST_BYTES and partings * most**2 < MOST_TABLE_STEPS

    def _most_open(self) -> int:
        """The largest number of leaves that is open."""
        scores = self.hull.scores[: self.limit + 1]
        return max(1, int(np.flatnonzero(scores > self.proof.threshold).max(initial=1)))

    def look_beyond(self) -> Iterator[int]:
        """Whether a tree above the limit is better: passes until one is found or none can be."""
        yield from self.refine(lambda: self.proof.still_beyond, len(self.hull.heads) - 1)

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
            by_features=self.by_features,
            same_leaves=isinstance(self.problem.posterior, LeafSparse),
            most_leaves=self.limit,
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
            self.free_best = self.tables.best
        self.offer(plan, label, self.tables.best + price * label.leaves)
        self._lower()

    def offer(self, plan: Plan, label: Label, total: float) -> None:
        """Keep a tree that is better than the best known, of all or of its number of leaves."""
        score = self.score(label, total)
        if label.leaves > self.limit:
            self.proof.beyond = max(self.proof.beyond, score)
            return
        tree = tree_of(self.lattice, plan)
        if tree.n_leaves not in self.proof.archive or score > self.proof.archive[tree.n_leaves][0]:
            self.proof.archive[tree.n_leaves] = score, tree
        if score > self.proof.log_posterior:
            self.proof.log_posterior, self.proof.structure = score, tree

    def score(self, label: Label, total: float) -> float:
        """The log posterior of a tree by its label and its sum over leaves or nodes."""
        if isinstance(self.problem.posterior, LeafSparse):
            return float(self.hull.heads[label.leaves]) + total
        return total + bounds.log_features(self.problem.posterior, len(self.problem.domain), label.features.bit_count())

    def is_wanted(self, label: Label) -> bool:
        """Whether a tree belongs to this case: it uses every feature of it."""
        return not self.by_features or label.features.bit_count() == len(self.case.features)

    def _lower(self) -> None:
        self.case.upper_bound = min(self.case.upper_bound, self.hull.bound)

    def _heads(self) -> Floats:
        """What the posterior adds for each number of leaves, whatever the tree."""
        if not self.by_leaves:
            return np.array([self.case.log_prior])
        k = np.arange(1, self.lattice.points + 1)
        if isinstance(self.problem.posterior, LeafSparse):
            own = log_heads(self.problem.posterior, k, self.problem.engine.n)
        else:
            own = np.full(len(k), self.case.log_prior)
        return np.concatenate([[-np.inf], own])

    def _first_price(self) -> float:
        """Where the prior's slope says that the best tree lies."""
        k = min(self.proof.structure.n_leaves, self.lattice.points - 1)
        return float(self.hull.heads[k] - self.hull.heads[k + 1]) if k else 0.0

    @property
    def refinable(self) -> bool:
        """Whether prices can help: in method II only if the best tree of all has too many leaves."""
        return isinstance(self.problem.posterior, LeafSparse) or max(self.hull.touched) > self.limit


def tables_of(problem: Problem[Any], features: tuple[int, ...], depth: int | None) -> Tables:
    """The tables of a method, of all trees or of those of few levels."""
    if depth is not None:
        return ShallowTables(ShallowLattice(problem.domain, features, depth), problem)
    lattice = Lattice.over(problem.domain, features)
    return LeafTables(lattice, problem) if isinstance(problem.posterior, LeafSparse) else BranchTables(lattice, problem)


def log_heads(posterior: LeafSparse, leaves: NDArray[np.int64], n: float) -> Floats:
    """All of method I that depends on the number of leaves alone, for several numbers."""
    a, rate = posterior.pseudocount, posterior.expected_leaves
    prior = -rate + leaves * math.log(rate) - gammaln(leaves + 1)
    heads: Floats = prior + gammaln(leaves * a) - gammaln(n + leaves * a)
    return heads


def points_sum(problem: Problem[LeafSparse]) -> float:
    """The sum over leaves of method I with every point a leaf."""
    a, table = problem.posterior.pseudocount, problem.engine.table
    log_volumes = np.sum([np.log(f.measures)[table.codes[:, i]] for i, f in enumerate(table.domain)], axis=0)
    return float((gammaln(table.weights + a) - gammaln(a) - table.weights * log_volumes).sum())
