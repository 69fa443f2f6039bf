"""Exact search with profile leaves: the best of all trees, all near-optimal ones, and bounds that hold if it is cut."""

import itertools
import math
from unittest.mock import patch

import numpy as np
import pytest

from sparsedensity import datasets
from sparsedensity.domain import Domain, Feature
from sparsedensity.engines import MemoryEngine
from sparsedensity.ingest import Reading, open_source, read_table
from sparsedensity.posterior import BranchSparse, LeafSparse, profile_leaf
from sparsedensity.problem import Problem
from sparsedensity.search import Budget, Exact, near_optimal, run
from sparsedensity.search.trees.exact import best_by_region, depth_limited, regions
from sparsedensity.search.trees.exact.estimate import sizes_kept
from sparsedensity.search.trees.exact.near_optimal import exhaust
from tests import naive, naive_profiles
from tests.naive_search import Regions, branch_sparse_of, every_tree, leaf_sparse_of
from tests.strategies import table_of

TABLES = 40
METHODS = ("leaf", "branch", "features")


def close(value):
    return pytest.approx(value, rel=1e-8, abs=1e-7)


def random_feature(rng, name):
    """A feature of any kind, with or without missing, of up to 3 values."""
    size, missing = int(rng.integers(1, 4)), bool(rng.random() < 0.25)
    kind = rng.choice(["nominal", "ordinal", "continuous"])
    if kind == "continuous":
        return Feature.continuous(name, np.cumsum(rng.integers(1, 9, size + 1)).tolist(), missing=missing and size < 3)
    make = Feature.nominal if kind == "nominal" else Feature.ordinal
    return make(name, range(size), missing=missing and size < 3)


class Enumerated:
    """A random problem of a tiny domain beside the score of each of its trees."""

    def __init__(self, seed, most_trees=2000):
        rng, self.every = np.random.default_rng(seed), None
        self.method, self.calibrated = METHODS[seed % 3], bool(seed // 3 % 2)
        while self.every is None:
            features = (random_feature(rng, f"x{i}") for i in range(int(rng.integers(1, 4))))
            self.domain = Domain(tuple(features))
            self.rows = self._rows(rng)
            self.rate, self.a = float(rng.choice([0.5, 2, 3, 8])), float(rng.choice([0.3, 1, 2]))
            s, r = float(rng.choice([0.1, 2, 30])), float(rng.choice([0, 0.1, 0.5, 0.95]))
            model = naive_profiles.model_of(self.domain, self.rows, s, r)
            self.term = naive_profiles.by_region(model)
            self.every = every_tree(self.domain, self.rows, self.rate, self.a, most_trees, term=self.term)
        self.g = float(rng.choice([0.01, 0.3, 0.9])) if self.method == "features" else None
        self.engine = MemoryEngine(table_of(self.domain, self.rows))
        self.leaf = profile_leaf(self.domain, self.engine.value_weights(), s, r)
        self.most = None if rng.random() < 0.5 else int(rng.integers(1, 8))
        self.scores = [self._score(tree) for tree in self.every]

    def _rows(self, rng):
        """Rows that hang together, with whole or real weights."""
        count, kinds = int(np.exp(rng.uniform(0.7, 4))), int(rng.integers(1, 4))
        shares = [[rng.dirichlet(np.full(size, 0.6)) for size in self.domain.sizes] for _ in range(kinds)]
        kind = rng.integers(0, kinds, count)
        codes = [tuple(int(rng.choice(len(p), p=p)) for p in shares[k]) for k in kind]
        weights = rng.integers(1, 9, count) if rng.random() < 0.5 else rng.uniform(0.1, 20, count)
        return list(zip(codes, weights.astype(float).tolist(), strict=True))

    @property
    def problem(self):
        """The problem as the product has it."""
        tree = LeafSparse if self.method == "leaf" else BranchSparse
        posterior = tree(self.rate, self.a, **({} if self.g is None else {"feature_probability": self.g}))
        posterior = posterior.calibrated(self.domain) if self.calibrated else posterior
        return Problem(self.engine, posterior.with_leaf(self.leaf), self.most)

    def _score(self, tree):
        """The log posterior of a tree, plainly."""
        if self.method == "leaf":
            n = math.fsum(weight for _, weight in self.rows)
            charged = (2,) * (len(tree.leaves) - 1)
            score = leaf_sparse_of(tree, n, self.rate, self.a)
        else:
            charged, score = tree.splits, branch_sparse_of(tree, len(self.domain), self.g)
        if self.calibrated:
            score -= math.fsum(math.log(naive.ways_to_split(self.domain, b)) for b in charged)
        return score

    def best(self, allowed=lambda tree: True):
        """The best score of the trees that are allowed, and of a size within the limit."""
        pairs = zip(self.every, self.scores, strict=True)
        within = self.most or math.inf
        return max(score for tree, score in pairs if len(tree.leaves) <= within and allowed(tree))

    def near(self, window):
        """The scores within a window of the best: one for every set of leaves, or for every tree if splits matter."""
        scores = {}
        for tree, score in zip(self.every, self.scores, strict=True):
            if len(tree.leaves) <= (self.most or math.inf):
                scores[tree.leaves if self.method == "leaf" else tree.spelling] = score
        return sorted((score for score in scores.values() if score > self.best() - window), reverse=True)


def check_optimum(case):
    """The tree is the best of all, with and without a limit on its levels, and so is that of every size."""
    found = run(Exact(), case.problem)
    assert found.proven
    assert found.log_posterior == close(case.best())
    for depth in (1, 2):
        shallow = run(Exact(depth=depth), case.problem)
        assert shallow.proven
        assert shallow.log_posterior == close(case.best(lambda tree, depth=depth: tree.levels <= depth))
    if case.method != "features":
        assert list(found.archive) == list(range(1, sizes_kept(case.problem) + 1))
        for size, tree in found.archive.items():
            best = case.best(lambda tree, size=size: len(tree.leaves) == size)
            assert case.problem.score(tree) == close(best)


def check_near(case):
    """All trees within a window are listed; one whose edge is a tie says nothing."""
    window = 3.0
    while any(abs(score - case.best() + window) < 1e-6 for score in case.scores):
        window *= 1.01
    near = near_optimal(case.problem, window, 10_000)
    assert near.complete
    assert [own.log_posterior for own in near] == close(case.near(window))
    assert [case.problem.score(own.structure) for own in near] == close(case.near(window))


def check_cut_short(case):
    """A proof that ends at any moment has a tree below the best and a bound above it."""
    best = case.best()
    with patch.object(best_by_region, "PARTINGS_PER_STEP", 1), patch.object(regions, "VALUES_PER_STEP", 1):
        for moves in (0, 1, 5, 30, 100):
            found = run(Exact(), case.problem, budget=Budget(moves=moves))
            assert found.log_posterior <= best + 1e-8 * abs(best)
            assert found.upper_bound >= best - 1e-8 * abs(best)


@pytest.mark.parametrize("check", [check_optimum, check_near, check_cut_short])
def test_exact_search_agrees_with_enumeration(check):
    for seed in range(TABLES):
        check(Enumerated(seed))


@pytest.mark.parametrize("seed", range(12))
def test_every_region_has_the_term_of_its_rows_whatever_features_are_split(seed):
    case = Enumerated(seed)
    columns = range(len(case.domain))
    plain = Regions(case.domain, case.rows)
    split = [some for size in range(len(columns) + 1) for some in itertools.combinations(columns, size)]
    lattices = [regions.Lattice(case.domain, some) for some in split]
    shallow = [depth_limited.ShallowLattice(case.domain, some, depth) for some in split for depth in (1, 2)]
    for lattice in (*lattices, *shallow):
        terms = exhaust(lattice.leaf_terms(case.problem, lattice.weights(case.engine)))
        for number, term in enumerate(terms):
            region = tuple(frozenset(lattice.codes(number, f)) for f in columns)
            assert term == close(case.term(plain, region))


def test_regions_of_few_levels_are_counted_in_parts_alike():
    whole = [run(Exact(depth=2), Enumerated(seed).problem).log_posterior for seed in range(12)]
    with patch.object(depth_limited, "VALUES_PER_STEP", 1):
        parts = [run(Exact(depth=2), Enumerated(seed).problem).log_posterior for seed in range(12)]
    assert parts == close(whole)


@pytest.fixture(scope="module")
def titanic():
    return MemoryEngine(read_table(open_source(datasets.load("titanic")), Reading()))


def proven(engine, posterior, most=100):
    leaf = profile_leaf(engine.domain, engine.value_weights(), 2, 0.5)
    found = run(Exact(), Problem(engine, posterior.with_leaf(leaf), most))
    assert found.proven
    return found


@pytest.mark.parametrize(("expected", "score"), [(5, -4138.351848), (8, -4138.531826), (10, -4139.192965)])
def test_the_best_profiles_of_the_titanic_have_six_leaves(titanic, expected, score):
    found = proven(titanic, LeafSparse(expected, 2))
    assert found.log_posterior == pytest.approx(score, abs=1e-6)
    assert found.structure.n_leaves == 6


@pytest.mark.parametrize(("most", "score"), [(2, -4161.60), (3, -4144.62), (4, -4140.39), (5, -4139.32)])
def test_the_best_profiles_of_the_titanic_by_size(titanic, most, score):
    limited, every = proven(titanic, LeafSparse(8, 2), most), proven(titanic, LeafSparse(8, 2))
    assert limited.log_posterior == pytest.approx(score, abs=5e-3)
    assert limited.structure.n_leaves == most
    assert limited.limit_binds
    assert every.scores[most] == pytest.approx(limited.log_posterior)


@pytest.mark.parametrize(("expected", "score"), [(2, -4148.781993), (3, -4151.565598)])
def test_the_best_branch_sparse_profiles_of_the_titanic(titanic, expected, score):
    assert proven(titanic, BranchSparse(expected, 2)).log_posterior == pytest.approx(score, abs=1e-6)
