"""What can go wrong, drawn as a tree.

    SparseDensityError
    ├── DataError             the table is not what it should be        (a ValueError)
    │   ├── ColumnsError      its columns are not those of the model
    │   ├── RowError          a row of it cannot be read
    │   └── UnknownValueError it holds a value outside the domain
    ├── ParameterError        a parameter is out of range               (a ValueError)
    ├── ModelFileError        a file is not a model this version reads  (a ValueError)
    ├── OutputError           a file cannot be written                  (an OSError)
    └── MissingExtraError     an optional library is not installed      (an ImportError)

    DataWarning               fitted or scored, but the user should know (a UserWarning)
    SearchWarning             a search ended early or unconverged        (a UserWarning)
    CacheWarning              compiled code could not be kept            (a UserWarning)

Every message is one or two sentences: what is wrong, where, and the way out. Long ones lose their middle.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

LONGEST = 400
"""The most characters of a message; nobody reads a list of a thousand columns."""
LONGEST_VALUE = 120
CUT = " [...] "
SECRET = re.compile(r"(://[^/@?\s:]*):[^/@?\s]*@")
"""A password in the URL of a database."""


class SparseDensityError(Exception):
    """The root of every error this library raises on purpose."""

    def __str__(self) -> str:
        return shortened(super().__str__())

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.args, self.__dict__)


class DataError(SparseDensityError, ValueError):
    """The table is not what it should be."""


class ColumnsError(DataError):
    """The columns of a table are not those the model was fitted on."""


class RowError(DataError):
    """A row cannot be read."""

    def __init__(self, what: str, row: int, way_out: str) -> None:
        self.what, self.row, self.way_out = what, row, way_out
        super().__init__(f"{what} at row {row}. {way_out}")


class UnknownValueError(DataError):
    """A row holds a value its feature does not have."""

    def __init__(self, feature: str, value: object, known: Iterable[object], way_out: str) -> None:
        self.feature, self.value, self.known = feature, value, tuple(known)
        super().__init__(f"{feature!r} has no value {in_short(value)}. Known: {_some(self.known)}. {way_out}")


class ParameterError(SparseDensityError, ValueError):
    """A parameter is not one of its allowed values."""

    def __init__(self, parameter: str, value: object, allowed: str) -> None:
        self.parameter, self.value, self.allowed = parameter, value, allowed
        super().__init__(f"{parameter} must be {allowed}, not {in_short(value)}.")


class ModelFileError(SparseDensityError, ValueError):
    """A file is not a model that this version can read."""

    def __init__(self, path: Path, reason: str) -> None:
        self.path = path
        super().__init__(f"{path} {reason}")


class OutputError(SparseDensityError, OSError):
    """A file cannot be written; an earlier one of that name is as it was."""

    def __init__(self, path: Path, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path} cannot be written: {reason}.")


class MissingExtraError(SparseDensityError, ImportError):
    """An optional library is needed and not installed."""


class DataWarning(UserWarning):
    """The table was used, but something about it should be known."""


class SearchWarning(UserWarning):
    """A search stopped before it was done."""


class CacheWarning(UserWarning):
    """Compiled code is used but not kept for the next start."""


def unsupported(column: str, type_name: str) -> DataError:
    """The error for a column of a type that is of no use."""
    return DataError(
        f"{column!r} is of type {type_name}, which is neither text, a number, true/false, a date nor a category. "
        "Turn it into one (a duration into a number, say) or leave the column out."
    )


def too_wide(column: str) -> DataError:
    """The error for whole numbers that fit no usual type."""
    return DataError(f"{column!r} holds whole numbers beyond 64 bits. Make the column text or float.")


def warn(message: str, category: type[Warning] = DataWarning) -> None:
    """Warn about the line outside this library that led here."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == __package__:
        level, frame = level + 1, frame.f_back
    warnings.warn(shortened(message), category, stacklevel=level)


def shortened(message: str) -> str:
    """A message without its middle if it is long: its beginning says what is wrong, its end the way out.

    >>> shortened("Unknown: " + "one, " * 1000 + "another. Name one column.")[-40:]
    'one, one, one, another. Name one column.'
    """
    if len(message) <= LONGEST:
        return message
    head = (LONGEST - len(CUT)) // 2
    return f"{message[:head].rstrip()}{CUT}{message[head - LONGEST + len(CUT) :].lstrip()}"


def in_short(value: object) -> str:
    """A value as a user would write it, in one line of a sensible length, whatever it is; a date by its text.

    >>> in_short("crew"), in_short([0] * 1000)[-8:], in_short(10**10_000)
    ("'crew'", '0, 0 ...', 'a number of the type int')
    """
    if hasattr(value, "isoformat"):
        value = str(value)
    try:
        text = repr(value) if isinstance(value, str) else " ".join(repr(value).split())
    except Exception:  # a repr of someone else's, or a number of more digits than Python writes
        kind = type(value).__name__
        return f"a number of the type {kind}" if isinstance(value, int) else f"a value of the type {kind}"
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 4].rstrip()} ..."


def without_secrets(text: str) -> str:
    """A text to be shown, without the passwords of URLs in it.

    >>> without_secrets("sparsedensity fit postgres://me:secret@host/shop?table=orders")
    'sparsedensity fit postgres://me:...@host/shop?table=orders'
    """
    return SECRET.sub(r"\1:...@", text)


@contextmanager
def using_file(path: Path, what: str) -> Iterator[None]:
    """Say in one sentence that a file cannot be read or written."""
    try:
        yield
    except OSError as error:
        raise SparseDensityError(f"{path} cannot be {what}: {error.strerror or error}.") from None


def _some(values: tuple[object, ...], at_most: int = 10) -> str:
    some = ", ".join(in_short(value) for value in values[:at_most])
    return some if len(values) <= at_most else f"{some} and {len(values) - at_most} more"


def _rebuild(kind: type[SparseDensityError], args: tuple[object, ...], state: dict[str, object]) -> SparseDensityError:
    """Unpickle an error whose constructor takes other arguments than its message."""
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error
