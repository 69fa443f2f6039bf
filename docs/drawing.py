"""Pictures of models as wide as the text of a page."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from sparsedensity.report.model import Report
from sparsedensity.report.picture import picture_of
from sparsedensity.report.style import Style
from sparsedensity.report.svg import render_picture

PAGE = Style(widest_tree=330, widest_label=140, narrowest_label=90, gap=26, axis=44, text=66, title=False, lines=3)
"""No wider than the text of a page, so that labels are as large as it."""
GALLERY = replace(PAGE, widest_tree=480, narrowest_label=80)
"""For pages without a table of contents, which have more room."""


class Reported(Protocol):
    """A fitted model."""

    def report(self) -> Report:
        """Plain data about it."""


def on_a_page(model: Reported, style: Style = PAGE) -> str:
    """A model as it fits the text of a page: what stands out in kinds of records, or else two columns of numbers."""
    picture = picture_of(model.report())
    return render_picture(picture if picture.kinds else picture.narrow(), style)
