"""Examples are tests, and look like a session: what only the test needs to know is left out of the site."""

from __future__ import annotations

import re
from typing import Any

SESSION = re.compile(r"^( *)```python\n(?=\1>>> )", re.MULTILINE)
FOR_THE_TEST = re.compile(r"^( *(?:>>>|\.\.\.) .*?) *# doctest: .*$", re.MULTILINE)
BLANK_LINE = re.compile(r"^ *<BLANKLINE>$", re.MULTILINE)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Mark sessions as such, without flags and marks of the test."""
    sessions = SESSION.sub(r"\1```pycon\n", markdown)
    return BLANK_LINE.sub("", FOR_THE_TEST.sub(r"\1", sessions))
