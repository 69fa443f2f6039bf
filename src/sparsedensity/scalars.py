"""What counts as a number, a whole number, or one of a few words: a parameter may be anything at all."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sparsedensity.errors import ParameterError

MOST = 10**15
"""No count is larger: that many of anything take years."""


def is_number(value: Any) -> bool:
    """Whether a value is a finite number, if whole of at most 64 bits; True, False and spans of time are not.

    >>> is_number(1), is_number(np.float32(0.5)), is_number(10**400), is_number(True), is_number(math.nan)
    (True, True, False, False, False)
    """
    if is_whole(value):
        return bool(abs(int(value)) < 2**63)
    return isinstance(value, float | np.floating) and math.isfinite(value)


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number; True, False and spans of time are not."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64)


def is_one_of(value: Any, words: tuple[str, ...]) -> bool:
    """Whether a value is one of some words, without asking arrays and the like whether they are equal to them."""
    return isinstance(value, str) and value in words


def check_whole(name: str, value: Any, allowed: str = "a whole number of 1 or more", most: int = MOST) -> None:
    """Refuse what is not a whole number of at least 1."""
    if not is_whole(value) or value < 1:
        raise ParameterError(name, value, allowed)
    if value > most:
        raise ParameterError(name, value, f"at most {most:,}")
