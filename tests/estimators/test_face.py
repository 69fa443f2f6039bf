"""The whole face of every estimator, on every kind of table."""

import datetime
import itertools
import json
import math
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sparsedensity import Domain, Explanation, Feature, GreedyTree, Histogram, load
from sparsedensity.datasets import titanic
from sparsedensity.errors import DataWarning
from sparsedensity.estimators import ESTIMATORS
from sparsedensity.report import words

SHORT: dict[str, dict[str, Any]] = {"SparseRuleList": {"search": "anneal", "iterations": 1000, "max_rules": 6}}
"""The searches that would take seconds: here the best list is not the point."""
KINDS = {name: partial(kind, **SHORT.get(name, {})) for name, kind in ESTIMATORS.items()}
every_estimator = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
pytestmark = pytest.mark.filterwarnings("ignore:The chains do not agree")

Row = dict[str, Any]
FORMS: dict[str, Callable[[list[Row]], Any]] = {
    "pandas": pd.DataFrame,
    "pandas nullable": lambda rows: pd.DataFrame(rows).convert_dtypes(),
    "pandas objects": lambda rows: pd.DataFrame(rows, dtype=object),
    "pandas pyarrow": lambda rows: pd.DataFrame(rows).convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.DataFrame,
    "polars lazy": pl.LazyFrame,
    "pyarrow": pa.Table.from_pylist,
    "objects": lambda rows: np.array([list(row.values()) for row in rows], object),
    "rows": lambda rows: [list(row.values()) for row in rows],
    "records": list,
}
TYPED: dict[str, tuple[Callable[[int], Any], Any]] = {
    "text": (lambda i: "xyz"[i * i % 3], str),
    "integers": (lambda i: i * i % 7, np.int64),
    "small integers": (lambda i: i * i % 7, np.uint8),
    "floats": (lambda i: (i * i % 11) / 4, np.float64),
    "single floats": (lambda i: (i * i % 11) / 4, np.float32),
    "truths": (lambda i: i % 3 == 0, bool),
}
every_form = pytest.mark.parametrize("form", FORMS)
every_type = pytest.mark.parametrize("typed", TYPED)
# Columns are called as those of an array, so that a form without names means the same features.
NAMES = ("x0", "x1", "x2", "x3")


def mixed_rows(n: int = 120, seed: int = 0) -> list[Row]:
    """Text, whole numbers, numbers and truth values that depend on each other."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        group = str(rng.choice(["a", "b", "c"], p=[0.6, 0.3, 0.1]))
        size = float(rng.gamma(2.0 if group == "a" else 6.0))
        rows.append({"x0": group, "x1": int(rng.integers(0, 5)), "x2": round(size, 3), "x3": size > 4})
    return rows


def typed_rows(typed: str, n: int = 60) -> list[Row]:
    value, _ = TYPED[typed]
    return [{"x0": value(i), "x1": value(i + 1), "x2": value(i // 5)} for i in range(n)]


def in_words(model) -> list[tuple[str, float, float]]:
    return [(str(leaf), leaf.weight, round(leaf.log_density, 9)) for leaf in model.leaves_]


@pytest.fixture(scope="module", params=KINDS.values(), ids=list(KINDS))
def model(request):
    return request.param(bins=4).fit(pd.DataFrame(mixed_rows()))


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return pd.DataFrame(mixed_rows())


@cache
def fitted_to_pandas(kind):
    return kind(bins=4).fit(pd.DataFrame(mixed_rows()))


class TestEveryForm:
    @every_form
    @every_estimator
    def test_the_same_table_gives_the_same_model(self, kind, form):
        rows, expected = mixed_rows(), fitted_to_pandas(kind)
        model = kind(bins=4).fit(FORMS[form](rows))
        assert model.domain_ == expected.domain_
        assert model.log_posterior_ == expected.log_posterior_
        assert in_words(model) == in_words(expected)
        asked = "polars" if form == "polars lazy" else form  # the answers to a lazy frame are one: tests/engines
        assert_array_equal(model.score_samples(FORMS[asked](rows)), expected.score_samples(pd.DataFrame(rows)))
        assert_array_equal(model.apply(FORMS[asked](rows)), expected.apply(pd.DataFrame(rows)))
        assert [*map(str, model.explain(FORMS[asked](rows[:5])))] == [
            *map(str, expected.explain(pd.DataFrame(rows[:5])))
        ]

    @every_type
    @every_estimator
    def test_a_typed_array_gives_the_model_of_its_frame(self, kind, typed):
        rows, dtype = typed_rows(typed), TYPED[typed][1]
        array = np.array([list(row.values()) for row in rows], dtype)
        assert array.dtype.kind == np.dtype(dtype).kind
        expected = kind(bins=4).fit(pl.DataFrame(rows))
        for given in (array, np.asfortranarray(array), array[::-1][::-1], array.astype(object)):
            model = kind(bins=4).fit(given)
            assert model.domain_ == expected.domain_
            assert model.log_posterior_ == expected.log_posterior_
            assert in_words(model) == in_words(expected)
            assert_array_equal(model.score_samples(given), expected.score_samples(pl.DataFrame(rows)))

    @pytest.mark.parametrize("form", ["pandas nullable", "pandas objects", "polars", "pyarrow", "objects", "records"])
    @every_estimator
    def test_missing_values_are_the_same_in_every_form(self, kind, form):
        rows = mixed_rows()
        for i, row in enumerate(rows):
            row[NAMES[i % 4]] = None if i % 3 == 0 else row[NAMES[i % 4]]
        expected, model = kind(bins=4).fit(rows), kind(bins=4).fit(FORMS[form](rows))
        assert model.domain_ == expected.domain_
        assert all(feature.missing is not None for feature in model.domain_)
        assert in_words(model) == in_words(expected)
        assert_array_equal(model.score_samples(FORMS[form](rows)), expected.score_samples(rows))

    @pytest.mark.parametrize("asked", ["pandas", "polars", "pyarrow", "records"])
    @pytest.mark.parametrize("fitted", ["pandas", "polars", "pyarrow", "records"])
    def test_a_model_scores_forms_it_was_not_fitted_on(self, fitted, asked):
        rows = mixed_rows()
        model = Histogram(bins=4).fit(FORMS[fitted](rows))
        assert_array_equal(model.score_samples(FORMS[asked](rows)), model.score_samples(FORMS[fitted](rows)))

    def test_declared_categories_mean_the_same_in_every_library(self):
        values, sizes = ["S", "L", "L"], ["S", "M", "L"]
        pandas = pd.DataFrame({"a": pd.Categorical(values, categories=sizes, ordered=True)})
        polars = pl.DataFrame({"a": pl.Series(values, dtype=pl.Enum(sizes))})
        codes = pa.array([sizes.index(value) for value in values])
        arrow = pa.table({"a": pa.DictionaryArray.from_arrays(codes, pa.array(sizes), ordered=True)})
        models = [GreedyTree().fit(frame) for frame in (pandas, polars, arrow)]
        assert models[0].domain_ == models[1].domain_ == models[2].domain_
        assert models[0].log_posterior_ == models[1].log_posterior_ == models[2].log_posterior_
        assert models[0].score_samples(polars).tolist() == models[1].score_samples(arrow).tolist()


class TestAnswers:
    def test_log_densities_are_those_of_the_leaves(self, model, table):
        leaves = model.leaves_
        expected = [leaves[number].log_density for number in model.apply(table)]
        assert_allclose(model.score_samples(table), expected, atol=1e-12)
        assert model.score(table) == pytest.approx(sum(expected))
        assert [leaf.number for leaf in leaves] == list(range(len(leaves)))

    def test_the_leaves_hold_all_rows_all_mass_and_the_whole_volume(self, model, table):
        assert sum(leaf.weight for leaf in model.leaves_) == len(table)
        assert sum(leaf.probability for leaf in model.leaves_) == pytest.approx(1)
        assert sum(leaf.volume for leaf in model.leaves_) == pytest.approx(math.exp(model.domain_.log_volume))
        assert_array_equal(
            np.bincount(model.apply(table), minlength=len(model.leaves_)), [x.weight for x in model.leaves_]
        )
        for leaf in model.leaves_:
            assert leaf.density == pytest.approx(leaf.probability / leaf.volume)
            assert leaf.interval[0] <= leaf.probability <= leaf.interval[1]

    def test_unusualness_ranks_rows_from_dense_to_thin(self, model, table):
        logs, unusual = model.score_samples(table), model.unusualness(table)
        assert unusual.min() >= 0
        assert unusual.max() < 1
        order = np.argsort(-logs, kind="stable")
        assert (np.diff(unusual[order]) >= 0).all()
        denser = {
            leaf: sum(o.probability for o in model.leaves_ if o.log_density > leaf.log_density + 1e-9)
            for leaf in model.leaves_
        }
        expected = [denser[model.leaves_[number]] for number in model.apply(table)]
        assert_allclose(unusual, expected, atol=1e-9)

    def test_an_explanation_says_where_a_row_is_and_how_rare(self, model, table):
        explained = model.explain(table.head(10))
        assert all(isinstance(one, Explanation) for one in explained)
        assert [one.row for one in explained] == list(range(10))
        assert_array_equal([one.leaf for one in explained], model.apply(table.head(10)))
        assert_array_equal([one.log_density for one in explained], model.score_samples(table.head(10)))
        assert_array_equal([one.unusualness for one in explained], model.unusualness(table.head(10)))
        for one in explained:
            assert f"Row {one.row}" in str(one)
            assert all(step in str(one) for step in one.path) or f"{one.kind} (leaf {one.leaf}, {len(one.path)}" in str(
                one
            )

    def test_an_explanation_names_what_put_a_row_outside(self, model, table):
        strange = table.head(2).copy()
        strange.loc[1, "x0"] = "zzz"
        with pytest.warns(DataWarning, match="'zzz'"):
            inside, outside = model.explain(strange)
        assert inside.unknown is None
        assert outside.unknown == ("x0", "zzz")
        assert (outside.leaf, outside.log_density, outside.unusualness) == (None, -math.inf, 1.0)
        assert "x0 is zzz" in str(outside)

    def test_an_explanation_does_not_blame_a_number_that_was_moved_to_the_nearest_bin(self):
        model = Histogram(unknown="nearest").fit(pd.DataFrame({"f": np.arange(11) / 2, "a": list("xyxyxyxyxyx")}))
        with pytest.warns(DataWarning, match="'zzz'"):
            (explained,) = model.explain(pd.DataFrame({"f": [99.0], "a": ["zzz"]}))
        assert explained.unknown == ("a", "zzz")

    def test_probabilities_of_values_add_up(self, model):
        by_value = [model.probability({"x0": value}) for value in "abc"]
        assert sum(by_value) == pytest.approx(1)
        assert model.probability({"x0": ["a", "b"]}) == pytest.approx(by_value[0] + by_value[1])
        assert model.probability({"x0": {"a", "b", "c"}}) == pytest.approx(1)
        assert model.probability({}) == pytest.approx(1)
        assert model.probability({"x0": []}) == 0
        joint = [model.probability({"x0": value, "x3": True}) for value in "abc"]
        assert sum(joint) == pytest.approx(model.probability({"x3": True}))

    def test_intervals_cut_bins_in_proportion(self, model):
        low, high = model.domain_["x2"].edges[[0, -1]]
        middle = (low + high) / 3
        left, right = model.probability({"x2": (low, middle)}), model.probability({"x2": (middle, high)})
        assert left + right == pytest.approx(1)
        assert model.probability({"x2": (-math.inf, math.inf)}) == pytest.approx(1)
        assert model.probability({"x2": (high + 1, high + 2)}) == 0
        first = model.domain_["x2"].edges[:2]
        half = (first[0], first.mean())
        assert model.probability({"x2": half}) == pytest.approx(model.probability({"x2": tuple(first)}) / 2)

    def test_a_list_of_intervals_is_their_union(self, model):
        low, high = model.domain_["x2"].edges[:2]
        a, b, c, d = np.linspace(low, high, 4)
        whole = model.probability({"x2": (a, d)})
        assert model.probability({"x2": [(a, b), (c, d)]}) == pytest.approx(2 / 3 * whole)
        assert model.probability({"x2": [(a, c), (b, d)]}) == pytest.approx(whole)
        assert model.probability({"x2": [(a, b), (a, b)]}) == pytest.approx(whole / 3)

    def test_whole_numbers_in_bins_can_be_asked_for_one_by_one(self):
        model = Histogram(bins=3).fit(np.arange(30).reshape(-1, 1))
        one_by_one = [model.probability({"x0": i}) for i in range(30)]
        assert_allclose(one_by_one, 1 / 30)
        assert model.probability({"x0": (5, 14)}) == pytest.approx(10 / 30)
        assert model.probability({"x0": [5, (5, 6), 7]}) == pytest.approx(3 / 30)
        assert model.probability({"x0": 30}) == 0

    def test_a_constant_column_has_all_its_mass_at_its_value(self):
        floats = Histogram().fit(np.full((4, 1), 2.5))
        assert floats.probability({"x0": (2, 3)}) == floats.probability({"x0": (2.5, 2.5)}) == 1
        assert floats.probability({"x0": (2.6, 3)}) == 0
        whole = Histogram(kinds={"x0": "continuous"}).fit(np.full((4, 1), 5))
        assert whole.probability({"x0": 5}) == whole.probability({"x0": (1, 9)}) == 1
        assert (
            whole.probability({"x0": (3, 4)}) == whole.probability({"x0": (6, 9)}) == whole.probability({"x0": 4}) == 0
        )

    def test_a_conditional_distribution_is_a_ratio_of_probabilities(self, model):
        given = {"x3": True}
        found = model.conditional("x0", given=given)
        assert list(found) == ["a", "b", "c"]
        for value, share in found.items():
            expected = model.probability({"x0": value, **given}) / model.probability(given)
            assert share == pytest.approx(expected)
        assert model.conditional("x3")[True] == pytest.approx(model.probability({"x3": True}))

    def test_a_joint_distribution_has_a_tuple_for_every_combination(self, model):
        found = model.conditional(["x0", "x3"])
        assert set(found) == {(a, b) for a in "abc" for b in (False, True)}
        assert sum(found.values()) == pytest.approx(1)
        assert found["a", True] == pytest.approx(model.probability({"x0": "a", "x3": True}))

    def test_bins_are_keys_as_low_and_high(self, model):
        found = model.conditional("x2", given={"x0": "a"})
        edges = model.domain_["x2"].edges.tolist()
        assert list(found) == list(itertools.pairwise(edges))
        assert sum(found.values()) == pytest.approx(1)

    def test_an_event_may_restrict_the_feature_that_is_asked_for(self, model):
        found = model.conditional("x0", given={"x0": ["a", "b"]})
        assert found["c"] == 0
        assert found["a"] + found["b"] == pytest.approx(1)

    def test_missing_can_be_asked_for(self):
        model = Histogram().fit(pd.DataFrame({"a": ["x", None, None], "f": [1.0, 1.5, np.nan]}))
        assert model.probability({"a": None}) > model.probability({"a": "x"})
        assert model.probability({"a": [None, "x"]}) == pytest.approx(1)
        assert model.probability({"f": None}) + model.probability({"f": (1, 2)}) == pytest.approx(1)
        assert model.probability({"f": [None, (1, 2)]}) == pytest.approx(1)
        assert set(model.conditional("a")) == {"x", None}

    @pytest.mark.parametrize("density", ["mean", "empirical"])
    @every_estimator
    def test_the_empirical_density_is_the_share_of_the_rows(self, kind, density, table):
        model = kind(bins=4, density=density).fit(table)
        shares = [leaf.weight / len(table) for leaf in model.leaves_]
        close = np.allclose([leaf.probability for leaf in model.leaves_], shares, atol=1e-12)
        assert close == (density == "empirical")
        assert np.isfinite(model.score_samples(table)).all()

    @every_estimator
    def test_more_threads_change_nothing(self, kind, table):
        many = pd.concat([table] * 700, ignore_index=True)
        one, two = kind(n_jobs=1).fit(many), kind(n_jobs=2).fit(many)
        assert_array_equal(one.score_samples(many), two.score_samples(many))

    def test_what_the_search_did_is_told(self):
        found = GreedyTree(max_leaves=2).fit(titanic()).search_
        assert (found.method, found.reason, found.limit_binds) == ("greedy", "finished", True)
        assert found.log_posterior == GreedyTree(max_leaves=2).fit(titanic()).log_posterior_
        assert found.seconds > 0
        assert not GreedyTree().fit(titanic()).search_.limit_binds


SAMPLES: dict[str, Any] = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.Table,
    "objects": np.ndarray,
    "polars lazy": pl.DataFrame,
    "rows": np.ndarray,
    "records": pl.DataFrame,
}


class TestSamples:
    @pytest.mark.parametrize("form", SAMPLES)
    @every_estimator
    def test_samples_are_tables_of_the_kind_fitted_on_with_values_of_the_domain(self, kind, form):
        model = kind(bins=4).fit(FORMS[form](mixed_rows()))
        drawn = model.sample(200, random_state=0)
        assert type(drawn) is SAMPLES[form]
        assert drawn.shape == (200, 4)
        assert np.isfinite(model.score_samples(drawn)).all()

    @pytest.mark.parametrize("n", [0, 1, 50])
    def test_the_columns_of_a_sample_have_the_types_of_the_table(self, n):
        rows = mixed_rows()
        polars = Histogram().fit(pl.DataFrame(rows)).sample(n, random_state=0)
        assert polars.schema == pl.DataFrame(rows).schema
        pandas = Histogram().fit(pd.DataFrame(rows)).sample(n, random_state=0)
        assert [dtype.kind for dtype in pandas.dtypes] == [dtype.kind for dtype in pd.DataFrame(rows).dtypes]
        arrow = Histogram().fit(pa.Table.from_pylist(rows)).sample(n, random_state=0)
        kinds = [pa.types.is_int64, pa.types.is_float64, pa.types.is_boolean]
        assert all(is_kind(arrow.schema.field(name).type) for name, is_kind in zip(NAMES[1:], kinds, strict=True))

    @pytest.mark.parametrize("dtype", [np.int64, np.float64, bool])
    def test_the_sample_of_an_array_of_numbers_is_one(self, dtype):
        array = (
            (np.arange(60).reshape(-1, 2) * 7 % 30 > 9)
            if dtype is bool
            else (np.arange(60).reshape(-1, 2) / (1 if dtype is np.int64 else 7)).astype(dtype)
        )
        drawn = Histogram().fit(array).sample(20, random_state=1)
        assert isinstance(drawn, np.ndarray)
        assert drawn.dtype == dtype
        assert Histogram().fit(array).sample(0).shape == (0, 2)

    def test_missing_values_are_drawn_as_missing(self):
        table = pl.DataFrame({"a": ["x", None], "i": [1, None], "f": [0.5, None], "b": [True, None]})
        drawn = Histogram(pseudocount=100).fit(table).sample(100, random_state=0)
        assert drawn.schema == table.schema
        assert all(0 < missing < 100 for missing in drawn.null_count().row(0))
        assert not drawn["f"].is_nan().any()
        model = Histogram().fit(table.to_pandas(use_pyarrow_extension_array=False))
        assert np.isfinite(model.score_samples(model.sample(50, random_state=0))).all()

    def test_binned_whole_numbers_are_drawn_whole_and_from_the_whole_range(self):
        model = Histogram(bins=4).fit(pl.DataFrame({"n": range(10, 40)}))
        drawn = model.sample(3000, random_state=0)["n"]
        assert drawn.dtype == pl.Int64
        assert set(drawn) == set(range(10, 40))

    def test_numbers_are_drawn_from_inside_their_bins(self):
        domain = Domain((Feature.continuous("x0", (0, 1, 10)),))
        model = Histogram(domain=domain, density="empirical").fit(np.array([[0.5], [0.6]]))
        drawn = model.sample(500, random_state=0)
        assert 0 <= drawn.min() < drawn.max() < 1

    @every_estimator
    def test_a_sample_is_reproducible(self, kind):
        model = kind().fit(titanic())
        assert model.sample(50, random_state=3).equals(model.sample(50, random_state=3))
        assert not model.sample(50, random_state=3).equals(model.sample(50, random_state=4))
        generators = [np.random.default_rng(0) for _ in range(2)]
        assert model.sample(9, random_state=generators[0]).equals(model.sample(9, random_state=generators[1]))
        legacy = [np.random.RandomState(0) for _ in range(2)]
        assert model.sample(9, random_state=legacy[0]).equals(model.sample(9, random_state=legacy[1]))
        assert not model.sample(50, random_state=legacy[0]).equals(model.sample(50, random_state=legacy[0]))

    @every_estimator
    def test_shares_of_a_large_sample_are_the_probabilities(self, kind):
        model = kind().fit(titanic())
        drawn = model.sample(40_000, random_state=0)
        for name in drawn.columns:
            shares = dict(drawn[name].value_counts(normalize=True).rows())
            for value, expected in model.conditional(name).items():
                assert shares.get(value, 0) == pytest.approx(expected, abs=0.012)


def saved(model, tmp_path):
    path = tmp_path / "model.json"
    model.save(path)
    return load(path)


PARAMETERS: tuple[Row, ...] = (
    {},
    {"pseudocount": 0.25, "density": "empirical", "unknown": "nearest", "missing": "drop", "n_jobs": 2},
    {"bins": {"x2": [0.0, 2.5, 50.0]}, "kinds": {"x1": [4, 3, 2, 1, 0], "x0": "nominal"}},
    {"bins": "quantile:3", "kinds": {"x1": range(6)}},
    {"bins": {"x2": np.array([0, 2.5, 50])}, "kinds": {"x1": np.arange(6)}, "pseudocount": np.float64(0.5)},
    {"domain": Domain.infer(mixed_rows(), bins=3), "unknown": "error"},
)
SAVED = [(form, PARAMETERS[0]) for form in ("pandas", "polars", "pyarrow", "objects", "records")]
SAVED += [(form, parameters) for form in ("pandas", "objects") for parameters in PARAMETERS[1:]]
"""Every form of a table with the defaults; all other parameters on a table with names, and on one without."""


class TestSaving:
    @every_estimator
    @pytest.mark.parametrize(("form", "parameters"), SAVED)
    def test_a_loaded_model_answers_like_the_saved_one(self, kind, parameters, form, tmp_path):
        rows = mixed_rows()
        data = FORMS[form](rows)
        model = kind(**parameters).fit(data)
        twin = saved(model, tmp_path)
        assert type(twin) is kind.func
        assert twin.domain_ == model.domain_
        assert twin.log_posterior_ == model.log_posterior_
        assert twin.n_leaves_ == model.n_leaves_
        assert twin.leaves_ == model.leaves_
        assert twin.to_text() == model.to_text()
        assert twin.to_html() == model.to_html()
        assert_array_equal(twin.score_samples(data), model.score_samples(data))
        assert_array_equal(twin.apply(data), model.apply(data))
        assert_array_equal(twin.unusualness(data), model.unusualness(data))
        assert twin.explain(data) == model.explain(data)
        assert twin.conditional(["x0", "x3"]) == model.conditional(["x0", "x3"])
        drawn, again = model.sample(20, random_state=5), twin.sample(20, random_state=5)
        assert type(again) is type(drawn)
        assert str(again) == str(drawn)

    @every_estimator
    @pytest.mark.parametrize("parameters", PARAMETERS)
    def test_parameters_come_back(self, kind, parameters, tmp_path):
        model = kind(**parameters).fit(mixed_rows())
        given, back = model.get_params(), saved(model, tmp_path).get_params()
        assert set(back) == set(given)
        for name, value in given.items():
            if isinstance(value, dict):
                assert {key: as_list(item) for key, item in value.items()} == back[name]
            else:
                assert back[name] == value
        assert kind(**back).fit(mixed_rows()).log_posterior_ == model.log_posterior_

    @every_estimator
    def test_a_loaded_model_can_be_fitted_and_saved_again(self, kind, tmp_path):
        model = kind().fit(titanic())
        twin = saved(saved(model, tmp_path), tmp_path)
        assert twin.leaves_ == model.leaves_
        assert twin.fit(titanic()).log_posterior_ == model.log_posterior_

    @every_estimator
    def test_column_names_come_back_or_stay_away(self, kind, tmp_path):
        named, unnamed = kind().fit(titanic()), kind().fit(titanic().to_numpy())
        assert_array_equal(saved(named, tmp_path).feature_names_in_, ["class", "sex", "age"])
        assert not hasattr(saved(unnamed, tmp_path), "feature_names_in_")
        assert saved(unnamed, tmp_path).n_features_in_ == 3

    @every_estimator
    def test_difficult_values_come_back(self, kind, tmp_path):
        table = pd.DataFrame(
            {
                'name, "quoted"\n': ["ünï\u2028cödé", "", " ", "null", "\\"],
                "numbers": pd.Categorical([1, 2.5, False, "1", 1e300], categories=[1, 2.5, False, "1", 1e300]),
                "tiny": [1e-300, 2e-300, 3e-300, np.nan, 5e-300],
                "gone": pd.Categorical([None] * 5, categories=["never"]),
                "day": pd.Categorical([datetime.date(2026, 1, d) for d in range(1, 6)]),
            }
        )
        short = {"search": "anneal", "iterations": 500} if kind.func.__name__.endswith("SparseTree") else {}
        model = kind(**short).fit(table)
        twin = saved(model, tmp_path)
        assert twin.domain_ == model.domain_
        assert_array_equal(twin.score_samples(table), model.score_samples(table))
        assert twin.to_text() == model.to_text()

    @every_estimator
    def test_the_file_is_readable_json_with_all_a_reader_needs(self, kind, tmp_path):
        path = tmp_path / "model.json"
        model = kind(pseudocount=1.5).fit(titanic())
        model.save(path)
        document = json.loads(path.read_text(encoding="utf-8"))
        assert document["model"] == kind.func.__name__
        assert document["parameters"]["pseudocount"] == 1.5
        assert document["search"]["log_posterior"] == model.log_posterior_
        assert document["domain"][0] == {
            "name": "class",
            "kind": "nominal",
            "values": ["1st", "2nd", "3rd", "crew"],
            "missing": False,
        }
        assert [leaf["probability"] for leaf in document["leaves"]] == [leaf.probability for leaf in model.leaves_]
        assert path.read_text(encoding="utf-8").count("\n") > 20


class TestWords:
    def test_the_text_names_every_leaf_once(self, model):
        lines = model.to_text(width=120).splitlines()
        assert model.title in lines[0]
        assert f"with {getattr(model, 'n_rules_', model.n_leaves_):,} " in lines[0]
        assert any(f"{model.log_posterior_:,.2f}" in line for line in lines)
        assert all(len(line) <= 120 for line in lines)

    @every_estimator
    def test_the_page_is_whole_and_safe(self, kind, tmp_path):
        nasty = pd.DataFrame({"<script>alert(1)</script>": ["<b>bold</b>", "x", "x"]})
        page = kind().fit(nasty).to_html(tmp_path / "page.html")
        assert (tmp_path / "page.html").read_text(encoding="utf-8") == page
        assert "<script>alert" not in page
        assert "<b>bold" not in page
        assert "&lt;b&gt;bold" in page
        assert page.lower().lstrip().startswith("<!doctype html>")
        assert "</html>" in page
        assert "http://" not in page.replace("http://www.w3.org", "")

    def test_conditions_speak_of_the_users_values(self):
        tree = GreedyTree().fit(titanic())
        words = {str(condition) for leaf in tree.leaves_ for condition in leaf.conditions}
        assert words
        assert all(word.split(" is ")[0] in ("class", "sex", "age") for word in words)
        for leaf in tree.leaves_:
            event = {condition.feature: list(condition.values) for condition in leaf.conditions}
            assert tree.probability(event) == pytest.approx(leaf.probability)


def as_list(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else list(value) if isinstance(value, range) else value


def test_what_conditional_gives_probability_takes():
    rows = [{"hour": hour, "fare": float(hour) ** 1.5, "day": "ab"[hour % 2]} for hour in range(24) for _ in range(3)]
    tree = GreedyTree().fit(rows)
    for column in ("hour", "fare", "day"):
        shares = tree.conditional(column)
        assert sum(shares.values()) == pytest.approx(1)
        assert {key: tree.probability({column: key}) for key in shares} == pytest.approx(shares)
    assert next(iter(tree.conditional("hour"))) == (0, 2)


def test_a_column_like_an_identifier_is_warned_of():
    rows = [{"id": f"B{i:04}", "sex": "mf"[i % 2]} for i in range(200)]
    with pytest.warns(
        DataWarning, match="'id' looks like an identifier: its values are nearly all different in 200 rows"
    ):
        tree = GreedyTree().fit(rows)
    assert all(len(line) < 200 for line in tree.to_text(width=100).splitlines())


def test_labels_that_cannot_be_seen_are_quoted():
    feature = Feature.nominal("a", ("", " ", "x ", "y"))
    assert words.some_values(feature, range(4)) == '"", " ", "x " or y'
    many = Feature.nominal("a", [f"v{i}" for i in range(40)])
    assert words.some_values(many, range(20)) == "one of 20 values (v0, v1, v2, v3, …)"
