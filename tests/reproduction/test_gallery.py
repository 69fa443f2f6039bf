"""The paper's tables in the gallery: pictures and numbers are what the command makes of the tables."""

import pytest

from benchmarks.paper_data import PAPER as FOLDER
from reproduction import datasets
from reproduction.gallery import BEGIN, EXHIBITS, GALLERY, files, filled
from sparsedensity.errors import DataError
from tests.reproduction.command import run

MOST_BYTES = 60_000


@pytest.mark.parametrize("name", EXHIBITS)
def test_a_page_of_the_gallery_shows_what_the_command_makes(name):
    if not datasets.here(EXHIBITS[name].table, FOLDER):
        pytest.skip(f"{EXHIBITS[name].table} is not in {FOLDER}: set PAPER_DATA to the folder of the paper's tables")
    for file, content in files(name, FOLDER).items():
        assert content == (GALLERY / file).read_text(encoding="utf-8"), file


@pytest.mark.parametrize("name", EXHIBITS)
def test_a_page_of_the_gallery_says_which_command_wrote_its_numbers(name):
    assert BEGIN in (GALLERY / f"{name}.md").read_text(encoding="utf-8")


def test_pictures_of_the_gallery_are_small():
    assert max(file.stat().st_size for file in GALLERY.glob("*.svg")) < MOST_BYTES


def test_a_page_without_room_for_numbers_is_refused():
    with pytest.raises(DataError, match="no room for numbers"):
        filled("# A page\n", ["* a fact"])


def test_numbers_that_are_written_twice_stay_the_same():
    page = (GALLERY / "credit.md").read_text(encoding="utf-8")
    once = filled(page, ["* a fact"])
    assert "* a fact" in once
    assert filled(once, ["* a fact"]) == once


def test_the_gallery_is_a_command():
    assert "--output" in run("gallery", "--help").stdout
