"""The command line and tables that do not fit in memory, or are elsewhere."""

import json
import re
from pathlib import Path

import polars as pl
import pytest

from sparsedensity import GreedyTree, datasets, load
from sparsedensity.cli import tables as cli_tables
from sparsedensity.ingest import batches, tables
from sparsedensity.ingest.opening import open_table
from sparsedensity.search.trees import greedy
from tests.command import run

GREEDY = ("-m", "greedy", "-q")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def large(monkeypatch):
    """No table fits in memory, parts are small, and few rows may be at hand."""
    monkeypatch.setattr(tables, "MOST_IN_MEMORY", 0)
    monkeypatch.setattr(cli_tables, "MOST_AT_HAND", 500)
    monkeypatch.setattr(batches.batches_of, "__defaults__", (300,))


@pytest.fixture
def files(people, titanic):
    """A model, and its table as one file, and in parts."""
    titanic.save("m.json")
    people.write_csv("people.csv")
    people.write_parquet("people.parquet")
    Path("parts").mkdir()
    for i in range(3):
        people[i * 800 : (i + 1) * 800].write_csv(f"parts/{i}.csv")


def leaves(*words):
    """The leaves of a model that the command line fits, and what it said."""
    done = run("fit", *words, "-m", "greedy", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["leaves"]


@pytest.mark.parametrize(
    "names",
    [["parts"], ["parts/*.csv"], ["parts/0.csv", "parts/1.csv", "parts/2.csv"]],
    ids=["folder", "glob", "files"],
)
@pytest.mark.parametrize("engine", [(), ("--engine", "polars"), ("--engine", "duckdb")])
def test_several_files_are_fitted_as_one(names, engine, files):
    assert leaves(*names, *engine) == leaves("titanic")


def test_a_sample_that_was_searched_is_told_wherever_the_search_is(files, large, monkeypatch):
    monkeypatch.setattr(greedy, "rows_within", lambda *_: 10)
    done = run("fit", "people.csv", "-m", "greedy", "-o", "far.json", "--json")
    told = json.loads(done.stdout)["search"]["sampled"]
    assert told == 10
    assert load("far.json").search_.sampled == told
    assert f"searched on a sample of {told:,} rows, counted on all" in run("show", "far.json").stdout


def test_a_large_file_is_fitted_as_a_small_one(files, large):
    for name in ("people.csv", "people.parquet"):
        assert leaves(name) == leaves("titanic")


def test_a_table_of_a_database_is_fitted_where_it_is(people, files):
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed: pip install 'sparsedensity[duckdb]'")
    with duckdb.connect("shop.duckdb") as connection:
        connection.execute("create table people as select * from 'people.csv'; create table others (a int)")
    assert leaves("shop.duckdb?table=people") == leaves("duckdb://shop.duckdb?table=people") == leaves("titanic")
    assert "has 2 tables: others, people. Name one" in run("fit", "shop.duckdb").stderr


@pytest.mark.parametrize("output", ["scores.csv", "scores.parquet"])
@pytest.mark.parametrize("words", [[], ["--keep-columns"], ["--keep-columns", "--spreadsheet"]])
@pytest.mark.parametrize("name", ["people.csv", "people.parquet"])
def test_a_large_table_is_scored_part_by_part(name, output, words, files, large, people, titanic):
    done = run("score", "m.json", name, *words, "-o", output)
    logs = titanic.score_samples(people)
    scores = {"leaf": titanic.apply(people), "log_density": logs, "unusualness": titanic.unusualness(people)}
    written = pl.read_csv(output) if output.endswith(".csv") else pl.read_parquet(output)
    expected = pl.DataFrame(scores)
    assert written.equals(pl.concat([people, expected], how="horizontal") if words else expected)
    assert done.stderr == (
        f"wrote {output}\n2,201 rows, log-likelihood {logs.sum():,.2f}, {logs.sum() / 2201:.4f} per row\n"
    )


def test_a_single_row_is_called_a_row(files):
    Path("one.csv").write_text("class,sex,age\ncrew,male,adult\n")
    assert run("score", "m.json", "one.csv").stderr.startswith("1 row, log-likelihood -")


def test_scores_of_parts_add_up_and_what_is_unknown_is_said_once(files, large):
    rows = "class,sex,age\n" + "crew,male,adult\nstowaway,male,adult\n" * 400
    Path("odd.csv").write_text(rows)
    done = run("score", "m.json", "odd.csv", "--json")
    assert json.loads(done.stdout) | {"log_likelihood": 0} == {
        "rows": 800, "outside": 400, "log_likelihood": 0, "log_likelihood_per_row": None,
    }  # fmt: skip
    assert done.stderr.count("warning") == 1
    assert "400 rows lie outside the domain, density 0: 'class' has no value 'stowaway'" in done.stderr
    assert run("score", "m.json", "odd.csv").stdout.count("leaf,log_density") == 1


@pytest.mark.parametrize("engine", [(), ("--engine", "duckdb")])
def test_the_most_unusual_rows_of_a_large_table_are_explained(engine, files, large):
    done = run("score", "m.json", "parts", "--top", "2", "--json", *engine)
    assert {tuple(one["record"].values()) for one in json.loads(done.stdout)} == {
        ("1st", "female", "child"),
        ("1st", "male", "child"),
    }
    assert "the 2 most unusual of 2,201 rows; 6 rows tie" in done.stderr


def test_of_a_large_table_the_first_rows_are_explained(files, large):
    done = run("explain", "m.json", "people.csv", "--rows", "2")
    assert re.findall(r"Row \d \(line \d in the file\)", done.stdout) == [
        "Row 0 (line 2 in the file)", "Row 1 (line 3 in the file)",
    ]  # fmt: skip
    refused = run("explain", "m.json", "people.csv")
    assert refused.stderr == (
        "error: people.csv has 2,201 rows, too many to explain all. Use --rows, or `sparsedensity score --top 20`, "
        "which explains the most unusual.\n"
    )


def test_what_needs_rows_takes_some_of_a_large_table_and_says_so(files, large):
    some = "500 of 2,201 rows, drawn at random\n"
    done = run("report", "people.csv", *GREEDY, "--cv", "2", "-o", "r.html")
    told = f"records, leaf contents and held-out scores are from {some}"
    assert done.stderr == told
    page = Path("r.html").read_text(encoding="utf-8")
    assert f"Made from <strong>people.csv; {told.strip()}</strong>" in page
    assert "2,201 rows" in page
    done = run("path", "people.csv", "-m", "greedy", "--cv", "2")
    assert done.stderr == f"the path is scored on {some}"
    done = run("evaluate", "people.csv", *GREEDY, "--cv", "2", "--jobs", "1")
    assert done.stderr == f"evaluating with {some}"


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_a_sample_of_a_large_table_is_drawn_from_all_of_it(engine, large):
    whole = pl.DataFrame({"a": range(3000)})
    whole.write_parquet("a.parquet")
    table = open_table(["a.parquet"], engine=engine)
    (some, total), (again, _) = batches.sample_rows(table, 200), batches.sample_rows(table, 200)
    assert (some.height, total) == (200, 3000)
    assert some.equals(again)
    assert some["a"].n_unique() == 200
    assert 1200 < some["a"].mean() < 1800
    assert batches.sample_rows(table, 5000)[0].equals(whole)


def test_columns_are_dropped_and_named_on_every_engine(people, files, large):
    for name in (["people.csv"], ["people.parquet", "--engine", "duckdb"]):
        model = leaves(*name, "--drop", "sex")
        assert {c["feature"] for leaf in model for c in leaf["conditions"]} <= {"class", "age"}
        assert "There is no column 'port' in people" in run("fit", *name, "--drop", "port").stderr
        assert "The weight column 'sex' holds 'male', not numbers" in run("fit", *name, "--weight", "sex").stderr
        assert run("fit", *name, *GREEDY, "--kind", "class=crew,3rd,2nd,1st").returncode == 0


def test_an_answer_is_never_written_over_one_of_many_files(files):
    for names in (["parts"], ["parts/*.csv"], ["parts/1.csv", "parts/2.csv"]):
        done = run("score", "m.json", *names, "-o", "parts/2.csv")
        assert f"{Path('parts/2.csv')} is the table that is read. Write to another file." in done.stderr


def test_a_password_is_nowhere_in_a_report(files, monkeypatch):
    from sparsedensity.version import COMMAND

    seen = []
    monkeypatch.setattr("sparsedensity.cli.fit.check_outputs", lambda *_: seen.append(COMMAND.get()))
    done = run("fit", "nope://me:secret@host/shop?table=people")
    assert seen == ["sparsedensity fit 'nope://me:...@host/shop?table=people'"]
    assert "secret" not in done.stderr
    assert "nope://me:...@host/shop cannot be opened" in done.stderr


def test_engines_that_do_not_read_a_table_are_refused(files):
    assert (
        "--engine duckdb reads CSV and Parquet files, not the bundled titanic"
        in run("fit", "titanic", "--engine", "duckdb").stderr
    )
    assert run("fit", "titanic", "--engine", "nope").returncode == 2


def test_two_large_tables_are_compared(people, files, large):
    people[:1000].write_parquet("a.parquet")
    people[1000:].write_csv("b.csv")
    few, small = (run("compare", *pair, "--method", "greedy", "--json") for pair in (("a.parquet", "b.csv"),) * 2)
    assert json.loads(few.stdout)["rows"] == 1201
    assert few.stdout == small.stdout


def test_a_model_of_a_large_table_is_the_model_of_its_rows(people, files, large):
    run("fit", "people.csv", *GREEDY, "--max-leaves", "100", "-o", "large.json")
    from sparsedensity import load

    assert load("large.json").log_posterior_ == pytest.approx(GreedyTree().fit(datasets.load("titanic")).log_posterior_)


def test_damage_that_shows_only_late_is_one_sentence(files, large):
    noise = pl.DataFrame({"a": [str(hash(str(i)))[:6] for i in range(20_000)]})
    noise.write_parquet("bad.parquet", row_group_size=2000)
    content = bytearray(Path("bad.parquet").read_bytes())
    content[20_000:21_000] = b"\7" * 1000
    Path("bad.parquet").write_bytes(content)
    done = run("fit", "bad.parquet", "--kind", "nominal")
    assert done.returncode == 1
    assert re.fullmatch(r"error: (Polars|The engine) cannot read or count the rows: .*\.\n", done.stderr)


def test_fit_says_what_profiles_would_buy_of_a_large_table(large, monkeypatch):
    monkeypatch.setattr(cli_tables, "MOST_AT_HAND", 10_000)
    datasets.load("housebreaks").write_parquet("h.parquet")
    said = run("fit", "h.parquet", "-m", "leaf", "--search", "greedy").stderr
    assert "profile" in said
    assert "--max-leaves" not in said
