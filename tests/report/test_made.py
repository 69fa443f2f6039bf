"""Pages and pictures say what they were made with, and the same call gives the same file on any day."""

import html
import re
import shlex
from xml.etree import ElementTree

import pytest

from sparsedensity import LeafSparseTree, load
from sparsedensity.report.made import made_with, signed
from sparsedensity.version import COMMAND, __version__
from tests.command import run


@pytest.fixture
def new_year(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225600")


def test_the_line_has_version_date_seed_and_command(new_year):
    assert made_with() == f"Made with sparsedensity {__version__} on 2026-01-01"
    token = COMMAND.set("sparsedensity report 'my table.csv'\x1b")
    try:
        assert made_with(3).endswith(" on 2026-01-01, seed 3, by: sparsedensity report 'my table.csv'\\x1b")
    finally:
        COMMAND.reset(token)


def test_today_is_the_date_if_nothing_else_is_said(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "tomorrow")
    assert re.search(r" on 20\d\d-\d\d-\d\d$", made_with())


def test_a_picture_is_the_same_every_day_and_its_file_says_when(new_year, people, tmp_path):
    tree = LeafSparseTree(search="greedy", random_state=5).fit(people)
    picture = tree.to_svg(tmp_path / "tree.svg")
    assert picture == tree.to_svg()
    assert "2026" not in picture
    written = (tmp_path / "tree.svg").read_text(encoding="utf-8")
    root = ElementTree.fromstring(written)
    assert root[0].tag.endswith("metadata")
    assert root[0].text == made_with(5)
    assert written.replace(f"\n<metadata>{made_with(5)}</metadata>", "") == picture


def test_labels_and_commands_stay_text_in_the_metadata():
    token = COMMAND.set("sparsedensity show '<x>&\"'")
    try:
        root = ElementTree.fromstring(signed('<svg aria-label="a &gt; b"><g/></svg>'))
    finally:
        COMMAND.reset(token)
    assert root[0].text.endswith("by: sparsedensity show '<x>&\"'")
    assert root.attrib["aria-label"] == "a > b"


def test_a_page_says_it_at_its_foot(new_year, titanic, people, tmp_path):
    assert f'<footer class="soft"><p>{made_with(titanic.random_state)}</p></footer>' in titanic.to_html()
    assert titanic.to_html() == titanic.to_html()
    compared = titanic.compare(people)
    assert made_with(titanic.random_state) in compared.to_html()
    compared.to_svg(tmp_path / "compared.svg")
    assert made_with(titanic.random_state) in (tmp_path / "compared.svg").read_text(encoding="utf-8")


def test_a_command_writes_itself_down(new_year, tmp_path):
    model, picture, page = (tmp_path / name for name in ("model.json", "model.svg", "page.html"))
    run("fit", "titanic", "--search", "greedy", "--seed", "4", "-q", "-o", model)
    run("show", model, "--as", "svg", "-o", picture)
    run("show", model, "--as", "html", "-o", page)
    for file, form in ((picture, "svg"), (page, "html")):
        typed = shlex.join(["sparsedensity", "show", str(model), "--as", form, "-o", str(file)])
        assert f"seed 4, by: {typed}<" in html.unescape(file.read_text(encoding="utf-8"))
    assert "sparsedensity" not in load(model).to_text()
