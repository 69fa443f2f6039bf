"""What a page or a picture was made with: version, date, seed and command.

The date is that of ``SOURCE_DATE_EPOCH`` if it is set, so that the same call can give the same file on any day.

>>> made_with(seed=7).endswith(", seed 7")
True
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from html import escape

from sparsedensity.report.text import written
from sparsedensity.report.words import printable
from sparsedensity.version import COMMAND, __version__

LONGEST_COMMAND = 1000


def made_with(seed: object = None) -> str:
    """One line that says how to make it again."""
    line = f"Made with sparsedensity {__version__} on {_date()}"
    line += "" if seed is None else f", seed {printable(seed)}"
    return f"{line}, by: {printable(COMMAND.get(), LONGEST_COMMAND)}" if COMMAND.get() else line


def signed(picture: str, seed: object = None) -> str:
    """An SVG picture that says in its metadata, which nobody sees, what it was made with."""
    opening, _, rest = picture.partition(">")
    return f"{opening}>\n<metadata>{escape(made_with(seed))}</metadata>{rest}"


def write_picture(picture: str, path: str | os.PathLike[str] | None, seed: object = None) -> str:
    """The picture; the file, if a path is given, also says what it was made with."""
    if path is not None:
        written(signed(picture, seed), path)
    return picture


def _date() -> str:
    """The day in words that no language setting changes."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    moment = datetime.fromtimestamp(int(epoch), UTC) if epoch.isdecimal() else datetime.now().astimezone()
    return moment.date().isoformat()
