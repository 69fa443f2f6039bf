"""Every density integrates to 1, and whatever is asked of it is a sum over points."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from sparsedensity.density import Density
from sparsedensity.domain import Domain, Feature
from sparsedensity.posterior import BranchSparse, FullHistogram, LeafSparse
from sparsedensity.structures import Cells, Condition, RuleList, Tree
from tests import naive
from tests.draw_list import rules_on
from tests.strategies import data_in, domains, events_in, flat, positive, rule_lists, table_of, trees

KINDS = st.sampled_from(["leaf-sparse", "branch-sparse", "rules", "histogram"])


def log_shares(weights):
    with np.errstate(divide="ignore"):
        return np.log(weights / weights.sum())


def histogram_of(domain, rows, a):
    """The product's histogram; a = 0 is the empirical one."""
    table = table_of(domain, rows)
    cells, weights = Cells(domain, table.codes), np.append(table.weights, 0.0)
    return Density(cells, weights, FullHistogram(a).log_probabilities(cells, weights) if a else log_shares(weights))


def posterior_of(kind, domain, a):
    if kind == "rules":
        return rules_on(domain, pseudocount=a)
    return LeafSparse(3, a) if kind == "leaf-sparse" else BranchSparse(2, a)


@st.composite
def models(draw, kinds=KINDS):
    """A density of the product, and the same density point by point."""
    domain = draw(domains())
    rows, kind, empirical, a = draw(data_in(domain)), draw(kinds), draw(st.booleans()), draw(positive)
    if kind == "histogram":
        pseudocount = 0.0 if empirical else a
        return histogram_of(domain, rows, pseudocount), naive.histogram(domain, rows, pseudocount)
    structure = draw(rule_lists(domain) if kind == "rules" else trees(domain))
    posterior = posterior_of(kind, domain, a)
    weights = np.array(naive.leaf_weights(structure, rows))
    logs = log_shares(weights) if empirical else posterior.log_probabilities(structure, weights)
    if empirical:
        expected = naive.empirical_probabilities(structure, rows)
    elif kind == "branch-sparse":
        expected = naive.path_probabilities(structure, rows, a)
    else:
        expected = naive.mean_probabilities(structure, rows, a)
    return Density(structure, weights, logs), naive.density_of(structure, expected)


def by_point(density, values):
    """A number of every leaf, at every point."""
    domain = density.structure.domain
    every = naive.points(domain)
    return dict(zip(every, values[density.leaf_numbers(np.array(every, domain.code_type))].tolist(), strict=True))


@given(models())
def test_densities_equal_the_naive_ones_and_sum_to_1(model):
    density, expected = model
    domain = density.structure.domain
    found = by_point(density, np.exp(density.log_densities))
    assert found == pytest.approx(expected)
    assert math.fsum(naive.measure(domain, p) * d for p, d in found.items()) == pytest.approx(1)
    assert density.probabilities.sum() == pytest.approx(1)


@given(models(), st.data())
def test_the_probability_of_an_event_is_a_sum_over_points(model, data):
    density, expected = model
    domain = density.structure.domain
    event = data.draw(events_in(domain))
    assert density.probability(flat(event)) == pytest.approx(naive.probability(domain, expected, event), abs=1e-12)


@given(models(), st.data())
def test_an_event_divides_over_the_leaves(model, data):
    density, expected = model
    domain = density.structure.domain
    event = data.draw(events_in(domain))
    parts = density._parts
    shares = np.bincount(parts.leaf, parts.masses(density.probabilities, flat(event)), density.structure.n_leaves)
    numbers = by_point(density, np.arange(density.structure.n_leaves))
    for leaf in range(density.structure.n_leaves):
        inside = {p: d for p, d in expected.items() if numbers[p] == leaf}
        assert shares[leaf] == pytest.approx(naive.probability(domain, inside, event), abs=1e-12)


@given(models(), st.data())
def test_the_joint_of_some_features_is_a_sum_over_points(model, data):
    density, expected = model
    domain = density.structure.domain
    event = data.draw(events_in(domain))
    features = data.draw(st.lists(st.integers(0, len(domain) - 1), unique=True, min_size=1))
    found = density.joint(features, flat(event))
    assert found.shape == tuple(domain.sizes[feature] for feature in features)
    assert dict(np.ndenumerate(found)) == pytest.approx(naive.joint(domain, expected, features, event), abs=1e-12)


@given(models())
def test_the_unusualness_of_a_point_is_the_mass_that_is_denser(model):
    density, expected = model
    domain = density.structure.domain
    assert by_point(density, density.unusualness) == pytest.approx(naive.unusualness(domain, expected), abs=1e-9)


@given(models())
def test_the_densest_is_not_unusual_and_the_empty_is_wholly_so(model):
    density, expected = model
    found = by_point(density, density.unusualness)
    densest = max(expected, key=expected.__getitem__)
    assert found[densest] == 0
    for point, own in expected.items():
        assert 0 <= found[point] <= 1
        if own == 0:
            assert found[point] == pytest.approx(1)


def test_log_densities_within_a_billionth_are_ties():
    domain = Domain((Feature.nominal("x", "abcd"),))
    tree = Tree.leaf(domain).split(0, 0, [{0}, {1}, {2}, {3}])
    logs = np.log([0.25, 0.25 * (1 + 5e-10), 0.25 * (1 + 1e-8), 0.1])
    density = Density(tree, np.ones(4), logs)
    assert density.unusualness == pytest.approx(np.array([0.25, 0.25, 0.0, 0.75]))


def assert_drawn_from(density, expected, draws=20_000, seed=11):
    """The counts of drawn points pass a chi-square test against the densities."""
    domain = density.structure.domain
    rows = density.draw(draws, np.random.default_rng(seed))
    assert rows.shape == (draws, len(domain))
    assert rows.dtype == domain.code_type
    drawn = naive.collapse((tuple(row), 1) for row in rows.tolist())
    masses = {p: d * naive.measure(domain, p) for p, d in expected.items()}
    assert all(masses[point] > 0 for point in drawn)
    common = [p for p in masses if masses[p] * draws >= 5]
    counts = [drawn.get(p, 0) for p in common] + [draws - sum(drawn.get(p, 0) for p in common)]
    hopes = [masses[p] * draws for p in common] + [draws * max(1 - sum(masses[p] for p in common), 0)]
    if hopes[-1] < 5:
        counts, hopes = [*counts[:-2], counts[-2] + counts[-1]], [*hopes[:-2], hopes[-2] + hopes[-1]]
    if len(hopes) > 1:
        assert stats.chisquare(counts, np.array(hopes) / sum(hopes) * draws).pvalue > 1e-5
    else:
        assert counts == [draws]


@given(models(), st.integers(0, 1000))
def test_drawn_rows_follow_the_densities(model, seed):
    density, expected = model
    assert_drawn_from(density, expected, seed=seed)


@pytest.mark.parametrize("a", [0.0, 1.0])
def test_a_nearly_full_histogram_of_unequal_bins_keeps_its_smallest_points(a):
    domain = Domain((Feature.continuous("x", (0, 1e-12, 1)), Feature.continuous("y", (0, 1e-9, 1e9), missing=True)))
    rows = [(point, 3.0) for point in naive.points(domain) if point not in [(0, 0), (0, 1)]]
    density, expected = histogram_of(domain, rows, a), naive.histogram(domain, rows, a)
    assert by_point(density, np.exp(density.log_densities)) == pytest.approx(expected)
    for event in itertools.product([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0, 1.0], [0.0, 1.0, 0.5]]):
        assert density.probability(flat(event)) == pytest.approx(naive.probability(domain, expected, event), abs=1e-12)
        found = dict(np.ndenumerate(density.joint([1], flat(event))))
        assert found == pytest.approx(naive.joint(domain, expected, [1], event), abs=1e-12)
    assert_drawn_from(density, expected)


def test_a_histogram_of_many_more_columns_than_numpy_has_axes_works():
    names = [f"x{i}" for i in range(80)]
    domain = Domain(tuple(Feature.nominal(name, "ab" if name in ("x3", "x70") else "a") for name in names))
    codes = np.zeros((3, 80), np.uint8)
    codes[1, 3] = codes[2, 70] = 1
    rows = [(tuple(row), 2.0) for row in codes.tolist()]
    density, expected = histogram_of(domain, rows, 1.0), naive.histogram(domain, rows, 1.0)
    assert by_point(density, np.exp(density.log_densities)) == pytest.approx(expected)
    assert_drawn_from(density, expected)


def test_a_list_over_a_huge_domain_answers_what_a_small_one_does():
    """Features that no rule names change no probability of the others."""
    small = (Feature.nominal("x", "abc"), Feature.ordinal("y", "abcd"))
    rules = [[Condition(0, 1, 1), Condition(1, 1, 2)], [Condition(1, 0, 1)]]
    rows = [((0, 1), 2.0), ((1, 1), 5.0), ((2, 3), 1.0)]
    more = tuple(Feature.nominal(f"z{i}", range(9)) for i in range(400))
    lean, wide = (RuleList.of(Domain(own), rules) for own in (small, small + more))
    weights = np.array(naive.leaf_weights(lean, rows))
    found = []
    for structure in (lean, wide):
        logs = rules_on(structure.domain).log_probabilities(structure, weights)
        density = Density(structure, weights, logs)
        found.append(density.joint([0, 1], np.ones(sum(structure.domain.sizes))))
        assert density.unusualness == pytest.approx(Density(lean, weights, logs).unusualness)
    assert found[0] == pytest.approx(found[1])
    expected = naive.density_of(lean, naive.mean_probabilities(lean, rows, 1.0))
    assert dict(np.ndenumerate(found[1])) == pytest.approx(
        naive.joint(lean.domain, expected, [0, 1], [[1] * 3, [1] * 4])
    )


@given(st.integers(1, 4), domains(most_features=2), st.data(), positive)
def test_a_leaf_without_points_has_no_probability(size, rest, data, a):
    """A rule after one that takes everything leaves a leaf of volume 0."""
    domain = Domain((Feature.ordinal("all", range(size)), *rest))
    first = Condition(0, 0, size - 1)
    rules = RuleList.of(domain, [[first], *([[Condition(0, 0, 0)]] if size > 1 else [])])
    rows = data.draw(data_in(domain))
    weights = np.array(naive.leaf_weights(rules, rows))
    density = Density(rules, weights, rules_on(domain, pseudocount=a).log_probabilities(rules, weights))
    assert density.probabilities.tolist() == [1.0] + [0.0] * (rules.n_leaves - 1)
    assert (density.log_densities[1:] == -np.inf).all()
    assert density.probability(np.ones(sum(domain.sizes))) == pytest.approx(1)
    assert density.log_densities[0] == pytest.approx(-domain.log_volume)


@given(models(kinds=st.just("histogram")))
@example((histogram_of(Domain((Feature.nominal("x", "ab"),)), [((0,), 1.0)], 1.0), {(0,): 2 / 3, (1,): 1 / 3}))
def test_a_histogram_draws_unoccupied_points_too(model):
    density, expected = model
    every = set(naive.points(density.structure.domain))
    drawn = set(map(tuple, density.draw(5000, np.random.default_rng(3)).tolist()))
    assert drawn <= every
    mass = {p: d * naive.measure(density.structure.domain, p) for p, d in expected.items()}
    assert {p for p in every if mass[p] > 0.01} <= drawn
    assert drawn <= {p for p in every if mass[p] > 0}
