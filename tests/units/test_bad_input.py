"""Bad input gets one clear sentence that names the column, the value and the way out."""

import datetime
import gzip
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sparsedensity import Domain, Feature, GreedyTree, Histogram
from sparsedensity.datasets import titanic
from sparsedensity.errors import (
    ColumnsError,
    DataError,
    DataWarning,
    ParameterError,
    SearchWarning,
    SparseDensityError,
    UnknownValueError,
)
from sparsedensity.estimators import ESTIMATORS
from sparsedensity.ingest.files import read_file

every_estimator = pytest.mark.parametrize("kind", ESTIMATORS.values(), ids=ESTIMATORS)
pytestmark = pytest.mark.filterwarnings("ignore:The chains do not agree")
LONGEST = 400


@dataclass(frozen=True)
class Bad:
    """One bad input: what it is called, what to do, and what the error must say."""

    name: str
    table: Any
    says: tuple[str, ...]
    error: type[SparseDensityError] = DataError


def refused(action, error: type[SparseDensityError], says: tuple[str, ...]) -> str:
    """Run an action that must be refused in a few clear words; return them."""
    with pytest.raises(error) as caught:
        action()
    message = str(caught.value)
    assert isinstance(caught.value, SparseDensityError)
    assert isinstance(caught.value, ValueError)
    for phrase in says:
        assert phrase in message, f"{phrase!r} is not in {message!r}"
    assert message[-1] == "."
    assert len(message) < LONGEST
    assert "Traceback" not in message
    assert "0x" not in message
    return message


def _spans() -> list[datetime.timedelta]:
    return [datetime.timedelta(days=31), datetime.timedelta(days=28)]


FRAMES = (
    Bad("no rows in pandas", pd.DataFrame({"a": []}), ("0 sample(s)", "no rows")),
    Bad("no rows in Polars", pl.DataFrame({"a": []}), ("0 sample(s)", "no rows")),
    Bad("no rows in PyArrow", pa.table({"a": pa.array([], pa.string())}), ("0 sample(s)", "no rows")),
    Bad("no rows in NumPy", np.empty((0, 3)), ("0 sample(s)", "no rows")),
    Bad("no columns in pandas", pd.DataFrame(index=range(3)), ("0 feature(s)", "no columns")),
    Bad("no columns in Polars", pl.DataFrame(), ("0 feature(s)", "no columns")),
    Bad("no columns in NumPy", np.empty((3, 0)), ("0 feature(s)", "no columns")),
    Bad("records without columns", [{}, {}], ("0 feature(s)", "no columns")),
    Bad(
        "a number too long to write", pd.DataFrame({"a": pd.Categorical([1, 10**5000])}), ("'a'", "600 digits", "text")
    ),
    Bad("twin columns in pandas", pd.DataFrame([[1, 2]], columns=["age", "age"]), ("'age'", "Rename"), ColumnsError),
    Bad("twin columns in PyArrow", pa.table([[1], [2]], names=["age", "age"]), ("'age'", "Rename"), ColumnsError),
    Bad("twin keys in records", [{1: "a", "1": "b"}], ("'1'", "Rename"), ColumnsError),
    Bad("half-named columns", pd.DataFrame({"a": [1], 2: [3]}), ("'a'", "2", "Rename"), ColumnsError),
    Bad("infinity in pandas", pd.DataFrame({"f": [1.0, np.inf]}), ("'f'", "inf", "row 1", "NaN")),
    Bad("infinity in Polars", pl.DataFrame({"f": [-np.inf, 1.0]}), ("'f'", "-inf", "row 0", "NaN")),
    Bad("infinity in NumPy", np.array([[0.0, 1.0], [0.0, np.inf]]), ("'x1'", "inf", "row 1", "NaN")),
    Bad("infinity in objects", pd.DataFrame({"f": [1, np.inf]}, dtype=object), ("'f'", "inf", "row 1", "NaN")),
    Bad("complex NumPy", np.array([[1 + 2j]]), ("Complex data not supported", "'x0'", "(1+2j)", "real part")),
    Bad("complex pandas", pd.DataFrame({"z": [1 + 2j]}), ("Complex data not supported", "'z'", "(1+2j)", "real part")),
    Bad("complex records", [{"z": 1j}], ("Complex data not supported", "'z'", "1j", "real part")),
    Bad("spans in pandas", pd.DataFrame({"t": pd.to_timedelta(_spans())}), ("'t'", "Duration", "into a number")),
    Bad("spans in Polars", pl.DataFrame({"t": _spans()}), ("'t'", "Duration", "into a number")),
    Bad("spans in PyArrow", pa.table({"t": _spans()}), ("'t'", "Duration", "into a number")),
    Bad("spans in NumPy", np.array([[31]], "timedelta64[D]"), ("'x0'", "timedelta64", "into a number")),
    Bad("spans in records", [{"t": span} for span in _spans()], ("'t'", "timedelta", "leave the column out")),
    Bad("lists in pandas", pd.DataFrame({"tags": [[1], [2]]}), ("'tags'", "list", "leave the column out")),
    Bad("lists in Polars", pl.DataFrame({"tags": [[1], [2]]}), ("'tags'", "List", "leave the column out")),
    Bad("structs in Polars", pl.DataFrame({"s": [{"a": 1}]}), ("'s'", "Struct", "leave the column out")),
    Bad("bytes in pandas", pd.DataFrame({"raw": [b"x", b"y"]}), ("'raw'", "bytes", "leave the column out")),
    Bad("bytes in Polars", pl.DataFrame({"raw": [b"x"]}), ("'raw'", "Binary", "leave the column out")),
    Bad("bytes in NumPy", np.array([[b"\xff"]]), ("'x0'", "bytes", "leave the column out")),
    Bad("text and numbers", pd.DataFrame({"m": ["a", 1]}, dtype=object), ("'m'", "'a'", "1", "astype(str)")),
    Bad("truth and numbers", [{"m": True}, {"m": 2}], ("'m'", "True", "2", "one type")),
    Bad("mixed objects in NumPy", np.array([["a"], [2.5]], object), ("'x0'", "'a'", "2.5", "one type")),
    Bad("uneven rows", [[1, 2], [3]], ("differ in length", "same columns")),
    Bad("uneven rows of text", [["a", "b"], ["c"]], ("differ in length", "same columns")),
    Bad("a record and a row", [{"a": 1}, [2]], ("Row 1", "[2]", "record")),
    Bad("one dimension", np.arange(3), ("Expected 2D array, got 1D array", "reshape(-1, 1)")),
    Bad("three dimensions", np.zeros((2, 2, 2)), ("dim 3", "dim <= 2")),
    Bad("a file's name", "people.csv", ("'people.csv'", "Read the file first")),
    Bad("nothing", None, ("None", "Give a data frame")),
    Bad("a dictionary of columns", {"a": [1, 2]}, ("{'a': [1, 2]}", "Give a data frame")),
    Bad("many texts", pl.DataFrame({"id": map(str, range(65_536))}), ("'id'", "65,536", "65,535", "group")),
)


@every_estimator
@pytest.mark.parametrize("bad", FRAMES, ids=lambda bad: bad.name)
def test_a_bad_table_is_refused_by_name(kind, bad):
    refused(lambda: kind().fit(bad.table), bad.error, bad.says)


@pytest.mark.parametrize("bad", FRAMES[:-1], ids=lambda bad: bad.name)
def test_a_bad_table_is_refused_when_a_domain_is_inferred_too(bad):
    refused(lambda: Domain.infer(bad.table), bad.error, bad.says)


def test_a_bad_table_is_refused_at_scoring_too():
    model = Histogram().fit(pd.DataFrame({"f": [1.0, 2.0]}))
    refused(lambda: model.score_samples(pd.DataFrame({"f": [np.inf]})), DataError, ("'f'", "inf", "NaN"))
    refused(lambda: model.score_samples(pd.DataFrame({"f": [1j]})), DataError, ("Complex data not supported", "'f'"))
    refused(lambda: model.score_samples(pd.DataFrame({"f": []})), DataError, ("no rows",))
    refused(lambda: model.score_samples(pd.DataFrame({"f": _spans()})), DataError, ("'f'", "Duration"))


def test_a_number_with_more_than_65535_values_cannot_be_nominal():
    table = np.arange(70_000).reshape(-1, 1)
    says = ("'x0'", "70,000", "65,535", "continuous")
    refused(lambda: Histogram(kinds={"x0": "nominal"}).fit(table), DataError, says)
    refused(lambda: Histogram(kinds={"x0": "ordinal"}).fit(pd.DataFrame(table, columns=["x0"])), DataError, says)


def test_whole_numbers_beyond_64_bits_are_refused():
    for table in ([{"a": 2**70}], pl.DataFrame({"a": pl.Series([1, 2], dtype=pl.Int128)})):
        refused(lambda table=table: Histogram().fit(table), DataError, ("'a'", "64 bits", "text or float"))


def test_a_column_that_spans_more_than_a_float_is_refused():
    with np.errstate(all="ignore"):
        refused(lambda: Histogram().fit(np.array([[-1.7e308], [1.7e308]])), DataError, ("'x0'", "Rescale"))


WEIGHTS = (
    ("negative", [1, -2, 1], ("sample_weight", "-2.0", "row 1", "not negative")),
    ("NaN", [1, np.nan, 1], ("sample_weight", "nan", "row 1", "finite")),
    ("infinite", [1, 1, np.inf], ("sample_weight", "inf", "row 2", "finite")),
    ("all zero", [0, 0, 0], ("sample_weight", "zero", "positive")),
    ("too few", [1, 1], ("sample_weight", "2 entries", "3 rows", "one weight per row")),
    ("too many", [1] * 4, ("sample_weight", "4 entries", "3 rows", "one weight per row")),
    ("text", ["a", "b", "c"], ("sample_weight", "numbers")),
    ("complex", [1j, 1, 1], ("sample_weight", "real numbers")),
    ("of two dimensions", [[1], [1], [1]], ("Sample weights must be 1D", "2 dimensions")),
    ("beyond a float in sum", [1e308, 1e308, 1e308], ("sample_weight", "1e+308", "Divide")),
)


@pytest.mark.filterwarnings("error::RuntimeWarning")  # the sentence is all that is said
@every_estimator
@pytest.mark.parametrize(("weights", "says"), [case[1:] for case in WEIGHTS], ids=[case[0] for case in WEIGHTS])
def test_bad_weights_are_refused(kind, weights, says):
    table = pd.DataFrame({"a": ["x", "y", "x"]})
    refused(lambda: kind().fit(table, sample_weight=weights), DataError, says)
    refused(lambda: kind().fit(table).score(table, sample_weight=weights), DataError, says)
    refused(lambda: Domain.infer(table, sample_weight=weights), DataError, says)


@pytest.mark.parametrize(
    "weights", [pd.Series([1, 2, 3]), pl.Series([1, 2, 3]), np.array([1, 2, 3], object), (1, 2, 3)]
)
def test_good_weights_may_come_in_any_form(weights):
    table = pd.DataFrame({"a": ["x", "y", "x"]})
    assert Histogram().fit(table, sample_weight=weights).probability({"a": "x"}) == pytest.approx(5 / 8)


def _csv(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


MANY_LINES = b"a,b\n" + b"".join(b"%d,%d\n" % (i * 7919 % 1000, i) for i in range(20_000))
FILES = (
    ("short row", "p.csv", _csv("a,b,c\n1,2,3\n4,5\n"), ("3 columns", "line 3 has 2", "same number")),
    ("long row", "p.csv", _csv("a,b\n1,2\n4,5,6\n"), ("2 columns", "line 3 has 3", "same number")),
    ("short row in tabs", "p.tsv", _csv("a\tb\n1\t2\n4\n"), ("2 columns", "line 3 has 1", "same number")),
    ("short row, gzipped", "p.csv.gz", gzip.compress(b"a,b\n1,2\n3\n"), ("2 columns", "line 3 has 1", "same number")),
    ("UTF-16", "p.csv", "a,b\nx,1\n".encode("utf-16"), ("not text in UTF-8 or Latin-1", "Save it as UTF-8")),
    ("empty file", "p.csv", b"", ("empty", "no rows")),
    ("blank lines only", "p.csv", b"\n\n\n", ("empty", "no rows")),
    ("empty gzip", "p.csv.gz", b"", ("empty", "no rows")),
    ("half a gzip", "p.csv.gz", gzip.compress(MANY_LINES)[:9000], ("damaged or end too early", "create the file")),
    (
        "gzip without its end",
        "p.csv.gz",
        gzip.compress(MANY_LINES)[:-4],
        ("damaged or end too early", "create the file"),
    ),
    ("twin columns", "p.csv", b"age,age\n1,2\n", ("two columns called 'age'", "Rename")),
    ("open quote", "p.csv", b'a,b\n"x,2\ny,3\n', ("cannot be read as CSV", "quotes")),
    ("CSV called Parquet", "p.parquet", b"a,b\n1,2\n", ("not a Parquet file", "ending of its name")),
    ("empty Parquet", "p.parquet", b"", ("not a Parquet file", "ending of its name")),
    ("pages", "p.pdf", b"%PDF", ("no ending that says", "CSV", "Parquet", "Excel", ".csv.gz", ".parquet", ".xlsx")),
)


@pytest.mark.parametrize(("name", "content", "says"), [case[1:] for case in FILES], ids=[case[0] for case in FILES])
def test_a_bad_file_is_refused_by_name(tmp_path, name, content, says):
    path = tmp_path / name
    path.write_bytes(content)
    refused(lambda: read_file(path), DataError, (str(path), *says))


def test_a_damaged_parquet_file_is_refused_by_name(tmp_path):
    path = tmp_path / "p.parquet"
    pl.DataFrame({"a": range(1000)}).write_parquet(path)
    path.write_bytes(path.read_bytes()[:-100])
    refused(lambda: read_file(path), DataError, (str(path), "damaged"))


def test_a_missing_file_and_a_directory_are_refused_by_name(tmp_path):
    refused(lambda: read_file(tmp_path / "nowhere.csv"), DataError, ("There is no file", "nowhere.csv", "Check"))
    refused(lambda: read_file(tmp_path), DataError, (str(tmp_path), "directory", "Name a CSV or Parquet file"))


def test_a_file_that_is_only_a_header_has_no_rows(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("a,b\n")
    refused(lambda: Histogram().fit(read_file(path)), DataError, ("no rows",))


def test_good_files_are_read_whole(tmp_path):
    path = tmp_path / "p.csv"
    path.write_bytes('\ufeffa,b\n"x, ""y""\nz",1\nü,\n\n,3\n\n'.encode())
    assert read_file(path).rows() == [('x, "y"\nz', 1), ("ü", None), (None, 3)]
    zipped = tmp_path / "p.csv.gz"
    zipped.write_bytes(gzip.compress(MANY_LINES))
    assert read_file(zipped).shape == (20_000, 2)


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    return titanic()


@every_estimator
@pytest.mark.parametrize("ask", ["score_samples", "score", "apply", "unusualness", "explain"])
def test_other_columns_at_scoring_are_refused(kind, ask, people):
    score = getattr(kind().fit(people), ask)
    one_less, one_more = people.select("class", "sex"), people.with_columns(deck=pl.lit("A"))
    renamed = people.rename({"age": "years"})
    cases = (
        (("now missing", "- age"), one_less),
        (("unseen at fit time", "- deck"), one_more),
        (("same order", "class, sex, age"), people.select("sex", "class", "age")),
        (("unseen at fit time", "- years", "now missing", "- age"), renamed),
    )
    for says, table in cases:
        with pytest.raises(ColumnsError, match="feature names should match") as caught:
            score(table)
        assert all(phrase in str(caught.value) for phrase in says)


@every_estimator
def test_another_number_of_unnamed_columns_is_refused(kind):
    model = kind().fit(np.zeros((3, 2), int))
    refused(lambda: model.score_samples(np.zeros((3, 3), int)), ColumnsError, ("3 features", "expecting 2"))


def test_a_table_whose_columns_are_not_those_of_the_domain_is_refused(people):
    domain = Domain((Feature.nominal("class", ("1st",)), Feature.nominal("deck", ("A",))))
    with pytest.raises(ColumnsError) as caught:
        Histogram(domain=domain).fit(people)
    assert "deck" in str(caught.value)
    refused(lambda: Histogram(domain=domain).fit(np.zeros((2, 3))), ColumnsError, ("3 columns", "2 are declared"))


@every_estimator
def test_an_unknown_value_is_an_error_where_asked(kind, people):
    model = kind(unknown="error").fit(people)
    strange = pl.DataFrame({"class": ["1st", "4th"], "sex": ["male", "male"], "age": ["adult", "adult"]})
    refused(lambda: model.score_samples(strange), UnknownValueError, ("'class'", "'4th'", "'crew'", "unknown='zero'"))


@every_estimator
def test_a_value_outside_a_declared_domain_is_refused_in_fitting(kind):
    domain = Domain((Feature.nominal("a", ("x", "y")), Feature.continuous("f", (0, 10))))
    cases = (
        ("z", 1.0, ("'a'", "'z'", "'x', 'y'", "declare it")),
        ("x", 11.0, ("'f'", "11.0", "0 to 10", "unknown='nearest'")),
        (None, 1.0, ("'a'", "None", "declare it")),
    )
    for a, f, says in cases:
        refused(lambda a=a, f=f: kind(domain=domain).fit([{"a": a, "f": f}]), UnknownValueError, says)
    assert kind(domain=domain, unknown="nearest").fit([{"a": "x", "f": 11.0}]).score([{"a": "x", "f": 10.0}]) > -np.inf


OTHER_TYPES = (
    ("text", [1, 2], "text", "1"),
    ("text", [True, False], "text", "True"),
    ("number", ["1", "2"], "a number", "'1'"),
    ("number", [True, False], "a number", "True"),
    ("real", ["1", "2"], "a number", "'1'"),
    ("truth", [0, 1], "true or false", "0"),
    ("truth", ["True", "False"], "true or false", "'True'"),
)


@pytest.mark.parametrize(("column", "values", "expected", "value"), OTHER_TYPES)
def test_a_column_of_another_type_at_scoring_is_refused(column, values, expected, value):
    fitted = {"text": ["1", "x"], "number": [0, 1], "real": [0.5, 1.5], "truth": [True, False]}
    model = Histogram().fit(pd.DataFrame({column: fitted[column]}))
    says = (f"'{column}'", value, f"{expected} is expected", "Give the column that type")
    refused(lambda: model.score_samples(pd.DataFrame({column: values})), DataError, says)


NUMBERS = (0, -1, np.nan, np.inf, "many", None, True, [1])
NONSENSE: dict[str, tuple[tuple[Any, ...], str]] = {
    "criterion": ((None, "gini", 3, ["ise"]), "'posterior' or 'ise'"),
    "expected_leaves": (NUMBERS, "greater than 0"),
    "pseudocount": (NUMBERS, "greater than 0"),
    "min_leaf": ((-1, np.nan, np.inf, "few", None, True, 1j), "0 or more"),
    "max_leaf": ((-1, np.nan, np.inf, "few", True, 1j), "0 or more"),
    "expected_rules": ((0, -1, np.nan, np.inf, "seven", None, True), "greater than 0"),
    "expected_conditions": ((0, -1, np.nan, "one", None), "greater than 0"),
    "max_conditions": ((0, -2, 1.5, "two", None), "1 or more"),
    "min_support": ((-1, np.nan, np.inf, "some", None, True), "a weight of 0 or more, or a share below 1"),
    "max_rules": ((0, -5, 2.5, "all", np.nan, True), "1 or more"),
    "ordinal_conditions": ((None, "run", 1), "'value' or 'interval'"),
    "search": ((None, "fast", 1), "one of 'auto', 'anneal', 'exact'"),
    "depth": ((0, -1, 2.5, "deep", True), "1 or more"),
    "cooling": ((None, "slow", 1), "'geometric' or 'linear'"),
    "expected_branches": ((0, -1, np.nan, "few"), "greater than 0"),
    "feature_probability": ((0, 1, -0.5, np.nan, "often"), "between 0 and 1"),
    "iterations": ((0, -1, 2.5, "many", True), "1 or more"),
    "restarts": ((0, -1, 2.5, "many", True), "1 or more"),
    "r_hat": ((0, -1, np.nan, "close", None), "greater than 0"),
    "warm_start_from": ((3, ["tree"]), "a fitted"),
    "random_state": (("seed", -1, 2.5), "a whole number"),
    "max_leaves": ((0, -5, 2.5, 3.0, "all", np.nan, True), "1 or more"),
    "time_limit": ((-1, np.nan, np.inf, "short", True), "seconds of 0 or more"),
    "density": ((None, "median", 1), "'mean' or 'empirical'"),
    "missing": ((None, "ignore", 0), "'category', 'drop' or 'error'"),
    "unknown": ((None, "ignore", 0), "'zero', 'nearest' or 'error'"),
    "domain": (("titanic", {}, ["class"], 3), "a Domain or None"),
    "kinds": (("numeric", ["nominal"], 3), "a mapping from column to kind"),
    "bins": ((0, -3, 2.5, "many", "quantile:0", "quantile:x", None, True, 65_536), "from 1 to 65,535"),
    "n_jobs": ((0, -2, 1.5, "all", True), "1 or more, -1 for all cores"),
    "progress": (("yes", 1, None), "True or False"),
    "honest": ((0, 1, -0.5, "half", True), "a number between 0 and 1, both excluded"),
    "prior": (("flat", 3), "'paper' or 'calibrated'"),
    "leaf": ((None, "even", 3, ["profile"]), "'uniform' or 'profile'"),
    "profile_pseudocount": (NUMBERS, "greater than 0"),
    "profile_probability": ((-0.1, 1, 2, np.nan, "often", None, True), "from 0 to 1, 1 excluded"),
}
CASES = [
    (kind, name, value, allowed)
    for kind in ESTIMATORS.values()
    for name, (values, allowed) in NONSENSE.items()
    for value in values
    if name in kind().get_params()
]


@pytest.mark.parametrize("kind", ESTIMATORS.values(), ids=ESTIMATORS)
def test_every_parameter_is_tried_with_nonsense(kind):
    assert set(kind().get_params()) <= set(NONSENSE)


@pytest.mark.parametrize(("kind", "name", "value", "allowed"), CASES)
def test_a_nonsense_parameter_is_refused_with_its_name_and_range(kind, name, value, allowed, people):
    message = refused(lambda: kind(**{name: value}).fit(people), ParameterError, (f"{name} must be", allowed))
    assert f"not {value!r}." in message


NESTED = (
    ({"kinds": {"class": "numeric"}}, ("kinds['class']", "'nominal', 'ordinal', 'continuous'", "'numeric'")),
    ({"kinds": {"class": 3}}, ("kinds['class']", "'nominal', 'ordinal', 'continuous'", "3")),
    ({"kinds": {"class": "continuous"}}, ("kinds['class']", "'nominal' or 'ordinal'", "'continuous'")),
    ({"kinds": {"age": ["child", "adult", None]}}, ("kinds['age']", "without None", "missing")),
    ({"bins": {"class": 0}}, ("bins for 'class'", "from 1 to 65,535", "0")),
    ({"bins": {"class": [1, "x"]}}, ("bins for 'class'", "two or more different finite edges", "'x'")),
    ({"bins": [3]}, ("bins must be", "two or more different finite edges", "[3]")),
    ({"bins": [3, 3.0]}, ("bins must be", "two or more different finite edges", "[3, 3.0]")),
    ({"bins": [0, np.inf]}, ("bins must be", "two or more different finite edges", "inf")),
)


@every_estimator
@pytest.mark.parametrize(("parameters", "says"), NESTED)
def test_a_nonsense_entry_of_a_mapping_is_refused_by_column(kind, parameters, says, people):
    refused(lambda: kind(**parameters).fit(people), ParameterError, says)


@every_estimator
@pytest.mark.parametrize("name", ["kinds", "bins"])
def test_a_mapping_that_names_no_column_is_refused(kind, name, people):
    value = {"kinds": {"deck": "nominal"}, "bins": {"deck": 3}}[name]
    refused(lambda: kind(**{name: value}).fit(people), DataError, (name, "'deck'", "not in the table"))


def test_a_list_of_values_that_lacks_one_is_refused(people):
    says = ("'age'", "'adult'", "'child'")
    refused(lambda: Histogram(kinds={"age": ["child"]}).fit(people), UnknownValueError, says)
    refused(lambda: Histogram(kinds={"age": ["child", "child"]}).fit(people), DataError, ("'age'", "twice"))
    refused(lambda: Histogram(kinds={"age": []}).fit(people), DataError, ("'age'", "no values"))


@every_estimator
def test_nonsense_questions_are_refused(kind, people):
    model = kind().fit(people)
    for action, says in (
        (lambda: model.sample(-1), ("n_samples", "-1", "from 0")),
        (lambda: model.sample(2.5), ("n_samples", "2.5", "whole number")),
        (lambda: model.sample(3, random_state="luck"), ("random_state", "'luck'", "whole number")),
        (lambda: model.sample(3, random_state=-1), ("random_state", "-1", "from 0")),
        (lambda: model.probability("male"), ("mapping", "'male'")),
        (lambda: model.probability({"deck": "A"}), ("'deck'", "'class', 'sex', 'age'")),
        (lambda: model.probability({7: "A"}), ("7", "'class', 'sex', 'age'")),
        (lambda: model.probability({"sex": "mail"}), ("'sex'", "'mail'", "'female', 'male'")),
        (lambda: model.probability({"sex": None}), ("'sex'", "None", "'female', 'male'")),
        (lambda: model.conditional("deck"), ("'deck'", "'class', 'sex', 'age'")),
        (lambda: model.conditional([]), ("one or more different columns", "[]")),
        (lambda: model.conditional(["sex", "sex"]), ("one or more different columns", "['sex', 'sex']")),
        (lambda: model.conditional(3), ("one or more different columns", "3")),
        (lambda: model.conditional("sex", given={"age": []}), ("{'age': []}", "probability 0")),
    ):
        refused(action, SparseDensityError, says)


def test_nonsense_intervals_are_refused():
    model = Histogram().fit(pd.DataFrame({"fare": [1.0, 2.5, 4.0]}))
    for asked, says in (
        (2.5, ("'fare'", "(low, high)", "2.5")),
        ((1, 2, 3), ("'fare'", "(low, high)", "(1, 2, 3)")),
        ((3, 1), ("'fare'", "low <= high", "(3, 1)")),
        (("a", 3), ("'fare'", "numbers", "('a', 3)")),
        ((np.nan, 3), ("'fare'", "nan")),
        (None, ("'fare'", "None")),
    ):
        refused(lambda asked=asked: model.probability({"fare": asked}), DataError, says)


@every_estimator
@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"a": ["x"]}),
        pd.DataFrame({"a": [1.5], "b": [2], "c": [True]}),
        pl.DataFrame({"a": ["x"] * 5, "b": [1.5] * 5, "c": [3] * 5, "d": [False] * 5}),
        np.ones((4, 3)),
        np.ones((4, 3), int),
        pd.DataFrame({"a": pd.Categorical(["x"])}),
    ],
    ids=["one text", "one mixed row", "constants", "constant floats", "constant integers", "one category"],
)
def test_one_row_and_constant_columns_are_fitted_in_silence(kind, table):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = kind().fit(table)
        assert np.exp(model.score_samples(table)) == pytest.approx(1.0)
        assert model.probability({}) == 1.0
        assert model.to_text()


ALL_MISSING = {
    "pandas float": pd.DataFrame({"gone": [np.nan] * 4, "a": list("xyxx")}),
    "pandas object": pd.DataFrame({"gone": [None] * 4, "a": list("xyxx")}, dtype=object),
    "pandas Int64": pd.DataFrame({"gone": pd.array([None] * 4, "Int64"), "a": list("xyxx")}),
    "Polars null": pl.DataFrame({"gone": [None] * 4, "a": list("xyxx")}),
    "Polars text": pl.DataFrame({"gone": pl.Series([None] * 4, dtype=pl.String), "a": list("xyxx")}),
    "Polars boolean": pl.DataFrame({"gone": pl.Series([None] * 4, dtype=pl.Boolean), "a": list("xyxx")}),
    "PyArrow null": pa.table({"gone": pa.nulls(4), "a": list("xyxx")}),
    "records": [{"gone": None, "a": a} for a in "xyxx"],
}


@every_estimator
@pytest.mark.parametrize("table", ALL_MISSING.values(), ids=ALL_MISSING)
def test_a_column_that_is_missing_everywhere_is_fitted_with_one_warning(kind, table):
    with pytest.warns(DataWarning, match="'gone' is missing in every row") as caught:
        model = kind().fit(table)
    assert len(caught) == 1
    assert model.domain_["gone"].values == (None,)
    assert model.domain_["gone"].measures == (1.0,)
    assert np.isfinite(model.score_samples(table)).all()
    assert model.sample(3, random_state=0) is not None


@every_estimator
def test_nan_is_a_value_like_any_other(kind):
    table = pd.DataFrame({"f": [0.0, 1.0, np.nan, np.nan], "a": ["x", None, "y", "x"]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = kind(bins=2).fit(table)
        assert model.domain_["f"].missing == 2
        assert model.domain_["a"].values == ("x", "y", None)
        assert np.isfinite(model.score_samples(table)).all()


def test_a_column_that_is_all_missing_at_scoring_may_have_any_type():
    model = Histogram().fit(pd.DataFrame({"a": ["x", "y", None]}))
    as_text = model.score_samples(pd.DataFrame({"a": [None]}, dtype=object))
    assert model.score_samples(pd.DataFrame({"a": [np.nan]})) == as_text
    assert model.score_samples(pl.DataFrame({"a": [None]})) == as_text
    assert np.isfinite(as_text)


def test_the_errors_are_where_the_tree_of_errors_says():
    assert issubclass(DataError, ValueError)
    assert issubclass(ParameterError, ValueError)
    assert issubclass(ColumnsError, DataError)
    assert issubclass(UnknownValueError, DataError)
    error = UnknownValueError("a", "z", ("x", "y"), "Way out.")
    assert (error.feature, error.value, error.known) == ("a", "z", ("x", "y"))


def test_a_greedy_tree_may_be_told_to_stop_at_once(people):
    with pytest.warns(SearchWarning, match="time limit"):
        assert GreedyTree(time_limit=0).fit(people).search_.reason == "time limit"


@pytest.mark.parametrize("kind", [ESTIMATORS["LeafSparseTree"], ESTIMATORS["SparseRuleList"]])
def test_more_restarts_than_anybody_could_wait_for_are_refused(kind):
    with pytest.raises(ParameterError, match="restarts must be at most 1,000,000, not"):
        kind(restarts=10**12).fit([{"a": "x"}, {"a": "y"}])


def test_a_row_with_a_number_too_long_to_write_is_explained():
    model = GreedyTree().fit(pd.DataFrame({"a": pd.Categorical([1, 2] * 9)}))
    with pytest.warns(DataWarning, match="'a' has no value a number of the type int"):
        (explained,) = model.explain(pd.DataFrame({"a": pd.Categorical([10**5000])}))
    assert str(explained).startswith("Row 0: outside the domain, because a is about 10^5000.")
