"""The documentation site as it is built: every link leads somewhere, and every public name is in the reference."""

import html
import importlib
import inspect
import re
import zlib
from types import SimpleNamespace
from urllib.parse import unquote, urldefrag

import pytest
from mkdocs.exceptions import PluginError
from typer.main import get_command

import sparsedensity
from docs.hooks.mathematics import on_page_content
from sparsedensity.cli import app
from tests.docs.building import ROOT

FRONT_PAGE = ROOT / "docs" / "index.md"
PUBLIC = ("sparsedensity", "sparsedensity.datasets", "sparsedensity.evaluation")
EXTENDED = tuple(f"sparsedensity.{room}" for room in ("posterior", "search", "engines", "structures"))
"""The rooms with what an extender uses."""
NAMES = [(room, name) for room in PUBLIC for name in importlib.import_module(room).__all__]
NAMES_FOR_EXTENDERS = [(room, name) for room in EXTENDED for name in importlib.import_module(room).__all__]
MODELS = ("LeafSparseTree", "BranchSparseTree", "SparseRuleList", "GreedyTree", "Histogram")
PARAMETERS = re.compile(r"<li[^>]*>\s*<b><code>([\w, ]+)</code></b>")
LINK = re.compile(r'\s(?:href|src)="([^"]*)"')
PLACE = re.compile(r'\sid="([^"]*)"')
LOADED = re.compile(r'<(?:script|img|iframe|link|source)\b[^>]*\s(?:src|href)="([^"]*)"')
ELSEWHERE = ("http:", "https:", "mailto:")


@pytest.fixture(scope="module")
def pages(site):
    """Every page of the site as text, but for the one that a server shows instead of a page it does not have."""
    return {file: file.read_text(encoding="utf-8") for file in site.rglob("*.html") if file.name != "404.html"}


def test_every_link_leads_to_a_file_and_to_a_place_in_it(pages):
    places = {file: {"", *map(html.unescape, PLACE.findall(text))} for file, text in pages.items()}
    broken = []
    for file, text in pages.items():
        for link in {*map(html.unescape, LINK.findall(text))}:
            path, place = map(unquote, urldefrag(link))
            target = (file.parent / path).resolve() if path else file
            if not link.startswith((*ELSEWHERE, "data:")) and (
                not target.is_file() or place not in places.get(target, {""})
            ):
                broken.append((file.name, link))
    assert broken == []


def test_nothing_is_loaded_from_elsewhere(pages):
    assert {link for text in pages.values() for link in LOADED.findall(text) if link.startswith(ELSEWHERE)} == set()


def test_every_public_name_is_in_the_reference(site):
    *_, packed = (site / "objects.inv").read_bytes().split(b"\n", 4)
    known = {line.split(" ")[0] for line in zlib.decompress(packed).decode().splitlines()}
    names = NAMES + NAMES_FOR_EXTENDERS
    assert [place for place in names if not known & {".".join(place), home(*place)}] == []


@pytest.mark.parametrize("name", MODELS)
def test_a_model_lists_every_parameter_in_the_reference(site, name):
    page = (site / "reference" / "models.html").read_text(encoding="utf-8")
    section = page.partition(f'id="sparsedensity.{name}"')[2].partition("<h2 ")[0]
    listed = {word for names in PARAMETERS.findall(section) for word in names.split(", ")}
    assert listed == {*inspect.signature(getattr(sparsedensity, name)).parameters}


def home(room, name):
    """Where a public name is defined: a module may have the name of its function."""
    return f"{getattr(getattr(importlib.import_module(room), name), '__module__', room)}.{name}"


def test_the_page_of_the_command_line_has_every_verb_and_option(site):
    page = html.unescape((site / "reference" / "command-line.html").read_text(encoding="utf-8"))
    for name, verb in get_command(app).commands.items():
        assert f'<h2 id="{name}">' in page
        for option in (option for parameter in verb.params for option in parameter.opts if option.startswith("--")):
            assert re.search(rf"<code>[^<]*{option}\b", page), option


@pytest.mark.parametrize(("room", "name"), NAMES, ids=lambda value: value)
def test_the_docstring_of_a_public_name_has_an_example(room, name):
    found = getattr(importlib.import_module(room), name)
    if callable(found) or inspect.ismodule(found):  # what is a plain value has no docstring of its own
        assert ">>> " in inspect.getdoc(found)


@pytest.mark.parametrize("room", EXTENDED)
def test_the_docstring_of_a_room_for_extenders_has_an_example(room):
    assert ">>> " in importlib.import_module(room).__doc__


def formula(latex):
    page = SimpleNamespace(file=SimpleNamespace(src_uri="ideas/methods.md"))
    return on_page_content(rf'<p>So <span class="arithmatex">\({latex}\)</span>.</p>', page=page)


def test_a_formula_becomes_mathml():
    assert formula(r"n &lt; \alpha") == "<p>So <math><mi>n</mi><mo>&lt;</mo><mi>α</mi></math>.</p>"


@pytest.mark.parametrize("latex", [r"\unknown", r"\frac{1}", "{x", "x^"])
def test_a_formula_that_cannot_be_drawn_ends_the_build(latex):
    with pytest.raises(PluginError, match=r"^ideas/methods.md: the formula .* cannot be drawn"):
        formula(latex)


def test_the_table_on_the_front_page_is_that_of_the_titanic(people):
    rows = re.findall(r"^\| (\w+) \| (\w+) \| (\w+) \| (\d+) \|$", FRONT_PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    counts = {(*kind, str(number)) for *kind, number in people.group_by("class", "sex", "age").len().iter_rows()}
    assert rows
    assert {*rows} <= counts
