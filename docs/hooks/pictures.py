"""Pictures shrink only as far as their text can be read; then they scroll, and a click opens them alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

PICTURE = re.compile(r'<img alt="([^"]*)" src="([^"]*\.svg)" />')
WIDTH = re.compile(r'<svg\b[^>]*\swidth="([\d.]+)')
READABLE = 690
"""The width in pixels below which no picture need be shrunk."""


def on_page_content(content: str, page: Any, **_: Any) -> str:
    """Frame the pictures of a page."""
    folder = Path(page.file.abs_src_path).parent
    return PICTURE.sub(lambda found: _framed(folder, *found.groups()), content)


def _framed(folder: Path, words: str, source: str) -> str:
    found = WIDTH.search((folder / source).read_text(encoding="utf-8"))
    least = min(float(found[1]) if found else 0.0, READABLE)
    image = f'<img alt="{words}" src="{source}" style="min-width: {least:.0f}px" />'
    return f'<a class="picture" href="{source}">{image}</a>'
