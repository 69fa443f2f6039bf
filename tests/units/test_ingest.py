"""The door for data: what a column is taken for, how it is binned, and what its values are worth."""

import math
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from sparsedensity import Domain, Feature, GreedyTree, Histogram
from sparsedensity.domain import Bin
from sparsedensity.errors import DataError, DataWarning, ParameterError, UnknownValueError
from sparsedensity.estimators import ESTIMATORS
from sparsedensity.ingest import Reading, open_source, read_table
from sparsedensity.ingest.decode import decode
from sparsedensity.ingest.features import weighted_quantiles

every_estimator = pytest.mark.parametrize("kind", ESTIMATORS.values(), ids=ESTIMATORS)
pytestmark = pytest.mark.filterwarnings("ignore:The chains do not agree")

SMALL = {
    "LeafSparseTree": {"max_leaves": 3},
    "BranchSparseTree": {"max_leaves": 3},
    "SparseRuleList": {"max_rules": 2, "iterations": 20, "restarts": 1},
    "GreedyTree": {"max_leaves": 20},
}
"""Short searches among very many values."""


def only(table, **options) -> Feature:
    """The one feature of a table of one column."""
    (feature,) = Domain.infer(table, **options)
    return feature


def frames(values, name="a"):
    """One column as pandas, Polars, PyArrow, NumPy and records."""
    return {
        "pandas": pd.DataFrame({name: values}),
        "polars": pl.DataFrame({name: values}),
        "pyarrow": pa.table({name: values}),
        "numpy": np.array(values).reshape(-1, 1),
        "objects": np.array(values, object).reshape(-1, 1),
        "records": [{name: value} for value in values],
    }


every_frame = pytest.mark.parametrize("frame", frames([1]))


class TestKinds:
    @every_frame
    def test_text_is_nominal_and_sorted(self, frame):
        feature = only(frames(["b", "a", "c", "a"])[frame])
        assert (feature.kind, feature.values, feature.measures) == ("nominal", ("a", "b", "c"), (1.0,) * 3)

    @every_frame
    def test_truth_values_are_nominal(self, frame):
        feature = only(frames([True, False, True])[frame])
        assert (feature.kind, feature.values) == ("nominal", (False, True))
        assert all(type(value) is bool for value in feature.values)

    @every_frame
    def test_a_truth_value_that_never_occurs_is_not_in_the_domain(self, frame):
        assert only(frames([True, True])[frame]).values == (True,)

    @every_frame
    def test_floats_are_continuous_in_ten_bins(self, frame):
        feature = only(frames([0.0, 2.5, 5.0])[frame])
        assert (feature.kind, feature.size, feature.integer) == ("continuous", 10, False)
        assert_allclose(feature.edges, np.linspace(0, 5, 11))
        assert_allclose(feature.measures, 0.5)

    @every_frame
    def test_whole_numbers_are_ordinal_up_to_twenty_values(self, frame):
        feature = only(frames([7 * i for i in range(20)] * 2)[frame])
        assert (feature.kind, feature.values) == ("ordinal", tuple(7 * i for i in range(20)))
        assert all(type(value) is int for value in feature.values)

    @every_frame
    def test_floats_that_hold_only_whole_numbers_are_whole_numbers(self, frame):
        few, many = ([float(i) for i in range(size)] for size in (20, 21))
        assert only(frames(few)[frame]) == only(frames(list(range(20)))[frame])
        assert only(frames(many)[frame]) == only(frames(list(range(21)))[frame])
        model = Histogram().fit(frames([1.0, 2.0, 2.0])[frame])
        with pytest.warns(DataWarning, match=r"has no value 1\.5"):
            assert np.isneginf(model.score_samples(frames([1.5, 2.0])[frame])).tolist() == [True, False]

    @every_frame
    def test_one_word_is_the_kind_of_all_columns_that_it_suits(self, frame):
        numbers, texts = frames([1, 2, 3])[frame], frames(["u", "v", "w"])[frame]
        for kind in ("nominal", "ordinal", "continuous"):
            assert only(numbers, kinds=kind).kind == kind
            assert only(texts, kinds=kind).kind == "nominal"
        assert only(numbers, kinds="nominal").values == (1, 2, 3)
        with pytest.raises(ParameterError, match="kinds must be 'nominal'"):
            Domain.infer(numbers, kinds="whatever")

    @every_frame
    def test_whole_numbers_of_more_than_twenty_values_are_continuous(self, frame):
        feature = only(frames(list(range(21)))[frame])
        assert (feature.kind, feature.integer, feature.size) == ("continuous", True, 10)
        assert sum(feature.measures) == 21

    def test_a_wide_array_of_integers_is_decided_column_by_column(self):
        table = np.stack([np.arange(100) % 3, np.arange(100), np.arange(100) * 10**9], axis=1)
        table[0, 1] = 7
        assert [feature.kind for feature in Domain.infer(table)] == ["ordinal", "continuous", "continuous"]
        as_frame = pl.DataFrame(table, schema=["x0", "x1", "x2"])
        assert Domain.infer(table) == Domain.infer(as_frame)
        assert Domain.infer(table, kinds="nominal") == Domain.infer(as_frame, kinds="nominal")

    def test_an_ordered_categorical_is_ordinal_and_keeps_its_order(self):
        sizes = pd.Categorical(["S", "L"], categories=["S", "M", "L"], ordered=True)
        feature = only(pd.DataFrame({"a": sizes}))
        assert (feature.kind, feature.values) == ("ordinal", ("S", "M", "L"))

    def test_an_unordered_categorical_is_nominal_and_declares_its_categories(self):
        feature = only(pd.DataFrame({"a": pd.Categorical(["x"], categories=["z", "x", "y"])}))
        assert (feature.kind, feature.values) == ("nominal", ("z", "x", "y"))

    def test_a_polars_enum_declares_its_categories_in_order(self):
        feature = only(pl.DataFrame({"a": pl.Series(["L", "S"], dtype=pl.Enum(["S", "M", "L"]))}))
        assert (feature.kind, feature.values) == ("ordinal", ("S", "M", "L"))

    def test_a_polars_categorical_declares_nothing(self):
        kept = pl.Series("a", ["elsewhere", "x", "y"], dtype=pl.Categorical)
        feature = only(pl.DataFrame({"a": kept}).filter(pl.col("a") != "elsewhere"))
        assert (feature.kind, feature.values) == ("nominal", ("x", "y"))

    @pytest.mark.parametrize("ordered", [False, True])
    def test_a_pyarrow_dictionary_declares_its_values(self, ordered):
        column = pa.DictionaryArray.from_arrays(pa.array([2, 0, None]), pa.array(["S", "M", "L"]), ordered=ordered)
        feature = only(pa.table({"a": column}))
        assert feature.kind == ("ordinal" if ordered else "nominal")
        assert feature.values == ("S", "M", "L", None)

    def test_chunks_of_a_pyarrow_dictionary_may_have_dictionaries_of_their_own(self):
        chunks = [pa.array(["b", "a"]).dictionary_encode(), pa.array(["c", "b"]).dictionary_encode()]
        model = Histogram().fit(pa.table({"a": pa.chunked_array(chunks)}))
        assert model.probability({"a": "b"}) == pytest.approx(3 / 7)
        assert set(model.domain_["a"].values) == {"a", "b", "c"}

    def test_a_dictionary_may_come_through_pandas_or_hold_a_null(self):
        words = pa.DictionaryArray.from_arrays(pa.array([0, 2]), pa.array(["x", "y", "z"]))
        through = pd.DataFrame({"a": pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([words])))})
        assert only(through).values == ("x", "y", "z")
        with_null = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["x", None]))
        assert only(pa.table({"a": with_null})).values == ("x", None)

    def test_a_masked_entry_is_missing(self):
        table = np.ma.masked_array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
        assert [feature.values for feature in Domain.infer(table)] == [(1, 3), (4, None)]

    def test_text_of_any_length_is_text(self):
        table = np.array([["b"], ["a"]], np.dtypes.StringDType())
        assert only(table) == only(np.array([["b"], ["a"]]))

    @pytest.mark.parametrize(
        "declared",
        [
            pd.DataFrame({"a": pd.Categorical(["x", "x", "y"], categories=["x", "y", "never"])}),
            pl.DataFrame({"a": pl.Series(["x", "x", "y"], dtype=pl.Enum(["x", "y", "never"]))}),
            pa.table({"a": pa.DictionaryArray.from_arrays([0, 0, 1], ["x", "y", "never"])}),
        ],
        ids=["pandas", "polars", "pyarrow"],
    )
    @every_estimator
    def test_a_declared_category_that_never_occurs_counts_in_the_volume(self, kind, declared):
        model = kind().fit(declared)
        assert math.exp(model.domain_.log_volume) == pytest.approx(3)
        assert model.probability({"a": "never"}) > 0
        assert sum(leaf.volume for leaf in model.leaves_) == pytest.approx(3)
        assert model.probability({"a": ["x", "y", "never"]}) == pytest.approx(1)

    def test_categories_may_be_numbers_truths_and_intervals(self):
        numbers = only(pd.DataFrame({"a": pd.Categorical([3, 1], categories=[3, 1, 2], ordered=True)}))
        assert numbers.values == (3, 1, 2)
        truths = only(pd.DataFrame({"a": pd.Categorical([True, False])}))
        assert truths.values == (False, True)
        cut = only(pd.DataFrame({"a": pd.cut(pd.Series([1.0, 5.0]), [0, 2, 9])}))
        assert (cut.kind, cut.values) == ("ordinal", ("(0, 2]", "(2, 9]"))

    def test_a_kind_may_be_told(self):
        table = pd.DataFrame({"a": [1, 2, 3, 10]})
        assert only(table, kinds={"a": "ordinal"}).values == (1, 2, 3, 10)
        assert only(table, kinds={"a": "ordinal"}).kind == "ordinal"
        assert only(table, kinds={"a": "continuous"}).kind == "continuous"
        many = np.arange(30).reshape(-1, 1)
        assert only(many, kinds={"x0": "nominal"}).size == 30
        assert only(np.array([[0.5], [2.5]]), kinds={"x0": "nominal"}).values == (0.5, 2.5)
        assert only(np.array([[0.5], [2.5]]), kinds={"x0": "ordinal"}).kind == "ordinal"

    @pytest.mark.parametrize("make", [list, tuple, np.array, pd.Series], ids=["list", "tuple", "array", "series"])
    def test_a_kind_may_be_the_values_in_order(self, make):
        feature = only(pd.DataFrame({"a": ["M", "S"]}), kinds={"a": make(["S", "M", "L"])})
        assert (feature.kind, feature.values) == ("ordinal", ("S", "M", "L"))
        feature = only(np.array([[1], [3]]), kinds={"x0": make([3, 2, 1])})
        assert (feature.kind, feature.values) == ("ordinal", (3, 2, 1))
        assert all(type(value) is int for value in feature.values)

    def test_the_values_in_order_keep_missing_apart(self):
        assert only(pd.DataFrame({"a": ["M", None]}), kinds={"a": ["S", "M"]}).values == ("S", "M", None)

    def test_text_called_ordinal_without_an_order_is_taken_alphabetically_with_a_warning(self):
        with pytest.warns(DataWarning, match=r"'a'.*alphabetically.*'high' first.*kinds=\{'a': \[...\]\}"):
            feature = only(pd.DataFrame({"a": ["low", "high"]}), kinds={"a": "ordinal"})
        assert feature.values == ("high", "low")

    def test_decimals_are_numbers(self):
        table = pl.DataFrame({"a": pl.Series(["1.5", "2.5"]).cast(pl.Decimal(10, 2))})
        assert only(table) == only(pl.DataFrame({"a": [1.5, 2.5]}))

    @pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint32, np.uint64, np.float32, np.float16])
    def test_every_width_of_number_is_read(self, dtype):
        values = np.array([[1], [2], [100]], dtype)
        assert Domain.infer(values) == Domain.infer(pd.DataFrame(values, columns=["x0"]))
        assert np.isfinite(Histogram().fit(values).score_samples(values)).all()

    def test_a_frame_whose_columns_have_no_names_is_read_like_an_array(self):
        values = np.array([[1, 2], [3, 4]])
        model = Histogram().fit(pd.DataFrame(values))
        assert not hasattr(model, "feature_names_in_")
        assert_array_equal(model.score_samples(values), model.score_samples(pd.DataFrame(values)))


class TestBins:
    def test_equal_widths_span_the_data(self):
        feature = only(np.array([[-1.0], [0.3], [3.0]]), bins=4)
        assert feature.values == (Bin(-1, 0), Bin(0, 1), Bin(1, 2), Bin(2, 3))
        assert feature.measures == (1.0,) * 4

    def test_the_last_bin_holds_its_upper_end_and_others_do_not(self):
        domain = Domain((Feature.continuous("x0", (0, 1, 2)),))
        table = np.array([[0.0], [0.999], [1.0], [2.0]])
        assert Histogram(domain=domain).fit(table).probability({"x0": (1, 2)}) == pytest.approx(3 / 6)

    def test_quantile_bins_hold_equal_weight(self):
        numbers = np.random.default_rng(0).exponential(size=1000)
        feature = only(numbers.reshape(-1, 1), bins="quantile:4")
        assert_allclose(feature.edges[1:-1], np.quantile(numbers, [0.25, 0.5, 0.75]), rtol=0.02)
        counts = np.histogram(numbers, feature.edges)[0]
        assert counts.max() - counts.min() <= 2

    def test_quantile_without_a_number_is_ten(self):
        numbers = np.arange(1000.0).reshape(-1, 1)
        assert only(numbers, bins="quantile") == only(numbers, bins="quantile:10")

    @given(st.lists(st.tuples(st.integers(-50, 50), st.integers(1, 4)), min_size=1, max_size=30), st.integers(1, 6))
    def test_weighted_quantiles_are_those_of_repeated_rows(self, pairs, count):
        numbers, weights = (np.array(column, float) for column in zip(*pairs, strict=True))
        repeated = np.repeat(numbers, weights.astype(int))
        assert_array_equal(weighted_quantiles(numbers, weights, count), weighted_quantiles(repeated, None, count))

    @given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 5)), min_size=2, max_size=20), st.floats(0.01, 1000))
    def test_the_unit_of_the_weights_does_not_move_the_quantiles(self, pairs, unit):
        numbers, weights = (np.array(column, float) for column in zip(*pairs, strict=True))
        assert_array_equal(weighted_quantiles(numbers, weights, 4), weighted_quantiles(numbers, unit * weights, 4))

    def test_equal_quantiles_merge(self):
        feature = only(np.array([0.0] * 90 + [1.5] * 5 + [2.0] * 5).reshape(-1, 1), bins="quantile:10")
        assert len(set(feature.edges)) == feature.size + 1
        assert all(width > 0 for width in feature.measures)
        assert (feature.edges[0], feature.edges[-1]) == (0, 2)

    def test_given_edges_are_taken_and_equal_ones_merge(self):
        feature = only(np.array([[1.2], [2.0]]), bins=[0, 1.5, 1.5, 4, 4])
        assert feature.values == (Bin(0, 1.5), Bin(1.5, 4))

    def test_edges_may_be_given_out_of_order_and_by_column(self):
        table = pd.DataFrame({"f": [1.5, 2.0], "g": [0.5, 10.0]})
        f, g = Domain.infer(table, bins={"f": np.array([4, 0, 2])})
        assert f.values == (Bin(0, 2), Bin(2, 4))
        assert g.size == 10

    def test_a_constant_column_is_one_bin_of_measure_one(self):
        for bins in (10, "quantile", 1):
            feature = only(np.full((5, 1), 3.5), bins=bins)
            assert (feature.values, feature.measures) == ((Bin(3.5, 3.5),), (1.0,))
        feature = only(np.full((5, 1), 3), kinds={"x0": "continuous"})
        assert (feature.values, feature.measures) == ((Bin(3, 3),), (1.0,))

    def test_numbers_next_to_each_other_are_one_bin(self):
        low = 1.0
        high = np.nextafter(low, 2)
        model = Histogram().fit(np.array([[low], [high]]))
        assert model.domain_.sizes == (1,)
        assert np.isfinite(model.score_samples(np.array([[low], [high]]))).all()

    @given(st.integers(-1000, 1000), st.integers(20, 3000), st.integers(1, 30), st.sampled_from(["{}", "quantile:{}"]))
    def test_a_bin_of_integers_measures_how_many_it_holds(self, low, span, count, form):
        numbers = np.arange(low, low + span + 1)
        feature = only(numbers.reshape(-1, 1), bins=form.format(count), kinds={"x0": "continuous"})
        held = np.histogram(numbers, [*feature.edges[:-1], feature.edges[-1] - 0.5])[0].tolist()
        assert list(feature.measures) == held
        assert sum(held) == len(numbers)
        assert all(held)

    def test_given_edges_of_integers_count_both_ends(self):
        feature = only(np.arange(30).reshape(-1, 1), bins=[0, 9.5, 29])
        assert feature.values == (Bin(0, 10), Bin(10, 30))
        assert feature.measures == (10, 20)

    @pytest.mark.parametrize("bins", [1, 4])
    @pytest.mark.parametrize("form", [np.asarray, lambda x: pd.DataFrame(x, columns=["x0"])], ids=["array", "frame"])
    def test_the_first_integer_beyond_the_last_bin_is_outside(self, bins, form):
        model = Histogram(bins=bins).fit(form(np.arange(30).reshape(-1, 1)))
        asked = form(np.array([[0], [29], [30], [-1]]))
        with pytest.warns(DataWarning, match=r"2 rows.*'x0' has no value 30.*0 to 29"):
            logs = model.score_samples(asked)
        assert_array_equal(np.isfinite(logs), [True, True, False, False])

    @pytest.mark.parametrize("dtype", [np.int64, np.uint64])
    @pytest.mark.parametrize("bins", [10, "quantile"])
    def test_integers_too_large_for_a_float_are_binned(self, dtype, bins):
        top = 2**62 if dtype == np.int64 else 2**64 - 1
        spread = np.random.default_rng(0).integers(2**60, top, (200, 1), dtype=dtype)
        close = (np.arange(100, dtype=dtype) + dtype(2**60 + 129)).reshape(-1, 1)
        for table in (spread, close):
            assert np.isfinite(Histogram(bins=bins).fit(table).score_samples(table)).all()

    def test_every_row_that_was_fitted_lies_in_the_domain(self):
        rng = np.random.default_rng(3)
        for scale in (1e-300, 1e-9, 1.0, 1e15, 1e300):
            table = rng.normal(size=(50, 2)) * scale
            for bins in (1, 7, "quantile:7"):
                assert np.isfinite(Histogram(bins=bins).fit(table).score_samples(table)).all()


class TestMissing:
    @every_frame
    def test_a_missing_value_is_a_value_of_its_own(self, frame):
        if frame == "numpy":
            pytest.skip("an array of text has no missing value")
        feature = only(frames(["a", None, "b"])[frame])
        assert (feature.values, feature.measures, feature.missing) == (("a", "b", None), (1.0,) * 3, 2)

    def test_no_missing_value_no_missing_category(self):
        assert only(pd.DataFrame({"a": ["x", "y"]})).missing is None
        assert only(np.array([[0.0], [1.0]])).missing is None

    @pytest.mark.parametrize("bins", [4, "quantile:4", [0, 1, 10]])
    def test_missing_measures_the_mean_bin_of_a_continuous_column(self, bins):
        feature = only(np.array([[0.0], [1.0], [2.0], [10.0], [np.nan]]), bins=bins)
        widths = feature.measures[:-1]
        assert feature.values[-1] is None
        assert feature.measures[-1] == pytest.approx(sum(widths) / len(widths))

    def test_missing_measures_one_in_a_constant_column(self):
        assert only(np.array([[5.0], [np.nan]])).measures == (1.0, 1.0)

    def test_dropping_leaves_rows_with_a_missing_value_out_before_inferring(self):
        table = pd.DataFrame({"f": [0.0, 1.0, 99.0, np.nan], "a": ["x", "y", None, "z"]})
        weights = [1, 2, 3, 4]
        model = Histogram(missing="drop", bins=2).fit(table, sample_weight=weights)
        assert model.domain_ == Domain.infer(table.head(2), bins=2)
        assert model.domain_ == Domain.infer(table, bins=2, missing="drop")
        assert model.density_.weights.sum() == 3

    def test_dropping_every_row_is_refused(self):
        table = pd.DataFrame({"f": [np.nan, 1.0], "a": ["x", None]})
        with pytest.raises(DataError, match=r"Every row has a missing value.*missing='category'"):
            Histogram(missing="drop").fit(table)

    def test_missing_values_are_refused_where_asked(self):
        table = pd.DataFrame({"a": ["x", "y"], "f": [0.0, np.nan]})
        with pytest.raises(DataError, match=r"'f' is missing at row 1.*missing='category' or missing='drop'"):
            Histogram(missing="error").fit(table)
        assert Histogram(missing="error").fit(table, sample_weight=[1, 0]).n_leaves_ == 1

    def test_a_missing_value_that_never_occurred_is_outside_the_domain(self):
        model = Histogram().fit(pd.DataFrame({"a": ["x", "y"]}))
        with pytest.warns(DataWarning, match="'a' has no value None"):
            assert model.score_samples(pd.DataFrame({"a": ["x", None]}))[1] == -np.inf

    def test_a_declared_missing_value_that_never_occurs_counts(self):
        domain = Domain((Feature.nominal("a", ("x", "y"), missing=True),))
        model = Histogram(domain=domain).fit(pd.DataFrame({"a": ["x", "y"]}))
        assert model.probability({"a": None}) == pytest.approx(1 / 5)

    def test_every_spelling_of_missing_is_one(self):
        spelled = pd.DataFrame({"a": ["x", None, np.nan, pd.NA, pd.NaT]}, dtype=object)
        assert only(spelled).values == ("x", None)
        assert Histogram().fit(spelled).probability({"a": None}) == pytest.approx(5 / 7)

    def test_missing_whole_numbers_do_not_become_floats(self):
        for table in (
            pd.DataFrame({"a": pd.array([1, None, 3], "Int64")}),
            pl.DataFrame({"a": [1, None, 3]}),
            pa.table({"a": [1, None, 3]}),
            [{"a": 1}, {"a": None}, {"a": 3}],
            [{"a": 1}, {}, {"a": 3}],
        ):
            assert only(table).values == (1, 3, None)

    def test_missing_truth_values_stay_truth_values(self):
        for table in (
            pd.DataFrame({"a": [True, None, False]}, dtype=object),
            pd.DataFrame({"a": pd.array([True, None, False], "boolean")}),
            pl.DataFrame({"a": [True, None, False]}),
            pa.table({"a": [True, None, False]}),
        ):
            assert only(table).values == (False, True, None)


class TestUnknown:
    table = pd.DataFrame({"f": [0.0] * 60 + [4.5] * 3 + [10.0] * 40, "a": ["x"] * 60 + ["y"] * 43})
    strange = pd.DataFrame({"f": [5.0, 5.0, -1.0, 99.0], "a": ["x", "zzz", "x", "y"]})
    declared = Domain((Feature.continuous("f", range(11)), Feature.nominal("a", ("x", "y", "z"))))

    @every_estimator
    def test_an_unknown_value_has_density_zero_and_one_warning_names_it(self, kind):
        model = kind(domain=self.declared).fit(self.table)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            logs = model.score_samples(self.strange)
        assert_array_equal(np.isneginf(logs), [False, True, True, True])
        (warning,) = caught
        assert warning.category is DataWarning
        assert all(word in str(warning.message) for word in ("3 rows", "'f'", "-1.0", "0 to 10", "nearest"))
        assert warning.filename == __file__

    @every_estimator
    @pytest.mark.parametrize(("ask", "expected"), [("apply", -1), ("unusualness", 1.0), ("score_samples", -np.inf)])
    def test_every_question_gives_one_warning(self, kind, ask, expected):
        model = kind(domain=self.declared).fit(self.table)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            answers = getattr(model, ask)(self.strange.iloc[[1]])
        assert [str(w.message).count("'zzz'") for w in caught] == [1]
        assert answers.tolist() == [expected]

    @every_estimator
    def test_nearest_puts_numbers_into_the_outermost_bins(self, kind):
        model = kind(unknown="nearest", domain=self.declared).fit(self.table)
        inside = pd.DataFrame({"f": [0.0, 10.0], "a": ["x", "y"]})
        assert_array_equal(model.score_samples(self.strange.iloc[[2, 3]]), model.score_samples(inside))
        with pytest.warns(DataWarning, match="1 row lies.*'a' has no value 'zzz'.*leave out such rows. To measure"):
            assert model.score_samples(self.strange)[1] == -np.inf

    def test_nearest_puts_whole_numbers_into_the_outermost_bins(self):
        numbers = np.arange(40).reshape(-1, 1)
        beyond = np.array([[-(10**12)], [10**12]])
        for form in (np.asarray, pd.DataFrame, pl.DataFrame):
            table, far = form(numbers), form(beyond)
            model = Histogram(unknown="nearest").fit(table)
            assert_array_equal(model.score_samples(far), model.score_samples(table)[[0, -1]])

    def test_nearest_does_not_apply_to_numbers_that_are_categories(self):
        model = Histogram(unknown="nearest").fit(np.array([[1], [2]]))
        with pytest.warns(DataWarning, match="'x0' has no value 3"):
            assert model.score_samples(np.array([[3]])) == -np.inf

    @every_estimator
    def test_error_refuses_and_names_the_value(self, kind):
        model = kind(unknown="error", domain=self.declared).fit(self.table)
        with pytest.raises(UnknownValueError, match=r"'f' has no value -1\.0"):
            model.score_samples(self.strange)
        with pytest.raises(UnknownValueError, match="'a' has no value 'zzz'"):
            model.explain(self.strange.iloc[[1]])

    def test_an_unknown_integer_is_named(self):
        model = Histogram().fit(np.array([[1, 5], [2, 6]]))
        with pytest.warns(DataWarning, match=r"1 row lies.*'x1' has no value 7. Known: 5, 6"):
            assert_array_equal(np.isneginf(model.score_samples(np.array([[1, 5], [1, 7]]))), [False, True])

    def test_true_is_not_one(self):
        model = Histogram().fit(pd.DataFrame({"a": pd.Categorical([True, 2], categories=[True, 2])}))
        with pytest.warns(DataWarning, match="'a' has no value 1"):
            assert_array_equal(np.isneginf(model.score_samples(pd.DataFrame({"a": [1, 2]}))), [True, False])


@pytest.mark.filterwarnings("ignore:.*like an identifier")
class TestCodes:
    @pytest.mark.parametrize(("size", "dtype"), [(2, np.uint8), (256, np.uint8), (257, np.uint16), (65_535, np.uint16)])
    def test_codes_are_of_the_smallest_type_that_fits(self, size, dtype):
        table = pl.DataFrame({"a": [f"{i:05}" for i in range(size)], "b": ["x"] * size})
        read = read_table(open_source(table), Reading(kinds={"a": "nominal"}))
        assert read.codes.dtype == dtype
        assert read.codes.shape == (size, 2)
        assert_array_equal(np.sort(read.codes[:, 0]), np.arange(size))

    @every_estimator
    def test_a_feature_may_have_65535_values(self, kind):
        table = np.arange(65_535).reshape(-1, 1)
        model = kind(kinds={"x0": "nominal"}, **SMALL.get(kind.__name__, {})).fit(table)
        assert_allclose(model.score_samples(table[[0, 40_000, -1]]), -math.log(65_535))

    def test_missing_counts_among_the_65535(self):
        labels = [f"{i}" for i in range(65_534)]
        assert only(pl.DataFrame({"a": [*labels, None]})).size == 65_535
        with pytest.raises(DataError, match="65,536 distinct values"):
            only(pl.DataFrame({"a": [*labels, "one more", None]}))

    def test_equal_rows_become_one(self):
        table = pl.DataFrame({"a": ["x", "y", "x", "x"], "b": [1, 1, 1, 2]})
        read = read_table(open_source(table), Reading(), [1.0, 2.0, 0.5, 4.0])
        rows = dict(zip(map(tuple, read.codes.tolist()), read.weights.tolist(), strict=True))
        assert rows == {(0, 0): 1.5, (1, 0): 2.0, (0, 1): 4.0}
        assert read.n == 7.5

    @given(st.integers(0, 2**32 - 1))
    def test_an_array_of_integers_and_its_frame_have_the_same_codes(self, seed):
        rng = np.random.default_rng(seed)
        array = rng.integers(-30, 30, (40, 3))
        frame = pl.DataFrame(array, schema=["x0", "x1", "x2"])
        one, other = (read_table(open_source(table), Reading(bins=5)) for table in (array, frame))
        assert one.domain == other.domain
        assert_array_equal(one.codes, other.codes)
        assert_array_equal(one.weights, other.weights)


class TestUnits:
    @every_estimator
    @pytest.mark.parametrize("bins", [5, "quantile:5", {"f": [0.0, 1.0, 3.0, 20.0]}])
    @pytest.mark.parametrize("scale", [2.0**-20, 0.5, 1024.0])
    def test_another_unit_moves_the_log_posterior_by_a_constant_and_nothing_else(self, kind, bins, scale):
        rng = np.random.default_rng(5)
        size = rng.gamma(2, size=300)
        size[::7] = np.nan
        table = pd.DataFrame({"f": size, "a": np.where(size > 2, "big", rng.choice(["x", "y"], 300))})
        other = table.assign(f=table["f"] * scale)
        scaled = {"f": [edge * scale for edge in bins["f"]]} if isinstance(bins, dict) else bins
        one, two = kind(bins=bins).fit(table), kind(bins=scaled).fit(other)
        assert two.log_posterior_ == pytest.approx(one.log_posterior_ - len(table) * math.log(scale), abs=1e-6)
        assert_array_equal(one.apply(table), two.apply(other))
        assert_allclose(two.score_samples(other), one.score_samples(table) - math.log(scale), atol=1e-9)
        assert [leaf.weight for leaf in one.leaves_] == [leaf.weight for leaf in two.leaves_]
        assert_allclose(one.unusualness(table), two.unusualness(other), atol=1e-9)

    def test_the_order_of_a_list_of_kinds_decides_what_may_be_grouped(self):
        table = pd.DataFrame({"a": ["lo"] * 50 + ["mid"] * 2 + ["hi"] * 50})
        free = GreedyTree(expected_leaves=2).fit(table)
        bound = GreedyTree(expected_leaves=2, kinds={"a": ["lo", "mid", "hi"]}).fit(table)
        assert {str(leaf) for leaf in free.leaves_} == {"a is mid", "a is not mid"}
        for leaf in bound.leaves_:
            assert [c.values for c in leaf.conditions] != [("lo", "hi")]


def test_a_column_that_is_given_bins_is_continuous():
    domain = Domain.infer([{"age": age} for age in range(10)], bins={"age": [0, 3, 9]})
    assert domain["age"].kind == "continuous"
    assert domain["age"].measures == (3.0, 7.0)
    same = Domain.infer(np.arange(10).reshape(-1, 1), bins={"x0": [0, 3, 9]})
    assert same["x0"].measures == (3.0, 7.0)


@given(
    st.lists(st.decimals(-1000, 1000, places=3), min_size=1, max_size=5, unique=True),
    st.sampled_from([1e-300, 1e-9, 1e-3, 1.0, 1e12]),
    st.booleans(),
)
def test_drawn_numbers_stay_in_their_bins(edges, unit, missing):
    feature = Feature.continuous("x", [float(edge) * unit for edge in edges], missing=missing)
    codes = np.repeat(np.arange(feature.size, dtype=np.uint8), 100)
    drawn = decode(Domain((feature,)), codes[:, None], np.random.default_rng(0), "numpy")[:, 0]
    for number, value in zip(drawn, (feature.values[code] for code in codes), strict=True):
        assert np.isnan(number) if value is None else value.low <= number <= value.high
        assert value is None or number < value.high or value.low == value.high


def test_numbers_from_a_range_without_end_are_drawn_inside_it():
    feature = Feature.continuous("x", [0.25, 1e300, 1.7e308])
    codes = np.arange(100) % 2
    with np.errstate(all="raise"):
        drawn = decode(Domain((feature,)), codes[:, None], np.random.default_rng(0), "numpy")[:, 0]
    assert (np.searchsorted(feature.edges, drawn, side="right") - 1 == codes).all()
