"""The benchmarks stand on what every checkout has, and their page on what they left."""

import json

import numpy as np
import polars as pl
import pytest

from benchmarks import (
    altered,
    dividing,
    elsewhere,
    engines,
    held_out,
    large,
    large_files,
    misses,
    paper_data,
    profiles,
    start_up,
)
from benchmarks.page import write_page
from benchmarks.text_files import write_known_tree
from benchmarks.timing import Measured, peak_resident, resident
from reproduction.datasets import load
from reproduction.machine import Machine
from sparsedensity import LeafSparseTree, datasets

TITANIC = datasets.load("titanic")


def test_tables_that_are_made_need_no_files(monkeypatch):
    monkeypatch.setattr(misses, "paper_table", lambda name: None)
    tables = dict(misses.tables())
    for name in ("balance", "car"):
        assert tables[name].rows() == [tuple(map(str, row)) for row in load(name).rows()]
    assert "compas" not in tables


def test_misses_of_nothing_proven_are_none(monkeypatch, capsys):
    monkeypatch.setattr(misses, "jobs", lambda: iter(()))
    misses.main()
    assert "0 of 0 fits miss the optimum, by 0.00 nats at most." in capsys.readouterr().out


def test_start_up_is_measured_beside_another_version(monkeypatch, capsys, tmp_path):
    def tell(source, program, words, folder, more=None):
        old = source == tmp_path
        return start_up.Told(4.0 if old else 1.0, ["numpy", "sklearn", "re"] if old else ["numpy"])

    monkeypatch.setattr(start_up, "tell", tell)
    monkeypatch.setenv("BENCH_BEFORE", str(tmp_path))
    start_up.main()
    printed = capsys.readouterr().out
    assert "| fit titanic | 4.00 | 1.00 | 0.25 | 3 | 1 | 0.33 | numpy | sklearn |" in printed
    assert "| list, annealed | 4.00 | 1.00 | 0.25 | 4.00 | 1.00 | 0.25 |" in printed


def test_start_up_is_measured_alone_too(monkeypatch):
    monkeypatch.delenv("BENCH_BEFORE", raising=False)
    (source,) = start_up.sources().values()
    told = start_up.tell(source, start_up.COMMAND, "--version", source)
    assert told.seconds > 0
    assert "typer" in told.libraries
    assert not {"numba", "sklearn"} & set(told.libraries)


def test_profiles_are_measured_beside_uniform_leaves(monkeypatch, capsys):
    jobs = []

    def fit(call, job):
        jobs.append(job)
        return Measured(1_000, 2.0 if job.leaf == "uniform" else 6.0, 3_000)

    monkeypatch.setattr(profiles, "alone", fit)
    monkeypatch.setattr(profiles, "LARGE", {"10 x 2": lambda: profiles.many_columns(10, 2)})
    monkeypatch.setattr(profiles, "cold_and_warm", lambda leaf, search: (9.0, 0.5))
    monkeypatch.setattr(profiles, "paper_table", lambda name: None)
    profiles.main()
    printed = capsys.readouterr().out
    assert "| 10 x 2 | greedy | 2.0 | 6.0 | 3.0 | 3.0 | 3.0 |" in printed
    assert "| anneal | 9.0 | 0.5 | 9.0 | 0.5 |" in printed
    assert {(job.leaf, job.search) for job in jobs} == {
        (leaf, search) for leaf in ("uniform", "profile") for search in ("greedy", "anneal")
    }


def test_a_wide_table_of_the_benchmark_is_fitted(monkeypatch):
    monkeypatch.setattr(profiles, "LARGE", {"60 x 6": lambda: profiles.many_columns(60, 6)})
    for leaf in profiles.LEAVES:
        assert profiles.fit_large(profiles.Job("60 x 6", leaf, "greedy")).value == 360


def test_what_a_deleted_benchmark_printed_is_not_on_the_page(tmp_path):
    for name in ("anneal", "deleted"):
        kept = {"name": name, "machine": Machine.here().saved(), "printed": "some numbers"}
        (tmp_path / f"{name}.json").write_text(json.dumps(kept))
    text = write_page(tmp_path, tmp_path / "studies", tmp_path / "page.md").read_text(encoding="utf-8")
    assert "### anneal" in text
    assert "deleted" not in text


def test_an_altered_row_has_up_to_three_values_of_other_rows_and_no_other_row_is_touched():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({name: [f"{name}{row}" for row in range(500)] for name in "abcde"}).with_columns(
        same=pl.lit("")
    )
    drawn = altered.alter(frame, rng)
    differs = pl.DataFrame({name: frame[name] != drawn.frame[name] for name in frame.columns})
    assert len(set(drawn.rows)) == 10
    for row, columns in zip(drawn.rows, drawn.columns, strict=True):
        assert {name for name in frame.columns if differs[name][row]} == columns
        assert len(columns) == 3 or (len(columns) == 2 and "same" not in columns)
    assert differs.to_numpy().sum() == sum(map(len, drawn.columns))
    assert all(drawn.frame[name].is_in(frame[name].implode()).all() for name in frame.columns)


def test_another_row_is_every_row_but_this_one():
    rng = np.random.default_rng(0)
    assert {altered.another(2, 5, rng) for _ in range(100)} == {0, 1, 3, 4}


@pytest.fixture
def copies():
    """A table of one column, six times, beside one of noise: an altered copy disagrees with the others."""
    codes = np.random.default_rng(0).integers(0, 4, (2, 1000)).astype(str)
    return pl.DataFrame({f"copy {i}": codes[0] for i in range(6)} | {"noise": codes[1]})


def test_a_draw_ranks_altered_rows_first_and_names_their_columns(copies):
    found = altered.draw(copies, "greedy", 0)
    assert found.areas.keys() == altered.models("greedy").keys()
    assert found.areas[altered.PROFILES] > 0.9
    assert found.named > 0.8
    assert found.right > 0.9


def test_chance_is_the_share_of_columns_that_differ(copies):
    columns = altered.alter(copies, np.random.default_rng(3)).columns
    assert altered.draw(copies, "greedy", 3).chance == pytest.approx(sum(map(len, columns)) / (20 * 7))


def test_profiles_stand_above_a_rival_by_the_mean_of_the_differences(capsys):
    ours, areas = (
        altered.PROFILES,
        [(0.8, 0.7), (0.9, 0.7)],
    )
    altered.print_standing(
        [[{ours: a, "x": b} for a, b in areas], [{ours: 0.6, "x": 0.5}, {ours: 0.5, "x": 0.58}]], ["x"]
    )
    assert "| x | 2 of 2 | 1 of 2 |" in capsys.readouterr().out


def test_altered_prints_a_line_per_table_and_table(monkeypatch, capsys, copies):
    monkeypatch.setattr(altered, "paper_table", lambda name: copies if name == "compas" else None)
    monkeypatch.setenv("BENCH_DRAWS", "2")
    altered.main()
    lines = capsys.readouterr().out.splitlines()
    assert [len(line.split("|")) for line in lines if line.startswith("| compas |")] == [11, 8]


def test_a_binary_table_is_held_out_as_it_is_published(tmp_path, monkeypatch):
    (tmp_path / "density20").mkdir()
    for part, rows in (("train", 12), ("test", 11)):
        values = [str(row % 2) for row in range(rows)]
        frame = pl.DataFrame({"v1": values, "number": [f"{part} {row}" for row in range(rows)]})
        frame.write_csv(tmp_path / "density20" / f"nltcs.{part}.csv.gz", compression="gzip")
    monkeypatch.setattr(paper_data, "PAPER", tmp_path / "paper")
    (table,) = dividing.divided_tables(5)
    ((train, tests),) = table.folds()
    assert train["number"].to_list() == [f"train {row}" for row in range(12)]
    assert sorted(pl.concat(tests)["number"]) == sorted(f"test {row}" for row in range(11))
    assert len(tests) == 5
    assert table.frame.height == 23


@pytest.fixture
def halves():
    """The titanic, each half held out once."""
    return dividing.in_folds("titanic", TITANIC, 2)


@pytest.mark.parametrize("limit", held_out.LIMITS)
def test_one_search_gives_what_a_search_under_each_limit_would(halves, limit):
    tree = LeafSparseTree(leaf="profile", search="greedy", domain=halves.domain, max_leaves=limit)
    alone = [tree.fit(train).score(test) / test.height for train, (test,) in halves.folds()]
    assert held_out.held_out(halves, "greedy").at_most("profile", limit) == pytest.approx(alone)


def test_the_last_line_counts_the_tables_on_which_profiles_hold_against_chow_and_liu(capsys):
    held_out.print_standing([[0.3, 0.2], [-0.1, 0.2], [-0.2, 0.1], [-0.3, -0.2]])
    last = " ".join(capsys.readouterr().out.split("\n"))
    assert "on 3 of 4 tables, and better by more than that on 1." in last


def test_held_out_prints_a_line_per_table_in_both_tables(monkeypatch, capsys, halves):
    monkeypatch.setattr(held_out, "divided_tables", lambda folds: [halves])
    held_out.main()
    lines = capsys.readouterr().out.splitlines()
    assert [len(line.split("|")) for line in lines if line.startswith("| titanic | 2,201 | 3 |")] == [17, 11]


def test_no_size_predicts_better_than_the_best_of_all(halves):
    held = held_out.held_out(halves, "greedy")
    size, best = held.best_size("profile")
    everything = [path.scores for path in held.paths["profile"]]
    assert best == [score for scores in everything for score in scores[size]]
    for other in set(everything[0]) & set(everything[1]) & set(held_out.SIZES):
        assert np.mean(best) >= np.mean([score for scores in everything for score in scores[other]])


@pytest.mark.parametrize("kind", large.DRAWING)
def test_large_tables_are_drawn_and_fitted_in_a_process_of_their_own(monkeypatch, kind):
    monkeypatch.setattr(large, "ROWS", 300)
    one = large.alone(large.HERE, kind, 1)
    assert one.gain > 0
    assert (one.above_truth is None) == (kind == "a mixture of products")
    assert 1 < one.leaves <= large.MOST_LEAVES


def test_large_prints_a_line_per_seed_and_their_median(monkeypatch, capsys):
    monkeypatch.setattr(large, "alone", lambda root, kind, seed: large.Outcome(1e6 + seed, -10.0 * seed, 80, 20.0))
    large.main()
    printed = capsys.readouterr().out
    assert "| a known tree | here | 4 | 1,000,004 | -40 | 80 | 20 |" in printed
    assert "| a mixture of products | here | median | 1,000,002 | -20 | 80 | 20 |" in printed


def test_a_file_of_a_known_tree_is_plain_text_in_several_groups_of_rows(tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.text_files.ROWS_PER_GROUP", 400)
    tree = write_known_tree(tmp_path / "rows.parquet", 1000)
    frame = pl.read_parquet(tmp_path / "rows.parquet")
    assert frame.shape == (1000, len(tree.domain))
    assert set(frame.dtypes) == {pl.String}
    assert frame["x1"].is_in([f"value {code}" for code in range(4)]).all()
    assert frame.n_unique() > 900


def test_a_pass_of_every_engine_stands_beside_one_in_memory(monkeypatch, capsys):
    pytest.importorskip("duckdb")
    monkeypatch.setattr(engines, "ROWS", 3000)
    monkeypatch.setattr(
        engines, "OPENED", {"memory": engines.memory, "Polars": engines.polars, "DuckDB": engines.duckdb}
    )
    engines.main()
    lines = [line.split("|") for line in capsys.readouterr().out.splitlines()[-3:]]
    assert [line[1].strip() for line in lines] == ["memory", "Polars", "DuckDB"]
    assert lines[0][4].strip() == "1.0"


def test_a_pass_that_loses_a_row_is_no_measurement(monkeypatch, tmp_path):
    monkeypatch.setattr(engines, "ROWS", 2999)
    tree = write_known_tree(tmp_path / "rows.parquet", 3000)
    with pytest.raises(AssertionError, match="counted once"):
        engines.measured(engines.memory, tmp_path / "rows.parquet", tree)


def test_a_large_file_is_fitted_in_a_process_of_its_own(monkeypatch, tmp_path):
    pytest.importorskip("duckdb")
    monkeypatch.setattr(large_files, "SEARCH", "greedy")
    job = large_files.Job("DuckDB", 500)
    one = large_files.alone(job, large_files.written(tmp_path, job.rows))
    assert one.leaves > 1
    assert one.processor > 0
    assert "| DuckDB | 500 |" in large_files.line(job, one)


def test_a_large_file_gives_the_same_tree_in_memory_and_by_parts(tmp_path):
    path = str(large_files.written(tmp_path, 500))
    sizes = {large_files.fit(engine, path, "greedy").leaves for engine in ("memory", "Polars")}
    assert len(sizes) == 1


def test_the_memory_held_at_the_largest_is_no_less_than_that_held_now():
    now = resident()
    assert peak_resident() >= now


def test_what_duckdb_finds_stands_beside_what_memory_finds():
    pytest.importorskip("duckdb")
    one = elsewhere.fit(elsewhere.Job("a known tree", 300, 1))
    assert one.above == pytest.approx(0)  # few rows are brought home, so both search the same table
    assert one.memory.gain > 0


def test_elsewhere_prints_a_line_per_seed_and_the_medians(monkeypatch, capsys):
    def found(call, job):
        return elsewhere.Outcome(elsewhere.Found(1e6, 20.0, 8), elsewhere.Found(1e6 - 100 * job.seed, 30.0, 9))

    monkeypatch.setattr(elsewhere, "alone", found)
    monkeypatch.setattr(elsewhere, "SEEDS", range(3))
    elsewhere.main()
    printed = capsys.readouterr().out
    assert "| a known tree | 2 | 1,000,000 | -200 | -0.020 | 20 | 30 | 9 |" in printed
    assert "| a mixture of products | median | 1,000,000 | -100 | -0.010 | 20 | 30 | 9 |" in printed
