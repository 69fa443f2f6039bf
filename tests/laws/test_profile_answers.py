"""What a density with profile leaves answers, held against sums over every point."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparsedensity.density import EQUALLY_DENSE, Density, records
from sparsedensity.density.changes import Neighbours, best_changes
from sparsedensity.density.factors import factors
from sparsedensity.density.importance import expected_losses, losses_on
from sparsedensity.density.placed import Placed
from sparsedensity.domain import Domain, Feature
from sparsedensity.engines import MemoryEngine
from sparsedensity.posterior import BranchSparse, LeafSparse, Profiles, profile_leaf
from sparsedensity.structures import Tree
from sparsedensity.table import Table
from tests import naive, naive_profiles
from tests.laws.test_densities import assert_drawn_from, log_shares
from tests.strategies import data_in, domains, events_in, flat, positive, rows_of, table_of, trees

SEEDED = 2000
ERROR = 5 * 0.5 / math.sqrt(SEEDED)
"""Five standard errors of a share that is estimated from so many draws."""


@st.composite
def models(draw, most_features=3):
    """A density with profile leaves, and the same density point by point."""
    domain = draw(domains(most_features=most_features))
    tree, rows, a, s = draw(trees(domain)), draw(data_in(domain)), draw(positive), draw(positive)
    r, empirical, leaf_sparse = draw(st.sampled_from([0.0, 0.3, 0.5, 0.9])), draw(st.booleans()), draw(st.booleans())
    posterior = LeafSparse(3, a) if leaf_sparse else BranchSparse(2, a)
    by_value = MemoryEngine(table_of(domain, rows)).leaf_value_weights(tree)
    weights = np.array(naive.leaf_weights(tree, rows))
    logs = log_shares(weights) if empirical else posterior.log_probabilities(tree, weights)
    density = Density(tree, weights, logs, Profiles.of(profile_leaf(domain, None, s, r), tree, by_value))
    if empirical:
        masses = naive.empirical_probabilities(tree, rows)
    else:
        masses = (naive.mean_probabilities if leaf_sparse else naive.path_probabilities)(tree, rows, a)
    return density, naive_profiles.density_of(tree, rows, masses, naive_profiles.model_of(domain, rows, s, r))


def placed(density):
    """Every point of a domain in its leaf."""
    codes = np.array(naive.points(density.structure.domain), density.structure.domain.code_type)
    return Placed(density, codes, density.leaf_numbers(codes))


def by_point(density, values):
    return dict(zip(naive.points(density.structure.domain), values.tolist(), strict=True))


@given(models())
def test_densities_are_the_formulas_and_sum_to_1(model):
    density, expected = model
    domain = density.structure.domain
    found = by_point(density, np.exp(placed(density).log_densities))
    assert found == pytest.approx(expected)
    assert math.fsum(naive.measure(domain, p) * d for p, d in found.items()) == pytest.approx(1)


@given(models(), st.data())
def test_probabilities_and_joints_are_sums_over_points(model, data):
    density, expected = model
    domain = density.structure.domain
    event = data.draw(events_in(domain))
    features = data.draw(st.lists(st.integers(0, len(domain) - 1), unique=True, min_size=1))
    assert density.probability(flat(event)) == pytest.approx(naive.probability(domain, expected, event), abs=1e-12)
    found = dict(np.ndenumerate(density.joint(features, flat(event))))
    assert found == pytest.approx(naive.joint(domain, expected, features, event), abs=1e-12)


@given(models(), st.integers(0, 1000))
def test_drawn_rows_follow_the_densities(model, seed):
    density, expected = model
    assert_drawn_from(density, expected, seed=seed)


@given(models())
def test_the_unusualness_of_a_point_of_a_small_domain_is_the_mass_that_is_denser(model):
    density, expected = model
    found = by_point(density, placed(density).unusualness)
    assert found == pytest.approx(naive.unusualness(density.structure.domain, expected), abs=1e-9)


@given(models())
def test_a_leaf_is_as_unusual_as_its_records_are_on_average(model):
    density, expected = model
    domain, leaf_of = density.structure.domain, naive.router(density.structure)
    each = naive.unusualness(domain, expected)
    for leaf, found in enumerate(density.unusualness):
        mass = {p: d * naive.measure(domain, p) for p, d in expected.items() if leaf_of(p) == leaf}
        total = math.fsum(mass.values())
        mean = math.fsum(each[p] * share for p, share in mass.items()) / total if total else 1.0
        assert found == pytest.approx(mean, abs=1e-9)


@given(models(most_features=4))
@settings(max_examples=40)
def test_unusualness_from_draws_is_within_its_stated_error_and_keeps_the_order(model):
    density, expected = model
    rows = placed(density)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records, "MOST_LISTED", 1)
        patch.setattr("sparsedensity.density.RANKED_DRAWS", SEEDED)
        patch.setattr("sparsedensity.density.boxes.Boxes.log_points", np.full(density.structure.n_leaves, np.inf))
        found = rows.unusualness
        again = Density(density.structure, density.weights, density.log_probabilities, density.profiles)
        assert (again.unusualness_of(rows.log_densities) == found).all()
    exact = naive.unusualness(density.structure.domain, expected)
    assert by_point(density, found) == pytest.approx(exact, abs=ERROR)
    order = np.argsort(rows.log_densities)
    assert (np.diff(found[order]) <= 0).all()


@given(models(), st.integers(1, 3000))
def test_expected_records_are_all_points_or_draws_whose_masses_add_up_to_those_of_the_leaves(model, draws):
    density, expected = model
    domain = density.structure.domain
    every = density.records(draws)
    assert every.listed
    mass = {p: d * naive.measure(domain, p) for p, d in expected.items()}
    listed = dict(zip(map(tuple, every.codes.tolist()), every.masses.tolist(), strict=True))
    assert listed == pytest.approx({p: share for p, share in mass.items() if share > 0})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records, "MOST_LISTED", 1)
        some = density.records(draws)
    assert len(some.codes) <= draws + density.structure.n_leaves
    assert (density.leaf_numbers(some.codes) == some.leaves).all()
    held = np.bincount(some.leaves, some.masses, density.structure.n_leaves)
    assert held == pytest.approx(density.probabilities)


def wide_density():
    """Ten columns of five values in two leaves: ten million points, and rows to ask about."""
    rng = np.random.default_rng(1)
    domain = Domain(tuple(Feature.nominal(f"x{i}", "abcde") for i in range(10)))
    kind = rng.random(2000) < 0.3
    codes = np.where(kind[:, None], rng.binomial(4, 0.2, (2000, 10)), rng.binomial(4, 0.7, (2000, 10))).astype(np.uint8)
    tree = Tree.leaf(domain).split(0, 0, [{0, 1}, {2, 3, 4}])
    by_value = MemoryEngine(Table.of(domain, codes)).leaf_value_weights(tree)
    weights = by_value[:, :5].sum(axis=1)
    profiles = Profiles.of(profile_leaf(domain, None, 2.0, 0.5), tree, by_value)
    return Density(tree, weights, LeafSparse().log_probabilities(tree, weights), profiles), codes


def test_the_order_of_rows_that_are_rarer_than_every_draw_is_kept():
    density, _ = wide_density()
    logs = density.ranking.logs[-1] - np.array([0.0, 0.5, 1.0, 8.0, 500.0])
    found = density.unusualness_of(logs)
    assert (np.diff(found) > 0).all()
    assert found[-1] < 1
    assert density.unusualness_of(np.array([-np.inf])).tolist() == [1.0]


def test_draws_of_a_wide_density_rank_rows_as_other_draws_of_it_do():
    density, codes = wide_density()
    logs = density.log_densities_at(codes, density.leaf_numbers(codes))
    drawn = density.draw(200_000, np.random.default_rng(7))
    others = np.sort(density.log_densities_at(drawn, density.leaf_numbers(drawn)))
    shares = 1 - np.searchsorted(others, logs + EQUALLY_DENSE, side="right") / len(others)
    assert np.abs(density.unusualness_of(logs) - shares).max() < 5 * 0.5 * math.sqrt(1 / 100_000 + 1 / 200_000)


@given(models())
def test_a_changed_value_gives_the_density_of_the_changed_row(model):
    density, expected = model
    domain, every = density.structure.domain, placed(density)
    for feature in range(len(domain)):
        found = np.exp(Neighbours(density, every.codes).log_densities(feature))
        for row, point in enumerate(map(tuple, every.codes.tolist())):
            changed = [
                expected[(*point[:feature], code, *point[feature + 1 :])] for code in range(domain.sizes[feature])
            ]
            assert found[row] == pytest.approx(np.array(changed))


@given(models(), st.data())
def test_no_other_change_of_one_value_does_better(model, data):
    density, expected = model
    domain = density.structure.domain
    row = data.draw(rows_of(domain))
    (best,) = best_changes(density, np.array([row], domain.code_type), np.log([expected[row] or 1e-300]))
    tried = {
        (feature, code): expected[(*row[:feature], code, *row[feature + 1 :])]
        for feature in range(len(domain))
        for code in range(domain.sizes[feature])
    }
    highest = max(tried.values())
    if best is None:
        assert highest <= (expected[row] or 1e-300) * (1 + 2e-9)
        return
    assert math.exp(best.log_density) == pytest.approx(highest)
    assert all(tried[best.feature, code] == pytest.approx(highest) for code in best.codes)


@given(models())
def test_the_loss_of_a_column_of_a_small_domain_is_a_divergence_summed_over_points(model):
    density, expected = model
    domain = density.structure.domain
    found = expected_losses(density)
    assert found.exact
    for feature in range(len(domain)):
        assert found.by_feature[feature] == pytest.approx(naive.loss(domain, expected, feature), abs=1e-9)


@given(models(), st.data())
def test_the_loss_on_rows_is_a_mean_over_rows(model, data):
    density, expected = model
    domain = density.structure.domain
    rows = data.draw(data_in(domain))
    codes, weights = np.array([row for row, _ in rows], domain.code_type), np.array([weight for _, weight in rows])
    found = losses_on(density, codes.reshape(len(rows), -1), weights).by_feature
    for feature in range(len(domain)):
        assert found[feature] == pytest.approx(naive.loss_on(domain, expected, feature, rows), abs=1e-9)


def test_a_loss_of_a_wide_density_is_estimated_from_draws_and_says_so():
    density, _ = wide_density()
    found = expected_losses(density)
    drawn = losses_on(density, density.draw(50_000, np.random.default_rng(3)), np.ones(50_000))
    assert not found.exact
    assert found.by_feature == pytest.approx(drawn.by_feature, abs=0.03)
    assert (found.by_feature > 0).all()


@given(models(), st.data())
def test_a_factor_is_the_share_of_a_value_among_the_records_that_share_all_others(model, data):
    density, expected = model
    domain = density.structure.domain
    row = data.draw(rows_of(domain))
    mass = {p: d * naive.measure(domain, p) for p, d in expected.items()}
    (order,), (shares,), (overall,) = factors(density, density.profiles, np.array([row], domain.code_type))
    assert sorted(order) == list(range(len(domain)))
    for feature, share in enumerate(shares):
        alike = [p for p in mass if all(p[f] == row[f] for f in range(len(domain)) if f != feature)]
        total = math.fsum(mass[p] for p in alike)
        if total:
            assert share == pytest.approx(mass[row] / total, abs=1e-9)
        assert 0 <= share <= 1 + 1e-9
    ranks = [shares[feature] ** 2 / overall[feature] for feature in order]
    assert ranks == sorted(ranks)
