"""The options of the command line beside the parameters of the estimators."""

import pytest
import typer

from sparsedensity import Domain, datasets
from sparsedensity.cli import VERBS, app
from sparsedensity.cli.data import Data
from sparsedensity.cli.options import NOT_PARAMETERS, ModelOptions, estimators, flag, parameters
from sparsedensity.errors import SparseDensityError
from sparsedensity.estimators import ESTIMATORS

WITHOUT_OPTION = {
    "progress": "shown on a terminal unless --quiet is given",
}
VERBS_THAT_FIT = ("fit", "path", "report", "evaluate", "compare")
GIVEN = {"kinds": ["sex=nominal"], "bins": ["3"], "domain": ["titanic"], "max_leaves": "7", "max_rules": "none"}
DOMAIN = Domain.infer(datasets.load("titanic"))
READ = {"kinds": {"sex": "nominal"}, "bins": 3, "domain": DOMAIN, "max_leaves": 7, "max_rules": None}
"""Options that are read from text, and the parameters they become."""

every_pair = pytest.mark.parametrize(("method", "name"), [(m, n) for m in estimators() for n in parameters()])


@pytest.fixture(scope="module")
def table():
    return Data(datasets.load("titanic"), None, "titanic")


def test_every_estimator_has_a_method():
    assert set(estimators().values()) == set(ESTIMATORS.values())


@pytest.mark.parametrize("method", estimators())
def test_every_parameter_has_an_option_or_a_reason_to_have_none(method):
    assert set(estimators()[method]().get_params()) <= {*parameters(), *WITHOUT_OPTION}


def test_every_option_sets_a_parameter_or_chooses_what_is_fitted():
    known = {name for kind in ESTIMATORS.values() for name in kind().get_params()}
    assert set(parameters()) <= known
    assert not set(parameters()) & {*WITHOUT_OPTION, *NOT_PARAMETERS}


@every_pair
def test_an_option_reaches_the_parameter_of_its_name_or_is_refused(method, name, table):
    value = GIVEN.get(name, 5)
    options = ModelOptions(method=method, **{name: value})
    if name in estimators()[method]().get_params():
        assert getattr(options.model(table), name) == READ.get(name, value)
    else:
        with pytest.raises(SparseDensityError, match=f"^{flag(name)} is not an option of --method {method}.$"):
            options.model(table)


@pytest.mark.parametrize("method", estimators())
def test_what_is_not_given_is_left_to_the_estimator(method, table):
    chosen = estimators()[method]().get_params() | {"n_jobs": -1, "progress": True}
    assert ModelOptions(method=method).model(table).get_params() == chosen


@pytest.mark.parametrize("verb", VERBS_THAT_FIT)
def test_every_verb_that_fits_takes_every_option(verb):
    command = typer.main.get_command(app).commands[verb]
    declared = {option for parameter in command.params for option in parameter.opts}
    assert {flag(name) for name in (*parameters(), *NOT_PARAMETERS)} <= declared
    assert set(VERBS_THAT_FIT) <= set(VERBS)


def test_one_word_is_the_kind_of_all_columns(table):
    assert ModelOptions(kinds=["nominal"]).model(table).kinds == "nominal"


def test_a_domain_of_several_files_holds_the_values_of_all(table, tmp_path):
    names = []
    for sex in ("male", "female"):
        names.append(str(tmp_path / f"{sex}.csv"))
        table.frame.filter(table.frame["sex"] == sex).write_csv(names[-1])
    model, read = ModelOptions(domain=names, method="greedy", quiet=True).fit(names[0])
    assert model.domain_["sex"].values == ("female", "male")
    assert read.frame["sex"].unique().to_list() == ["male"]
    table.frame.drop("age").write_csv(tmp_path / "other.csv")
    with pytest.raises(SparseDensityError, match=r"other\.csv has other columns than male\.csv"):
        ModelOptions(domain=[names[0], str(tmp_path / "other.csv")]).model(table)
