"""Start-up is part of the product: importing the package loads nothing heavy, and every public name is there."""

import dataclasses
import importlib
import inspect
import json
import subprocess
import sys

import pytest

import sparsedensity
from sparsedensity.cli import VERBS

HEAVY = (
    "numba", "llvmlite", "sklearn", "scipy", "scipy.sparse", "scipy.stats", "polars", "matplotlib", "pandas", "pyarrow",
    "narwhals", "duckdb", "pyspark", "ibis", "dask", "jinja2", "joblib", "mlpack", "rich",
)  # fmt: skip
PROBE = """
import json, sys
heavy = {heavy!r}
try:
    {action}
except SystemExit as end:
    assert not end.code, end.code
print("\\n" + json.dumps([name for name in heavy if name in sys.modules]))
"""


def loaded_by(action: str) -> list[str]:
    """Which heavy libraries a fresh process has loaded after an action."""
    code = PROBE.format(heavy=HEAVY, action=action)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    names: list[str] = json.loads(done.stdout.splitlines()[-1])
    return names


def test_the_probe_sees_what_is_loaded():
    assert {"polars", "narwhals"} <= set(loaded_by("from sparsedensity import Domain; Domain.infer([{'a': 1}])"))


def test_importing_the_package_loads_nothing_heavy():
    assert loaded_by("import sparsedensity") == []


def test_looking_around_in_the_package_loads_nothing_heavy():
    assert loaded_by("import sparsedensity; dir(sparsedensity); sparsedensity.__version__") == []


def test_the_domain_can_be_declared_without_anything_heavy():
    assert loaded_by("from sparsedensity import Domain, Feature; Domain((Feature.nominal('a', ('x',)),))") == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["fit", "--help"],
        ["show", "--help"],
        ["score", "--help"],
        ["compare", "--help"],
        ["evaluate", "--help"],
        ["datasets", "--help"],
    ],
    ids=" ".join,
)
def test_asking_for_help_loads_nothing_heavy(arguments):
    call = f"import sys; sys.argv = ['sparsedensity', *{arguments!r}]; from sparsedensity.cli import main; main()"
    assert loaded_by(call) == []


READING = {"polars", "narwhals"}
FITTING = READING | {"numba", "llvmlite", "scipy"}
VERBS_LOAD = {
    "fit titanic": FITTING,
    "fit titanic --report page.html --cv 2": FITTING | {"jinja2"},
    "show model.json": set(),
    "show model.json --as svg": set(),
    "show model.json --as html": {"jinja2"},
    "path titanic --cv 2": FITTING,
    "report titanic --cv 2": FITTING | {"jinja2"},
    "score model.json titanic": FITTING,
    "score model.json titanic --top 2": FITTING,
    "explain model.json titanic --rows 2": FITTING,
    "compare titanic titanic": FITTING,
    "sample model.json": FITTING,
    "evaluate titanic --cv 2 --method greedy --jobs 1": FITTING | {"scipy.sparse"},
    "datasets": set(),
    "datasets titanic": {"polars"},
    "warm-up": FITTING,
}
"""The heavy libraries that a command may load: neither scikit-learn, nor scipy.stats, nor pandas is among them."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a saved model."""
    made = tmp_path_factory.mktemp("start-up")
    sparsedensity.GreedyTree().fit(sparsedensity.datasets.load("titanic")).save(made / "model.json")
    return made


def loaded_by_command(words, folder):
    """Which heavy libraries a fresh process has loaded after a command."""
    begin = f"import os, sys; os.chdir({str(folder)!r}); sys.argv = {['sparsedensity', *words]!r}"
    return set(loaded_by(f"{begin}; from sparsedensity.cli import main; main()"))


def test_every_verb_has_a_line_that_says_what_it_loads():
    assert {command.split()[0] for command in VERBS_LOAD} == set(VERBS)


@pytest.mark.parametrize("command", VERBS_LOAD)
def test_a_command_loads_what_it_needs_and_no_more(command, folder):
    assert loaded_by_command(command.split(), folder) == VERBS_LOAD[command]


def test_showing_profiles_needs_neither_scikit_learn_nor_frames(tmp_path):
    model = sparsedensity.LeafSparseTree(leaf="profile", search="greedy")
    model.fit(sparsedensity.datasets.load("titanic")).save(tmp_path / "m.json")
    assert loaded_by_command(["show", "m.json"], tmp_path) <= {"numba", "llvmlite", "scipy"}


def test_comparing_tables_in_python_needs_no_estimator():
    people = "sparsedensity.datasets.load('titanic')"
    assert set(loaded_by(f"import sparsedensity; sparsedensity.compare({people}, {people})")) == FITTING


@pytest.mark.parametrize("name", sparsedensity.__all__)
def test_every_public_name_is_there_and_documented(name):
    thing = getattr(sparsedensity, name)
    assert name in dir(sparsedensity)
    if name != "__version__":
        assert (inspect.getdoc(thing) or "").strip()


@pytest.mark.parametrize("name", [name for name in sparsedensity.__all__ if name[0].isupper()])
def test_every_public_method_is_documented(name):
    thing = getattr(sparsedensity, name)
    own = [member for member in dir(thing) if not member.startswith("_") and member in _defined_here(thing)]
    assert own or dataclasses.is_dataclass(thing)
    assert [member for member in own if not inspect.getdoc(getattr(thing, member))] == []


def test_a_name_that_is_not_there_says_so():
    with pytest.raises(AttributeError, match="no attribute 'ForestOfDensities'"):
        sparsedensity.ForestOfDensities  # noqa: B018


def test_every_room_can_be_imported_on_its_own():
    for room in (
        "domain",
        "region",
        "table",
        "structures",
        "posterior",
        "problem",
        "search",
        "density",
        "report",
        "models",
    ):
        assert importlib.import_module(f"sparsedensity.{room}").__doc__


def _defined_here(thing: type) -> set[str]:
    """The methods and properties that this library defines."""
    ours = [base for base in thing.__mro__ if base.__module__.startswith("sparsedensity")]
    kinds = (property, classmethod, staticmethod)
    return {
        name for base in ours for name, member in vars(base).items() if callable(member) or isinstance(member, kinds)
    }
