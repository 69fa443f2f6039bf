"""Profile leaves: the log posterior and the densities are the plain formulas, whatever the domain and the weights."""

import math
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sparsedensity import BranchSparseTree, LeafSparseTree, datasets
from sparsedensity.density import Density
from sparsedensity.domain import Domain, Feature
from sparsedensity.engines import MemoryEngine
from sparsedensity.kernels import profiles
from sparsedensity.posterior import BranchSparse, LeafSparse, profile_leaf
from sparsedensity.posterior.profiles import Profiles, log_rising
from sparsedensity.posterior.trees import counted_terms, space_of
from sparsedensity.problem import Problem
from sparsedensity.search.bounds import upper_bound
from sparsedensity.structures import Tree
from sparsedensity.table import Table
from tests import naive, naive_profiles
from tests.strategies import data_in, domains, positive, shares, table_of, trees

PSEUDOCOUNTS = st.sampled_from([1e-6, 0.5, 2.0, 50.0, 1e4]) | st.floats(0.01, 100)
PROBABILITIES = st.sampled_from([0.0, 1e-9, 0.5, 1 - 1e-9]) | st.floats(0, 0.999)
METHODS = st.sampled_from(["leaf", "branch"])


def close(value):
    return pytest.approx(value, rel=1e-9, abs=1e-9)


class Case:
    """A drawn tree and table with a profile leaf, as the product has them and plainly."""

    def __init__(self, domain, data, rows=None):
        self.domain, self.tree = domain, data.draw(trees(domain))
        self.rows = data.draw(data_in(domain)) if rows is None else rows
        s, r = data.draw(PSEUDOCOUNTS), data.draw(PROBABILITIES)
        self.engine = MemoryEngine(table_of(domain, self.rows))
        self.leaf = profile_leaf(domain, self.engine.value_weights(), s, r)
        self.model = naive_profiles.model_of(domain, self.rows, s, r)
        self.weights = self.engine.leaf_value_weights(self.tree)

    def posterior(self, method, data):
        """A posterior with the leaf, and its plain score of the tree."""
        rate, a, calibrated = data.draw(positive), data.draw(positive), data.draw(st.booleans())
        g = data.draw(st.none() | shares) if method == "branch" else None
        posterior = LeafSparse(rate, a) if method == "leaf" else BranchSparse(rate, a, g)
        if calibrated:
            posterior = posterior.calibrated(self.domain)
        settings = {"calibrated": calibrated, "term": self.term}
        if method == "leaf":
            return posterior.with_leaf(self.leaf), naive.leaf_sparse(self.tree, self.rows, rate, a, **settings)
        return posterior.with_leaf(self.leaf), naive.branch_sparse(self.tree, self.rows, rate, a, g, **settings)

    def term(self, region, rows):
        """The plain leaf term."""
        return naive_profiles.leaf_term(self.model, region, rows)

    def leaves(self):
        """The region and the rows of every leaf, plainly."""
        return list(zip(naive.leaf_regions(self.tree), naive.leaf_rows(self.tree, self.rows), strict=True))

    def density(self, logs):
        """The product's density, given the log probability of every leaf."""
        weights = self.engine.leaf_weights(self.tree)
        return Density(self.tree, weights, logs, Profiles.of(self.leaf, self.tree, self.weights))


@given(st.integers(2, 5), st.integers(1, 300), st.integers(0, 9))
def test_terms_are_the_same_however_many_counts_are_looked_up(columns, rows, seed):
    rng = np.random.default_rng(seed)
    domain = Domain(tuple(Feature.nominal(f"x{i}", ["a", "b", "c"]) for i in range(columns)))
    table = Table(domain, rng.integers(0, 3, (rows, columns)).astype(domain.code_type), np.ones(rows))
    counts = MemoryEngine(table).value_weights()
    leaf, whole = profile_leaf(domain, counts, 2.0, 0.5), np.ones((1, 3 * columns), np.uint8)
    found = []
    for most in (0, 9 * columns, profiles.MOST_LOOKED_UP):
        with mock.patch.object(profiles, "MOST_LOOKED_UP", most):
            found += counted_terms(leaf, domain, counts[None], whole).tolist()
            assert profiles.ProfileTables.of(leaf, space_of(domain)).few.shape[1] == max(
                1, min(128, most // (3 * columns))
            )
    assert found == close(found[:1] * 3)


def at_every_point(density):
    """The log density at every point of the domain."""
    points = naive.points(density.structure.domain)
    codes = np.array(points, density.structure.domain.code_type)
    return dict(zip(points, density.log_densities_at(codes, density.leaf_numbers(codes)), strict=True))


@settings(max_examples=150)
@given(domains(), st.data(), METHODS)
def test_the_log_posterior_is_the_sum_of_its_terms(domain, data, method):
    case = Case(domain, data)
    posterior, expected = case.posterior(method, data)
    assert Problem(case.engine, posterior).score(case.tree) == close(expected)
    weights = np.array(naive.leaf_weights(case.tree, case.rows))
    assert posterior.log_posterior(case.tree, weights, case.weights) == close(expected)


@given(domains(), st.data())
def test_the_background_is_the_table_and_one_row_spread_evenly(domain, data):
    case = Case(domain, data)
    assert case.leaf.background == close(np.concatenate(case.model.background))
    assert [math.fsum(own) for own in case.model.background] == close([1.0] * len(domain))


@settings(max_examples=150)
@given(domains(), st.data())
def test_what_a_leaf_says_of_every_value_is_the_plain_formula(domain, data):
    case = Case(domain, data)
    profiles = Profiles.of(case.leaf, case.tree, case.weights)
    for number, (region, rows) in enumerate(case.leaves()):
        for f, allowed in enumerate(region):
            span = domain.span(f)
            assert profiles.background[number, span] == close(naive_profiles.shares(case.model, f, allowed))
            expected = naive_profiles.inside(case.model, f, allowed, rows)
            assert profiles.inside[number, span] == pytest.approx(expected, rel=1e-7, abs=1e-12)
            assert math.fsum(profiles.inside[number, span]) == close(1.0)
            own = naive_profiles.own_probability(case.model, f, allowed, rows)
            assert profiles.own[number, f] == pytest.approx(own, rel=1e-7, abs=1e-12)
            if len(allowed) > 1:
                follows, own = naive_profiles.evidences(case.model, f, allowed, rows)
                assert profiles.evidence[number, f] == pytest.approx(own - follows, rel=1e-7, abs=1e-7)


@settings(max_examples=150)
@given(domains(), st.data(), METHODS, st.booleans())
def test_every_record_has_the_plain_density_and_they_sum_to_one(domain, data, method, empirical):
    case = Case(domain, data)
    a, weights = data.draw(positive), np.array(naive.leaf_weights(case.tree, case.rows))
    if empirical:
        expected = naive.empirical_probabilities(case.tree, case.rows)
        with np.errstate(divide="ignore"):
            logs = np.log(weights / weights.sum())
    elif method == "leaf":
        expected = naive.mean_probabilities(case.tree, case.rows, a)
        logs = LeafSparse(3, a).log_probabilities(case.tree, weights)
    else:
        expected = naive.path_probabilities(case.tree, case.rows, a)
        logs = BranchSparse(2, a).log_probabilities(case.tree, weights)
    plain = naive_profiles.density_of(case.tree, case.rows, expected, case.model)
    found = at_every_point(case.density(logs))
    assert math.fsum(d * naive.measure(domain, point) for point, d in plain.items()) == close(1.0)
    for point, log in found.items():
        assert math.exp(log) == pytest.approx(plain[point], rel=1e-7, abs=1e-300)


@settings(max_examples=150)
@given(domains(), st.data(), METHODS)
def test_without_profiles_and_with_the_measures_as_background_a_leaf_is_uniform(domain, data, method):
    case = Case(domain, data)
    sums = np.repeat(np.add.reduceat(domain.measures, domain.starts[:-1]), domain.sizes)
    even = case.leaf._replace(background=domain.measures / sums, probability=0.0)
    posterior = LeafSparse(5, 1.5) if method == "leaf" else BranchSparse(2, 1.5)
    weights = case.engine.leaf_weights(case.tree)
    uniform = posterior.log_posterior(case.tree, weights)
    assert posterior.with_leaf(even).log_posterior(case.tree, weights, case.weights) == close(uniform)
    logs = posterior.log_probabilities(case.tree, weights)
    profiles = Profiles(domain, even, np.array([region.mask(domain) for region in case.tree.regions]), case.weights)
    same = at_every_point(Density(case.tree, weights, logs, profiles))
    for point, log in at_every_point(Density(case.tree, weights, logs)).items():
        assert same[point] == close(log)


@given(domains(), st.data())
def test_a_leaf_without_rows_follows_the_background_and_adds_nothing(domain, data):
    case = Case(domain, data)
    allowed = np.array([region.mask(domain) for region in case.tree.regions])
    none = np.zeros_like(case.weights)
    assert (counted_terms(case.leaf, domain, none, allowed) == 0).all()
    profiles = Profiles(domain, case.leaf, allowed, none)
    assert profiles.inside == close(profiles.background)
    assert profiles.own[profiles.own > 0] == close(case.leaf.probability)


@settings(max_examples=300)
@given(domains(), st.data())
def test_the_compiled_term_is_the_plain_one_for_light_and_heavy_rows(domain, data):
    heavy = st.floats(-3, 12).map(lambda power: 10.0**power)
    case = Case(domain, data, data.draw(data_in(domain, weights=heavy)))
    allowed = np.array([region.mask(domain) for region in case.tree.regions])
    found = counted_terms(case.leaf, domain, case.weights, allowed)
    for term, (region, rows) in zip(found, case.leaves(), strict=True):
        n = math.fsum(weight for _, weight in rows)
        rounding = 1e-14 * (n + case.model.s) * (1 + abs(math.log(n + case.model.s))) * len(domain)
        assert term == pytest.approx(case.term(region, rows), rel=1e-9, abs=1e-12 + rounding)


def log_product(x, count):
    """Ln of x (x + 1) .. (x + count - 1), added up without cancellation."""
    return math.fsum(math.log(Fraction(x) + i) for i in range(count))


@given(st.floats(-100, 100).map(lambda power: 10.0**power), st.integers(0, 60))
def test_the_log_of_a_rising_factorial_is_exact_far_up_and_far_down(x, count):
    found = log_rising(np.array([x]), np.array([float(count)]))[0]
    assert found == pytest.approx(log_product(x, count), rel=1e-12, abs=1e-12)


@given(domains(), st.data())
def test_a_strong_pull_to_the_table_leaves_only_the_background(domain, data):
    case = Case(domain, data)
    follows = naive_profiles.Model(domain, case.model.background, 2.0, 0.0)
    allowed = np.array([region.mask(domain) for region in case.tree.regions])
    found = counted_terms(case.leaf._replace(pseudocount=1e100), domain, case.weights, allowed)
    expected = [naive_profiles.leaf_term(follows, region, rows) for region, rows in case.leaves()]
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


@settings(max_examples=200)
@given(domains(), st.data(), METHODS)
def test_no_term_exceeds_the_log_of_the_best_density_of_its_rows(domain, data, method):
    """So no score exceeds the bound that any table has: every term is the log of an average of likelihoods."""
    case = Case(domain, data)
    allowed = np.array([region.mask(domain) for region in case.tree.regions])
    terms = counted_terms(case.leaf, domain, case.weights, allowed)
    for term, (_, rows) in zip(terms, case.leaves(), strict=True):
        best = naive_profiles.best_log_density(domain, rows)
        assert term <= best + 1e-9 * max(1.0, abs(best))
    posterior, _ = case.posterior(method, data)
    for tree in (case.tree, Tree.leaf(domain)):
        problem = Problem(case.engine, posterior, data.draw(st.none() | st.integers(tree.n_leaves, 30)))
        bound = upper_bound(problem)
        assert problem.score(tree) <= bound + 1e-8 * max(1.0, abs(bound))


@settings(max_examples=100)
@given(domains(2, 3), st.data())
def test_the_bound_is_reached_by_no_background_that_lies(domain, data):
    """Any shares that sum to 1 may be the background: the bound does not rest on where they come from."""
    case = Case(domain, data)
    assume(len(naive.collapse(case.rows)) > 1)
    drawn = [data.draw(st.lists(st.floats(1e-6, 1), min_size=size, max_size=size)) for size in domain.sizes]
    background = np.concatenate([np.array(own) / sum(own) for own in drawn])
    allowed = np.array([region.mask(domain) for region in case.tree.regions])
    terms = counted_terms(case.leaf._replace(background=background), domain, case.weights, allowed)
    for term, (_, rows) in zip(terms, case.leaves(), strict=True):
        assert term <= naive_profiles.best_log_density(domain, rows) + 1e-7


@pytest.mark.parametrize("kind", [LeafSparseTree, BranchSparseTree])
@pytest.mark.parametrize("probability", [0, 0.5])
def test_a_fitted_model_has_the_plain_density_and_empirical_ones_change_the_leaves_only(kind, probability):
    people = datasets.load("titanic")
    settings = {"leaf": "profile", "profile_probability": probability, "search": "greedy", "prior": "paper"}
    means, shares = (kind(density=density, **settings).fit(people) for density in ("mean", "empirical"))
    tree, rows = means.structure_, list(zip(map(tuple, means.rows_.codes.tolist()), means.rows_.weights, strict=True))
    model = naive_profiles.model_of(tree.domain, rows, 2, probability)
    mean = (naive.mean_probabilities if kind is LeafSparseTree else naive.path_probabilities)(tree, rows, 2)
    for fitted, probabilities in ((means, mean), (shares, naive.empirical_probabilities(tree, rows))):
        plain = naive_profiles.density_of(tree, rows, probabilities, model)
        found = at_every_point(fitted.density_)
        assert {point: math.exp(log) for point, log in found.items()} == close(plain)
        codes = [tuple(tree.domain[i].code(value) for i, value in enumerate(row)) for row in people.rows()]
        assert fitted.score_samples(people) == close([math.log(plain[row]) for row in codes])
    assert shares.n_leaves_ == means.n_leaves_ > 1
