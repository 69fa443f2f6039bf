"""The options of the command line beside the parameters of the estimators."""

import inspect
from dataclasses import fields

import pytest
import typer
from typer.testing import CliRunner

from sparsedensity import Domain, datasets
from sparsedensity.cli import VERBS, app
from sparsedensity.cli.options import (
    LIMITS,
    NOT_PARAMETERS,
    OF_PROFILES,
    READABLE,
    ModelOptions,
    ReadableOptions,
    flag,
    models,
    parameters,
)
from sparsedensity.cli.tables import Data
from sparsedensity.errors import SparseDensityError
from sparsedensity.models import MODELS, plain
from sparsedensity.report.words import enumerated

WITHOUT_OPTION = {
    "progress": "shown on a terminal unless --quiet is given",
}
VERBS_THAT_FIT = ("fit", "path", "report", "evaluate", "compare")
GIVEN = {"kinds": ["sex=nominal"], "bins": ["3"], "domain": ["titanic"], "max_leaves": "7", "max_rules": "none"}
DOMAIN = Domain.infer(datasets.load("titanic"))
READ = {"kinds": {"sex": "nominal"}, "bins": 3, "domain": DOMAIN, "max_leaves": 7, "max_rules": None}
"""Options that are read from text, and the parameters they become."""
WORDS_FOR_NONE = {
    "max_rules": "none",
    "iterations": "by the size of the table",
    "restarts": "24, or 6 with profiles",
    "prior": "paper; profile leaves: calibrated",
}
"""What the default None means if it is worth saying."""
METADATA = {option.name: option.metadata for option in fields(ModelOptions)}

every_pair = pytest.mark.parametrize(("method", "name"), [(m, n) for m in models() for n in parameters()])


def parameters_of(verb):
    """What a verb takes, as it is parsed."""
    return typer.main.get_command(app).commands[verb].params


@pytest.fixture(scope="module")
def table():
    return Data(datasets.load("titanic"), None, "titanic")


def test_every_kind_of_model_has_a_method():
    assert set(models().values()) == set(MODELS.values())


@pytest.mark.parametrize("method", models())
def test_every_parameter_has_an_option_or_a_reason_to_have_none(method):
    assert set(plain.parameter_names(models()[method])) <= {*parameters(), *WITHOUT_OPTION}


def test_every_option_sets_a_parameter_or_chooses_what_is_fitted():
    known = {name for kind in MODELS.values() for name in plain.parameter_names(kind)}
    assert set(parameters()) <= known
    assert not set(parameters()) & {*WITHOUT_OPTION, *NOT_PARAMETERS}


@every_pair
def test_an_option_reaches_the_parameter_of_its_name_or_is_refused(method, name, table):
    value = GIVEN.get(name, 5)
    options = ModelOptions(method=method, **{name: value})
    if name in OF_PROFILES and "leaf" in plain.parameter_names(models()[method]):
        options.leaf = "profile"
    if name in plain.parameter_names(models()[method]):
        assert getattr(options.model(table), name) == READ.get(name, value)
    else:
        takers = enumerated([other for other in models() if name in plain.parameter_names(models()[other])])
        refusal = f"^{flag(name)} is not an option of --method {method}, only of {takers}.$"
        with pytest.raises(SparseDensityError, match=refusal):
            options.model(table)


@pytest.mark.parametrize("method", models())
def test_what_is_not_given_is_left_to_the_estimator(method, table):
    chosen = plain.parameters_of(models()[method]()) | {"n_jobs": -1, "progress": True}
    assert plain.parameters_of(ModelOptions(method=method).model(table)) == chosen


@pytest.mark.parametrize("verb", VERBS_THAT_FIT)
def test_every_verb_that_fits_takes_every_option(verb):
    declared = {option for parameter in parameters_of(verb) for option in parameter.opts}
    assert {flag(name) for name in (*parameters(), *NOT_PARAMETERS)} <= declared
    assert set(VERBS_THAT_FIT) <= set(VERBS)


@pytest.mark.parametrize("leaf", [None, "uniform"])
@pytest.mark.parametrize("name", OF_PROFILES)
def test_what_only_profiles_have_is_refused_without_them(name, leaf, table):
    with pytest.raises(SparseDensityError, match=f"^{flag(name)} needs --leaf profile"):
        ModelOptions(leaf=leaf, **{name: 0.3}).model(table)


def test_one_word_is_the_kind_of_all_columns(table):
    assert ModelOptions(kinds=["nominal"]).model(table).kinds == "nominal"


def test_a_domain_of_several_files_holds_the_values_of_all(table, tmp_path):
    names = []
    for sex in ("male", "female"):
        names.append(str(tmp_path / f"{sex}.csv"))
        table.frame.filter(table.frame["sex"] == sex).write_csv(names[-1])
    model, read = ModelOptions(domain=names, method="greedy", quiet=True).fit([names[0]])
    assert model.domain_["sex"].values == ("female", "male")
    assert read.frame["sex"].unique().to_list() == ["male"]
    table.frame.drop("age").write_csv(tmp_path / "other.csv")
    with pytest.raises(SparseDensityError, match=r"other\.csv has other columns than .*male\.csv"):
        ModelOptions(domain=[names[0], str(tmp_path / "other.csv")]).model(table)


@pytest.mark.parametrize("name", [name for name in parameters() if name != "n_jobs"])
def test_the_help_shows_the_defaults_of_the_estimators(name):
    methods: dict[str, list[str]] = {}
    for method, kind in models().items():
        if name in (defaults := plain.parameters_of(kind())):
            none = WORDS_FOR_NONE.get(name, "") if defaults[name] is None else str(defaults[name])
            methods.setdefault(none, []).append(method)
    (usual, _), *others = methods.items()
    assert METADATA[name]["shown"] == "; ".join([usual, *(f"{' and '.join(who)}: {text}" for text, who in others)])


def test_options_are_in_groups():
    shown = CliRunner().invoke(app, ["fit", "--help"]).output
    groups = [line.removesuffix(":") for line in shown.splitlines() if line.endswith(":") and line[0] != " "]
    assert groups == ["Arguments", "Options", "Data", "Model", "Prior", "Search"]
    assert [name for name in parameters() if METADATA[name]["panel"] is None] == []


def test_the_help_says_in_one_whole_sentence_what_every_verb_does():
    shown = " ".join(CliRunner().invoke(app, ["--help"]).output.split())
    for name, module in VERBS.items():
        sentence, *_ = inspect.getdoc(module.command).split("\n\n")
        assert f"{name} {' '.join(sentence.split())}" in shown


@pytest.mark.parametrize(
    ("verb", "limits"), [("fit", ["12", "12"]), ("report", ["12", "12"]), ("path", ["100", "none"])]
)
def test_the_help_of_a_verb_shows_its_own_limits(verb, limits):
    helps = {option.name: option.help for option in parameters_of(verb)}
    assert [helps[name].partition("default: ")[2].partition("]")[0] for name in LIMITS] == limits


@pytest.mark.parametrize("method", models())
def test_one_model_is_no_larger_than_can_be_read_unless_told_otherwise(method, table):
    model = ReadableOptions(method=method).model(table)
    for limit in set(LIMITS) & set(plain.parameter_names(model)):
        assert getattr(model, limit) == READABLE
        asked = ReadableOptions(method=method, **{limit: "40"}).model(table)
        assert getattr(asked, limit) == 40
