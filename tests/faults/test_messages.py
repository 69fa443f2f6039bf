"""Messages are one sentence of a length that somebody reads, whatever was given."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sparsedensity import LeafSparseTree, SparseRuleList, load
from sparsedensity.errors import DataError, DataWarning, ModelFileError, ParameterError, SparseDensityError, warn
from sparsedensity.estimators import ESTIMATORS

LONGEST = 400
HOSTILE = [pd.NA, np.array([1, 2]), np.array(["auto"]), 10**400, 10**5000, pd.Series([1, 2]), pd.DataFrame({"a": [1]})]
PARAMETERS = [
    (kind, name)
    for kind, estimator in ESTIMATORS.items()
    for name in estimator().get_params(deep=False)
    if name != "bins"
]


def test_a_long_message_keeps_its_beginning_and_the_way_out():
    columns = ", ".join(map(repr, range(5000)))
    error = DataError(f"There is no column 'a'. Columns: {columns}. Name one of these.")
    assert len(str(error)) <= LONGEST
    assert str(error).startswith("There is no column 'a'.")
    assert str(error).endswith("Name one of these.")
    with pytest.warns(DataWarning) as caught:
        warn(f"Left out: {columns}.")
    assert len(str(caught[0].message)) <= LONGEST


def test_a_table_of_a_thousand_columns_is_refused_in_few_words(people, titanic):
    wide = pl.DataFrame({f"a column with a rather long name, number {i}": [1] for i in range(1000)})
    with pytest.raises(SparseDensityError) as caught:
        titanic.score_samples(wide)
    assert len(str(caught.value)) <= LONGEST
    with pytest.raises(DataError) as caught:
        LeafSparseTree(kinds={"x": "nominal"}).fit(wide)
    assert len(str(caught.value)) <= LONGEST


def refusal(model, table):
    with pytest.raises(SparseDensityError) as caught:
        model.fit(table)
    return str(caught.value)


@pytest.mark.parametrize(("kind", "name"), PARAMETERS, ids=lambda value: value)
def test_a_parameter_that_is_no_value_at_all_is_refused_in_a_sentence(kind, name, people):
    for value in HOSTILE:
        message = refusal(ESTIMATORS[kind](**{name: value}), people[:50])
        assert name in message
        assert len(message) <= LONGEST
        assert "\n" not in message


@pytest.fixture
def document(titanic, tmp_path):
    titanic.save(tmp_path / "model.json")
    return json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        ("upper_bound", "a text"),
        ("upper_bound", 10**400),
        ("log_posterior", True),
        ("seconds", [1]),
        ("reason", None),
        ("proven", "yes"),
        ("limit_binds", 0),
        ("r_hat", "1"),
    ],
)
def test_an_entry_about_the_search_that_is_of_another_kind_is_named(entry, value, document, tmp_path):
    document["search"][entry] = value
    (tmp_path / "bad.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(ModelFileError, match=f"is damaged: its {entry} is .*, not "):
        load(tmp_path / "bad.json")


@pytest.mark.parametrize("value", [10**400, "1", None, True, [1]])
def test_a_parameter_in_a_model_file_is_checked_when_it_is_read(value, people, tmp_path):
    path = tmp_path / "list.json"
    SparseRuleList(max_rules=1).fit(people).save(path)
    document = json.loads(path.read_text(encoding="utf-8"))
    document["parameters"]["expected_conditions"] = value
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(ModelFileError, match="is damaged: expected_conditions must be a number greater than 0"):
        load(path)


def test_a_title_that_is_no_text_is_refused_by_all_who_read_the_file(document, tmp_path):
    document["title"] = 3
    (tmp_path / "bad.json").write_text(json.dumps(document), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "sparsedensity", "show", tmp_path / "bad.json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "its title is 3, not a text" in done.stderr


@pytest.mark.parametrize("path", [3, None, 2.5, [], np.array([1])], ids=str)
def test_what_is_no_path_is_refused(path):
    with pytest.raises(ParameterError, match="path must be the name of a model file"):
        load(path)


def test_values_that_cannot_be_compared_are_no_values_of_a_column(titanic):
    for value in (pd.NA, np.array([[1, 2]]), pd.DataFrame({"a": [1]}), 10**400):
        with pytest.raises(SparseDensityError):
            titanic.probability({"class": [value]})


def test_text_that_is_no_unicode_is_named():
    with pytest.raises(DataError, match=r"'a' holds '\\ud800', which is not valid Unicode"):
        LeafSparseTree().fit(pd.DataFrame({"a": ["x", "\ud800"]}, dtype=object))


def test_a_folder_for_measurements_that_cannot_be_made_is_said_in_one_sentence(tmp_path):
    (tmp_path / "file").touch()
    command = [sys.executable, "-m", "reproduction", "titanic", "--quick", "--output", tmp_path / "file" / "below"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "cannot be written" in done.stderr
