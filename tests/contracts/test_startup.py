"""Start-up is part of the product: importing the package loads nothing heavy, and every public name is there."""

import dataclasses
import importlib
import inspect
import json
import subprocess
import sys

import pytest

import sparsedensity

HEAVY = (
    "numba", "llvmlite", "sklearn", "scipy", "polars", "matplotlib", "pandas", "pyarrow", "narwhals", "duckdb",
    "pyspark", "ibis", "dask",
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
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
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


def test_showing_a_saved_model_loads_nothing_heavy(tmp_path):
    sparsedensity.GreedyTree().fit(sparsedensity.datasets.load("titanic")).save(tmp_path / "m.json")
    for form in ("text", "svg", "html"):
        words = ["sparsedensity", "show", str(tmp_path / "m.json"), "--as", form]
        assert loaded_by(f"import sys; sys.argv = {words!r}; from sparsedensity.cli import main; main()") == []


def test_showing_profiles_needs_neither_scikit_learn_nor_frames(tmp_path):
    model = sparsedensity.LeafSparseTree(leaf="profile", search="greedy")
    model.fit(sparsedensity.datasets.load("titanic")).save(tmp_path / "m.json")
    words = ["sparsedensity", "show", str(tmp_path / "m.json")]
    loaded = loaded_by(f"import sys; sys.argv = {words!r}; from sparsedensity.cli import main; main()")
    assert set(loaded) <= {"numba", "llvmlite", "scipy"}


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
    for room in ("domain", "region", "table", "structures", "posterior", "problem", "search", "density", "report"):
        assert importlib.import_module(f"sparsedensity.{room}").__doc__


def _defined_here(thing: type) -> set[str]:
    """The methods and properties that this library defines."""
    ours = [base for base in thing.__mro__ if base.__module__.startswith("sparsedensity")]
    kinds = (property, classmethod, staticmethod)
    return {
        name for base in ours for name, member in vars(base).items() if callable(member) or isinstance(member, kinds)
    }
