"""The log posteriors are exactly the sums of the formulas, nothing dropped and nothing added."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from sparsedensity.domain import Domain, Feature
from sparsedensity.errors import ParameterError
from sparsedensity.posterior import BranchSparse, FullHistogram, LeafSparse, SparseRules, antecedents_by_size
from sparsedensity.posterior.rule_list import conditions_of
from sparsedensity.structures import Cells, Condition, RuleList, Tree
from tests import naive
from tests.draw_list import rules_on
from tests.strategies import data_in, domains, positive, rule_lists, shares, table_of, trees

MODES = st.sampled_from(["value", "interval"])


def exactly(log):
    """Equal but for the rounding of large log gammas."""
    return pytest.approx(log, rel=1e-9, abs=1e-7)


@given(domains(), st.data(), positive, positive)
def test_the_leaf_sparse_posterior_is_the_sum_of_its_terms(domain, data, lam, a):
    rows, tree = data.draw(data_in(domain)), data.draw(trees(domain))
    weights = np.array(naive.leaf_weights(tree, rows))
    assert LeafSparse(lam, a).log_posterior(tree, weights) == exactly(naive.leaf_sparse(tree, rows, lam, a))


@given(domains(), st.data(), positive, positive)
def test_the_leaf_sparse_head_and_its_leaves_add_up(domain, data, lam, a):
    rows, tree = data.draw(data_in(domain)), data.draw(trees(domain))
    weights, volumes = naive.leaf_weights(tree, rows), naive.leaf_volumes(tree)
    leaves = math.fsum(naive.posterior_leaf(n, v, a) for n, v in zip(weights, volumes, strict=True))
    head = LeafSparse(lam, a).by_leaves(np.array([len(weights)]), math.fsum(weights))[0]
    assert head + leaves == exactly(naive.leaf_sparse(tree, rows, lam, a))


@given(domains(), st.data(), positive, positive)
def test_trees_with_the_same_leaves_score_the_same(domain, data, lam, a):
    rows, tree = data.draw(data_in(domain)), data.draw(trees(domain, most_splits=7))
    scores = [LeafSparse(lam, a).log_posterior(t, np.array(naive.leaf_weights(t, rows))) for t in (tree, tree.merged())]
    assert scores[0] == exactly(scores[1])


@given(domains(), st.data(), positive, positive, st.none() | shares)
def test_the_branch_sparse_posterior_is_the_sum_of_its_terms(domain, data, lam, a, g):
    rows, tree = data.draw(data_in(domain)), data.draw(trees(domain))
    weights = np.array(naive.leaf_weights(tree, rows))
    expected = naive.branch_sparse(tree, rows, lam, a, g)
    assert BranchSparse(lam, a, g).log_posterior(tree, weights) == exactly(expected)


@pytest.mark.parametrize("kind", [LeafSparse, BranchSparse, FullHistogram])
@pytest.mark.parametrize("a", [2**63 - 1, 9.2e18, 1.1e9])
def test_a_pseudocount_whose_log_gammas_drown_the_rows_is_refused(kind, a):
    with pytest.raises(ParameterError, match="pseudocount must be a number from 1e-100 to 1e\\+09"):
        kind(pseudocount=a)


@given(domains(), st.data(), positive)
def test_the_largest_pseudocount_still_tells_trees_apart(domain, data, lam):
    """Far up all children are equally probable: the evidence of the weights is -n ln b."""
    rows, tree = data.draw(data_in(domain)), data.draw(trees(domain, most_splits=1))
    weights, k = np.array(naive.leaf_weights(tree, rows)), tree.n_leaves
    even = -weights.sum() * math.log(k) + naive.leaf_terms(tree, rows)
    prior = -lam + k * math.log(lam) - math.lgamma(k + 1)
    assert LeafSparse(lam, 10**9).log_posterior(tree, weights) == pytest.approx(prior + even, rel=1e-6, abs=1e-3)
    prior = 0.0 if k == 1 else prior + lam
    found = BranchSparse(lam, 10**9).log_posterior(tree, weights)
    nodes = len(naive.read_tree(tree)[0])
    assert found == pytest.approx(prior - lam * nodes + even, rel=1e-6, abs=1e-3)


@st.composite
def lists_from_antecedents(draw, domain, most, mode):
    """A rule list whose rules are all among the antecedents."""
    every = [antecedent for own in naive.antecedents(domain, most, mode) for antecedent in own]
    if not every:
        return RuleList.of(domain, [])
    chosen = draw(st.lists(st.sampled_from(every), unique=True, max_size=6))
    return RuleList.of(domain, [[Condition(*condition) for condition in rule] for rule in chosen])


@given(domains(), st.data(), MODES, st.integers(1, 3), positive, positive, positive, st.booleans())
def test_the_rule_list_posterior_is_the_sum_of_its_terms(domain, data, mode, most, lam, eta, a, as_printed):
    rows, rules = data.draw(data_in(domain)), data.draw(lists_from_antecedents(domain, most, mode))
    posterior = rules_on(
        domain,
        max_conditions=most,
        ordinal_conditions=mode,
        expected_rules=lam,
        expected_conditions=eta,
        pseudocount=a,
        as_printed=as_printed,
    )
    counts = [len(own) for own in naive.antecedents(domain, most, mode)]
    expected = naive.rule_list(rules, rows, counts, lam, eta, a, as_printed)
    assert posterior.log_posterior(rules, np.array(naive.leaf_weights(rules, rows))) == exactly(expected)


def test_a_list_may_use_up_all_rules_of_one_size():
    domain = Domain((Feature.nominal("x", "ab"), Feature.nominal("y", "a")))
    rules = RuleList.of(
        domain,
        [[Condition(0, 0, 0)], [Condition(1, 0, 0)], [Condition(0, 1, 1)], [Condition(0, 1, 1), Condition(1, 0, 0)]],
    )
    rows = [((0, 0), 3.0), ((1, 0), 1.0)]
    posterior = rules_on(domain, expected_rules=3, expected_conditions=2)
    assert posterior.antecedents == (3, 2)
    expected = naive.rule_list(rules, rows, (3, 2), 3, 2, 1.0)
    assert posterior.log_posterior(rules, np.array([3.0, 1.0, 0.0, 0.0, 0.0])) == pytest.approx(expected)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=3).filter(any), positive, positive)
def test_the_prior_over_lists_sums_to_1(counts, lam, eta):
    """Every sequence of sizes, times the number of ways to choose the rules, has all the prior there is."""
    if sum(counts) > 7:
        counts = [min(count, 2) for count in counts]
    posterior = SparseRules(tuple(counts), lam, eta)
    total = []
    for length in range(sum(counts) + 1):
        for sizes in itertools.product(range(1, len(counts) + 1), repeat=length):
            used = [sizes.count(c) for c in range(1, len(counts) + 1)]
            if all(u <= count for u, count in zip(used, counts, strict=True)):
                ways = math.prod(math.perm(count, u) for u, count in zip(used, counts, strict=True))
                total.append(ways * math.exp(posterior.log_prior(sizes)))
            else:
                assert posterior.log_prior(sizes) == -math.inf
    assert math.fsum(total) == pytest.approx(1.0)


@pytest.mark.parametrize("total", [0, 1, 5, 60, 10**6, 10**30])
@pytest.mark.parametrize("lam", [0.3, 7.0, 90.0, 2000.0])
def test_the_truncated_poisson_is_exact_at_any_size(total, lam):
    top = min(total, 20_000)
    terms = [j * math.log(lam) - math.lgamma(j + 1) for j in range(top + 1)]
    largest = max(terms)
    expected = largest + math.log(math.fsum(math.exp(term - largest) for term in terms))
    assert SparseRules((total,), expected_rules=lam).log_norm == pytest.approx(expected, rel=1e-10)


@given(domains(most_features=4, most_values=3), MODES, st.integers(1, 4))
@example(Domain((Feature.ordinal("x", "a"), Feature.ordinal("y", (), missing=True))), "interval", 2)
def test_antecedents_are_counted_exactly(domain, mode, most):
    found = naive.antecedents(domain, most, mode)
    assert antecedents_by_size(domain, most, mode) == tuple(map(len, found))
    assert all(len(own) == len(set(own)) for own in found)


def test_the_papers_antecedents_are_14_and_71():
    domain = Domain(tuple(Feature.nominal(f"x{q}", range(q)) for q in (2, 3, 4, 5)))
    assert antecedents_by_size(domain, 2) == (14, 71)
    assert [len(own) for own in naive.antecedents(domain, 2, "value")] == [14, 71]


@pytest.mark.parametrize("q", [1, 2, 3, 7, 40])
def test_an_ordered_feature_offers_its_proper_runs(q):
    assert conditions_of(Feature.ordinal("x", range(q)), "interval") == q * (q + 1) // 2 - 1
    assert conditions_of(Feature.ordinal("x", range(q)), "value") == q
    assert conditions_of(Feature.nominal("x", range(q)), "interval") == q


@given(domains(), st.data(), positive)
def test_the_histograms_evidence_is_that_of_all_points(domain, data, a):
    rows = data.draw(data_in(domain))
    table = table_of(domain, rows)
    weights = np.append(table.weights, 0.0)
    found = FullHistogram(a).log_posterior(Cells(domain, table.codes), weights)
    assert found == exactly(naive.histogram_evidence(domain, rows, a))


def test_a_histogram_beyond_all_floats_keeps_its_evidence():
    """With K -> infinity points, n distinct rows have evidence -> n (ln a - ln K a) - n ln V_point."""
    domain = Domain(tuple(Feature.nominal(f"x{i}", range(10)) for i in range(400)))
    codes = np.eye(3, 400, dtype=np.uint8)
    found = FullHistogram(2.0).log_posterior(Cells(domain, codes), np.array([1.0, 1.0, 1.0, 0.0]))
    assert found == pytest.approx(3 * (math.log(2.0) - 400 * math.log(10) - math.log(2.0)))


# Leaf probabilities and their intervals -------------------------------------------------------------------------


@given(domains(), st.data(), positive)
def test_mean_probabilities_are_those_of_the_formula(domain, data, a):
    rows = data.draw(data_in(domain))
    tree, rules = data.draw(trees(domain)), data.draw(rule_lists(domain))
    for structure, posterior in ((tree, LeafSparse(3, a)), (rules, rules_on(domain, pseudocount=a))):
        weights = np.array(naive.leaf_weights(structure, rows))
        found = np.exp(posterior.log_probabilities(structure, weights))
        assert found == pytest.approx(np.array(naive.mean_probabilities(structure, rows, a)))
        assert found.sum() == pytest.approx(1)
    weights = np.array(naive.leaf_weights(tree, rows))
    found = np.exp(BranchSparse(3, a).log_probabilities(tree, weights))
    assert found == pytest.approx(np.array(naive.path_probabilities(tree, rows, a)))
    assert found.sum() == pytest.approx(1)


@given(domains(), st.data(), st.floats(0.2, 10), st.sampled_from([0.5, 0.9, 0.95]))
def test_intervals_of_one_dirichlet_are_beta_quantiles(domain, data, a, level):
    rows = data.draw(data_in(domain))
    tree, rules = data.draw(trees(domain)), data.draw(rule_lists(domain))
    for structure, posterior in ((tree, LeafSparse(3, a)), (rules, rules_on(domain, pseudocount=a))):
        weights, volumes = naive.leaf_weights(structure, rows), naive.leaf_volumes(structure)
        found = posterior.intervals(structure, np.array(weights), level)
        k, n = sum(v > 0 for v in volumes), math.fsum(weights)
        for (low, high), own, v in zip(found, weights, volumes, strict=True):
            if v == 0:
                assert (low, high) == (0, 0)
            elif k == 1:
                assert (low, high) == (1, 1)
            else:
                ends = np.array(stats.beta.ppf([(1 - level) / 2, (1 + level) / 2], own + a, n - own + (k - 1) * a))
                assert (low, high) == pytest.approx((ends[0], ends[1]), abs=1e-9)


@given(domains(), st.data(), st.floats(0.001, 10))
def test_intervals_along_a_path_hold_the_middle_and_repeat(domain, data, a):
    rows, tree = data.draw(data_in(domain)), data.draw(trees(domain))
    weights = np.array(naive.leaf_weights(tree, rows))
    posterior = BranchSparse(2, a)
    found = posterior.intervals(tree, weights)
    assert (found == posterior.intervals(tree, weights)).all()
    assert ((found >= 0) & (found <= 1)).all()
    narrow = posterior.intervals(tree, weights, 0.5)
    assert (found[:, 0] <= narrow[:, 0]).all()
    assert (narrow[:, 0] <= narrow[:, 1]).all()
    assert (narrow[:, 1] <= found[:, 1]).all()
    if tree.n_leaves == 1:
        assert found.tolist() == [[1, 1]]


@given(domains(), st.data(), st.floats(0.5, 10))
def test_intervals_below_one_split_are_nearly_beta_quantiles(domain, data, a):
    rows, tree = data.draw(data_in(domain)), data.draw(trees(domain, most_splits=1))
    weights = np.array(naive.leaf_weights(tree, rows))
    found = BranchSparse(2, a).intervals(tree, weights)
    if tree.n_leaves > 1:
        own, total = weights + a, weights.sum() + len(weights) * a
        for (low, high), left in zip(found, own, strict=True):
            reached = stats.beta.cdf([low, high], left, total - left)
            assert reached == pytest.approx(np.array([0.025, 0.975]), abs=0.015)


def test_intervals_survive_pseudocounts_that_underflow():
    domain = Domain((Feature.nominal("x", "ab"), Feature.nominal("y", "ab")))
    tree = Tree.leaf(domain).split(0, 0, [{0}, {1}]).split(2, 1, [{0}, {1}])
    found = BranchSparse(2, 1e-4).intervals(tree, np.array([50.0, 0.0, 0.0]))
    assert np.isfinite(found).all()
    assert found[0] == pytest.approx(np.array([1.0, 1.0]), abs=1e-6)


@given(domains(), st.data(), st.floats(0.2, 10))
def test_intervals_of_a_histogram_are_beta_quantiles(domain, data, a):
    rows = data.draw(data_in(domain))
    table = table_of(domain, rows)
    weights, points = np.append(table.weights, 0.0), math.prod(domain.sizes)
    found = FullHistogram(a).intervals(Cells(domain, table.codes), weights)
    empty = points - len(table)
    own = np.append(table.weights + a, empty * a)
    for (low, high), left in zip(found, own, strict=True):
        others = table.n + points * a - left
        if left == 0:
            assert (low, high) == (0, 0)
        elif points == 1:
            assert (low, high) == (1, 1)
        else:
            ends = np.array(stats.beta.ppf([0.025, 0.975], left, others))
            assert (low, high) == pytest.approx((ends[0], ends[1]), abs=1e-6)


@given(domains(), st.data(), positive)
def test_histogram_probabilities_are_those_of_all_points(domain, data, a):
    rows = data.draw(data_in(domain))
    table = table_of(domain, rows)
    found = np.exp(FullHistogram(a).log_probabilities(Cells(domain, table.codes), np.append(table.weights, 0.0)))
    total = table.n + math.prod(domain.sizes) * a
    assert found[:-1] == pytest.approx((table.weights + a) / total)
    assert found[-1] == pytest.approx((math.prod(domain.sizes) - len(table)) * a / total)
