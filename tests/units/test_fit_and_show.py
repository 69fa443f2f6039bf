"""What `fit` and `show` say beside the model itself."""

import json

from tests.command import run


def test_fit_says_what_near_optimal_trees_share():
    shown = run("fit", "titanic", "--near-optimal", "3").stdout
    assert "5 trees within 3 nats of the optimum, with 9 to 10 leaves" in shown
    assert json.loads(run("fit", "titanic", "--near-optimal", "3", "--json").stdout)["near_optimal"]["trees"] == 5


def test_a_method_without_near_optimal_models_says_so_before_it_fits():
    refused = run("fit", "titanic", "--near-optimal", "3", "--method", "greedy")
    assert refused.returncode == 1
    assert refused.stderr == "error: --near-optimal is not an option of --method greedy.\n"


def test_show_writes_latex(tmp_path):
    run("fit", "titanic", "--method", "greedy", "-q", "-o", tmp_path / "model.json")
    assert run("show", tmp_path / "model.json", "--as", "latex").stdout.startswith("\\documentclass")


def test_fit_and_show_say_which_columns_matter(tmp_path):
    said = "\n\nColumns by importance: age 0.526, sex 0.268, class 0.226 nats per row\n"
    assert run("fit", "titanic", "-o", tmp_path / "model.json").stdout.endswith(said)
    assert run("show", tmp_path / "model.json").stdout.endswith(said)
    found = json.loads(run("show", tmp_path / "model.json", "--json").stdout)["importance"]
    assert list(found) == ["age", "sex", "class"]
