"""Explanations as cards for a terminal."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Sequence

from sparsedensity.report import words
from sparsedensity.report.explanation import Explanation

Values = Sequence[tuple[str, str]]


def render(explanation: Explanation, values: Values, width: int | None = None) -> str:
    """One record: its values, how unusual it is, where the model puts it, and what would make it most ordinary."""
    width = max(40, width or shutil.get_terminal_size((100, 24)).columns)
    head = f"Row {explanation.row}: {', '.join(f'{column} {value}' for column, value in values)}"
    lines = [_filled(head, "", "    ", width)]
    lines += [_filled(line, "  ", "    ", width) for line in _body(explanation)]
    return "\n".join(lines)


def _body(explanation: Explanation) -> list[str]:
    change = [] if explanation.change is None else [str(explanation.change)]
    if explanation.unknown is not None:
        return [explanation.reason, *change]
    where = ", then ".join(explanation.path) or "everything"
    density = words.from_log(explanation.log_density, 3)
    return [
        f"more unusual than {words.percent(explanation.unusualness)} of what the model expects",
        f"leaf {explanation.leaf}: {where}",
        f"{words.percent(explanation.probability)} of all records are there, density {density}",
        *change,
    ]


def _filled(text: str, first: str, then: str, width: int) -> str:
    return textwrap.fill(
        text, width, initial_indent=first, subsequent_indent=then, break_on_hyphens=False, replace_whitespace=False
    )
