"""Queries count what memory counts, and tell the domain that memory tells."""

import warnings

import narwhals as nw
import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sparsedensity import GreedyTree
from sparsedensity.domain import Domain, Feature
from sparsedensity.engines import MemoryEngine
from sparsedensity.errors import ColumnsError, DataError, UnknownValueError
from sparsedensity.ingest import Reading, open_source, queries, read_table
from sparsedensity.ingest.lazy import infer_domain
from sparsedensity.ingest.queries import open_query
from sparsedensity.structures import Condition, RuleList, Tree
from sparsedensity.structures.tree import LEAF
from tests.engines.lazy import DATABASES, each_with
from tests.engines.nasty import DOMAIN, WEIGHTS, nasty
from tests.laws.test_summaries import tables
from tests.strategies import data_in, domains, rule_lists, trees

many = settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
TREE = Tree.leaf(DOMAIN)
for split in [
    (0, [{0, 2, 6}, {1, 3, 4, 5}]),
    (4, [{0, 1}, {2, 3, 4}]),
    (2, [set(range(100)), set(range(100, 300))]),
    (6, [{0, 1}, {2, 3}]),
    (7, [{0}, {1, 2}, {3}]),
    (3, [{0, 3}, {1, 2}]),
    (5, [{0}, {1, 2}]),
]:
    TREE = TREE.split(TREE.n_nodes - 1, *split)
RULES = RuleList.of(
    DOMAIN,
    [[Condition(0, 0, 0), Condition(4, 1, 2)], [Condition(2, 7, 150)], [Condition(3, 3, 3)], [Condition(7, 1, 3)]],
)


def opened(lazy, reading=None, weight=None, seed=0):
    return open_query(nw.from_native(lazy), reading or Reading(), weight, np.random.default_rng(seed))


def in_memory(frame, reading, weight=None):
    weights = None if weight is None else frame[weight].to_numpy()
    features = frame if weight is None else frame.drop(weight)
    return MemoryEngine(read_table(open_source(features), reading, weights))


def check_counts(engine, memory, structures):
    assert engine.n == memory.n
    assert engine.value_weights().tolist() == memory.value_weights().tolist()
    for structure in structures:
        assert engine.leaf_weights(structure).tolist() == memory.leaf_weights(structure).tolist()
        assert engine.leaf_value_weights(structure).tolist() == memory.leaf_value_weights(structure).tolist()


@pytest.mark.parametrize(("engine", "weight"), each_with([None, *WEIGHTS]))
def test_every_engine_counts_what_memory_counts(as_lazy, engine, weight):
    """Texts of any kind, missing values, NaN, bins, dates, many values, weights of 0."""
    frame = nasty().drop(set(WEIGHTS) - {weight})
    reading = Reading(domain=DOMAIN)
    counted = opened(as_lazy(engine, frame), reading, weight)
    check_counts(counted, in_memory(frame, reading, weight), [TREE, RULES, Tree.leaf(DOMAIN)])


@many
@given(st.data(), domains(), st.sampled_from([None, "whole", "quarters"]))
def test_counts_are_those_of_memory(as_lazy, data, domain, weight):
    rows = data.draw(data_in(domain, st.integers(0, 12)).filter(lambda rows: any(weight for _, weight in rows)))
    frame = frame_of(domain, [row for row, _ in rows])
    if weight is not None:
        own = pl.Series(weight, [number / (4 if weight == "quarters" else 1) for _, number in rows], pl.Float64)
        frame = frame.with_columns(own)
    structure = data.draw(st.one_of(trees(domain), rule_lists(domain)))
    reading = Reading(domain=domain)
    check_counts(opened(as_lazy("duckdb", frame), reading, weight), in_memory(frame, reading, weight), [structure])


def frame_of(domain, rows):
    """Rows of codes as values: a bin by its lower edge."""
    columns = []
    for i, feature in enumerate(domain):
        values = [feature.values[row[i]] for row in rows]
        dtype = pl.String if not feature.binned else pl.Int64 if feature.integer else pl.Float64
        columns.append(
            pl.Series(feature.name, [v.low if isinstance(v, tuple) else v for v in values], dtype, strict=False)
        )
    return pl.DataFrame(columns)


@pytest.mark.parametrize("engine", DATABASES)
def test_distinct_rows_come_home_if_they_are_few(as_lazy, engine):
    frame, reading = nasty(80).drop("quarter"), Reading(domain=DOMAIN)
    counted, memory = opened(as_lazy(engine, frame), reading, "whole"), in_memory(frame, reading, "whole")
    assert counted.collapsed() is None
    distinct = len(memory.table)
    assert counted.distinct(distinct - 1) is None
    home, expected = counted.distinct(distinct), memory.table.in_order()
    assert home.codes.tolist() == expected.codes.tolist()
    assert home.weights.tolist() == expected.weights.tolist()


@many
@given(tables(), st.sampled_from([None, "nominal", "ordinal", "continuous"]), st.integers(1, 12))
def test_queries_tell_the_domain_of_the_table(as_lazy, monkeypatch, frame, kinds, bins):
    """Although only some rows are drawn."""
    monkeypatch.setattr(queries, "DRAWN", 1)
    check_domain(as_lazy, "duckdb", frame, kinds, bins)


@pytest.mark.parametrize(("engine", "kinds"), each_with(["nominal", None]))
def test_every_engine_tells_the_domain(as_lazy, monkeypatch, engine, kinds):
    monkeypatch.setattr(queries, "DRAWN", 1)
    frame = nasty(300).drop(WEIGHTS).with_columns(pl.col("day").fill_null(pl.date(1971, 2, 3)))
    check_domain(as_lazy, engine, frame, kinds, 7)


def check_domain(as_lazy, engine, frame, kinds, bins):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = infer_domain(frame, Reading(kinds, bins))
        assert opened(as_lazy(engine, frame), Reading(kinds, bins)).domain == expected


def test_missing_values_can_be_dropped_or_refused(as_lazy):
    frame = pl.DataFrame({"sex": ["f", "m", None, "f"], "age": [1.5, None, 2.5, float("nan")]})
    for engine in DATABASES:
        lazy = as_lazy(engine, frame)
        kept = opened(lazy, Reading(missing="drop"))
        check_counts(kept, in_memory(frame, Reading(missing="drop")), [])
        assert kept.rows == 1
        with pytest.raises(DataError, match="'sex' is missing in 1 of 4 rows"):
            opened(lazy, Reading(missing="error"))
    with pytest.raises(DataError, match="missing='drop' leaves none"):
        opened(as_lazy("duckdb", frame[1:3]), Reading(missing="drop"))


def test_no_row_is_dropped_because_it_lacks_an_identifier(as_lazy):
    names = [None if i % 7 == 0 else f"n{i}" for i in range(200)]
    frame = pl.DataFrame({"name": names, "half": [0, 1] * 100, "third": [None, "a", "b", "a"] * 50})
    with pytest.warns(match="'name' looks like an identifier"):
        counted = opened(as_lazy("duckdb", frame), Reading(missing="drop"))
    assert counted.domain.names == ("half", "third")
    assert counted.domain.left_out == ("name",)
    assert counted.n == 150


def test_a_text_with_more_values_than_a_feature_can_have_is_not_grouped(duckdb, monkeypatch):
    """The rows that were drawn tell it; 40 million names need not be told apart for it."""
    lazy = duckdb.sql("select 'n' || range as name, range % 2 as half from range(300_000)")
    monkeypatch.setattr(queries._Completing, "_other_values", lambda *_: pytest.fail("a column was grouped"))
    with pytest.warns(match="'name' looks like an identifier"):
        assert opened(lazy).domain.names == ("half",)


def test_a_text_with_too_many_values_that_is_asked_for_is_refused(duckdb):
    lazy = duckdb.sql("select 'n' || (range % 70_000) as name, range % 2 as half from range(200_000)")
    with pytest.raises(DataError, match="'name' has 65,536 distinct values; at most 65,535 are possible"):
        opened(lazy, Reading({"name": "nominal"}))


def test_rare_values_are_found(duckdb):
    lazy = duckdb.sql(
        "select if(range = 77777, 'rare', 'often') as word, if(range = 99999, null, range % 3) as few, "
        "if(range = 55555, 0.5, range % 1000) as number from range(300_000)"
    )
    domain = opened(lazy).domain
    assert domain["word"].values == ("often", "rare")
    assert domain["few"].values == (0, 1, 2, None)
    assert not domain["number"].integer


def test_quantiles_are_those_of_the_rows_that_were_drawn(duckdb):
    lazy = duckdb.sql("select range / 300_000 as share from range(300_000)")
    edges = opened(lazy, Reading(bins="quantile:4")).domain["share"].edges
    assert edges == pytest.approx([0, 0.25, 0.5, 0.75, 1], abs=0.02)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ("null::double", "missing in 2 of 2 rows"),
        ("'nan'::double", "missing in 2 of 2 rows"),
        ("-1.0", "is -1.0"),
        ("'inf'::double", "is inf"),
        ("0", "is zero in every row"),
        ("1e-310", "too small to count"),
        ("'x'", "of type String"),
    ],
)
def test_weights_that_are_none_are_named(duckdb, weight, message):
    lazy = duckdb.sql(f"select 'a' as x, {weight} as w from range(2)")
    with pytest.raises(DataError, match=f"'w' .*{message}"):
        opened(lazy, weight="w")


def test_a_column_of_weights_that_is_not_there_is_named(duckdb):
    with pytest.raises(DataError, match="There is no column 'w' to weigh the rows"):
        GreedyTree().fit(duckdb.sql("select 'a' as x"), sample_weight="w")


def test_an_empty_table_is_refused(duckdb):
    with pytest.raises(DataError, match="the table has no rows"):
        opened(duckdb.sql("select 'a' as x from range(0)"))


@pytest.mark.parametrize("engine", DATABASES)
def test_values_outside_a_declared_domain_are_named(as_lazy, engine):
    frame = nasty(strange=True).drop(WEIGHTS)
    with pytest.raises(UnknownValueError, match=r"'name' has no value 'stranger'") as error:
        opened(as_lazy(engine, frame), Reading(domain=DOMAIN))
    assert error.value.feature == "name"


def test_a_number_beyond_the_bins_joins_the_outermost_if_that_was_asked_for(as_lazy):
    domain = Domain((Feature.continuous("x", (0, 1, 2)), Feature.continuous("y", (0, 5, 9), integer=True)))
    frame = pl.DataFrame({"x": [-3.0, 1.0, 2.0, 7.0], "y": [-1, 5, 9, 10]})
    reading, lazy = Reading(domain=domain, unknown="nearest"), as_lazy("duckdb", frame)
    check_counts(opened(lazy, reading), in_memory(frame, reading), [])
    with pytest.raises(UnknownValueError, match="'x' has no value"):
        opened(lazy, Reading(domain=domain))


def test_a_column_of_another_type_or_name_is_refused(duckdb):
    reading = Reading(domain=Domain((Feature.nominal("x", ("1", "2")),)))
    with pytest.raises(DataError, match="'x' holds 1, but text is expected"):
        opened(duckdb.sql("select 1 as x"), reading)
    with pytest.raises(ColumnsError, match="unseen at fit time"):
        opened(duckdb.sql("select '1' as x, 2 as y"), reading)


@pytest.mark.parametrize("sql", ["'inf'::double", "if(range = 150_000, '-inf'::double, 1.5)"])
def test_infinity_is_refused(duckdb, sql):
    with pytest.raises(DataError, match="'x' holds infinity"):
        opened(duckdb.sql(f"select {sql} as x from range(200_000)"))


ROWS = "select range % 5 as five, hash(range) % 11 as eleven, 1 + range % 4 as weight from range(20_000)"


@pytest.mark.parametrize("weight", [None, "weight"])
def test_the_same_seed_draws_the_same_rows_at_any_number_of_threads(duckdb_apart, weight):
    samples = []
    for threads in (1, 2, 4):
        duckdb_apart.execute(f"set threads = {threads}")
        lazy = duckdb_apart.sql(ROWS if weight else f"select five, eleven from ({ROWS})")
        samples.append(opened(lazy, weight=weight).sample(1000, np.random.default_rng(3)))
    duckdb_apart.execute("reset threads")
    for sample in samples[1:]:
        assert sample.codes.tolist() == samples[0].codes.tolist()
        assert sample.weights.tolist() == samples[0].weights.tolist()
    other = opened(lazy, weight=weight).sample(1000, np.random.default_rng(4))
    assert other.weights.tolist() != samples[0].weights.tolist()


@pytest.mark.parametrize(("engine", "weight"), each_with([None, "weight"]))
def test_a_sample_stands_for_the_whole_table(as_lazy, duckdb, engine, weight):
    frame = duckdb.sql(ROWS).pl().cast(pl.Int64)
    frame = frame if weight else frame.drop("weight")
    counted = opened(as_lazy(engine, frame), Reading("nominal"), weight)
    sample = counted.sample(3000, np.random.default_rng(0))
    assert sample.n == pytest.approx(counted.n)
    drawn, all_rows = MemoryEngine(sample).value_weights(), counted.value_weights()
    assert (np.abs(drawn - all_rows) < 5 * np.sqrt(all_rows * counted.n / 3000)).all()
    again = counted.sample(3000, np.random.default_rng(0))
    assert again.codes.tolist() == sample.codes.tolist()
    assert again.weights.tolist() == sample.weights.tolist()


def test_a_sample_larger_than_the_table_is_the_table(as_lazy):
    frame = nasty(50).drop(WEIGHTS)
    reading = Reading(domain=DOMAIN)
    sample = opened(as_lazy("duckdb", frame), reading).sample(50, np.random.default_rng(0))
    assert sample.weights.tolist() == in_memory(frame, reading).table.in_order().weights.tolist()


def test_columns_may_have_the_names_of_our_own(as_lazy):
    names = ["leaf", "weight", "leaf_", "key", "total", "key 0", "rows", "sum 0", "some_rows"]
    frame = pl.DataFrame({name: [i, 1, 0] for i, name in enumerate(names, 2)})
    domain = infer_domain(frame, Reading("nominal"))
    tree = Tree.leaf(domain).split(0, 0, [{0}, {1, 2}])
    for engine in DATABASES:
        counted = opened(as_lazy(engine, frame), Reading("nominal"))
        check_counts(counted, in_memory(frame, Reading("nominal")), [tree])
        assert len(counted.distinct(9)) == 3
        assert len(counted.sample(2, np.random.default_rng(0))) > 0


@pytest.mark.parametrize("engine", DATABASES)
def test_columns_may_have_them_in_other_letters(as_lazy, engine):
    names = ["Leaf", "WEIGHT", "Key", "Total", "Some_Rows"]
    frame = pl.DataFrame({name: [*range(i, 100), *range(i)] for i, name in enumerate(names)})
    frame = frame.with_columns(heavy=pl.Series([1, 2] * 50))
    domain = infer_domain(frame.drop("heavy"), Reading("nominal"))
    tree = Tree.leaf(domain).split(0, 0, [{0}, set(range(1, 100))])
    counted = opened(as_lazy(engine, frame), Reading("nominal"), "heavy")
    check_counts(counted, in_memory(frame, Reading("nominal"), "heavy"), [tree])
    assert len(counted.sample(2, np.random.default_rng(0))) > 0


@pytest.mark.parametrize("engine", DATABASES)
def test_a_tree_may_have_more_leaves_than_a_function_has_arguments(as_lazy, engine):
    frame = pl.DataFrame({"x": [str(i % 300) for i in range(900)]})
    domain = infer_domain(frame, Reading("nominal"))
    tree = Tree.leaf(domain)
    for left in range(150):
        leaf = int(np.flatnonzero(tree.feature == LEAF)[-1])
        tree = tree.split(leaf, 0, [{left}, set(range(left + 1, 300))])
    check_counts(opened(as_lazy(engine, frame), Reading("nominal")), in_memory(frame, Reading("nominal")), [tree])
