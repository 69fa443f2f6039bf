"""The benchmarks stand on what every checkout has, and their page on what they left."""

import json

from benchmarks import misses, profiles
from benchmarks.page import write_page
from benchmarks.timing import Measured
from reproduction.datasets import load
from reproduction.machine import Machine


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
