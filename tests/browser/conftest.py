"""A browser, and pages opened in it.

Needs Playwright (a development dependency) and a Chromium, found by name or given by CHROMIUM.
"""

import os
import shutil

import pytest

from tests.browser.screens import DESKTOP

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
CHROMIUM = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


@pytest.fixture(scope="package")
def browser():
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="Playwright is not installed: pip install playwright"
    )
    if CHROMIUM is None:
        pytest.skip(f"no browser: none of {', '.join(NAMES)} is installed")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser, pages):
    """Open one of the pages of a test file; whatever goes wrong in it fails the test."""
    trouble, contexts = [], []

    def open_page(name, size=DESKTOP, **settings):
        context = browser.new_context(viewport={"width": size[0], "height": size[1]}, **settings)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: trouble.append(message.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("dialog", lambda dialog: trouble.append(dialog.message))
        page.on("request", lambda request: request.url == pages[name] or trouble.append(request.url))
        page.goto(pages[name])
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert trouble == []
