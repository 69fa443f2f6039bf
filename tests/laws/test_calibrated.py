"""The calibrated prior, the best tree of every size and the limit, held against every tree that there is."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sparsedensity.domain import Domain, Feature
from sparsedensity.engines import MemoryEngine
from sparsedensity.posterior import BranchSparse, LeafSparse
from sparsedensity.posterior.splits import log_splits
from sparsedensity.problem import Problem
from sparsedensity.search import Anneal, Exact, Greedy, near_optimal, run
from sparsedensity.search.bounds import upper_bound
from sparsedensity.search.trees.exact.estimate import sizes_kept
from tests import naive
from tests.laws.test_small_optimum import random_problem
from tests.naive_search import branch_sparse_of, every_tree, leaf_sparse_of
from tests.strategies import data_in, domains, features, positive, shares, table_of, trees

METHODS = st.sampled_from(["leaf", "branch", "features"])
TIE = 1e-6


def close(value):
    return pytest.approx(value, rel=1e-8, abs=1e-7)


class Enumerated:
    """A problem of a tiny domain beside the score of each of its trees."""

    def __init__(self, data, method, calibrated, domain, most=None):
        self.domain, self.rows = domain, data.draw(data_in(domain))
        lam, a, g = data.draw(positive), data.draw(positive), data.draw(shares) if method == "features" else None
        posterior = LeafSparse(lam, a) if method == "leaf" else BranchSparse(lam, a, g)
        if calibrated:
            posterior = posterior.calibrated(domain)
        self.problem = Problem(MemoryEngine(table_of(domain, self.rows)), posterior, most)
        self.trees = every_tree(domain, self.rows, lam, a)
        assume(self.trees is not None)
        n = math.fsum(weight for _, weight in self.rows)
        self.ways = [naive.ways_to_split(domain, b) for b in range(max(domain.sizes) + 1)]
        if method == "leaf":
            self.scores = [leaf_sparse_of(tree, n, lam, a) for tree in self.trees]
        else:
            self.scores = [branch_sparse_of(tree, len(domain), g) for tree in self.trees]
        if calibrated:
            self.scores = [
                score - self.charge(tree, method) for tree, score in zip(self.trees, self.scores, strict=True)
            ]

    def charge(self, tree, method):
        """What a tree pays for the choice among splits."""
        if method == "leaf":
            return (len(tree.leaves) - 1) * math.log(self.ways[2]) if tree.splits else 0.0
        return math.fsum(math.log(self.ways[b]) for b in tree.splits)

    def best(self, allowed=lambda leaves: True):
        """The best score of the trees whose number of leaves is allowed."""
        pairs = zip(self.trees, self.scores, strict=True)
        return max((score for tree, score in pairs if allowed(len(tree.leaves))), default=-math.inf)


@given(features(most=5), features("y", most=4))
def test_splits_are_counted_as_if_each_were_made(one, other):
    domain = Domain((one, other))
    most = max(domain.sizes)
    found = log_splits(domain, most)
    for b in range(2, most + 1):
        ways = naive.ways_to_split(domain, b)
        assert found[b] == (pytest.approx(math.log(ways), abs=1e-9) if ways else 0.0)


@pytest.mark.parametrize("size", [2, 30, 2000])
def test_splits_of_wide_columns_stay_in_logs(size):
    nominal, ordered = (Domain((make("x", range(size)),)) for make in (Feature.nominal, Feature.ordinal))
    assert log_splits(nominal, 2)[2] == pytest.approx((size - 1) * math.log(2) + math.log1p(-(2.0 ** (1 - size))))
    assert log_splits(ordered, 2)[2] == pytest.approx(math.log(size - 1))


@given(domains(), st.data(), positive, positive, st.none() | shares)
def test_the_calibrated_posteriors_are_the_sums_of_their_terms(domain, data, lam, a, g):
    rows, tree = data.draw(data_in(domain)), data.draw(trees(domain))
    weights = np.array(naive.leaf_weights(tree, rows))
    leaf, branch = LeafSparse(lam, a).calibrated(domain), BranchSparse(lam, a, g).calibrated(domain)
    assert leaf.log_posterior(tree, weights) == close(naive.leaf_sparse(tree, rows, lam, a, calibrated=True))
    assert branch.log_posterior(tree, weights) == close(naive.branch_sparse(tree, rows, lam, a, g, calibrated=True))


@settings(max_examples=100)
@given(domains(2, 3), st.data(), METHODS)
def test_the_exact_calibrated_tree_is_the_best_of_all(domain, data, method):
    case = Enumerated(data, method, True, domain)
    found = run(Exact(), case.problem)
    assert found.proven
    assert found.log_posterior == close(case.best())
    assert found.calibrated_leaves == found.structure.n_leaves or method == "features"
    assert upper_bound(case.problem) >= found.log_posterior - TIE
    near = near_optimal(case.problem, 2.0, 10_000)
    assert near.listed[0].log_posterior == close(case.best())


@settings(max_examples=60)
@given(domains(3, 3), st.data(), METHODS, st.integers(1, 2))
def test_the_exact_calibrated_tree_of_few_levels_is_the_best_of_them(domain, data, method, depth):
    case = Enumerated(data, method, True, domain)
    found = run(Exact(depth=depth), case.problem)
    best = max(score for tree, score in zip(case.trees, case.scores, strict=True) if tree.levels <= depth)
    assert found.log_posterior == close(best)


@settings(max_examples=150)
@given(domains(3, 3), st.data(), METHODS, st.booleans(), st.integers(1, 8))
def test_the_limit_binds_if_and_only_if_a_larger_tree_scores_higher(domain, data, method, calibrated, most):
    case = Enumerated(data, method, calibrated, domain, most)
    within, beyond = case.best(lambda k: k <= most), case.best(lambda k: k > most)
    assume(abs(within - beyond) > TIE * max(1.0, abs(within)))
    found = run(Exact(), case.problem)
    assert found.log_posterior == close(within)
    assert found.limit_binds is (beyond > within)
    for search in (Greedy(), Anneal(iterations=100, restarts=2)):
        other = run(search, case.problem)
        assert other.limit_binds is not True or beyond > other.log_posterior
        assert other.limit_binds is not False or beyond <= other.log_posterior


@settings(max_examples=150)
@given(domains(3, 3), st.data(), st.sampled_from(["leaf", "branch"]), st.booleans(), st.none() | st.integers(1, 9))
def test_a_proof_knows_the_best_tree_of_every_size(domain, data, method, calibrated, most):
    case = Enumerated(data, method, calibrated, domain, most)
    found = run(Exact(), case.problem)
    assert list(found.archive) == list(range(1, sizes_kept(case.problem) + 1))
    for size, tree in found.archive.items():
        assert tree.n_leaves == size
        assert case.problem.score(tree) == close(case.best(lambda k, size=size: k == size))


@settings(max_examples=60)
@given(domains(3, 3), st.data())
def test_every_search_tells_the_size_that_the_calibrated_prior_would_choose(domain, data):
    case = Enumerated(data, "leaf", False, domain)
    charged = {}
    for tree, score in zip(case.trees, case.scores, strict=True):
        total = score - case.charge(tree, "leaf")
        charged[len(tree.leaves)] = max(total, charged.get(len(tree.leaves), -math.inf))
    best = max(charged.values())
    ties = [size for size, score in charged.items() if score > best - TIE * max(1.0, abs(best))]
    assert run(Exact(), case.problem).calibrated_leaves in ties


@settings(max_examples=40)
@given(domains(3, 4), st.data(), METHODS, st.integers(1, 6))
def test_greedy_and_annealed_calibrated_trees_have_the_plain_score(domain, data, method, most):
    rows, g = data.draw(data_in(domain)), 0.3 if method == "features" else None
    plain = LeafSparse(3, 1.5) if method == "leaf" else BranchSparse(2, 1.5, g)
    problem = Problem(MemoryEngine(table_of(domain, rows)), plain.calibrated(domain), most)
    for search in (Greedy(), Anneal(iterations=100, restarts=2)):
        found = run(search, problem)
        if method == "leaf":
            expected = naive.leaf_sparse(found.structure, rows, 3, 1.5, calibrated=True)
        else:
            expected = naive.branch_sparse(found.structure, rows, 2, 1.5, g, calibrated=True)
        assert found.log_posterior == close(expected)
        assert found.structure.n_leaves <= most
        state, rng = search.init(problem, np.random.default_rng(0)), np.random.default_rng(0)
        while not state.finished:
            state = search.step(problem, state, rng)
        best = search.best(problem, state)
        assert set(best.scores) == set(best.archive)
        for size, tree in best.archive.items():
            assert best.scores[size] == pytest.approx(problem.score(tree), rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("method", ["leaf", "branch"])
def test_annealing_finds_the_calibrated_optimum_of_small_problems(method):
    misses = []
    for seed in range(40):
        table, _, a, _ = random_problem(seed)
        posterior = (LeafSparse(5, a) if method == "leaf" else BranchSparse(2, a)).calibrated(table.domain)
        problem = Problem(MemoryEngine(table), posterior, 100)
        best = run(Exact(), problem).log_posterior
        found = run(Anneal(effort=0.4), problem, rng=np.random.default_rng(seed)).log_posterior
        assert found <= best + 1e-6 * abs(best)
        misses += [seed] * (found < best - 1e-7 * abs(best))
    assert len(misses) <= 1, misses
