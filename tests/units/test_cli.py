"""The command line: most of it called in this process, the rest as a user runs it."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from sparsedensity import datasets
from tests.command import run


def test_it_runs_as_a_program_of_its_own(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "sparsedensity", "fit", "titanic", "-o", "m.json"],
        capture_output=True,
        encoding="utf-8",
        cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        timeout=300,
        check=True,
    )
    assert done.stdout.startswith("Leaf-sparse density tree with 9 leaves")
    assert done.stderr == "saved m.json\n"
    assert (tmp_path / "m.json").exists()


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "titanic.json"
    assert run("fit", "titanic", "-o", path, "--quiet").returncode == 0
    return path


def test_fit_prints_the_tree_and_nothing_else_on_standard_output(tmp_path):
    report = tmp_path / "report.html"
    done = run("fit", "titanic", "-o", tmp_path / "m.json", "--report", report)
    assert done.returncode == 0
    assert done.stdout.startswith("Leaf-sparse density tree with 9 leaves\n")
    assert "class is 1st or crew" in done.stdout
    assert "saved" in done.stderr
    assert "saved" not in done.stdout
    assert "<title>Leaf-sparse density tree with 9 leaves</title>" in report.read_text(encoding="utf-8")


def test_a_contingency_table_is_a_data_set(tmp_path):
    counts = datasets.load("titanic").group_by(pl.all()).len("count").sort("class", "sex", "age")
    counts.write_csv(tmp_path / "counts.csv")
    weighted = run("fit", tmp_path / "counts.csv", "--weight", "count", "--json")
    plain = run("fit", "titanic", "--json")
    ours, theirs = json.loads(weighted.stdout), json.loads(plain.stdout)
    assert ours["log_posterior"] == pytest.approx(theirs["log_posterior"], abs=1e-9)
    assert ours["leaves"] == theirs["leaves"]


def test_csv_gzip_parquet_and_standard_input_are_the_same_table(tmp_path):
    frame = datasets.load("simulated")
    frame.write_csv(tmp_path / "a.csv")
    frame.write_parquet(tmp_path / "a.parquet")
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress((tmp_path / "a.csv").read_bytes()))
    text = (tmp_path / "a.csv").read_text()
    answers = [json.loads(run("fit", tmp_path / name, "--json").stdout) for name in ("a.csv", "a.csv.gz", "a.parquet")]
    answers.append(json.loads(run("fit", "-", "--json", stdin=text).stdout))
    assert len({answer["log_posterior"] for answer in answers}) == 1
    assert all(answer["leaves"] == answers[0]["leaves"] for answer in answers)


def test_show_prints_what_fit_printed(model):
    assert run("show", model).stdout.splitlines()[5:] == run("fit", "titanic").stdout.splitlines()[5:]
    assert json.loads(run("show", model, "--json").stdout)["n_leaves"] == 9


def test_score_writes_one_line_a_row(model, tmp_path):
    scores = run("score", model, "titanic")
    lines = scores.stdout.splitlines()
    assert lines[0] == "leaf,log_density,unusualness"
    assert len(lines) == 2202
    totals = json.loads(run("score", model, "titanic", "--json").stdout)
    assert totals["rows"] == 2201
    assert totals["log_likelihood"] == pytest.approx(sum(float(line.split(",")[1]) for line in lines[1:]))
    assert run("score", model, "titanic", "-o", tmp_path / "s.parquet").stdout == ""
    assert pl.read_parquet(tmp_path / "s.parquet").height == 2201


def test_score_picks_the_columns_of_the_model_by_name(model, tmp_path):
    frame = datasets.load("titanic").head(3).with_columns(id=pl.Series([1, 2, 3]))
    frame.select("id", "age", "class", "sex").write_csv(tmp_path / "rows.csv")
    done = run("score", model, tmp_path / "rows.csv")
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 4
    assert "left out: id" in done.stderr
    frame.drop("sex").write_csv(tmp_path / "less.csv")
    lacking = run("score", model, tmp_path / "less.csv")
    assert lacking.returncode == 1
    assert "no column 'sex'" in lacking.stderr


def test_a_value_outside_the_domain_scores_zero_density_with_one_warning(model, tmp_path):
    (tmp_path / "rows.csv").write_text("class,sex,age\nstowaway,male,adult\ncrew,male,adult\n")
    done = run("score", model, tmp_path / "rows.csv")
    assert done.stdout.splitlines()[1] == "-1,-inf,1.0"
    assert done.stderr.count("warning") == 1
    assert "'class' has no value 'stowaway'" in done.stderr


def test_text_that_looks_like_numbers_stays_text(tmp_path):
    (tmp_path / "codes.csv").write_text("ward\n" + "A1\n" * 5 + "7\n" * 5)
    (tmp_path / "new.csv").write_text("ward\n7\n7\n")
    assert run("fit", tmp_path / "codes.csv", "-o", tmp_path / "m.json").returncode == 0
    assert run("score", tmp_path / "m.json", tmp_path / "new.csv").stdout.count("-inf") == 0


def test_the_same_seed_gives_the_same_rows(model):
    once, again = (run("sample", model, "-n", 5, "--seed", 3).stdout for _ in range(2))
    assert once == again
    assert len(once.splitlines()) == 6
    assert once != run("sample", model, "-n", 5, "--seed", 4).stdout


def test_path_shows_every_size_and_saves_the_one_that_is_picked(tmp_path):
    shown = run("path", "titanic", "--cv", "3")
    assert "best held out" in shown.stdout
    points = json.loads(run("path", "titanic", "--cv", "0", "--json").stdout)
    sizes = [point["size"] for point in points]
    assert sizes == list(range(1, len(sizes) + 1))
    assert len(sizes) >= 9
    assert points[0]["held_out"] is None
    plot, model = tmp_path / "path.svg", tmp_path / "m.json"
    done = run("path", "titanic", "--cv", "3", "--pick", "5", "-o", model, "--plot", plot, "-q")
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert len(json.loads(model.read_text(encoding="utf-8"))["leaves"]) == 5
    assert "<svg" in plot.read_text(encoding="utf-8")


def test_datasets_are_listed_and_written_out(tmp_path):
    assert [row["name"] for row in json.loads(run("datasets", "--json").stdout)] == list(datasets.NAMES)
    assert "titanic" in run("datasets").stdout
    assert len(run("datasets", "simulated").stdout.splitlines()) == 1001
    made = tmp_path / "made.csv"
    assert run("datasets", "housebreaks", "--rows", 50, "--seed", 1, "-o", made).returncode == 0
    assert pl.read_csv(made).equals(datasets.load("housebreaks", rows=50, seed=1))


def test_options_reach_the_model(tmp_path):
    rows = "".join(f"{i % 7 * 1.5},{'small' if i % 3 else 'large'}\n" for i in range(60))
    (tmp_path / "a.csv").write_text("fare,size\n" + rows)
    done = run(
        "fit", tmp_path / "a.csv", "--bins", "fare=0,3,10", "--kind", "size=small,large", "--max-leaves", "none",
        "--expected-leaves", "4", "--pseudocount", "0.5", "-o", tmp_path / "m.json", "-q",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    saved = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))
    assert saved["domain"][0]["edges"] == [0.0, 3.0, 10.0]
    assert saved["domain"][1] == {"name": "size", "kind": "ordinal", "values": ["small", "large"], "missing": False}
    assert saved["parameters"]["max_leaves"] is None
    assert saved["parameters"]["pseudocount"] == 0.5


@pytest.mark.parametrize(
    ("words", "phrases"),
    [
        (["fit", "nowhere"], ["'nowhere' is neither a file nor a folder, nor a bundled data set"]),
        (["fit", "nowhere.csv"], ["There is no file nowhere.csv"]),
        (["fit", "titanic", "--weight", "count"], ["no column 'count'", "class, sex, age"]),
        (["fit", "titanic", "--drop", "cabin"], ["no column 'cabin'"]),
        (["fit", "titanic", "--weight", "sex"], ["weight column 'sex' holds 'male', not numbers"]),
        (["fit", "titanic", "--max-leaves", "many"], ["--max-leaves must be", "'many'"]),
        (["fit", "titanic", "--max-leaves", "0"], ["--max-leaves must be", "or none for no limit, not 0"]),
        (["fit", "titanic", "--pseudocount", "-1"], ["--pseudocount must be", "-1"]),
        (
            ["fit", "titanic", "--leaf", "profile", "--profile-probability", "1"],
            ["--profile-probability must be a number from 0 to 1, 1 excluded, not 1.0."],
        ),
        (
            ["fit", "titanic", "--leaf", "profile", "--profile-pseudocount", "0"],
            ["--profile-pseudocount must be a number greater than 0, not 0.0."],
        ),
        *(
            (
                ["fit", "titanic", "--method", method, "--leaf", "profile"],
                [f"--method {method}, only of leaf and branch."],
            )
            for method in ("list", "greedy", "histogram")
        ),
        (["fit", "titanic", "--method", "histogram", "--max-leaves", "3"], ["--max-leaves is not an option"]),
        (["fit", "titanic", "--kind", "sex"], ["--kind must be", "COLUMN="]),
        (["fit", "titanic", "--kind", "deck=ordinal"], ["no column 'deck'", "class, sex, age"]),
        (["fit", "titanic", "--kind", "sex=numeric"], ["--kind for 'sex' must be", "'numeric'"]),
        (["fit", "titanic", "--bins", "sex=5"], ["'sex' cannot be cut into bins"]),
        (["fit", "titanic", "-o", "nowhere/m.json"], ["m.json cannot be written", "no folder nowhere"]),
        (["fit", "titanic", "--report", "m.json", "-o", "m.json"], ["m.json is already written to"]),
        (["path", "titanic", "--method", "histogram"], ["--method histogram has no path"]),
        (["path", "titanic", "--cv", "0", "--pick", "99"], ["No model with 99 leaves"]),
        (["path", "titanic", "--cv", "0", "--pick", "best"], ["cv=5"]),
        (["path", "titanic", "--cv", "0", "--pick", "few"], ["--pick must be"]),
        (["path", "titanic", "--cv", "0", "-o", "m.json"], ["need --pick"]),
        (["show", "nowhere.json"], ["nowhere.json does not exist"]),
        (["datasets", "nowhere"], ["no data set 'nowhere'"]),
        (["datasets", "housebreaks", "--rows", "0"], ["rows must be a whole number of 1 or more, not 0"]),
        (["datasets", "titanic", "--seed", "3"], ["'titanic' does not take the options seed"]),
    ],
)
def test_bad_input_gets_one_sentence_and_exit_code_one(words, phrases, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run(*words)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.strip().splitlines()) == 1
    for phrase in phrases:
        assert phrase in done.stderr


def test_a_misspelt_command_has_exit_code_two():
    assert run("fitt").returncode == 2
    assert run("fit", "titanic", "--methud", "greedy").returncode == 2
    assert run("fit", "titanic", "--method", "magic").returncode == 2
    assert run("fit", "titanic", "--missing", "ignore").returncode == 2


def test_an_answer_is_never_written_over_the_table(model, tmp_path):
    table = tmp_path / "people.csv"
    datasets.load("titanic").write_csv(table)
    before = table.read_bytes()
    for words in (["fit", table, "-o", table], ["score", model, table, "-o", table], ["path", table, "--plot", table]):
        done = run(*words)
        assert done.returncode == 1
        assert "is the table that is read. Write to another file." in done.stderr
    assert table.read_bytes() == before


def test_score_keeps_the_columns_of_the_table_on_request(model):
    lines = run("score", model, "titanic", "--keep-columns").stdout.splitlines()
    assert lines[0] == "class,sex,age,leaf,log_density,unusualness"
    assert lines[1].startswith("1st,male,adult,3,")


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_the_one_the_header_uses(separator, tmp_path):
    rows = [["what, or who", "where", "loss"], ["a", "door", "1.5"], ["b", "NA", "2.5"], ["a", "door", "n/a"]]
    quoted = [separator.join(f'"{cell}"' if "," in cell else cell for cell in row) for row in rows]
    (tmp_path / "a.csv").write_text("\n".join(quoted) + "\n")
    domain = json.loads(_saved(tmp_path))["domain"]
    assert [feature["name"] for feature in domain] == rows[0]
    assert domain[1] == {"name": "where", "kind": "nominal", "values": ["door"], "missing": True}
    assert domain[2]["kind"] == "continuous"
    assert domain[2]["missing"]


@pytest.mark.parametrize(("low", "high"), [("1,5", "2,25"), ("-1,5", "12.345.678,5"), ("999,5", "1.250")])
def test_decimal_commas_are_numbers(low, high, tmp_path):
    (tmp_path / "a.csv").write_text(f"name;loss\nx;{low}\nz;\ny;{high}\n", encoding="utf-8")
    edges = json.loads(_saved(tmp_path))["domain"][1]["edges"]
    expected = [float(number.replace(".", "").replace(",", ".")) for number in (low, high)]
    assert [edges[0], edges[-1]] == expected
    done = run("score", tmp_path / "m.json", tmp_path / "a.csv", "--top", "3", "--json")
    assert sorted(row["record"]["loss"] or 0 for row in json.loads(done.stdout)) == sorted([*expected, 0])


def _saved(folder):
    done = run("fit", folder / "a.csv", "-o", folder / "m.json", "-q")
    assert done.returncode == 0, done.stderr
    return (folder / "m.json").read_text(encoding="utf-8")


def test_a_header_without_rows_is_said(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n")
    assert "has a header but no rows" in run("fit", tmp_path / "a.csv").stderr


@pytest.mark.parametrize("verb", ["fit", "show", "path", "score", "sample", "datasets"])
def test_every_verb_shows_an_example_in_its_help(verb):
    done = run(verb, "--help")
    assert done.returncode == 0
    assert f"sparsedensity {verb}" in done.stdout
    assert "Examples:" in done.stdout


def test_an_output_that_cannot_be_written_is_said_in_one_sentence(tmp_path):
    done = run("fit", "titanic", "-o", tmp_path / "no" / "m.json")
    assert done.returncode == 1
    assert "cannot be written" in done.stderr
    assert run("fit", "titanic", "--report", tmp_path / "no" / "m.html").returncode == 1


def test_the_version_is_printed():
    assert (
        run("--version").stdout.strip()
        == Path(__file__).parents[2].joinpath("src/sparsedensity/version.py").read_text().split('"')[-2]
    )
