"""Ctrl-C gives the best so far, at once and whole; before there is one, a quiet end."""

import json
import signal
import sys

import numpy as np
import polars as pl
import pytest

from sparsedensity import load

if sys.platform == "win32":
    pytest.skip("a terminal of POSIX and its signals", allow_module_level=True)

from tests.faults.terminal import Terminal

EARLY = r"The search stopped early \(interrupted\): this is its best so far\."
SEARCHING = r"log posterior"
"""What progress says from the second second on."""


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """A table that keeps every search busy for a minute and more."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, (3000, 1)) // rng.integers(1, 5, (3000, 14)) + rng.integers(0, 2, (3000, 14))
    path = tmp_path_factory.mktemp("wide") / "wide.csv"
    pl.DataFrame({f"c{j}": [f"v{v}" for v in column] for j, column in enumerate(codes.T)}).write_csv(path)
    return path


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A table that is proven, if that takes a while."""
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("small") / "small.csv"
    pl.DataFrame({f"c{j}": [f"v{v}" for v in rng.integers(0, 4, 2000)] for j in range(6)}).write_csv(path)
    return path


SEARCHES = {
    "anneal": ("wide", ["--search", "anneal"]),
    "anneal alone": ("wide", ["--search", "anneal", "--jobs", 1]),
    "branch": ("wide", ["--method", "branch"]),
    "list": ("wide", ["--method", "list"]),
    "exact": ("small", ["--search", "exact"]),
    "exact list": ("wide", ["--method", "list", "--search", "exact", "--time-limit", 500]),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_ctrl_c_in_a_fit_saves_the_best_so_far_and_says_so(name, tmp_path, request):
    table, options = SEARCHES[name]
    model, page = tmp_path / "model.json", tmp_path / "page.html"
    fit = Terminal("fit", request.getfixturevalue(table), *options, "-o", model, "--report", page)
    assert fit.wait_for(SEARCHING).ctrl_c().end() == 0
    fit.wait_for(EARLY)
    assert "Traceback" not in fit.said
    assert load(model).search_.reason == "interrupted"
    assert str(load(model).n_leaves_) in fit.answer
    assert page.read_text(encoding="utf-8").rstrip().endswith("</html>")


@pytest.mark.parametrize("module", ["typer", "polars", "numba", "scipy"])
def test_ctrl_c_while_the_program_starts_is_a_quiet_end(module):
    fit = Terminal("fit", "titanic", PYTHONPROFILEIMPORTTIME="1")
    ended_by_python = -signal.SIGINT  # if the fit was through before, and the interpreter shut down
    assert fit.wait_for(rf"\| +{module}\.").ctrl_c().end() in (130, ended_by_python)
    assert "Traceback" not in fit.said


@pytest.mark.parametrize("options", [[], ["--jobs", 1], ["--method", "list"]], ids=str)
def test_ctrl_c_while_the_search_is_compiled_is_a_quiet_end(options, wide, tmp_path):
    output = ("-o", tmp_path / "model.json")
    fit = Terminal("fit", wide, "--search", "anneal", *options, *output, NUMBA_CACHE_DIR=str(tmp_path / "empty"))
    assert fit.wait_for("compiling the search").ctrl_c().end() == 130
    assert "Traceback" not in fit.said
    assert not (tmp_path / "model.json").exists()


def test_ctrl_c_while_the_report_is_gathered_writes_what_there_is(small, tmp_path):
    page = tmp_path / "page.html"
    report = Terminal("report", small, "--search", "anneal", "--iterations", 300, "--cv", 200, "-o", page)
    assert report.wait_for("gathering the report").ctrl_c().end() == 0
    assert "Traceback" not in report.said
    report.wait_for("The report was interrupted")
    text = page.read_text(encoding="utf-8")
    assert "This page is not complete" in text
    assert text.rstrip().endswith("</html>")


def test_ctrl_c_in_the_fit_of_a_report_still_gives_a_page(wide, tmp_path):
    page = tmp_path / "page.html"
    report = Terminal("report", wide, "--search", "anneal", "-o", page)
    assert report.wait_for(SEARCHING).ctrl_c().end() == 0
    report.wait_for(EARLY)
    assert page.read_text(encoding="utf-8").rstrip().endswith("</html>")


def test_one_ctrl_c_ends_a_path(wide, small):
    path = Terminal("path", wide, "--search", "anneal")
    assert path.wait_for(SEARCHING).ctrl_c().end() == 130
    assert "Traceback" not in path.said
    path = Terminal("path", small, "--search", "anneal", "--iterations", 300, "--cv", 200)
    assert path.wait_for("cross-validating").ctrl_c().end() == 130
    assert "Traceback" not in path.said


def test_ctrl_c_in_an_evaluation_keeps_finished_folds(wide, tmp_path):
    keep = tmp_path / "folds.jsonl"
    evaluation = Terminal("evaluate", wide, "--search", "anneal", "--cv", 4, "--jobs", 2, "--keep", keep)
    assert evaluation.wait_for(r"[1-9]\d? of 28 folds").ctrl_c().end() == 130
    assert "Traceback" not in evaluation.said
    evaluation.wait_for("go on from there")
    results = [json.loads(line) for line in keep.read_text(encoding="utf-8").splitlines()]
    assert len(results) >= 2


@pytest.mark.parametrize("verb", ["score", "compare", "explain"])
def test_ctrl_c_while_a_table_is_read_or_scored_is_a_quiet_end(verb, people, titanic, tmp_path):
    titanic.save(tmp_path / "model.json")
    people[np.resize(np.arange(people.height), 3_000_000)].write_csv(tmp_path / "long.csv")
    command = Terminal(verb, tmp_path / "model.json", tmp_path / "long.csv")
    assert command.wait_for("reading|scoring|comparing").ctrl_c().end() == 130
    assert "Traceback" not in command.said
