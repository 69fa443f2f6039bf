"""Two tables compared by leaves that were fitted to both: nothing may depend on which row is whose."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparsedensity import Domain, Feature, GreedyTree, Histogram, LeafSparseTree, SparseRuleList, compare, datasets
from sparsedensity.density.comparison import same_shares
from sparsedensity.errors import ColumnsError, DataError, DataWarning, ParameterError
from sparsedensity.models.parameters import generator
from sparsedensity.report.comparison import FRACTIONAL

PEOPLE = datasets.load("titanic")
ORDER = np.random.default_rng(0).permutation(PEOPLE.height)
FIRST, SECOND = PEOPLE[ORDER[:700]], PEOPLE[ORDER[700:]]
MIXED = pl.DataFrame(
    {
        "n": np.random.default_rng(1).normal(size=600).round(2),
        "k": np.random.default_rng(2).integers(0, 60, 600),
        "c": np.random.default_rng(3).choice(["a", "b", "c"], 600),
    }
)


def result(compared):
    """What must not change: the test, the distance and the leaves."""
    return compared.as_dict()


@pytest.mark.parametrize(
    "model", [None, GreedyTree(), LeafSparseTree(max_leaves=6, search="anneal", iterations=2000), Histogram()]
)
def test_the_order_of_rows_does_not_matter(model):
    rng = np.random.default_rng(4)
    shuffled = [table[rng.permutation(table.height)] for table in (FIRST, SECOND)]
    assert result(compare(*shuffled, model=model)) == result(compare(FIRST, SECOND, model=model))


@pytest.mark.parametrize("model", [None, GreedyTree(bins="quantile"), SparseRuleList(max_rules=3, iterations=20_000)])
def test_which_table_is_first_does_not_matter(model):
    one, other = (compare(*tables, model=model) for tables in ((MIXED[:200], MIXED[200:]), (MIXED[200:], MIXED[:200])))
    assert (one.p_value, one.distance) == (other.p_value, pytest.approx(other.distance))
    assert [d.text for d in one.differences] == [d.text for d in other.differences]
    assert [d.difference for d in one.differences] == pytest.approx([-d.difference for d in other.differences])


@settings(max_examples=20)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(1, 4), st.booleans()), min_size=2))
def test_weights_that_count_rows_are_the_rows_written_out(rows):
    frame = pl.DataFrame(rows, schema=["a", "b", "n", "late"], orient="row")
    frame = frame.with_columns(late=pl.Series([False, *frame["late"][1:-1], True]))
    counted = frame.partition_by("late", as_dict=True)
    early, late = counted[False,], counted[True,]
    written = [side.select(pl.all().repeat_by("n").explode()) for side in (early, late)]
    model = GreedyTree(kinds={"a": "nominal", "b": "nominal"})
    weighted = compare(
        early.select("a", "b"), late.select("a", "b"), model=model, weights_before=early["n"], weights_after=late["n"]
    )
    assert result(weighted) == result(compare(*(side.select("a", "b") for side in written), model=model))


def test_the_counts_are_those_of_the_leaves_of_a_model_of_both():
    compared = compare(FIRST, SECOND, names=("one", "two"))
    both = LeafSparseTree(max_leaves=12).fit(PEOPLE)
    assert [d.text for d in compared.differences] == [str(leaf) for leaf in both.leaves_]
    first, second = (np.bincount(both.apply(side), minlength=both.n_leaves_).astype(float) for side in (FIRST, SECOND))
    assert compared.test == same_shares(first, second, rng=generator(0))
    assert [d.expected for d in compared.differences] == pytest.approx(first / 700)
    assert [d.observed for d in compared.differences] == pytest.approx(second / 1501)
    assert compare(FIRST, SECOND, permutations=99).test == same_shares(first, second, 99, generator(0))
    assert "two compared with one" in compared.to_text(100)
    assert "one: 700 rows, two: 1,501 rows" in compared.to_html()


def test_equal_tables_have_distance_0_and_other_tables_do_not():
    assert (compare(PEOPLE, PEOPLE).p_value, compare(PEOPLE, PEOPLE).distance) == (1, 0)
    women = PEOPLE.filter(pl.col("sex") == "female").drop("sex")
    men = PEOPLE.filter(pl.col("sex") == "male").drop("sex")
    compared = compare(women, men)
    assert compared.p_value == 1 / 10_000
    assert compared.distance > 0.4
    assert compared.verdict.startswith("The tables differ (p = 0.0001)")


def test_a_single_leaf_cannot_differ():
    compared = compare(FIRST, SECOND.head(100), model=LeafSparseTree(max_leaves=1))
    assert (compared.p_value, compared.test.freedom) == (1, 0)


def test_fractional_weights_give_no_p_value_and_one_sentence_why():
    weights = np.random.default_rng(5).random(FIRST.height)
    compared = compare(FIRST, SECOND, weights_before=weights)
    assert compared.p_value is None
    assert compared.verdict == f"No p-value: {FRACTIONAL}"
    order = np.random.default_rng(6).permutation(FIRST.height)
    assert result(compare(FIRST[order], SECOND, weights_before=weights[order])) == result(compared)


@pytest.mark.filterwarnings("ignore:overflow encountered")
def test_weights_that_only_both_tables_together_make_too_large_are_refused_in_one_sentence():
    table = pl.DataFrame({"x": ["a", "b"]})
    with pytest.raises(DataError, match=r"weights_before or weights_after is 8e\+307, too large to add up"):
        compare(table, table, weights_before=[8e307, 0.5], weights_after=[8e307, 0.5])


def test_rows_of_weight_0_do_not_count():
    odd = pl.concat([FIRST, pl.DataFrame({"class": ["x"], "sex": ["male"], "age": ["adult"]})])
    compared = compare(odd, SECOND, weights_before=[1] * 700 + [0])
    assert result(compared) == result(compare(FIRST, SECOND))


def test_the_domain_is_that_of_both_tables():
    one = pl.DataFrame({"x": [1.5, 2.5] * 50, "who": ["a", "b"] * 50})
    other = pl.DataFrame({"x": [7, 9] * 50, "who": ["c", None] * 50})
    compared = compare(one, other)
    assert [kind for _, kind, _ in compared.report.features] == ["continuous", "nominal"]
    assert {"a, b, c or missing"} <= {values for *_, values in compared.report.features}
    assert compared.differences[-1].leaf is not None
    assert compared.p_value < 0.001
    assert compare(other, one).p_value == compared.p_value


@pytest.mark.parametrize("kind", ["pandas", "arrow", "records", "array"])
def test_tables_of_any_kind_can_be_compared(kind):
    makers = {
        "pandas": lambda t: t.to_pandas(),
        "arrow": lambda t: t.to_arrow(),
        "records": lambda t: t.to_dicts(),
        "array": lambda t: t.to_numpy(),
    }
    expected = result(compare(FIRST, SECOND))
    compared = compare(makers[kind](FIRST), makers[kind](SECOND))
    assert [leaf["weight"] for leaf in result(compared)["leaves"]] == [leaf["weight"] for leaf in expected["leaves"]]
    assert compared.p_value == expected["p_value"]
    if kind != "array":
        assert result(compare(makers[kind](FIRST), SECOND)) == expected


def test_arrays_of_whole_numbers_can_be_compared():
    numbers = np.random.default_rng(0).integers(0, 3, (300, 3))
    same = compare(numbers[:100], numbers[100:])
    assert result(same) == result(compare(numbers[:100].tolist(), numbers[100:].tolist()))
    wide = compare(np.array([[2**63 + 5], [2**63 + 9]], np.uint64), np.array([[1], [2]], np.int64))
    assert wide.rows == 2


def test_declared_categories_keep_their_order_and_text_joins_them():
    order = pd.CategoricalDtype(["low", "mid", "high"], ordered=True)
    one = pd.DataFrame({"level": pd.Categorical(["low", "mid"] * 20, dtype=order)})
    other = pd.DataFrame({"level": ["high", "mid"] * 20})
    compared = compare(one, other)
    assert list(compared.report.features) == [("level", "ordinal", "low to high")]
    assert result(compare(one, other))["p_value"] == result(compare(other, one))["p_value"]
    plain = pd.DataFrame({"level": pd.Categorical(["b", "a"], categories=["b", "a"])})
    ((*_, values),) = compare(plain, pd.DataFrame({"level": ["c", "c"]})).report.features
    assert values == "a, b or c"
    backwards = pd.DataFrame({"level": pd.Categorical(["low"], categories=["high", "mid", "low"], ordered=True)})
    with pytest.raises(DataError, match="The categories of 'level' are ordered differently"):
        compare(one, backwards)


def test_a_column_that_is_missing_in_one_table_has_the_type_of_the_other():
    one = pl.DataFrame({"a": ["x", "y"] * 10, "b": [1, 2] * 10})
    other = pl.DataFrame({"a": [None] * 4, "b": [1, 1, 2, 2]}, schema={"a": pl.Float64, "b": pl.Int64})
    for tables in ((one, other), (other, one)):
        assert [values for *_, values in compare(*tables).report.features] == ["x, y or missing", "1 or 2"]
    nothing = pl.DataFrame({"a": pl.Series([None], dtype=pl.String), "b": [1]})
    with pytest.warns(DataWarning, match="'a' is missing in every row"):
        assert compare(nothing, other).fitted == 1


def test_dates_are_joined_and_identifiers_left_out():
    days = pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 12, 30), eager=True)
    table = pl.DataFrame({"day": days, "name": [f"row {i}" for i in range(365)], "c": ["a", "b", "c", "a", "b"] * 73})
    with pytest.warns(DataWarning, match="'name' looks like an identifier"):
        compared = compare(table[:180], table[180:])
    assert [feature[:2] for feature in compared.report.features] == [("day", "ordinal"), ("c", "nominal")]
    assert compare(table[:180].drop("name"), table[180:].drop("name"), model=Histogram()).distance > 0.9


def test_bad_input_is_named():
    with pytest.raises(DataError, match="'age' holds 'adult' in one table and 3 in the other"):
        compare(FIRST, SECOND.with_columns(age=pl.lit(3)))
    with pytest.raises(ColumnsError, match="Only the first table has a column 'age'"):
        compare(FIRST, SECOND.drop("age"))
    with pytest.raises(ColumnsError, match="Only the second table has a column 'age'"):
        compare(FIRST.drop("age"), SECOND)
    with pytest.raises(ColumnsError, match="in the same order: class, sex, age"):
        compare(FIRST, SECOND.select("age", "sex", "class"))
    with pytest.raises(ColumnsError, match="The first table has 2 columns, the second 3"):
        compare(np.zeros((4, 2)), np.zeros((4, 3)))
    with pytest.raises(DataError, match="weights_after has 1 entries for 1,501 rows"):
        compare(FIRST, SECOND, weights_after=[1.0])
    with pytest.raises(DataError, match="no rows"):
        compare(FIRST, SECOND.head(0))
    with pytest.raises(DataError, match="Every row of the second table has a missing value"):
        compare(
            FIRST, SECOND.with_columns(age=pl.lit(None, pl.String)), model=GreedyTree(missing="drop"), permutations=9
        )


@pytest.mark.parametrize("permutations", [0, -1, 2.5, True, "many", 10**9])
def test_permutations_are_a_number(permutations):
    with pytest.raises(ParameterError, match=r"^permutations must be a whole number from 1 to 10,000,000, or None"):
        compare(FIRST, SECOND, permutations=permutations)


def test_a_model_that_could_know_which_row_is_whose_is_refused():
    with pytest.raises(ParameterError, match="honest must be None if two tables are compared"):
        compare(FIRST, SECOND, model=GreedyTree(honest=0.5))
    with pytest.raises(ParameterError, match="warm_start_from must be None or 'greedy' if two tables are compared"):
        compare(FIRST, SECOND, model=LeafSparseTree(warm_start_from=GreedyTree().fit(FIRST)))
    with pytest.raises(ParameterError, match="model must be an estimator"):
        compare(FIRST, SECOND, model="leaf")
    small = Domain((Feature.nominal("class", ("1st",)), *Domain.infer(FIRST.drop("class"))))
    with pytest.raises(DataError, match="'class' has no value"):
        compare(FIRST, SECOND, model=GreedyTree(domain=small))


def test_the_estimator_that_was_given_stays_as_it_was():
    model = GreedyTree(max_leaves=3)
    assert len(compare(FIRST, SECOND, model=model).differences) == 3
    assert not hasattr(model, "density_")
