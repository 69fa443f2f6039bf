"""Codes that come in parts: all of them in memory, or in a temporary file if they are too many for that."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager

import numpy as np

from sparsedensity.domain import Domain
from sparsedensity.errors import SparseDensityError
from sparsedensity.table import Codes

MOST_IN_MEMORY = 1 << 29
"""Bytes. What takes more is in a file that is mapped into memory, of which the system holds what there is room for."""


def stored(parts: Iterable[Codes], domain: Domain, most: int) -> Codes:
    """The rows of all parts, at most so many, as one array."""
    if most * len(domain) * domain.code_type.itemsize > MOST_IN_MEMORY:
        return _in_file(parts, domain)
    codes, rows = np.empty((most, len(domain)), domain.code_type), 0
    for part in parts:
        codes[rows : rows + len(part)] = part
        rows += len(part)
    return codes[:rows]


def _in_file(parts: Iterable[Codes], domain: Domain) -> Codes:
    """The rows of all parts in a file that is deleted when nothing uses it any more, and at the latest at the end.

    They are written, not mapped, until all are there: on a full disk a map would end the process.
    """
    with ExitStack() as stack:
        with _telling_of_the_disk():
            file = stack.enter_context(tempfile.TemporaryFile())
        for part in parts:
            with _telling_of_the_disk():
                file.write(np.ascontiguousarray(part).data)
        with _telling_of_the_disk():
            file.flush()
            mapped = np.memmap(file, domain.code_type, "r+").reshape(-1, len(domain))
    return np.asarray(mapped)


@contextmanager
def _telling_of_the_disk() -> Iterator[None]:
    """Say in one sentence that there is no room for a temporary file."""
    try:
        yield
    except OSError as error:
        raise SparseDensityError(
            f"The rows of this table need a temporary file, which cannot be written to {tempfile.gettempdir()}: "
            f"{error.strerror or error}. Set the environment variable TMPDIR to a folder with more room."
        ) from None
