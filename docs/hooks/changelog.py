"""The changelog, which stands beside the README: its links into docs/ become links between pages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

CHANGELOG = Path(__file__).parents[2] / "CHANGELOG.md"
LINK = re.compile(r"\[([^]]+)\]\((?!https?:)([^)]+)\)")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Fill the page of changes."""
    if page.file.src_uri != "changelog.md":
        return markdown
    return LINK.sub(_between_pages, CHANGELOG.read_text(encoding="utf-8"))


def _between_pages(link: re.Match[str]) -> str:
    """A link to a page of the site, or, if it leads elsewhere in the sources, its text."""
    text, target = link.groups()
    return f"[{text}]({target.removeprefix('docs/')})" if target.startswith("docs/") else text
