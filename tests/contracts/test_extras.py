"""What is optional may be absent: then one sentence says what to install, and pyproject.toml knows that extra."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from sparsedensity.errors import MissingExtraError
from sparsedensity.evaluation import MlpackTree
from sparsedensity.extras import EXTRAS
from sparsedensity.ingest.opening import open_table

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NEEDED = {
    "matplotlib": ("plots", lambda model, _: model.plot()),
    "mlpack": ("its density estimation trees", lambda _, people: MlpackTree().fit(people)),
    "duckdb": ("--engine duckdb", lambda *_: open_table(["a.csv"], engine="duckdb")),
    "ibis": ("reading databases", lambda *_: open_table(["postgres://host/shop?table=orders"])),
    "pyspark": ("--engine spark", lambda *_: open_table(["a.csv"], engine="spark")),
}
"""What each library is for, and what asks for it. Dask has no entry: who has a Dask table has Dask."""


@pytest.fixture
def without(monkeypatch, tmp_path):
    """Take a library away, in a folder with one small table."""

    def take_away(library):
        for name in [name for name in sys.modules if name.partition(".")[0] == library]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, library, None)

    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("a\n1\n", encoding="utf-8")
    return take_away


@pytest.mark.parametrize("library", NEEDED)
def test_an_absent_library_is_one_sentence_that_names_its_extra(library, without, titanic, people):
    purpose, ask = NEEDED[library]
    without(library)
    with pytest.raises(MissingExtraError) as missing:
        ask(titanic, people)
    wanted = f'pip install "sparsedensity[{EXTRAS[library]}]"'
    assert str(missing.value) == f"{library} is needed for {purpose}. Install it: {wanted}"


def test_every_extra_that_is_named_is_one():
    assert NEEDED.keys() == EXTRAS.keys()
    assert {*EXTRAS.values(), "dask"} == set(PROJECT["optional-dependencies"])


def test_pandas_needs_no_pyarrow():
    pytest.importorskip("pandas", reason="pandas is not installed")
    script = """
from importlib.machinery import PathFinder
find = PathFinder.find_spec
PathFinder.find_spec = lambda name, *more: None if name == "pyarrow" else find(name, *more)
import pandas
from sparsedensity import GreedyTree
rows = [{"colour": "red" if i % 3 else None, "size": "S" if i % 2 else "L"} for i in range(60)]
frame = pandas.DataFrame(rows)
for table in (frame, frame.astype("category"), rows):
    print(*[leaf.name for leaf in GreedyTree().fit(table).leaves_])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    text, category, plain = done.stdout.splitlines() or [done.stderr] * 3
    assert text == category == plain
    assert "missing" in plain


def test_a_model_is_fitted_shown_and_saved_with_none_of_them(tmp_path):
    absent = [*EXTRAS, "dask", "distributed", "pandas", "pyarrow"]
    script = f"""
import sys
sys.modules.update(dict.fromkeys({absent}))
from sparsedensity import GreedyTree, datasets, load
people = datasets.load("titanic")
tree = GreedyTree().fit(people)
tree.save("model.json")
tree.to_html("report.html", people)
print(load("model.json").n_leaves_)
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["9"]
