"""What becomes of dates, identifiers, crowded columns and values that were never seen."""

import datetime
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from sparsedensity import Domain, Feature, GreedyTree, Histogram, LeafSparseTree, load, periods
from sparsedensity.errors import (
    ColumnsError,
    DataError,
    DataWarning,
    MissingExtraError,
    ModelFileError,
    UnknownValueError,
)
from sparsedensity.ingest.files import read_file
from sparsedensity.ingest.opening import open_table
from sparsedensity.report.columns import columns_in_words
from sparsedensity.structures.files import read_like_json

DAY = datetime.date(2024, 1, 1)


def days(*numbers):
    return [DAY + datetime.timedelta(days=number) for number in numbers]


def as_frames(values, name="when"):
    polars = pl.DataFrame({name: values})
    return {
        "polars": polars,
        "pandas": polars.to_pandas(),
        "pandas datetime": pd.DataFrame({name: pd.to_datetime(pd.Series(values))}),
        "pyarrow": pa.table({name: values}),
        "numpy": np.array([[np.datetime64(value)] for value in values]),
        "records": [{name: value} for value in values],
    }


every_frame = pytest.mark.parametrize("frame", as_frames(days(0)))


class TestPeriods:
    @given(st.sampled_from(list(periods.STEPS)), st.integers(-9000, 900_000))
    def test_a_period_begins_with_its_own_number(self, unit, number):
        begin = periods.start(unit, number)
        assert periods.numbers(unit, begin) == number
        assert periods.numbers(unit, begin - 1) == number - 1
        assert periods.position(unit, begin) == number

    @given(st.sampled_from(list(periods.CALENDAR)), st.integers(-400, 1200), st.integers(0, 5))
    def test_the_plain_form_is_read_back(self, unit, first, more):
        plain = periods.plain(unit, first, first + more)
        ends = plain if isinstance(plain, tuple) else (plain, plain)
        assert (periods.span(unit, ends[0])[0], periods.span(unit, ends[1])[1]) == (first, first + more + 1)

    @pytest.mark.parametrize(
        ("last", "unit", "size"),
        [
            (4, "day", 5),  # no unit has eight: the finest
            (8, "day", 9),
            (55, "week", 8),
            (300, "month", 10),
            (900, "quarter", 10),
            (365 * 12, "year", 12),
            (365 * 120, "year", 60),
        ],
    )
    def test_the_coarsest_unit_with_eight_periods_is_taken(self, last, unit, size):
        (feature,) = Domain.infer(pl.DataFrame({"when": days(0, last)}))
        assert (feature.kind, feature.period, feature.size) == ("ordinal", unit, size)
        assert sum(feature.measures) == periods.numbers(unit, np.datetime64(days(last)[0])) - periods.numbers(
            unit, np.datetime64(DAY)
        ) + 1  # fmt: skip

    def test_labels_can_be_read(self):
        assert periods.label("month", 650, 652) == "Mar 2024 to May 2024"
        assert periods.label("quarter", 216, 216) == "2024 Q1"
        assert periods.label("week", 2826, 2826) == "week of 26 Feb 2024"
        assert periods.label("hour of day", 9, 11) == "09:00 to 11:59"


class TestDates:
    @every_frame
    def test_every_frame_gives_the_same_periods(self, frame):
        (feature,) = Domain.infer(as_frames(days(0, 10, 400, 900))[frame])
        assert (feature.kind, feature.period, feature.size, feature.missing) == ("ordinal", "quarter", 10, None)

    @every_frame
    def test_new_rows_are_encoded_and_samples_come_back(self, frame, tmp_path):
        model = Histogram().fit(as_frames(days(0, 0, 0, 900))[frame])
        model.save(tmp_path / "model.json")
        for fitted in (model, load(tmp_path / "model.json")):
            logs = fitted.score_samples(as_frames(days(20, 100, 880))[frame])
            assert logs[0] > logs[2] > logs[1]
            drawn = fitted.sample(50, random_state=0)
            assert np.isfinite(fitted.score_samples(drawn)).all()
            with pytest.warns(DataWarning, match=r"no value '2000-01-01'.*2024 Q1 to 2026 Q2"):
                fitted.score_samples(as_frames([datetime.date(2000, 1, 1)])[frame])

    def test_a_missing_date_is_a_value(self):
        table = pl.DataFrame({"when": [*days(0, 900), None]})
        for frame in (table, table.to_arrow(), table.to_pandas(), table.to_pandas(use_pyarrow_extension_array=True)):
            (feature,) = Domain.infer(frame)
            assert (feature.values[-1], feature.measures[-1]) == (None, 1.0)

    def test_times_and_moments(self):
        table = pl.DataFrame(
            {
                "at": [datetime.time(9, 30), datetime.time(17, 5)],
                "seen": [datetime.datetime(2024, 1, 1, 9), datetime.datetime(2024, 1, 1, 22)],
            }
        )
        at, seen = Domain.infer(table)
        assert (at.period, at.size, seen.period, seen.size) == ("hour of day", 9, "hour", 14)
        assert_array_equal(Histogram().fit(table).sample(3, random_state=0).dtypes, [pl.Time, pl.Datetime("us")])

    def test_probabilities_of_dates(self):
        model = Histogram(density="empirical").fit(pl.DataFrame({"when": days(0, 0, 0, 900)}))
        assert model.probability({"when": "2024-02"}) == pytest.approx(0.75 * 29 / 91)
        assert model.probability({"when": ("2024-01-01", datetime.date(2024, 3, 31))}) == pytest.approx(0.75)
        assert model.probability({"when": "2024 Q1"}) == pytest.approx(0.75)
        assert model.probability({"when": ["2024", "2026"]}) == pytest.approx(1)
        by_quarter = model.conditional("when")
        assert by_quarter[("2024-01", "2024-03")] == pytest.approx(0.75)
        assert all(model.probability({"when": key}) == pytest.approx(share) for key, share in by_quarter.items())
        with pytest.raises(DataError, match=r"'when' holds dates.*not 'soon'"):
            model.probability({"when": "soon"})

    def test_dates_may_be_nominal(self):
        (feature,) = Domain.infer(pl.DataFrame({"when": days(0, 900)}), kinds={"when": "nominal"})
        assert (feature.kind, feature.period) == ("nominal", "quarter")

    def test_text_in_place_of_a_date_is_refused(self):
        model = Histogram().fit(pl.DataFrame({"when": days(0, 900)}))
        with pytest.raises(DataError, match=r"'when' holds 'x', but a date is expected \(2024 Q1 to 2026 Q2\)"):
            model.score_samples(pl.DataFrame({"when": ["x"]}))


def people(rows=120):
    kind = np.where(np.arange(rows) % 3 == 0, "a", "b")
    other = np.where(np.arange(rows) % 3 == 0, "u", "v")
    return pl.DataFrame({"id": [f"p{i}" for i in range(rows)], "kind": kind, "row": range(rows), "other": other})


def test_dates_take_no_bins_and_messages_call_periods_by_their_names():
    days = [datetime.date(2020, month, 1) for month in range(1, 13)]
    table = pl.DataFrame({"when": days, "other": ["a", "b"] * 6})
    with pytest.raises(DataError, match="'when' holds dates or times, whose bins are calendar periods"):
        GreedyTree(bins={"when": 5}).fit(table)
    model = Histogram().fit(table)
    with pytest.warns(DataWarning, match=r"'when' has no value None\. Known: 'Jan 2020 to Dec 2020'"):
        model.score_samples(table.head(1).with_columns(when=pl.lit(None)))
    with pytest.raises(DataError, match=r"'when' has no value None\. Known: '2020-01', '2020-02'"):
        model.probability({"when": None})


class TestIdentifiers:
    def test_they_are_left_out_with_a_warning_that_says_how_to_keep_them(self):
        with pytest.warns(DataWarning) as caught:
            domain = Domain.infer(people())
        assert (domain.names, domain.left_out) == (("kind", "other"), ("id", "row"))
        assert all("kinds={" in str(warning.message) for warning in caught)
        kept = Domain.infer(people(), kinds={"id": "nominal", "row": "continuous"})
        assert kept.names == ("id", "kind", "row", "other")
        assert Domain.infer(people(), kinds="nominal").names == kept.names

    def test_small_tables_and_tables_of_one_column_have_none(self):
        assert Domain.infer(people(99)).left_out == ()
        assert Domain.infer(np.arange(500).reshape(-1, 1)).left_out == ()

    @pytest.mark.parametrize("text", ["3/17/{}", "1.{},50", "$1,{}.00", "1'{} €"])
    def test_numbers_and_dates_that_are_text_are_told_how_to_be_written(self, text):
        table = pl.DataFrame({"a": [text.format(2000 + row) for row in range(200)], "b": [0, 1] * 100})
        with pytest.warns(
            DataWarning, match=r"'a' looks like.*text such as.*write numbers like 1234\.5 and dates like"
        ):
            assert Domain.infer(table).left_out == ("a",)

    def test_names_are_not_taken_for_numbers(self):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            Domain.infer(people())
        assert any("'id' looks like" in str(warning.message) for warning in told)
        assert not any("write numbers" in str(warning.message) for warning in told)

    def test_numbers_with_gaps_or_repeats_are_no_identifiers(self):
        row = np.arange(200)
        table = pl.DataFrame({"gaps": row * 3, "twice": row // 2, "counts": row[::-1] + 7, "a": row % 2})
        with pytest.warns(DataWarning, match="'counts' looks like an identifier"):
            assert Domain.infer(table).left_out == ("counts",)

    @pytest.mark.filterwarnings("ignore:.*looks like an identifier")
    @pytest.mark.parametrize("form", ["polars", "pandas", "array"])
    def test_tables_may_have_the_column_or_not(self, form, tmp_path):
        table = people()
        without = table.drop("id", "row")
        if form == "array":
            table, without = table.to_numpy(), without.to_numpy()
        elif form == "pandas":
            table, without = table.to_pandas(), without.to_pandas()
        model = GreedyTree().fit(table)
        assert model.n_features_in_ == 4
        model.save(tmp_path / "model.json")
        again = load(tmp_path / "model.json")
        assert (again.n_features_in_, again.domain_.left_out) == (4, model.domain_.left_out)
        for fitted in (model, again):
            assert_array_equal(fitted.score_samples(table), fitted.score_samples(without))
            assert [str(e) for e in fitted.explain(table)] == [str(e) for e in fitted.explain(without)]
            assert fitted.compare(table).distance == fitted.compare(without).distance
        assert GreedyTree(domain=model.domain_).fit(table).log_posterior_ == model.log_posterior_
        assert model.to_html(None, table, cv=2) == model.to_html(None, table, cv=2)
        with pytest.raises(ColumnsError):
            model.score_samples(without[:, :1] if form == "array" else without[["kind"]])

    @pytest.mark.filterwarnings("ignore:.*looks like an identifier")
    @pytest.mark.parametrize("honest", [None, 0.5])
    def test_a_row_that_lacks_only_its_identifier_is_not_dropped(self, honest):
        table = people(400).with_columns(
            pl.when(pl.col("row") % 7 > 0).then("id"), pl.when(pl.col("row") % 10 > 0).then("other")
        )
        model = GreedyTree(missing="drop", honest=honest).fit(table)
        rows = [None if part is None else part.codes.tolist() for part in (model.rows_, model.held_)]
        assert model.rows_.n + (0 if honest is None else model.held_.n) == table["other"].count() == 360
        declared = GreedyTree(missing="drop", honest=honest, domain=model.domain_).fit(table)
        model.sparsity_path(table, cv=None)
        for same in (model, declared):
            assert [None if part is None else part.codes.tolist() for part in (same.rows_, same.held_)] == rows
        assert model.domain_["other"].missing is None
        assert model.domain_.left_out == ("id", "row")

    @pytest.mark.filterwarnings("ignore:.*looks like an identifier")
    def test_an_array_without_the_column_can_be_fitted_with_the_domain_of_one_that_has_it(self):
        table = people().to_numpy()
        model = GreedyTree().fit(table)
        again = GreedyTree(domain=model.domain_).fit(table[:, [1, 3]])
        assert again.log_posterior_ == model.log_posterior_
        assert_array_equal(again.score_samples(table[:, [1, 3]]), model.score_samples(table))

    def test_what_became_of_each_column_is_told(self):
        with pytest.warns(DataWarning, match="identifier"):
            lines = columns_in_words(Domain.infer(people())).splitlines()
        assert [line.split()[:2] for line in lines[:2]] == [["kind", "nominal"], ["other", "nominal"]]
        assert [line.split() for line in lines[2:]] == [["id", "left", "out"], ["row", "left", "out"]]


def test_a_crowded_column_gets_a_hint():
    numbers = np.append(np.linspace(0.1, 1, 95), 1000.5)
    with pytest.warns(DataWarning, match=r"99\.0 % of its rows in one of 10 bins.*bins=\{'fare': 'quantile'\}"):
        Domain.infer(pl.DataFrame({"fare": numbers}))
    assert Domain.infer(pl.DataFrame({"fare": numbers}), bins={"fare": 10})["fare"].size == 10


class TestUnusedColumns:
    table = pl.DataFrame({"a": ["x"] * 90 + ["y"] * 10, "b": ["u", "v"] * 50})
    new = pl.DataFrame({"a": ["x", "y", "z"], "b": ["w", "u", "u"]})

    def test_an_unknown_value_there_makes_no_row_unusual(self):
        model = LeafSparseTree(max_leaves=2).fit(self.table)
        assert model.density_.used.tolist() == [True, False]
        with pytest.warns(DataWarning) as caught:
            logs = model.score_samples(self.new)
        (warning,) = caught
        assert all(word in str(warning.message) for word in ("1 row lies", "'a' has no value 'z'", "'b' (1 row", "'w'"))
        known = model.score_samples(pl.DataFrame({"a": ["x", "y"], "b": ["u", "u"]}))
        assert_allclose(logs, [*known, -np.inf])

    def test_the_same_for_numbers_and_for_other_types(self):
        codes = self.table.select(pl.col("a") == "x", pl.col("b") == "u").cast(pl.Int64).to_numpy()
        model = LeafSparseTree(max_leaves=2).fit(codes)
        with pytest.warns(
            DataWarning, match=r"^Ignored, because no leaf asks for these columns: 'x1' \(2 rows, first 7\)"
        ):
            logs = model.score_samples(np.array([[1, 7], [0, 9]]))
        assert_array_equal(logs, model.score_samples(np.array([[1, 0], [0, 0]])))
        texts = LeafSparseTree(max_leaves=2).fit(self.table)
        with pytest.warns(DataWarning, match="'b' .1 row, first 5"):
            texts.score_samples(pl.DataFrame({"a": ["x"], "b": [5]}))

    def test_error_refuses_only_columns_in_use(self):
        model = LeafSparseTree(unknown="error", max_leaves=2).fit(self.table)
        with pytest.warns(DataWarning, match="Ignored"):
            assert np.isfinite(model.score_samples(self.new.head(2))).all()
        with pytest.raises(UnknownValueError, match="'a' has no value 'z'"):
            model.score_samples(self.new)

    def test_explanations_name_the_column_that_did_it(self):
        model = LeafSparseTree(max_leaves=2).fit(self.table)
        with pytest.warns(DataWarning):
            inside, _, outside = model.explain(self.new)
        assert (inside.unknown, outside.unknown) == (None, ("a", "z"))

    def test_a_comparison_counts_only_rows_outside_in_used_columns(self):
        model = LeafSparseTree(max_leaves=2).fit(self.table)
        drifted = self.table.with_columns(b=pl.lit("w"))
        with pytest.warns(DataWarning, match="'b' .100 rows, first 'w'"):
            assert model.compare(drifted).distance == model.compare(self.table).distance
        with pytest.warns(DataWarning, match="1 row lie"):
            assert model.compare(self.new).differences[-1].leaf is None


def test_weights_too_small_to_count_are_refused_in_one_sentence():
    with pytest.raises(DataError, match="too small to count"):
        LeafSparseTree().fit(people(20), sample_weight=np.full(20, 1e-320))
    model = LeafSparseTree().fit(people(20).drop("id", "row"), sample_weight=np.full(20, 1e-290))
    assert np.isfinite(model.score_samples(people(20).drop("id", "row"))).all()


def test_many_columns_with_few_rows_are_read_by_name_once():
    table = pl.DataFrame({f"c{i}": ["a", "b"] for i in range(3000)})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        domain = Domain.infer(table)
    assert domain.sizes == (2,) * 3000
    with pytest.raises(DataError, match="Two columns are called 'c7'"):
        Domain((*domain.features, Feature.nominal("c7", ("a",))))


class TestFiles:
    def test_dates_in_a_csv_are_dates_and_other_text_is_not(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_text(
            "day,moment,clock,dots,us,mixed\n2024-03-17,2024-03-17T14:05:00Z,14:05,17.03.2024,3/17/2024,2024-03-17\n"
            "2024-04-01,2024-03-18T09:00:00Z,09:30,1.4.2024,3/18/2024,soon\n",
            encoding="utf-8",
        )
        types = [pl.Date, pl.Datetime("us"), pl.Time, pl.Date, pl.String, pl.String]
        assert read_file(path).dtypes == types
        assert read_file(path)["dots"].to_list() == read_file(path)["day"].to_list()
        domain = Domain.infer(read_file(path))
        assert read_file(path, domain).dtypes == types
        assert open_table([str(path)], domain, "polars").collect().dtypes == types

    @pytest.mark.parametrize("text", ["name,n\nMüller,1\n", "Größe,n\nx,1\n"])
    def test_latin_1_is_read_after_saying_so(self, text, tmp_path):
        path = tmp_path / "t.csv"
        path.write_bytes(text.encode("latin-1"))
        with pytest.warns(DataWarning, match="not text in UTF-8 and is read as Latin-1"):
            frame = read_file(path)
        assert frame.write_csv() == text

    def test_excel_needs_a_library_and_says_so(self, tmp_path, monkeypatch):
        path = tmp_path / "t.xlsx"
        path.write_bytes(b"PK not really")
        monkeypatch.setitem(sys.modules, "fastexcel", None)
        with pytest.raises(MissingExtraError, match="fastexcel is needed for reading Excel files"):
            read_file(path)

    def test_excel_is_read_with_it(self, tmp_path, monkeypatch):
        path = tmp_path / "t.xlsx"
        path.write_bytes(b"any")
        table = pl.DataFrame({"a": [1]})
        monkeypatch.setitem(sys.modules, "fastexcel", sys)
        monkeypatch.setattr(pl, "read_excel", lambda file: table if file == path else None)
        assert read_file(path) is table

    @pytest.mark.parametrize("read", ["read_parquet", "scan_parquet"])
    def test_a_panic_inside_polars_is_one_sentence(self, read, tmp_path, monkeypatch):
        path = tmp_path / "t.parquet"
        path.write_bytes(b"PAR1")

        def panic(*_, **_options):
            raise pl.exceptions.PanicException("index out of bounds")

        monkeypatch.setattr(pl, read, panic)
        with pytest.raises(DataError, match=r"is not a Parquet file, or is damaged \(index out of bounds\)"):
            open_table([str(path)]) if read == "scan_parquet" else read_file(path)

    @pytest.mark.parametrize("content", [b"\0" * 5000, b"a,b\n" * 5000])
    def test_what_does_not_begin_like_a_model_is_not_read_to_its_end(self, content, tmp_path):
        path = tmp_path / "endless"
        path.write_bytes(content)
        with path.open("rb") as file:
            assert len(read_like_json(file)) < len(content)
        with pytest.raises(ModelFileError, match="not a model file"):
            load(path)


def test_a_report_of_a_table_outside_the_domain_is_refused_in_one_sentence(people):
    model = GreedyTree(max_leaves=4).fit(people)
    with pytest.raises(DataError, match=r"No row of the table lies in the domain\."):
        model.to_html(None, people.with_columns(sex=pl.lit("neither")), cv=None)
