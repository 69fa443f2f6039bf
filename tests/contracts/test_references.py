"""Every name that a page links to, by its path in the sources, is there: each formula is computed where it says."""

import importlib
import re
from pathlib import Path

import pytest

PAGES = sorted(Path(__file__).parents[2].glob("docs/**/*.md"))
LINK = re.compile(r"\[`([^`]+)`\]\[(sparsedensity[\w.]*)\]")
LINKS = sorted({link for page in PAGES for link in LINK.findall(page.read_text(encoding="utf-8"))})


def found(path):
    """The object at a path: the longest part of it that is a module, then attributes."""
    parts = path.split(".")
    for length in range(len(parts), 0, -1):
        try:
            place = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for name in parts[length:]:
            place = getattr(place, name)
        return place
    raise AttributeError(path)


def test_formulas_are_linked():
    assert len(LINKS) > 30


@pytest.mark.parametrize(("shown", "path"), LINKS)
def test_a_reference_names_an_object_that_exists_and_shows_the_end_of_its_path(shown, path):
    assert found(path).__doc__
    assert f".{path}".endswith(f".{shown.removesuffix('()')}")
