"""Laws of tables: equal rows collapse, nothing is lost."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sparsedensity.domain import Domain, Feature
from sparsedensity.engines import MemoryEngine
from sparsedensity.engines.drawing import places, rows_at
from sparsedensity.search.trees.greedy import OpenLeaf
from sparsedensity.structures import Cells
from sparsedensity.table import Table
from tests import naive
from tests.strategies import data_in, domains, rows_of, table_of, trees


def as_dict(table):
    return dict(zip(map(tuple, table.codes.tolist()), table.weights.tolist(), strict=True))


@given(domains(), st.data())
def test_equal_rows_collapse_and_their_weights_add_up(domain, data):
    rows = data.draw(data_in(domain))
    table = table_of(domain, rows)
    assert as_dict(table) == pytest.approx(naive.collapse(rows))
    assert len(table) == len({row for row, _ in rows}) == len(table.codes)
    assert table.n == pytest.approx(math.fsum(weight for _, weight in rows))
    assert table.codes.dtype == domain.code_type


@given(domains(), st.data())
def test_the_order_of_rows_changes_only_the_order_of_the_table(domain, data):
    rows = data.draw(data_in(domain))
    shuffled = data.draw(st.permutations(rows))
    assert as_dict(table_of(domain, rows)) == pytest.approx(as_dict(table_of(domain, shuffled)))


@given(domains(), st.data())
def test_without_weights_a_row_counts_once(domain, data):
    rows = data.draw(st.lists(rows_of(domain), min_size=1, max_size=40))
    table = Table.of(domain, np.array(rows, domain.code_type))
    assert as_dict(table) == Counter(rows)


@given(domains(), st.data())
def test_a_row_has_its_uncommon_values_and_else_the_commonest(domain, data):
    table = table_of(domain, data.draw(data_in(domain)))
    first, places, commonest = table.uncommon
    for f, column in enumerate(table.codes.T.tolist()):
        assert Counter(column)[int(commonest[f] - domain.starts[f])] == max(Counter(column).values())
    for row, codes in enumerate(table.codes.tolist()):
        values = {f: int(value) for f, value in enumerate(commonest)}
        for place in places[first[row] : first[row + 1]].tolist():
            values[int(np.searchsorted(domain.starts, place, "right")) - 1] = place
        assert [values[f] - int(domain.starts[f]) for f in range(len(codes))] == codes
    assert len(places) == sum(len(column) - max(Counter(column).values()) for column in table.codes.T.tolist())


@given(domains(), st.data())
def test_every_row_is_found_again_and_no_other(domain, data):
    kept = table_of(domain, data.draw(data_in(domain))).codes
    every = np.array(naive.points(domain), domain.code_type)
    places = {tuple(row): place for place, row in enumerate(kept.tolist())}
    found = Cells(domain, kept).leaf_numbers(every)
    assert found.tolist() == [places.get(tuple(row), len(kept)) for row in every.tolist()]


def test_many_rows_of_many_columns_collapse_like_numpy_does_it():
    rng = np.random.default_rng(5)
    domain = Domain(tuple(Feature.nominal(f"x{i}", range(300)) for i in range(9)))
    codes = rng.integers(0, 300, (500, 9)).astype(np.uint16)[rng.integers(0, 500, 20_000)]
    distinct, counts = np.unique(codes, axis=0, return_counts=True)
    table = Table.of(domain, codes)
    order = np.lexsort(table.codes.T[::-1])
    assert (table.codes[order] == distinct).all()
    assert (table.weights[order] == counts).all()


@given(domains(), st.data())
def test_an_engine_counts_every_value(domain, data):
    rows = data.draw(data_in(domain))
    engine = MemoryEngine(table_of(domain, rows))
    weights = engine.value_weights()
    for feature, size in enumerate(domain.sizes):
        expected = [math.fsum(weight for row, weight in rows if row[feature] == code) for code in range(size)]
        assert weights[domain.span(feature)] == pytest.approx(np.array(expected))


@given(domains(), st.data())
def test_a_leaf_is_divided_without_losing_a_row(domain, data):
    table = table_of(domain, data.draw(data_in(domain)))
    feature = data.draw(st.integers(0, len(domain) - 1))
    first = np.zeros(int(domain.starts[-1]), bool)
    first[domain.span(feature)] = data.draw(st.tuples(*[st.booleans()] * domain.sizes[feature]).filter(any))
    assume(not first[domain.span(feature)].all())
    rows, allowed = np.arange(len(table)), np.ones(len(first), np.uint8)
    one, other = OpenLeaf(rows, allowed, domain.log_volume).divided(table, feature, first)
    inside = first[domain.starts[feature] + table.codes[:, feature]]
    assert (one.rows.tolist(), other.rows.tolist()) == (
        np.flatnonzero(inside).tolist(),
        np.flatnonzero(~inside).tolist(),
    )
    assert np.logaddexp(one.log_volume, other.log_volume) == pytest.approx(domain.log_volume)


@given(domains(), st.data())
def test_an_engine_weighs_leaves_as_a_walk_does(domain, data):
    rows, tree = data.draw(data_in(domain)), data.draw(trees(domain))
    weights = MemoryEngine(table_of(domain, rows)).leaf_weights(tree)
    assert weights == pytest.approx(np.array(naive.leaf_weights(tree, rows)))


@given(domains(), st.data())
def test_an_engine_weighs_the_values_in_leaves_as_a_walk_does(domain, data):
    rows, tree = data.draw(data_in(domain)), data.draw(trees(domain))
    found, leaf_of = MemoryEngine(table_of(domain, rows)).leaf_value_weights(tree), naive.router(tree)
    expected = np.zeros(found.shape)
    for row, weight in rows:
        expected[leaf_of(row), domain.starts[:-1] + np.array(row)] += weight
    assert found == pytest.approx(expected)


@given(domains(), st.data(), st.integers(1, 200), st.integers(0, 9))
def test_a_sample_has_the_weight_of_the_whole_and_no_other_rows(domain, data, size, seed):
    table = table_of(domain, data.draw(data_in(domain)))
    sample = MemoryEngine(table).sample(size, np.random.default_rng(seed))
    assert sample.n == pytest.approx(table.n)
    assert len(sample) <= size
    assert set(map(tuple, sample.codes.tolist())) <= set(map(tuple, table.codes.tolist()))


@given(st.integers(1, 50), st.integers(1, 200), st.floats(0, 1, exclude_max=True))
def test_rows_of_one_weight_are_drawn_alike_whether_it_is_stored_once_or_for_each(rows, size, start):
    at = places(3.0 * rows, size, start)
    once, each = np.broadcast_to(np.float64(3), rows), np.full(rows, 3.0)
    for found, expected in zip(rows_at(at, once), rows_at(at, each), strict=True):
        assert found.tolist() == expected.tolist()


@given(
    weights=st.lists(st.integers(1, 2**40).map(float), min_size=1)
    | st.lists(st.floats(1e-12, 1e12), min_size=1)
    | st.lists(st.integers(1, 99).map(lambda times: times / 7.0), min_size=1)
)
def test_weights_on_a_grid_are_whole_units_and_next_to_what_they_were(weights):
    domain = Domain((Feature.nominal("x", ["a", "b"]),))
    table = Table(domain, np.zeros((len(weights), 1), domain.code_type), np.array(weights)).on_grid()
    units, unit = table.units
    assert (units * unit).tolist() == table.weights.tolist()
    assert np.gcd.reduce(units) == 1
    assert 0 < units.sum() <= 2**53
    assert np.abs(table.weights - weights).max() <= 2.0**-29 * max(weights)
