"""Conditions as expressions say of every row what its codes in memory say."""

import datetime
import math

import narwhals as nw
import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sparsedensity.domain import Domain, Feature
from sparsedensity.engines.conditions import DEEPEST, UNKNOWN, Columns
from sparsedensity.errors import DataError
from sparsedensity.ingest.columns import column_of_series
from sparsedensity.ingest.encode import encode_column
from sparsedensity.structures import Condition, RuleList, Tree
from tests.engines.lazy import DATABASES, QUERIED
from tests.strategies import rule_lists, trees

DAY = datetime.datetime(2024, 2, 27)
LABELS = ("a", "it's", 'a "b"', "", "ä", "NULL", "%_\\")
NAN = math.nan


def days(least, most):
    return st.integers(least, most).map(lambda day: (DAY + datetime.timedelta(days=day)).date())


def moments(least, most):
    return st.integers(least, most).map(lambda half: DAY + datetime.timedelta(minutes=30 * half, microseconds=half % 2))


KINDS = {
    "text": (Feature.nominal("", LABELS), pl.String, st.sampled_from([*LABELS, "strange", " a", "A"])),
    "truth": (Feature.nominal("", (True,)), pl.Boolean, st.booleans()),
    "truths": (Feature.nominal("", (False, True)), pl.Boolean, st.booleans()),
    "levels": (Feature.ordinal("", (-1, 0, 3)), pl.Int32, st.integers(-2, 4)),
    "real levels": (Feature.ordinal("", (1.0, 2.5, 4)), pl.Int8, st.integers(0, 5)),
    "floats of levels": (
        Feature.ordinal("", (-1, 0, 3, 2.5)),
        pl.Float64,
        st.sampled_from([-1.0, -0.0, 3.0, 2.5, 7.1]),
    ),
    "mixed": (Feature.nominal("", (1, True, "1", 0)), pl.Int64, st.integers(-1, 2)),
    "too large": (Feature.ordinal("", (-300, 5, 2**40)), pl.Int8, st.integers(0, 9)),
    "large": (Feature.ordinal("", (2**53, 2**53 + 1, 5)), pl.Int64, st.sampled_from([2**53 + 1, 2**53, 5, 6])),
    "reals": (
        Feature.continuous("", (0, 0.1, 0.3, 7)),
        pl.Float64,
        st.sampled_from([-0.1, -0.0, 0.1, 0.2, 0.3, 7.0, 7.1]),
    ),
    "small reals": (Feature.continuous("", (0, 0.1, 0.3, 7)), pl.Float32, st.sampled_from([0.0, 0.1, 0.3, 7.0, 7.1])),
    "one number": (Feature.continuous("", (4,)), pl.Float64, st.sampled_from([3.9, 4.0, 4.1])),
    "one whole number": (Feature.continuous("", (4,), integer=True), pl.Int64, st.integers(3, 5)),
    "counts": (Feature.continuous("", (0, 3, 4, 9), integer=True), pl.Int64, st.integers(-1, 10)),
    "counts as floats": (
        Feature.continuous("", (0, 3, 4, 9), integer=True),
        pl.Float64,
        st.integers(-1, 10).map(float),
    ),
    "whole numbers in bins of reals": (Feature.continuous("", (0.5, 2, 3.5, 9)), pl.Int16, st.integers(-1, 10)),
    "years": (Feature.calendar("", "year", (53, 54, 55)), pl.Date, days(-430, 400)),
    "weeks": (Feature.calendar("", "week", (2824, 2825, 2827)), pl.Date, days(-10, 30)),
    "weeks by the hour": (Feature.calendar("", "week", (2824, 2825, 2827)), pl.Datetime("us"), moments(-500, 1500)),
    "hours": (Feature.calendar("", "hour", (474720, 474721, 474725)), pl.Datetime("us"), moments(-3, 12)),
    "hours of days": (Feature.calendar("", "hour", (474720, 474721, 474745)), pl.Date, days(-1, 3)),
    "numbers in words": (Feature.continuous("", (0, 1)), pl.String, st.just("0.5")),
    "words in numbers": (Feature.nominal("", ("1", "2")), pl.Int64, st.integers(0, 3)),
    "nothing": (Feature.nominal("", (), missing=True), pl.String, st.just("a")),
}
"""Of every kind a feature, the type of its column, and values known and unknown."""
NO_NULL = ("weeks by the hour", "hours", "large")
"""Ibis cannot put missing moments into SQLite, and large numbers beside missing ones only as floats."""


@st.composite
def tables(draw, most=12):
    """A domain and rows, some of them outside it."""
    rows, names = (
        draw(st.integers(1, most)),
        draw(st.lists(st.sampled_from(list(KINDS)), min_size=1, max_size=6, unique=True)),
    )
    features, data = [], {}
    for name in names:
        feature, dtype, values = KINDS[name]
        if draw(st.booleans()) and feature.missing is None:
            feature = _with_missing(feature)
        features.append(_named(feature, name))
        some = values if name in NO_NULL else st.one_of(values, st.none(), st.just(NAN) if dtype.is_float() else values)
        data[name] = pl.Series(name, draw(st.lists(some, min_size=rows, max_size=rows)), dtype=dtype)
    return Domain(tuple(features)), pl.DataFrame(data)


def _named(feature, name):
    return Feature(name, feature.kind, feature.values, feature.measures, feature.integer, feature.period)


def _with_missing(feature):
    values, measures = (*feature.values, None), (*feature.measures, 1.0)
    return Feature(feature.name, feature.kind, values, measures, feature.integer, feature.period)


def codes_in_memory(domain, frame, nearest):
    columns = [column_of_series(f.name, nw.from_native(frame[f.name], series_only=True), None) for f in domain]
    return np.stack([encode_column(c, f, nearest, used=False) for c, f in zip(columns, domain, strict=True)], axis=1)


def evaluated(lazy, **expressions):
    """What expressions say of every row, in the order of the rows."""
    found = nw.from_native(lazy).select("row", **expressions).sort("row").collect("pyarrow")
    return {name: found[name].to_list() for name in expressions}


def check_codes(as_lazy, engine, domain, frame, nearest):
    lazy = as_lazy(engine, frame.with_row_index("row").with_columns(pl.col("row").cast(pl.Int64)))
    columns, codes = Columns.of(nw.from_native(lazy)), codes_in_memory(domain, frame, nearest)
    asked = {f"{i} {code}": columns.within(f, {code}, nearest) for i, f in enumerate(domain) for code in range(f.size)}
    asked |= {f"{i} some": columns.within(f, range(0, f.size, 2), nearest) for i, f in enumerate(domain)}
    asked |= {f"{i} known": columns.known(f, nearest) for i, f in enumerate(domain)}
    found = evaluated(lazy, **asked)
    for i, feature in enumerate(domain):
        for code in range(feature.size):
            assert found[f"{i} {code}"] == (codes[:, i] == code).tolist()
        assert found[f"{i} some"] == ((codes[:, i] >= 0) & (codes[:, i] % 2 == 0)).tolist()
        assert found[f"{i} known"] == (codes[:, i] >= 0).tolist()


def check_leaves(as_lazy, engine, frame, structure, nearest, weights=None):
    lazy = as_lazy(engine, frame.with_row_index("row").with_columns(pl.col("row").cast(pl.Int64)))
    found = evaluated(lazy, leaf=Columns.of(nw.from_native(lazy)).leaf_number(structure, nearest, weights))["leaf"]
    codes, domain = codes_in_memory(structure.domain, frame, nearest), structure.domain
    used = np.unique(structure.feature[structure.feature >= 0])
    outside = (codes[:, used] < 0).any(axis=1)
    expected = structure.leaf_numbers(np.maximum(codes, 0).astype(domain.code_type))
    assert found == np.where(outside, UNKNOWN, expected).tolist()


def every_kind():
    """All kinds side by side, with values at and around every edge."""
    rows = {
        "text": [*LABELS, "strange", None],
        "truths": [True, False, None],
        "levels": [-2, -1, 0, 3, 4, None],
        "floats of levels": [-1.0, -0.0, 3.0, 2.5, 7.1, NAN, None],
        "too large": [5, 0, None],
        "reals": [-0.1, 0.0, 0.1, 0.3, 7.0, 7.1, NAN, None],
        "small reals": [0.0, 0.1, 0.3, 7.0, 7.1, NAN, None],
        "counts": [-1, 0, 2, 3, 4, 8, 9, None],
        "years": [datetime.date(2022, 12, 31), datetime.date(2023, 1, 1), datetime.date(2025, 1, 1), None],
        "weeks by the hour": [DAY - datetime.timedelta(hours=hours, microseconds=1) for hours in range(-400, 40, 9)],
        "hours": [DAY + datetime.timedelta(minutes=30 * half) for half in range(-3, 14)],
    }
    length = max(map(len, rows.values()))
    series = [
        pl.Series(name, [values[i % len(values)] for i in range(length)], KINDS[name][1])
        for name, values in rows.items()
    ]
    features = [_named(KINDS[name][0], name) for name in rows]
    return Domain(tuple(f if i % 2 else _with_missing(f) for i, f in enumerate(features))), pl.DataFrame(series)


few = settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
many = settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@many
@given(tables(), st.booleans())
def test_a_row_is_within_the_code_that_memory_gives_it(as_lazy, table, nearest):
    check_codes(as_lazy, "duckdb", *table, nearest)


@pytest.mark.parametrize("engine", DATABASES[1:])
@few
@given(table=tables(), nearest=st.booleans())
def test_so_it_is_in_every_database(as_lazy, engine, table, nearest):
    check_codes(as_lazy, engine, *table, nearest)


@many
@given(st.data(), tables(), st.booleans(), st.booleans())
def test_leaves_are_those_of_memory(as_lazy, data, table, nearest, listed):
    domain, frame = table
    structure = data.draw(rule_lists(domain) if listed else trees(domain))
    weights = np.array(data.draw(st.lists(st.floats(0, 9), min_size=structure.n_leaves, max_size=structure.n_leaves)))
    check_leaves(as_lazy, "duckdb", frame, structure, nearest, weights)


@pytest.mark.parametrize("engine", DATABASES[1:])
@few
@given(data=st.data(), table=tables(), listed=st.booleans())
def test_so_they_are_in_every_database(as_lazy, engine, data, table, listed):
    domain, frame = table
    check_leaves(as_lazy, engine, frame, data.draw(rule_lists(domain) if listed else trees(domain)), False)


@pytest.mark.parametrize("engine", QUERIED)
def test_every_kind_on_every_engine(as_lazy, engine):
    domain, frame = every_kind()
    check_codes(as_lazy, engine, domain, frame, nearest=False)
    check_codes(as_lazy, engine, domain, frame, nearest=True)


@pytest.mark.parametrize("engine", QUERIED)
def test_deep_trees_are_followed_to_their_ends(as_lazy, engine):
    """By choices inside one another, or, beyond what libraries bear, leaf by leaf."""
    for depth in (60, DEEPEST + 10):
        domain = Domain((Feature.ordinal("level", range(depth + 1)), Feature.nominal("sex", ("f", "m"))))
        tree = Tree.leaf(domain).split(0, 1, [{0}, {1}])
        for level in range(depth):
            tree = tree.split(tree.n_nodes - 1, 0, [{level}, set(range(level + 1, depth + 1))])
        rows = [(level, sex) for level in range(-1, depth + 2) for sex in "fm"]
        check_leaves(as_lazy, engine, pl.DataFrame(rows, ["level", "sex"], orient="row"), tree, nearest=False)


@pytest.mark.parametrize("rules", [5, DEEPEST + 10])
def test_long_lists_are_read_from_the_top(as_lazy, rules):
    domain = Domain((Feature.ordinal("level", range(rules + 1)), Feature.nominal("sex", ("f", "m"))))
    listed = RuleList.of(domain, [[Condition(0, i, rules), Condition(1, i % 2, i % 2)] for i in range(rules)])
    rows = [(level, sex) for level in range(-1, rules + 2) for sex in "fm"]
    check_leaves(as_lazy, "duckdb", pl.DataFrame(rows, ["level", "sex"], orient="row"), listed, nearest=False)


def test_values_with_a_branch_each_are_no_deep_choice():
    domain = Domain((Feature.ordinal("level", range(500)),))
    frame = nw.from_native(pl.LazyFrame({"level": range(500)}))
    tree = Tree.leaf(domain).split(0, 0, [{code} for code in range(500)])
    leaves = frame.select(leaf=Columns.of(frame).leaf_number(tree)).collect()["leaf"].to_list()
    assert leaves == list(range(500))


def test_times_of_day_are_told_by_their_hour(duckdb):
    feature = Feature.calendar("seen", "hour of day", (5, 6, 24), missing=True)
    frame = nw.from_native(
        duckdb.sql("select unnest([time '04:59:59', '05:00', '05:59:59.9', '23:59:59', null]) as seen")
    )
    columns = Columns.of(frame)
    found = (
        frame.select(**{f"c{code}": columns.within(feature, {code}) for code in range(3)})
        .collect()
        .to_dict(as_series=False)
    )
    assert found == {
        "c0": [False, True, True, False, False],
        "c1": [False, False, False, True, False],
        "c2": [False, False, False, False, True],
    }


def test_moments_are_told_by_the_clock_of_their_zone(duckdb_apart):
    duckdb_apart.execute("set timezone = 'Asia/Kolkata'")
    try:
        frame = nw.from_native(duckdb_apart.sql("select timestamptz '2023-12-31 18:30:00+00' as seen"))
        columns, feature = Columns.of(frame), Feature.calendar("seen", "year", (53, 54, 55))
        assert frame.select(new=columns.within(feature, {1})).collect()["new"].to_list() == [True]
    finally:
        duckdb_apart.execute("reset timezone")


def test_enums_and_decimals_are_texts_and_numbers(duckdb_apart):
    frame = nw.from_native(duckdb_apart.sql("select 'b'::enum('a', 'b') as word, 1.10::decimal(5, 2) as price"))
    columns = Columns.of(frame)
    word, price = Feature.nominal("word", ("b", "c")), Feature.ordinal("price", (1.1, 2))
    found = frame.select(word=columns.within(word, {0}), price=columns.within(price, {0})).collect()
    assert found.rows() == [(True, True)]


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("select uuid() as x", "'x' is of type Unknown, which is neither text"),
        ("select 1::hugeint as x", "'x' holds whole numbers beyond 64 bits"),
        ("select [1, 2] as x", "'x' is of type List"),
    ],
)
def test_a_column_of_no_use_is_named(duckdb, sql, message):
    columns = Columns.of(nw.from_native(duckdb.sql(sql)))
    with pytest.raises(DataError, match=message):
        columns.within(Feature.nominal("x", ("a",)), {0})
