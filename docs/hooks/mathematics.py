"""Formulas, LaTeX between dollars, become MathML while the site is built: no script draws them.

A formula that cannot be drawn ends the build.
"""

from __future__ import annotations

import html
import re
from typing import Any

from math_core import LatexError, LatexToMathML
from mkdocs.exceptions import PluginError

FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)
"""What the extension ``arithmatex`` makes of a formula: a span in a line of text, a div on its own."""
CONVERTER = LatexToMathML(fancy_error=False)


def on_page_content(content: str, page: Any, **_: Any) -> str:
    """Draw the formulas of a page."""
    try:
        return FORMULA.sub(_drawn, content)
    except LatexError as error:
        raise PluginError(f"{page.file.src_uri}: {error}") from None


def _drawn(found: re.Match[str]) -> str:
    """A formula as MathML; one on its own is in a box, which scrolls if it is wider than the page."""
    tag, latex = found[1], html.unescape(found[2]).strip()
    try:
        formula = CONVERTER.convert_with_local_state(latex, displaystyle=tag == "div")
    except LatexError as error:
        raise LatexError(f"the formula {latex!r} cannot be drawn: {error}") from None
    return f'<div class="formula">{formula}</div>' if tag == "div" else formula
