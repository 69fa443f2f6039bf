"""The documentation site in a real browser, opened from disk: on a desk and a phone, by day and by night."""

import re

import pytest

from tests.browser.screens import DESKTOP, PHONE, rgb


@pytest.fixture
def read(browser, site):
    """Open pages of the site one after the other; whatever goes wrong in one fails the test."""
    trouble, contexts = [], []

    def reader(size, scheme):
        context = browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: trouble.append(message.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("request", lambda request: request.url.startswith(("file:", "data:")) or trouble.append(request.url))
        return page

    yield reader
    for context in contexts:
        context.close()
    assert trouble == []


@pytest.mark.parametrize(("size", "scheme"), [(DESKTOP, "light"), (PHONE, "dark")], ids=["desktop", "phone"])
def test_no_page_is_wider_than_the_screen_or_asks_for_what_is_elsewhere(read, site, size, scheme):
    page = read(size, scheme)
    for file in sorted({*site.rglob("*.html")} - {site / "404.html"}):
        page.goto(file.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0], file.name
        paper, ink = page.evaluate(
            "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
        )
        assert (sum(rgb(paper)) > sum(rgb(ink))) == (scheme == "light")


def test_colours_can_be_changed_and_stay_so(read, site):
    page = read(DESKTOP, "light")
    page.goto((site / "index.html").as_uri())
    scheme = page.locator("body")
    for expected in ("default", "slate"):
        page.locator("header label[for^=__palette]:visible").click()
        assert scheme.get_attribute("data-md-color-scheme") == expected
    page.reload()
    assert scheme.get_attribute("data-md-color-scheme") == "slate"


def test_search_works_offline_and_its_answer_opens(read, site):
    page = read(DESKTOP, "light")
    page.goto((site / "index.html").as_uri())
    box = page.get_by_placeholder("Search")
    box.click()
    page.get_by_text("Type to start searching").wait_for()  # the index is there
    box.press_sequentially("unusualness")
    answer = page.locator("a.md-search-result__link", has_text="unusualness").first
    answer.click()
    page.wait_for_url(re.compile(r"\.html\?h=unusualness#.*unusualness"))
    assert page.locator("article mark", has_text="unusualness").count() > 0
