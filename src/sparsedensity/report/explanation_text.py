"""Explanations as cards for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import TextWrapper

from sparsedensity.report import words
from sparsedensity.report.explanation import Explanation
from sparsedensity.report.text import room

Values = Sequence[tuple[str, str]]


def render(explanation: Explanation, values: Values, width: int | None = None) -> str:
    """One record: its values, how unusual it is, where the model puts it, and what would make it most ordinary."""
    head = f"Row {explanation.row}: {', '.join(f'{column} {value}' for column, value in values)}"
    wrap = TextWrapper(room(width, 40), subsequent_indent="    ", break_on_hyphens=False, replace_whitespace=False)
    return "\n".join([wrap.fill(head), *(wrap.fill(f"  {line}") for line in _body(explanation))])


def _body(explanation: Explanation) -> list[str]:
    change = [] if explanation.change is None else [str(explanation.change)]
    if explanation.unknown is not None:
        return [explanation.reason, *change]
    where = ", then ".join(explanation.path) or "every record"
    return [words.rarity(explanation.unusualness), f"leaf {explanation.leaf}: {where}", explanation.share, *change]
