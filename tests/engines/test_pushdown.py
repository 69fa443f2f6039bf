"""Rows that are scored and counted where they are get the answers that they would get in memory."""

import math
import warnings
from functools import partial
from types import SimpleNamespace

import narwhals as nw
import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sparsedensity import BranchSparseTree, GreedyTree, Histogram, LeafSparseTree, SparseRuleList, compare
from sparsedensity.domain import Domain, Feature
from sparsedensity.errors import ColumnsError, DataError, DataWarning, ParameterError
from tests.engines.lazy import CLUSTERS, DATABASES, each_with
from tests.engines.nasty import DOMAIN, nasty

SPARK, DASK = CLUSTERS
ENGINES = ("polars", DASK, *DATABASES)
APART, SQLITE = pytest.param("duckdb_apart"), pytest.param("ibis_sqlite")
WEIGHTS = [None, "whole", "quarter"]
NAMES = list(DOMAIN.names)
ESTIMATORS = {
    "tree": lambda **also: GreedyTree(domain=DOMAIN, **also),
    "branches": lambda **also: BranchSparseTree(domain=DOMAIN, search="greedy", **also),
    "empirical": lambda **also: GreedyTree(domain=DOMAIN, density="empirical", **also),
    "profiles": lambda **also: LeafSparseTree(domain=DOMAIN, leaf="profile", search="greedy", max_leaves=6, **also),
    "one leaf": lambda **also: GreedyTree(domain=DOMAIN, max_leaves=1, **also),
    "rules": lambda **also: SparseRuleList(domain=DOMAIN, search="anneal", iterations=300, max_rules=6, **also),
    "histogram": lambda **also: Histogram(domain=DOMAIN, **also),
}
NEW = ["leaf", "log_density", "unusualness", "explanation"]
pytestmark = pytest.mark.filterwarnings("ignore:The chains do not agree")


@pytest.fixture(scope="module")
def rows():
    return nasty(strange=True).with_row_index("row").cast({"row": pl.Int64})


@pytest.fixture(scope="module")
def fitted():
    kept = {}

    def fit(name):
        if name not in kept:
            kept[name] = ESTIMATORS[name]().fit(nasty()[NAMES])
        return kept[name]

    return fit


def home(lazy):
    """All rows of a lazy frame, in the order of their numbers."""
    return nw.from_native(lazy).collect("polars").to_native().sort("row")


def in_memory(model, rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return SimpleNamespace(
            leaves=model.apply(rows[NAMES]),
            logs=model.score_samples(rows[NAMES]),
            unusualness=model.unusualness(rows[NAMES]),
        )


def check_scores(model, rows, scored):
    """All answers, against those of the rows in memory."""
    expected = in_memory(model, rows)
    assert_array_equal(scored["leaf"], expected.leaves)
    assert_allclose(scored["log_density"], expected.logs, rtol=1e-12)
    assert scored.columns == [*rows.columns, *NEW]
    return np.abs(scored["unusualness"].to_numpy() - expected.unusualness)


class TestScores:
    @pytest.mark.parametrize("name", ESTIMATORS)
    @pytest.mark.parametrize("engine", ["polars", DASK, "duckdb", "ibis_duckdb", "ibis_sqlite"])
    def test_scores_are_those_of_the_rows_in_memory(self, engine, name, as_lazy, rows, fitted):
        if engine == "ibis_sqlite" and name in ("profiles", "histogram"):
            pytest.skip("SQLite puts one step of a query into the other")
        off = check_scores(fitted(name), rows, home(fitted(name).explain(as_lazy(engine, rows))))
        assert off.max() < (0.001 if name == "profiles" else 1e-12)

    @pytest.mark.parametrize("name", ["tree", "profiles"])
    @pytest.mark.parametrize("engine", [SPARK, APART])
    def test_so_are_those_of_spark_and_of_another_connection(self, engine, name, as_lazy, rows, fitted):
        off = check_scores(fitted(name), rows, home(fitted(name).explain(as_lazy(engine, rows))))
        assert off.max() < (0.001 if name == "profiles" else 1e-12)

    @pytest.mark.parametrize("engine", ["polars", DASK])
    def test_parts_give_every_digit_of_profiles(self, engine, as_lazy, rows, fitted):
        model = fitted("profiles")
        scored = home(model.unusualness(as_lazy(engine, rows)))
        assert_array_equal(scored["unusualness"], in_memory(model, rows).unusualness)

    @pytest.mark.parametrize("engine", ["polars", DASK, "duckdb"])
    def test_the_nearest_bin_takes_what_lies_outside_the_range(self, engine, as_lazy, rows):
        model = ESTIMATORS["profiles"](unknown="nearest").fit(nasty()[NAMES])
        check_scores(model, rows, home(model.explain(as_lazy(engine, rows))))

    @pytest.mark.parametrize("engine", ["polars", DASK, "duckdb"])
    @pytest.mark.parametrize("unknown", ["zero", "nearest"])
    def test_infinity_lies_outside_the_range(self, engine, unknown, as_lazy):
        domain = Domain((Feature.continuous("x", (0, 1, 2)),))
        model = GreedyTree(domain=domain, unknown=unknown).fit(pl.DataFrame({"x": [0.5] * 30 + [1.5]}))
        numbers = pl.DataFrame({"row": range(3), "x": [-math.inf, 0.5, math.inf]})
        scored = home(model.apply(as_lazy(engine, numbers)))
        assert scored["leaf"].to_list() == ([-1, 0, -1] if unknown == "zero" else [0, 0, 1])

    @pytest.mark.parametrize("engine", ["polars", DASK, "duckdb"])
    def test_nan_is_as_missing_as_null(self, engine, as_lazy):
        domain = Domain((Feature.continuous("x", (0, 1, 2), missing=True),))
        seen = pl.DataFrame({"x": [0.5] * 30 + [None] * 9 + [1.5]})
        model = GreedyTree(domain=domain).fit(seen)
        numbers = pl.DataFrame({"row": range(4), "x": [math.nan, None, 0.5, math.inf]})
        leaves = home(model.apply(as_lazy(engine, numbers)))["leaf"].to_list()
        assert leaves == [*model.apply(pl.DataFrame({"x": [math.nan, None, 0.5]})), -1]
        assert leaves[0] != leaves[2]

    @pytest.mark.parametrize("estimator", [Histogram, partial(LeafSparseTree, leaf="profile", search="greedy")])
    def test_features_of_one_value_need_no_code(self, estimator, as_lazy):
        rows = pl.DataFrame({"row": [0, 1], "x": ["a", "a"]})
        model = estimator().fit(rows[["x"]])
        scored = home(model.explain(as_lazy("duckdb", rows)))
        assert_allclose(scored["log_density"], model.score_samples(rows[["x"]]))

    @pytest.mark.parametrize("engine", ENGINES)
    def test_one_question_adds_one_column_and_they_can_follow_each_other(self, engine, as_lazy, rows, fitted):
        model = fitted("tree")
        lazy = as_lazy(engine, rows)
        scored = model.unusualness(model.score_samples(model.apply(lazy)))
        assert type(scored) is type(lazy)
        assert home(scored).columns == [*rows.columns, *NEW[:3]]

    @pytest.mark.parametrize("engine", ["polars", "duckdb"])
    def test_an_explanation_tells_of_the_leaf(self, engine, as_lazy, rows, fitted):
        model = fitted("tree")
        scored = home(model.explain(as_lazy(engine, rows)))
        texts = dict(zip(scored["leaf"], scored["explanation"], strict=True))
        assert texts.pop(-1) == "outside the domain"
        for leaf, text in texts.items():
            assert f"(leaf {leaf}" in text
            assert text.startswith(model.leaves_[leaf].name) or str(model.leaves_[leaf].conditions[0]) in text

    def test_the_explanation_of_a_single_leaf_is_that_of_every_record(self, as_lazy, rows, fitted):
        scored = home(fitted("one leaf").explain(as_lazy("duckdb", rows)))
        assert scored["explanation"].unique().to_list() == ["every record (leaf 0: 100 % of all records)"]


class TestColumns:
    """What a table must have, and what it may have."""

    @pytest.mark.parametrize("engine", ["polars", DASK, "duckdb"])
    def test_only_columns_that_matter_are_needed(self, engine, as_lazy, rows):
        model = GreedyTree(domain=DOMAIN, max_leaves=3).fit(nasty()[NAMES])
        used = [name for name, used in zip(NAMES, model.density_.used, strict=True) if used]
        assert len(used) < len(NAMES)
        scored = home(model.apply(as_lazy(engine, rows[["row", *reversed(used)]])))
        assert_array_equal(scored["leaf"], in_memory(model, rows).leaves)

    def test_polars_reads_no_other_columns(self, tmp_path, rows):
        model = GreedyTree(domain=DOMAIN, max_leaves=3).fit(nasty()[NAMES])
        rows.write_parquet(tmp_path / "rows.parquet")
        plan = model.apply(pl.scan_parquet(tmp_path / "rows.parquet")).select("leaf").explain()
        assert f"PROJECT {model.density_.used.sum()}/{rows.width} COLUMNS" in plan

    def test_polars_scores_part_by_part(self, tmp_path, rows, fitted):
        """One part is never more than the rows that Polars reads at a time."""
        many = pl.concat([rows] * 1000)
        scored = fitted("tree").score_samples(many.lazy())
        scored.sink_parquet(tmp_path / "scored.parquet")
        whole = pl.read_parquet(tmp_path / "scored.parquet")
        assert_array_equal(whole["log_density"], np.tile(in_memory(fitted("tree"), rows).logs, 1000))

    @pytest.mark.parametrize("engine", ["polars", "duckdb"])
    def test_a_table_without_rows_gets_none(self, engine, as_lazy, rows, fitted):
        assert home(fitted("profiles").explain(as_lazy(engine, rows[:0]))).columns == [*rows.columns, *NEW]

    @pytest.mark.parametrize("engine", ["polars", DASK, "duckdb"])
    def test_a_column_that_is_there_already_is_not_lost(self, engine, as_lazy, rows, fitted):
        lazy = as_lazy(engine, rows.with_columns(Unusualness=0))
        with pytest.raises(ColumnsError, match="has a column 'Unusualness' already"):
            fitted("tree").unusualness(lazy)

    @pytest.mark.parametrize("engine", ["polars", DASK, "duckdb"])
    def test_a_column_that_is_not_there_is_named(self, engine, as_lazy, rows, fitted):
        with pytest.raises(ColumnsError, match="no column 'few', which the model asks for"):
            fitted("profiles").apply(as_lazy(engine, rows.drop("few")))

    @pytest.mark.parametrize("engine", ["polars", DASK, "duckdb"])
    def test_a_column_of_another_type_is_refused_before_any_row_is_read(self, engine, as_lazy, rows, fitted):
        lazy = as_lazy(engine, rows.with_columns(pl.col("few").cast(pl.String)))
        with pytest.raises(DataError, match="'few' holds text, but a number is expected"):
            fitted("profiles").apply(lazy)

    def test_errors_cannot_wait_for_rows_that_are_read_later(self, as_lazy, rows):
        model = ESTIMATORS["tree"](unknown="error").fit(nasty()[NAMES])
        with pytest.raises(ParameterError, match="'zero' or 'nearest' for rows that stay where they are"):
            model.apply(rows.lazy())

    def test_a_model_of_more_numbers_than_a_query_takes_is_refused(self, as_lazy, rows, monkeypatch, fitted):
        monkeypatch.setattr("sparsedensity.models.scored_queries.MOST_ENTRIES", 100)
        with pytest.raises(DataError, match="a query takes 100 at most"):
            fitted("profiles").score_samples(as_lazy("ibis_duckdb", rows))

    @pytest.mark.parametrize("name", ["profiles", "histogram"])
    def test_an_engine_that_puts_steps_of_a_query_together_is_refused(self, name, as_lazy, rows, fitted):
        with pytest.raises(DataError, match="too large for a query of sqlite"):
            fitted(name).apply(as_lazy("ibis_sqlite", rows))


class TestCounts:
    """Log-likelihoods and comparisons are counted where the rows are."""

    @pytest.mark.parametrize("name", ["tree", "profiles"])
    @pytest.mark.parametrize(
        ("engine", "weight"), each_with(WEIGHTS, ["polars", "duckdb", "ibis_duckdb"], [DASK, APART, SQLITE])
    )
    def test_the_log_likelihood_is_that_of_the_rows_in_memory(self, engine, name, weight, as_lazy, fitted):
        if engine == "ibis_sqlite" and name == "profiles":
            pytest.skip("SQLite puts one step of a query into the other")
        rows, model = nasty(seed=1), fitted(name)
        expected = model.score(rows[NAMES], sample_weight=None if weight is None else rows[weight].to_numpy())
        assert model.score(as_lazy(engine, rows), sample_weight=weight) == pytest.approx(expected, rel=1e-12)

    @pytest.mark.parametrize("engine", ENGINES)
    def test_a_row_outside_the_domain_makes_it_minus_infinity(self, engine, as_lazy, rows, fitted):
        assert fitted("tree").score(as_lazy(engine, rows)) == -math.inf

    @pytest.mark.parametrize(("engine", "weight"), each_with(WEIGHTS, ["polars", *DATABASES], CLUSTERS))
    def test_a_comparison_is_that_of_the_rows_in_memory(self, engine, weight, as_lazy, rows):
        model = GreedyTree(domain=DOMAIN, honest=0.5, max_leaves=5).fit(nasty()[NAMES])
        weights = None if weight is None else rows[weight].to_numpy()
        with pytest.warns(DataWarning):
            expected = model.compare(rows[NAMES], weights)
        found = model.compare(as_lazy(engine, rows), weight)
        assert_array_equal(found.leaves.weights, expected.leaves.weights)
        assert found.p_value == expected.p_value
        assert str(found) == str(expected)

    @pytest.mark.parametrize("engine", ["polars", DASK, "duckdb"])
    @pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf, None])
    def test_weights_that_weigh_nothing_are_refused(self, engine, bad, as_lazy, rows, fitted):
        weights = [1.0] * (len(rows) - 1) + [bad]
        lazy = as_lazy(engine, rows.with_columns(w=pl.Series(weights)))
        for ask in (fitted("tree").score, fitted("tree").compare):
            with pytest.raises(DataError, match="weights in 'w' are missing, negative or infinite"):
                ask(lazy, sample_weight="w")

    def test_so_are_weights_that_are_all_zero_or_no_numbers(self, as_lazy, rows, fitted):
        lazy = as_lazy("duckdb", rows.with_columns(w=0))
        with pytest.raises(DataError, match="'w' is zero in every row"):
            fitted("tree").score(lazy, sample_weight="w")
        with pytest.raises(DataError, match="The weights in 'name' must be real numbers"):
            fitted("tree").compare(lazy, "name")
        with pytest.raises(DataError, match="The table has no rows"):
            fitted("tree").score(as_lazy("duckdb", rows[:0]))

    @pytest.mark.parametrize("engine", ["polars", DASK, *DATABASES])
    def test_columns_may_have_the_names_of_our_own(self, engine, as_lazy):
        names = {"name": "leaf", "few": "sparsedensity_weight", "many": "log_density", "whole": "weight"}
        rows = nasty()[["name", "few", "many", "whole"]].rename(names)
        model = GreedyTree().fit(as_lazy(engine, rows), sample_weight="weight")
        lazy, weights = as_lazy(engine, rows), rows["weight"].to_numpy()
        near = rows.drop("weight")
        assert model.score(lazy, sample_weight="weight") == pytest.approx(model.score(near, sample_weight=weights))
        assert model.compare(lazy, "weight").leaves.weights.tolist() == model.density_.weights.tolist()
        both = compare(lazy, lazy, weights_before="weight", weights_after="weight", model=GreedyTree(max_leaves=3))
        assert both.leaves.fitted.sum() == both.leaves.weights.sum() == weights.sum()


class TestTwoTables:
    """Leaves are fitted to both tables together, and each is counted where it is."""

    @pytest.mark.parametrize("engine", ["polars", DASK, "duckdb_apart", "ibis_duckdb"])
    def test_a_comparison_is_that_of_the_tables_in_memory(self, engine, as_lazy):
        tables = nasty()[NAMES], nasty(seed=3)[NAMES].reverse()
        model = GreedyTree(domain=DOMAIN, max_leaves=5)
        expected = compare(*tables, model=model)
        found = compare(*(as_lazy(engine, table) for table in tables), model=model)
        assert_array_equal(found.leaves.weights, expected.leaves.weights)
        assert_array_equal(found.leaves.fitted, expected.leaves.fitted)
        assert found.p_value == expected.p_value

    def test_both_live_in_one_engine(self, as_lazy, rows):
        with pytest.raises(DataError, match="in memory or in one engine"):
            compare(rows, rows.lazy())
        with pytest.raises(DataError, match="in memory or in one engine"):
            compare(as_lazy("duckdb", rows), rows.lazy())

    def test_both_have_the_same_columns(self, rows):
        with pytest.raises(ColumnsError, match="Only one of the tables has a column 'few'"):
            compare(rows.lazy(), rows.drop("few").lazy())
