"""Features of wide regions are screened by what the others tell of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from sparsedensity import LeafSparseTree
from sparsedensity.domain import Domain, Feature
from sparsedensity.search.trees import screening
from sparsedensity.table import Table

SIZES = (2, 3, 2, 4)


def table_of(seed, rows):
    rng = np.random.default_rng(seed)
    domain = Domain(tuple(Feature.nominal(f"f{i}", tuple(range(size))) for i, size in enumerate(SIZES)))
    codes = np.stack([rng.integers(0, size, rows) for size in SIZES], axis=1)
    return Table.of(domain, codes.astype(np.uint8), rng.integers(1, 4, rows).astype(float))


def chi_squared(table, one, other):
    observed = np.zeros((SIZES[one], SIZES[other]))
    np.add.at(observed, (table.codes[:, one], table.codes[:, other]), table.weights)
    observed = observed[observed.any(axis=1)][:, observed.any(axis=0)]
    return chi2_contingency(observed, correction=False).statistic / table.n


@given(st.integers(0, 10_000), st.integers(1, 40))
def test_the_dependence_of_a_feature_is_its_chi_squared_with_all_others(seed, rows):
    table = table_of(seed, rows)
    plain = [sum(chi_squared(table, f, g) for g in range(4) if g != f) for f in range(4)]
    assert screening.dependence(table, np.arange(len(table))) == pytest.approx(plain, abs=1e-4)


def test_large_regions_are_screened_by_some_of_their_rows(monkeypatch):
    table = table_of(1, 500)
    monkeypatch.setattr(screening, "MOST_CELLS", 30 * sum(SIZES))
    every = np.arange(len(table))
    some = every[:: -(-len(every) // 30)]
    assert screening.dependence(table, every).tolist() == screening.dependence(table, some).tolist()


def test_features_are_screened_only_if_they_are_many(monkeypatch):
    table, allowed, shares = table_of(2, 30), np.ones(sum(SIZES), np.uint8), np.ones(sum(SIZES))
    assert screening.telling_features(table, np.arange(30), allowed, shares).tolist() == [0, 1, 2, 3]
    monkeypatch.setattr(screening, "MOST_SCORED", 0)
    monkeypatch.setattr(screening, "FEWEST_FEATURES", 1)
    best = screening.dependence(table, np.arange(len(table))).argmax()
    assert screening.telling_features(table, np.arange(len(table)), allowed, shares).tolist() == [best]


def test_of_values_that_all_rows_share_the_rarest_is_told_from_the_rest():
    table, allowed = table_of(3, 60), np.ones(sum(SIZES), np.uint8)
    shares = np.array([0.5, 0.5, 0.2, 0.7, 0.1, 0.3, 0.7, 0.25, 0.25, 0.25, 0.25])
    rows = np.flatnonzero((table.codes[:, 0] == 1) & (table.codes[:, 1] == 0) & (table.codes[:, 2] == 0))
    assert screening.rarest_alone(table, rows, allowed, shares).tolist() == [1]
    allowed[[3, 4]] = 0  # nothing is left to shut out
    assert screening.rarest_alone(table, rows, allowed, shares).tolist() == [2]
    assert screening.rarest_alone(table, np.arange(len(table)), allowed, shares).tolist() == []


def test_the_kinds_of_a_wide_table_are_found_among_screened_features(monkeypatch):
    monkeypatch.setattr(screening, "MOST_SCORED", 0)
    monkeypatch.setattr(screening, "FEWEST_FEATURES", 2)
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, 300)[:, None]
    rows = np.where(rng.random((300, 40)) < (np.arange(40) % 8 == 0) * 0.9, kind, rng.integers(0, 2, (300, 40)))
    model = LeafSparseTree(leaf="profile", search="greedy", max_leaves=2, progress=False).fit(rows)
    assert model.n_leaves_ == 2
    assert {int(test.feature[1:]) % 8 for leaf in model.leaves_ for test in leaf.conditions} == {0}
