"""The page about data sets says what the commands and the records say."""

from pathlib import Path

import pytest

from benchmarks.paper_data import PAPER as FOLDER
from reproduction import listing
from reproduction.datasets import NAMES
from reproduction.datasets.published import PUBLISHED
from sparsedensity import datasets

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "datasets.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted({*NAMES, *datasets.NAMES}))
def test_every_set_is_on_the_page(name):
    assert f"`{name}`" in PAGE


@pytest.mark.parametrize("record", PUBLISHED.values(), ids=lambda record: record.name)
def test_source_files_and_licence_are_on_the_page(record):
    line = next(line for line in PAGE.splitlines() if line.startswith(f"| `{record.name}`"))
    for fact in (record.title, record.source, record.prepared, record.licence):
        assert fact in line
    for form in record.forms:
        for file in form.files:
            assert f"`{file.name}`" in line


def test_the_counts_on_the_page_are_those_that_the_command_prints(monkeypatch, tmp_path):
    if not FOLDER.exists():
        pytest.skip(f"{FOLDER} is not there: set PAPER_DATA to the folder of the paper's tables")
    monkeypatch.setenv("SPARSEDENSITY_DATA", str(FOLDER))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    printed = PAGE.partition("$ python -m reproduction datasets --check\n")[2].partition("\n```")[0]
    assert list(listing.checked()) == printed.splitlines()
