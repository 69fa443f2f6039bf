"""The verbs that show, explain and compare."""

import json
import os
import re
import subprocess
import sys
from functools import partial

import numpy as np
import polars as pl
import pytest

from reproduction.datasets.random_trees import random_tree
from sparsedensity import GreedyTree, Histogram, datasets, load
from sparsedensity.cli.advice import advise
from sparsedensity.cli.tables import Data, read_rows
from sparsedensity.cli.top import most_unusual
from sparsedensity.ingest import batches, open_source
from sparsedensity.models import further
from sparsedensity.models.answers import encode_rows
from sparsedensity.report import from_file
from tests.command import run
from tests.report.models import hostile_model, hostile_rows


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "titanic.json"
    GreedyTree().fit(datasets.load("titanic")).save(path)
    return path


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """A model of text, numbers, whole numbers and truth values, and the table it knows."""
    rng = np.random.default_rng(1)
    folder = tmp_path_factory.mktemp("mixed")
    table = pl.DataFrame(
        {
            "what": rng.choice(["a", "b", "7"], 5000),
            "size": rng.gamma(2, 3, 5000),
            "age": rng.integers(0, 90, 5000),
            "small": rng.integers(0, 5, 5000),
            "yes": rng.random(5000) < 0.2,
        }
    ).with_columns(pl.when(pl.col("age") > 85).then(None).otherwise(pl.col("size")).alias("size"))
    fitted = GreedyTree().fit(table)
    fitted.save(folder / "m.json")
    table.write_csv(folder / "t.csv")
    table.write_csv(folder / "semicolon.tsv", separator="\t")
    table.write_parquet(folder / "t.parquet")
    return fitted, table, folder


def test_explain_prints_a_card_a_row(model, tmp_path):
    (tmp_path / "rows.csv").write_text("class,sex,age\n1st,female,child\ncrew,male,adult\n")
    done = run("explain", model, tmp_path / "rows.csv", "--width", "80")
    assert done.returncode == 0
    assert done.stdout == (
        "Row 0 (line 2 in the file): class 1st, sex female, age child\n"
        "  rarer than 99.6 % of expected records\n"
        "  leaf 6: age is child and class is 1st or crew\n"
        "  0.273 % of all records (0.361 % expected), density 0.000901\n"
        "  with age adult it would be 77.8 times as common\n"
        "\n"
        "Row 1 (line 3 in the file): class crew, sex male, age adult\n"
        "  among the most common records\n"
        "  leaf 5: age is adult and sex is male and class is crew\n"
        "  39.2 % of all records (38.9 % expected), density 0.389\n"
    )


def test_a_row_goes_by_its_line_only_if_every_row_is_one(model, tmp_path):
    def first_words(text):
        (tmp_path / "t.csv").write_bytes(text)
        return run("explain", model, tmp_path / "t.csv").stdout.partition(":")[0]

    assert first_words(b"class,sex,age\r\ncrew,male,adult") == "Row 0 (line 2 in the file)"
    assert first_words(b'class,sex,age,note\ncrew,male,adult,"two\nlines"\n') == "Row 0"
    assert run("explain", model, "-", stdin="class,sex,age\ncrew,male,adult\n").stdout.startswith("Row 0:")


def test_explain_speaks_json_and_reads_standard_input(model):
    done = run("explain", model, "-", "--json", stdin="class,sex,age\n1st,female,child\nx,male,adult\n")
    first, second = json.loads(done.stdout)
    assert first["record"] == {"class": "1st", "sex": "female", "age": "child"}
    assert first["change"]["column"] == "age"
    assert second["outside"] == {"column": "class", "value": "x"}
    assert second["log_density"] is None
    assert done.stderr.count("warning") == 1


def test_nothing_in_a_label_reaches_the_terminal(tmp_path):
    hostile_model().save(tmp_path / "m.json")
    pl.DataFrame(hostile_rows()[:40]).write_parquet(tmp_path / "rows.parquet")
    for words in (
        ["show", tmp_path / "m.json"],
        ["explain", tmp_path / "m.json", tmp_path / "rows.parquet"],
        ["compare", tmp_path / "m.json", tmp_path / "rows.parquet"],
        ["score", tmp_path / "m.json", tmp_path / "rows.parquet", "--top", "5"],
    ):
        done = run(*words)
        assert done.returncode == 0, done.stderr
        assert "\x1b" not in done.stdout + done.stderr
        assert "\x07" not in done.stdout
        assert "x" * 1100 not in done.stdout


def test_show_draws_and_writes(model, tmp_path):
    assert run("show", model, "--as", "svg").stdout.startswith("<svg")
    assert run("show", model, "--as", "mermaid").stdout.startswith("flowchart LR")
    assert run("show", model, "--as", "graphviz").stdout.startswith("digraph")
    done = run("show", model, "--as", "html", "-o", tmp_path / "m.html")
    assert (done.stdout, done.stderr) == ("", f"wrote {tmp_path / 'm.html'}\n")
    assert "<title>Greedy density tree with 9 leaves</title>" in (tmp_path / "m.html").read_text(encoding="utf-8")
    assert run("show", model, "-o", "-").stdout == run("show", model).stdout


@pytest.mark.parametrize("kind", [GreedyTree, Histogram])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_model_shown_from_its_file_is_the_model(kind, weighted, tmp_path):
    people = datasets.load("titanic").unique(maintain_order=True)
    fitted = kind().fit(people, sample_weight=range(1, len(people) + 1) if weighted else None)
    fitted.save(tmp_path / "m.json")
    shown, whole = from_file.read(tmp_path / "m.json"), load(tmp_path / "m.json")
    assert shown.report().facts == whole.report().facts
    assert shown.report().title == whole.report().title
    assert shown.report().lines == whole.report().lines
    assert shown.n_leaves_ == whole.n_leaves_
    for ours, theirs in zip(shown.leaves_, whole.leaves_, strict=True):
        assert (ours.conditions, ours.weight, ours.log_volume) == (theirs.conditions, theirs.weight, theirs.log_volume)
        assert ours.density == pytest.approx(theirs.density)
        assert ours.interval == pytest.approx(theirs.interval)
        assert ours.unusualness == pytest.approx(theirs.unusualness)


def test_a_file_without_what_showing_needs_is_loaded_in_full(model, tmp_path):
    document = json.loads(model.read_text(encoding="utf-8"))
    del document["title"]
    (tmp_path / "old.json").write_text(json.dumps(document), encoding="utf-8")
    assert from_file.read(tmp_path / "old.json") is None
    assert run("show", tmp_path / "old.json").stdout == run("show", model).stdout
    document["leaves"][0]["weight"] = -1
    (tmp_path / "bad.json").write_text(json.dumps(document), encoding="utf-8")
    assert "is damaged" in run("show", tmp_path / "bad.json").stderr


def test_compare_prints_writes_and_speaks_json(model, tmp_path):
    assert "No p-value: the leaves were chosen" in run("compare", model, "titanic").stdout
    less = datasets.load("titanic").head(900)
    less.write_csv(tmp_path / "less.csv")
    page, picture = tmp_path / "c.html", tmp_path / "c.svg"
    done = run("compare", "titanic", tmp_path / "less.csv", "--html", page, "--svg", picture, "--json")
    assert json.loads(done.stdout)["p_value"] < 1e-3
    assert "less.csv compared with titanic" in page.read_text(encoding="utf-8")
    assert picture.read_text(encoding="utf-8").startswith("<svg")
    assert run("compare", model, tmp_path / "less.csv", "--svg", "-").stdout.startswith("<svg")
    counted = datasets.load("titanic").group_by("class", "sex", "age").len("n")
    counted.write_csv(tmp_path / "counted.csv")
    assert "compared with 2,201 rows" in run("compare", model, tmp_path / "counted.csv", "--weight", "n").stdout
    assert "no column 'm'" in run("compare", model, tmp_path / "counted.csv", "--weight", "m").stderr


def test_compare_takes_two_tables_and_every_option_of_a_model(tmp_path):
    people = datasets.load("titanic")
    people.head(900).with_columns(port=pl.lit("x")).write_csv(tmp_path / "a.csv")
    people[900:].write_csv(tmp_path / "b.csv")
    tables = tmp_path / "a.csv", tmp_path / "b.csv"
    done = run("compare", *tables, "--method", "list", "--max-rules", "2", "--permutations", "99", "--json")
    answer = json.loads(done.stdout)
    assert (answer["permutations"], len(answer["leaves"]), answer["fitted"], answer["rows"]) == (99, 3, 900, 1301)
    assert done.stderr == "columns that only one of the tables has are left out: port\n"
    assert run("compare", *tables, "-q").stdout == ""
    assert "honest must be None if two tables are compared" in run("compare", *tables, "--honest", "0.5").stderr
    pl.DataFrame({"port": ["x"]}).write_csv(tmp_path / "c.csv")
    assert "b.csv and c.csv have no column in common." in run("compare", tables[1], tmp_path / "c.csv").stderr
    assert "is the table that is read" in run("compare", *tables, "--svg", tables[0]).stderr


def test_compare_at_a_readable_size(tmp_path):
    rows = random_tree(rows=3000, sizes=(4, 4, 4), leaves=40).frame
    rows[:1500].write_parquet(tmp_path / "a.parquet")
    rows[1500:].write_parquet(tmp_path / "b.parquet")
    tables = tmp_path / "a.parquet", tmp_path / "b.parquet"
    kinds = [f"--kind=x{i}=nominal" for i in (1, 2, 3)]
    for asked, leaves in ((("--max-leaves", "20"), 20), ((), 12)):
        done = run("compare", *tables, "--json", "--method", "greedy", *kinds, *asked)
        assert len(json.loads(done.stdout)["leaves"]) == leaves


def test_compare_with_an_honest_model_has_a_test(tmp_path):
    file = tmp_path / "honest.json"
    shown = run("fit", "titanic", "--method", "greedy", "--honest", "0.5", "-o", file).stdout
    line = "Honest: leaves chosen on 1,101 rows, their probabilities and intervals from the other 1,100"
    assert line in shown.splitlines()
    assert line in run("show", file).stdout.splitlines()
    assert "Test: chi-square" in run("compare", file, "titanic").stdout
    refused = run("compare", file, "titanic", "--max-leaves", "5")
    assert refused.stderr == f"error: --max-leaves is for two tables, but {file} is a model. Leave it out.\n"
    assert "--permutations is for two tables" in run("compare", file, "titanic", "--permutations", "9").stderr


def test_evaluate_puts_the_model_beside_the_baselines():
    head, table, standing = run("evaluate", "titanic", "--cv", "3", "--max-leaves", "4").stdout.split("\n\n")
    shown = table.splitlines()
    assert head == "Held-out log-likelihood per row, 3 folds; higher is better"
    assert [line.split("  ")[0] for line in shown[1:]] == [
        "Leaf-sparse density tree", "Leaf-sparse density tree, profiles", "DET for categories", "Full histogram",
        "Independent columns", "Chow-Liu tree", "One even leaf",
    ]  # fmt: skip
    assert re.fullmatch(
        r"Held out, the model gives new records [\d.]+ times the density that independent columns do and [\d.]+ times "
        r"the density that one even leaf does. The full histogram describes this table better: it gives new records "
        r"[\d.]+ times the density that the model does. Consider more leaves. With --leaf profile the model gives "
        r"new records 1.\d\d times the density that it does without.",
        " ".join(standing.split()),
    )
    assert sum(line.endswith("best") for line in shown) == 1
    assert shown[1].split()[3] == shown[3].split()[3] == "4"
    answer = json.loads(run("evaluate", "titanic", "--cv", "3", "--json").stdout)
    assert answer[0]["held_out_per_row"] > answer[4]["held_out_per_row"]
    assert [len(method["folds"]) for method in answer] == [3] * 7


@pytest.mark.parametrize(("method", "title"), [("leaf", "Leaf-sparse"), ("branch", "Branch-sparse")])
def test_evaluate_puts_a_tree_beside_itself_with_the_other_kind_of_leaf(method, title, tmp_path):
    uniform, profiles = f"{title} density tree", f"{title} density tree, profiles"
    told = ["evaluate", "simulated", "-m", method, "--search", "greedy", "--cv", "2", "--inner", "2", "--json"]
    grid = ["--grid", "max_leaves=2,4", "--grid", "profile_probability=0.1,0.5", "--keep", tmp_path / "folds.jsonl"]
    chosen = {}
    for more, names in (([], [uniform, profiles]), (["--leaf", "profile"], [profiles, uniform])):
        answer = json.loads(run(*told, *more, *([] if not more else grid)).stdout)
        assert [found["model"] for found in answer][:3] == [*names, "DET for categories"]
        chosen = {found["model"]: found["folds"][0]["parameters"].keys() for found in answer}
    assert chosen[profiles] == {"max_leaves", "profile_probability"}
    assert chosen[uniform] == {"max_leaves"}
    kept = [json.loads(line) for line in (tmp_path / "folds.jsonl").read_text(encoding="utf-8").splitlines()]
    assert sum(profiles in str(line) for line in kept) == 2
    assert json.loads(run(*told, "--leaf", "profile", *grid).stdout) == answer
    either = json.loads(run(*told, "--grid", "leaf=uniform,profile").stdout)
    assert [found["model"] for found in either][:2] == [uniform, "DET for categories"]
    assert either[0]["folds"][0]["parameters"]["leaf"] in ("uniform", "profile")


def test_evaluate_says_what_profiles_buy():
    told = ["evaluate", "housebreaks", "--search", "greedy", "--cv", "2", "--max-leaves", "12"]
    better = r"With --leaf profile the model gives new records 1\.\d\d times the density that it does without\.$"
    assert re.search(better, " ".join(run(*told).stdout.split()))
    assert "With --leaf profile" not in run(*told, "--leaf", "profile").stdout
    assert "With --leaf profile" not in run("evaluate", "titanic", "--cv", "2").stdout


def test_a_mix_up_of_table_and_model_is_named(model, tmp_path):
    table = tmp_path / "people.csv"
    datasets.load("titanic").write_csv(table)
    for words in (["fit", model], ["score", model, model], ["explain", model, model], ["compare", "titanic", model]):
        assert f"error: {model} is a saved model, not a table." in run(*words).stderr
    for name in (table, "titanic"):
        for words in (["score", name, model], ["explain", name, model], ["show", name], ["sample", name]):
            said = f"error: {name} is a table. Name a saved model first: `sparsedensity fit {name} -o model.json`"
            assert run(*words).stderr == f"{said} makes one.\n"
    (tmp_path / "m.json").write_text("[1]")
    assert "m.json is JSON but not a model" in run("show", tmp_path / "m.json").stderr


def test_quiet_verbs_write_their_files_and_say_nothing(tmp_path):
    files = [tmp_path / name for name in ("m.json", "r.html", "p.svg", "f.csv", "f.svg")]
    saved, report, plot, csv, svg = files
    path = [
        "path",
        "titanic",
        "-m",
        "greedy",
        "--cv",
        "2",
        "--pick",
        "4",
        "-o",
        saved,
        "--report",
        report,
        "--plot",
        plot,
    ]
    assert run(*path, "-q")[:2] == ("", "")
    assert run("evaluate", "titanic", "-m", "greedy", "--cv", "2", "--csv", csv, "--svg", svg, "-q")[:2] == ("", "")
    assert all(file.exists() for file in files)
    saved.unlink()
    assert run("fit", "titanic", "-m", "greedy", "-o", saved, "-q")[:2] == ("", "")
    assert saved.exists()


def test_drawn_numbers_have_no_more_decimals_than_the_column(tmp_path):
    prices = [round(18.25 + i * 1.37, 2) for i in range(74)]
    pl.DataFrame({"price": prices, "tiny": [price * 1e-9 for price in prices]}).write_csv(tmp_path / "t.csv")
    run("fit", tmp_path / "t.csv", "-m", "greedy", "-o", tmp_path / "m.json", "-q")
    rows = [line.split(",") for line in run("sample", tmp_path / "m.json", "-n", "500").stdout.splitlines()[1:]]
    assert all(len(price.partition(".")[2]) <= 2 for price, _ in rows)
    assert len({price for price, _ in rows}) > 400
    assert len({tiny for _, tiny in rows}) > 400


def test_the_rows_of_a_comparison_are_those_of_the_second_table(tmp_path):
    datasets.load("titanic").head(900).write_csv(tmp_path / "less.csv")
    compared = run("compare", "titanic", tmp_path / "less.csv", "-m", "greedy").stdout
    assert re.search(r"leaf +first +second +difference +rows, second\n", compared)


def test_evaluate_chooses_from_a_grid_and_writes_what_it_found(tmp_path):
    table, picture, kept = tmp_path / "folds.csv", tmp_path / "folds.svg", tmp_path / "folds.jsonl"
    arguments = ["evaluate", "titanic", "--method", "greedy", "--cv", "2", "--inner", "2", "--keep", kept]
    grid = ["--grid", "expected-leaves=2,8", "--grid", "max_leaf=none,50"]
    shown = run(*arguments, *grid, "--csv", table, "--svg", picture)
    assert shown.stderr == f"wrote {table}\nwrote {picture}\n"
    first = pl.read_csv(table).row(0, named=True)
    assert json.loads(first["parameters"]).keys() == {"expected_leaves", "max_leaf"}
    assert picture.read_text(encoding="utf-8").startswith("<svg")
    assert len(kept.read_text(encoding="utf-8").splitlines()) == 13
    assert run(*arguments, *grid).stdout == shown.stdout
    assert "with other parameters" in run(*arguments, "--grid", "expected_leaves=2,9").stderr
    assert "with a parameter of the model" in run(*arguments, "--grid", "leaves=2").stderr
    assert "is already written to" in run(*arguments, "--svg", kept).stderr


def test_evaluate_reads_the_table_as_it_is_told(tmp_path):
    rows = pl.DataFrame({"a": ["x", "y", None] * 20, "b": [1.5, 2.5, 9.0, 4.0] * 15, "n": [1, 2, 0] * 20})
    rows.write_csv(tmp_path / "t.csv")
    read = ["evaluate", tmp_path / "t.csv", "--method", "greedy", "--cv", "2", "--json"]
    whole = json.loads(run(*read, "--drop", "n").stdout)
    assert sum(fold["rows"] for fold in whole[0]["folds"]) == 60
    known = json.loads(run(*read, "--drop", "n", "--missing", "drop", "--bins", "2").stdout)
    assert sum(fold["rows"] for fold in known[0]["folds"]) == 40
    assert known[2]["leaves"] == 4
    counted = json.loads(run(*read, "--weight", "n").stdout)
    assert sum(fold["rows"] for fold in counted[0]["folds"]) == 60


def test_evaluate_divides_the_rows_by_the_seed_whatever_the_model():
    arguments = ["evaluate", "titanic", "--method", "greedy", "--cv", "2", "--json"]
    scores = [
        [m["held_out_per_row"] for m in json.loads(run(*arguments, *seed).stdout) if m["model"] != "One even leaf"]
        for seed in ([], ["--seed", "0"], ["--seed", "1"])
    ]
    assert scores[0] == scores[1]
    assert all(one != other for one, other in zip(scores[0], scores[2], strict=True))
    assert run(*arguments, "--seed", "-1").stderr.startswith("error: seed must be a whole number from 0 to ")


def test_evaluate_measures_the_histogram_that_was_asked_for():
    arguments = ["evaluate", "titanic", "--method", "histogram", "--cv", "2", "--json"]
    asked = json.loads(run(*arguments, "--pseudocount", "50").stdout)
    plain = json.loads(run(*arguments).stdout)
    assert [method["model"] for method in asked] == [
        "Full histogram", "DET for categories", "Independent columns", "Chow-Liu tree", "One even leaf",
    ]  # fmt: skip
    assert asked[0]["held_out_per_row"] < plain[0]["held_out_per_row"]


def test_report_writes_a_page_and_says_so_beside_the_answer(tmp_path):
    page = tmp_path / "r.html"
    done = run("report", "titanic", "-o", page, "--cv", "0")
    said = done.stderr.splitlines()  # on a machine that has not compiled the search, that is said before
    assert (done.stdout, said[-1], done.returncode) == ("", f"wrote {page}", 0)
    assert "Made from <strong>titanic</strong>" in page.read_text(encoding="utf-8")
    assert run("report", "titanic", "-o", "-", "--cv", "0").stdout.startswith("<!doctype html>")
    assert run("report", "titanic", "-o", tmp_path / "no" / "r.html", "--cv", "0").returncode == 1


def test_the_top_rows_are_those_a_full_scoring_ranks_first_and_the_rarest_within_a_leaf_break_ties(mixed):
    fitted, table, folder = mixed
    unusual, leaves = fitted.unusualness(table), fitted.apply(table)
    codes = encode_rows(fitted, open_source(table)).codes
    members = {leaf: codes[leaves == leaf] for leaf in set(leaves.tolist())}
    within = [sum(np.log((members[leaf] == row).mean(axis=0))) for leaf, row in zip(leaves, codes, strict=True)]
    order = sorted(range(len(table)), key=lambda row: (-unusual[row], round(within[row], 9), row))[:15]
    tie = unusual == unusual[order[-1]]
    for name in ("t.csv", "semicolon.tsv", "t.parquet"):
        top = most_unusual(fitted, read_rows([str(folder / name)], fitted.domain_), 15)
        assert top.numbers == order
        assert top.total == 5000
        assert top.tied == tie.sum() > tie[order].sum()
        assert fitted.apply(top.rows).tolist() == fitted.apply(table[order]).tolist()


@pytest.mark.parametrize("top", [1, 3, 15, 200, 3000])
def test_the_top_rows_and_their_ties_are_the_same_part_by_part(mixed, top, monkeypatch):
    fitted, _, folder = mixed
    rows = read_rows([str(folder / "t.parquet")], fitted.domain_, engine="polars")
    whole = most_unusual(fitted, rows, top)
    monkeypatch.setattr(batches, "batches_of", partial(batches.batches_of, rows=130))
    parts = most_unusual(fitted, rows, top)
    assert parts[1:] == whole[1:]
    assert parts.rows.equals(whole.rows)


@pytest.mark.parametrize("engine", [None, "polars", "duckdb"])
def test_parts_are_the_whole(mixed, engine):
    fitted, table, folder = mixed
    for name in ("t.csv", "t.parquet"):
        rows = read_rows([str(folder / name)], fitted.domain_, engine=engine)
        parts = list(batches.batches_of(rows.frame, rows=700))
        assert len(parts) > 1
        assert sorted(fitted.apply(pl.concat(parts))) == sorted(fitted.apply(table))


def test_a_value_that_is_no_number_is_named(mixed, tmp_path):
    fitted, table, _ = mixed
    fitted.save(tmp_path / "m.json")
    table.head(5).with_columns(pl.Series("size", ["1", "2", "three", "4", "5"])).write_csv(tmp_path / "a.csv")
    done = run("score", tmp_path / "m.json", tmp_path / "a.csv", "--engine", "polars")
    assert done.stderr == "error: 'size' holds 'three', but a number is expected. Correct it, or leave out such rows.\n"


def test_score_top_gives_reasons_as_cards_json_or_table(model, tmp_path):
    done = run("score", model, "titanic", "--top", "3")
    assert done.stdout.count("rarer than 99.6 %") == 3
    assert done.stderr == "the 3 most unusual of 2,201 rows; 6 rows tie; these are the rarest within their leaf\n"
    answer = json.loads(run("score", model, "titanic", "--top", "2", "--json").stdout)
    assert [one["row"] for one in answer] == [324, 175]  # the only girl among the children of the first class
    run("score", model, "titanic", "--top", "4", "-o", tmp_path / "top.csv")
    written = pl.read_csv(tmp_path / "top.csv")
    assert written.columns == ["class", "sex", "age", "row", "leaf", "log_density", "unusualness", "reason", "change"]
    (tmp_path / "odd.csv").write_text("class,sex,age\ncrew,male,adult\nstowaway,male,adult\n")
    done = run("score", model, tmp_path / "odd.csv", "--top", "1")
    assert "Row 1 (line 3 in the file): class stowaway" in done.stdout
    assert "1 lie outside the domain" in done.stderr
    assert "warning" not in done.stderr


@pytest.mark.filterwarnings("ignore:.*looks like an identifier")
def test_identifiers_say_which_rows_are_meant(tmp_path):
    table = datasets.load("titanic").with_columns(id=pl.format("p{}", pl.int_range(pl.len())))
    fitted, file, rows = GreedyTree().fit(table), tmp_path / "m.json", tmp_path / "rows.csv"
    fitted.save(file)
    table.write_csv(rows)
    assert "id p324" in run("score", file, rows, "--top", "1").stdout
    assert [one["record"]["id"] for one in json.loads(run("explain", file, rows, "-n2", "--json").stdout)] == [
        "p0",
        "p1",
    ]
    for words in (["--keep-columns"], ["--top", "3"]):
        run("score", file, rows, *words, "-o", tmp_path / "out.csv")
        assert pl.read_csv(tmp_path / "out.csv").columns[:4] == ["id", "class", "sex", "age"]
    assert run("compare", file, rows).returncode == run("compare", file, "titanic").returncode == 0


def test_a_table_larger_than_the_allowance_of_memory_is_scored_in_parts(model, tmp_path):
    """The peak of a process that ranks 3 million rows stays far below the size of the table in memory."""
    row = "crew,male,adult\n1st,female,child\n3rd,male,adult\n2nd,female,adult\n"
    with (tmp_path / "big.csv").open("w") as file:
        file.write("class,sex,age\n")
        for _ in range(750):
            file.write(row * 1000)
    code = (
        "import resource, sys\n"
        "from sparsedensity import load\n"
        "from sparsedensity.cli.tables import read_rows\n"
        "from sparsedensity.cli.top import most_unusual\n"
        f"model = load({str(model)!r})\n"
        "model.apply([{'class': 'crew', 'sex': 'male', 'age': 'adult'}])\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        f"rows = read_rows([{str(tmp_path / 'big.csv')!r}], model.domain_, engine='polars')\n"
        "top = most_unusual(model, rows, 20)\n"
        "print(top.total, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    pytest.importorskip("resource", reason="this system does not tell the memory of a process")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    total, kilobytes = map(int, done.stdout.split())
    assert total == 3_000_000
    assert kilobytes < 250_000


def test_every_verb_has_examples_in_its_help():
    from sparsedensity.cli import VERBS

    for name in VERBS:
        shown = run(name, "--help").stdout
        assert "Examples:" in shown
        assert f"sparsedensity {name}" in shown


def test_the_shell_completes_verbs_options_and_bundled_names():
    def completed(line, shell="complete_zsh"):
        words = line.split(" ")
        environment = {
            "_SPARSEDENSITY_COMPLETE": shell,
            "_TYPER_COMPLETE_ARGS": line,
            "COMP_CWORD": str(len(words) - 1),
        }
        return subprocess.run(
            [sys.executable, "-c", "import sys; sys.argv = ['sparsedensity']; import sparsedensity.cli as c; c.main()"],
            capture_output=True,
            text=True,
            env={**os.environ, **environment},
            check=False,
            timeout=60,
        ).stdout

    assert "explain" in completed("sparsedensity ex")
    assert "--max-leaves" in completed("sparsedensity fit titanic --max")
    assert "titanic" in completed("sparsedensity fit tit")


def test_one_page_is_written_by_fit_and_by_report(tmp_path):
    run("fit", "titanic", "-m", "greedy", "--cv", "2", "--report", tmp_path / "fit.html")
    run("report", "titanic", "-m", "greedy", "--cv", "2", "-o", tmp_path / "report.html")
    pages = [(tmp_path / f"{verb}.html").read_text(encoding="utf-8") for verb in ("fit", "report")]
    fit, report = (re.sub(r"in [\d.e-]+ s\b|<footer.*?</footer>", "", page, flags=re.DOTALL) for page in pages)
    assert fit == report
    assert "Independent columns" in fit


def test_the_page_of_a_picked_model_shows_its_path_and_rows_of_the_table(tmp_path):
    page = tmp_path / "picked.html"
    run("path", "titanic", "-m", "greedy", "--cv", "2", "--pick", "4", "--report", page)
    shown = page.read_text(encoding="utf-8")
    assert "Greedy density tree with 4 leaves" in shown
    for part in ("The most unusual records", "How many leaves are enough?", "held out", "<strong>titanic</strong>"):
        assert part in shown


def test_fit_says_what_more_leaves_would_buy_if_nothing_was_said_about_them():
    done = run("fit", "housebreaks", "-m", "greedy")
    more = (
        r"24 leaves would make records at least 1\.\d\d times as dense \(log-likelihood per row -\d\.\d{3} instead of "
        r"-\d\.\d{3}: --max-leaves 24\)"
    )
    assert re.search(rf"^{more}$", done.stderr, re.MULTILINE)
    assert len(json.loads(run("fit", "housebreaks", "-m", "greedy", "--json").stdout)["leaves"]) == 12
    for words in (["--max-leaves", "12"], ["--max-leaves", "none"], ["-q"]):
        assert "would make" not in run("fit", "housebreaks", "-m", "greedy", *words).stderr
    assert "would make" not in run("fit", "titanic", "-m", "greedy").stderr
    profiles = r"12 profile leaves 1\.\d\d times \(-\d\.\d{3} instead of -\d\.\d{3} on rows that they had not seen: "
    both = run("fit", "housebreaks", "--search", "greedy")
    assert re.search(rf"^{more}, and {profiles}--leaf profile\)$", both.stderr, re.MULTILINE)


@pytest.mark.parametrize(("gain", "told"), [(0.01, False), (0.03, True)])
def test_a_gain_that_nobody_would_notice_is_no_advice(monkeypatch, capsys, people, gain, told):
    monkeypatch.setattr(further, "look_further", lambda *_: further.Further(13, 24, -2.0, -2.0 + gain))
    advise(GreedyTree(), Data(people, None, "people"), more=True, profiles=False)
    assert ("13 leaves would make records at least 1.03 times as dense" in capsys.readouterr().err) == told


def test_fit_and_report_say_what_profiles_would_buy_if_nothing_was_said_about_them(tmp_path):
    profiles = (
        r"12 profile leaves would make records 1\.\d\d times as dense \(log-likelihood per row -\d\.\d{3} instead of "
        r"-\d\.\d{3} on rows that they had not seen: --leaf profile\)"
    )
    told = ["housebreaks", "--search", "greedy", "--max-leaves", "12"]
    for words in (["fit", *told], ["report", *told, "--cv", "0", "-o", tmp_path / "r.html"]):
        assert re.search(rf"^{profiles}$", run(*words).stderr, re.MULTILINE)
    for more in (["-q"], ["--leaf", "uniform"], ["--leaf", "profile"]):
        assert "profile" not in run("fit", *told, *more).stderr
    assert "profile" not in run("path", *told, "--cv", "0").stderr
    assert run("fit", "titanic").stderr == ""
