"""The page of all measurements comes from what the commands left, and from nothing else."""

import importlib
import json
from dataclasses import replace

from benchmarks import names
from benchmarks.page import about, write_page
from reproduction import writing
from tests.reproduction.test_writing import FOOT, MACHINE, a_study

PRINTED = "\n### speed\n| table | seconds |\n| --- | --: |\n| titanic | 0.02 |\ngrowth: 1,000: 1.5 s\nand more\n"


def written(tmp_path):
    page = tmp_path / "docs" / "benchmarks.md"
    page.parent.mkdir(exist_ok=True)
    return write_page(tmp_path / "kept", tmp_path / "studies", page).read_text(encoding="utf-8")


def keep(tmp_path, name="anneal"):
    (tmp_path / "kept").mkdir(exist_ok=True)
    kept = {"name": name, "machine": MACHINE.saved(), "printed": PRINTED}
    (tmp_path / "kept" / f"{name}.json").write_text(json.dumps(kept))


def test_without_measurements_the_page_says_so(tmp_path):
    assert "Nothing was measured yet." in written(tmp_path)


def test_studies_are_on_the_page_with_their_figures_machine_and_command(tmp_path):
    writing.save(a_study(), FOOT, tmp_path / "studies")
    text = written(tmp_path)
    assert "### About An apple" in text
    assert "#### Times" in text
    assert "![A chart](benchmarks/titanic-chart.svg)" in text
    assert (tmp_path / "docs" / "benchmarks" / "titanic-chart.svg").exists()
    assert "Measured by `python -m reproduction titanic`: 12.3 s on A processor" in text


def test_a_quick_study_is_no_measurement(tmp_path):
    writing.save(a_study(), replace(FOOT, quick=True), tmp_path / "studies")
    assert "Nothing was measured yet." in written(tmp_path)


def test_what_a_benchmark_printed_is_on_the_page_as_tables_and_text(tmp_path):
    keep(tmp_path)
    text = written(tmp_path)
    assert "### anneal\n\nThe annealing search:" in text
    assert "#### speed\n| table | seconds |\n| --- | --: |\n| titanic | 0.02 |" in text
    assert "```text\ngrowth: 1,000: 1.5 s\nand more\n```" in text
    assert "Measured by `python -m benchmarks anneal` on A processor, 2 cores" in text


def test_figures_of_studies_that_are_gone_do_not_stay(tmp_path):
    old = tmp_path / "docs" / "benchmarks" / "old.svg"
    old.parent.mkdir(parents=True)
    old.write_text("old")
    written(tmp_path)
    assert not old.exists()


def test_every_benchmark_can_be_run_and_says_what_it_is_about():
    assert about("large_table").startswith("2.4 million rows by 68 features")
    for name in names():
        assert about(name)
        assert callable(importlib.import_module(f"benchmarks.{name}").main)


def test_what_benchmarks_share_is_no_benchmark():
    assert {"misses", "start_up"} <= set(names())
    assert {"page", "text_files", "timing"}.isdisjoint(names())
