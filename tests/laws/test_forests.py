"""Forests of columns: they are densities, Chow and Liu's tree is the best of all trees, weights count rows."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sparsedensity.density.forest import chow_liu, independent, linked, most_informative, mutual_information
from sparsedensity.models.folds import folds_of
from sparsedensity.table import Table
from tests import naive
from tests.strategies import data_in, domains, positive, table_of


def spanning_trees(size):
    """The links of every tree on so many columns."""
    pairs = list(itertools.combinations(range(size), 2))
    for links in itertools.combinations(pairs, size - 1):
        reached, grew = {0}, True
        while grew:
            more = {b for a, b in links if a in reached} | {a for a, b in links if b in reached}
            grew = bool(more - reached)
            reached |= more
        if len(reached) == size:
            yield links


def naive_information(data, a, b):
    """The mutual information of two columns, term by term."""
    total = sum(weight for _, weight in data)
    found = 0.0
    for u, v in {(row[a], row[b]) for row, _ in data}:
        both = sum(w for row, w in data if (row[a], row[b]) == (u, v)) / total
        one, other = sum(w for row, w in data if row[a] == u) / total, sum(w for row, w in data if row[b] == v) / total
        found += both * math.log(both / (one * other))
    return found


@given(st.data(), positive)
def test_a_forest_of_columns_integrates_to_one(data, pseudocount):
    domain = data.draw(domains(most_features=4))
    table = table_of(domain, data.draw(data_in(domain)))
    points = naive.points(domain)
    volumes = np.array([naive.measure(domain, point) for point in points])
    for forest in (independent(table, pseudocount), chow_liu(table, pseudocount)):
        logs = forest.log_densities(np.array(points, domain.code_type))
        assert np.exp(logs) @ volumes == pytest.approx(1.0)


@given(st.data())
def test_mutual_information_is_that_of_the_formula(data):
    domain = data.draw(domains(most_features=3))
    rows = data.draw(data_in(domain))
    information = mutual_information(table_of(domain, rows))
    for a, b in itertools.combinations(range(len(domain)), 2):
        assert information[a, b] == pytest.approx(naive_information(rows, a, b), abs=1e-9)
        assert information[b, a] == information[a, b]


@given(st.data())
def test_no_tree_of_columns_has_more_information_than_that_of_chow_and_liu(data):
    domain = data.draw(domains(most_features=5, most_values=3))
    assume(len(domain) > 1)
    information = mutual_information(table_of(domain, data.draw(data_in(domain))))
    parents = most_informative(information)
    own = sum(information[i, parent] for i, parent in enumerate(parents) if parent is not None)
    best = max(sum(information[a, b] for a, b in links) for links in spanning_trees(len(domain)))
    assert own == pytest.approx(best, abs=1e-9)


@given(st.data())
def test_no_tree_of_columns_is_more_likely_than_that_of_chow_and_liu(data):
    domain = data.draw(domains(most_features=4, most_values=3))
    table = table_of(domain, data.draw(data_in(domain)))
    tiny = 1e-9

    def log_likelihood(forest):
        return table.weights @ forest.log_densities(table.codes)

    best = log_likelihood(chow_liu(table, tiny))
    assert best >= log_likelihood(independent(table, tiny)) - 1e-4
    for links in spanning_trees(len(domain)):
        parents, reached = [None] * len(domain), {0}
        while len(reached) < len(domain):
            for a, b in (*links, *((b, a) for a, b in links)):
                if a in reached and b not in reached:
                    parents[b] = a
                    reached.add(b)
        assert best >= log_likelihood(linked(table, tuple(parents), tiny)) - 1e-4


@given(st.data())
def test_parents_have_no_cycles(data):
    domain = data.draw(domains(most_features=5))
    forest = chow_liu(table_of(domain, data.draw(data_in(domain))))
    for feature in range(len(domain)):
        seen, at = set(), feature
        while at is not None:
            assert at not in seen
            seen.add(at)
            at = forest.parents[at]
    sizes = [domain.sizes[i] * (1 if p is None else domain.sizes[p]) for i, p in enumerate(forest.parents)]
    assert forest.n_entries == sum(sizes)


@given(st.lists(st.integers(1, 9), min_size=2, max_size=20), st.integers(2, 5), st.integers(0, 3))
def test_folds_of_counts_divide_what_is_counted(counts, folds, seed):
    weights = np.array(counts, np.float64)
    assume(weights.sum() >= folds)
    splits = folds_of(weights, folds, seed)
    assert sum(split.test for split in splits) == pytest.approx(weights)
    held = [split.test.sum() for split in splits]
    assert max(held) - min(held) <= 1
    for train, test in splits:
        assert train + test == pytest.approx(weights)
        assert np.all(test == np.round(test))


@given(st.lists(st.integers(0, 30).map(lambda whole: whole + 0.3), min_size=3, max_size=20), st.integers(2, 3))
def test_rows_whose_weights_count_nothing_are_held_out_whole(weights, folds):
    weights = np.array(weights)
    for train, test in folds_of(weights, folds):
        assert np.all((test == 0) | np.isclose(test, weights))
        assert np.all((train == 0) != (test == 0))


def test_folds_of_rows_are_those_of_scikit_learn():
    from sklearn.model_selection import KFold

    found = folds_of(np.ones(11), 3, seed=7)
    for split, (_, test) in zip(found, KFold(3, shuffle=True, random_state=7).split(np.ones(11)), strict=True):
        assert np.flatnonzero(split.test).tolist() == test.tolist()


def test_columns_with_too_many_combinations_are_not_linked(monkeypatch):
    from sparsedensity.density import forest
    from sparsedensity.domain import Domain, Feature

    domain = Domain(tuple(Feature.nominal(name, ("x", "y", "z")) for name in "ab"))
    table = Table.of(domain, np.array([[0, 0], [1, 1], [2, 2]], np.uint8))
    assert chow_liu(table).parents == (None, 0)
    monkeypatch.setattr(forest, "LARGEST_PAIR", 8)
    assert chow_liu(table).parents == (None, None)
