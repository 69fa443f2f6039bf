"""The benchmarks stand on what every checkout has, and their page on what they left."""

import json

from benchmarks import misses
from benchmarks.page import write_page
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


def test_what_a_deleted_benchmark_printed_is_not_on_the_page(tmp_path):
    for name in ("anneal", "deleted"):
        kept = {"name": name, "machine": Machine.here().saved(), "printed": "some numbers"}
        (tmp_path / f"{name}.json").write_text(json.dumps(kept))
    text = write_page(tmp_path, tmp_path / "studies", tmp_path / "page.md").read_text(encoding="utf-8")
    assert "### anneal" in text
    assert "deleted" not in text
