"""What can go wrong, drawn as a tree.

    SparseDensityError
    ├── DataError             the table is not what it should be        (a ValueError)
    │   ├── ColumnsError      its columns are not those of the model
    │   └── UnknownValueError it holds a value outside the domain
    ├── ParameterError        a parameter is out of range               (a ValueError)
    ├── ModelFileError        a file is not a model this version reads  (a ValueError)
    └── MissingExtraError     an optional library is not installed      (an ImportError)

    DataWarning               fitted or scored, but the user should know (a UserWarning)
    SearchWarning             a search ended early or unconverged        (a UserWarning)

Every message is one or two sentences: what is wrong, where, and the way out.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


class SparseDensityError(Exception):
    """The root of every error this library raises on purpose."""

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.args, self.__dict__)


class DataError(SparseDensityError, ValueError):
    """The table is not what it should be."""


class ColumnsError(DataError):
    """The columns of a table are not those the model was fitted on."""


class UnknownValueError(DataError):
    """A row holds a value its feature does not have."""

    def __init__(self, feature: str, value: object, known: Iterable[object], way_out: str) -> None:
        self.feature, self.value, self.known = feature, value, tuple(known)
        super().__init__(f"{feature!r} has no value {quoted(value)}. Known: {_some(self.known)}. {way_out}")


class ParameterError(SparseDensityError, ValueError):
    """A parameter is not one of its allowed values."""

    def __init__(self, parameter: str, value: object, allowed: str) -> None:
        self.parameter, self.value, self.allowed = parameter, value, allowed
        super().__init__(f"{parameter} must be {allowed}, not {value!r}.")


class ModelFileError(SparseDensityError, ValueError):
    """A file is not a model that this version can read."""

    def __init__(self, path: Path, reason: str) -> None:
        self.path = path
        super().__init__(f"{path} {reason}")


class MissingExtraError(SparseDensityError, ImportError):
    """An optional library is needed and not installed."""


class DataWarning(UserWarning):
    """The table was used, but something about it should be known."""


class SearchWarning(UserWarning):
    """A search stopped before it was done."""


def warn(message: str, category: type[Warning] = DataWarning) -> None:
    """Warn about the line outside this library that led here."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == __package__:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def quoted(value: object) -> str:
    """A value as a user would write it; dates and times by their text."""
    return repr(str(value) if hasattr(value, "isoformat") else value)


@contextmanager
def using_file(path: Path, what: str) -> Iterator[None]:
    """Say in one sentence that a file cannot be read or written."""
    try:
        yield
    except OSError as error:
        raise SparseDensityError(f"{path} cannot be {what}: {error.strerror or error}.") from None


def _some(values: tuple[object, ...], at_most: int = 10) -> str:
    some = ", ".join(repr(value) for value in values[:at_most])
    return some if len(values) <= at_most else f"{some} and {len(values) - at_most} more"


def _rebuild(kind: type[SparseDensityError], args: tuple[object, ...], state: dict[str, object]) -> SparseDensityError:
    """Unpickle an error whose constructor takes other arguments than its message."""
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error
