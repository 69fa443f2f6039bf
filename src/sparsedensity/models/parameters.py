"""What several parameters may be: words, threads, random states."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from sparsedensity.errors import ParameterError
from sparsedensity.scalars import MOST, is_one_of, is_whole

LARGEST_SEED = 2**32 - 1


def check_word(name: str, value: object, words: tuple[str, ...]) -> None:
    """Refuse anything but one of a few words."""
    if not is_one_of(value, words):
        listed = ", ".join(map(repr, words))
        raise ParameterError(name, value, " or ".join(map(repr, words)) if len(words) == 2 else f"one of {listed}")


def jobs_of(n_jobs: Any) -> int:
    """The number of threads; -1 for all cores."""
    if n_jobs is None:
        return 1
    if not is_whole(n_jobs) or n_jobs == 0 or not -1 <= n_jobs <= MOST:
        raise ParameterError("n_jobs", n_jobs, "a whole number of 1 or more, -1 for all cores, or None for one")
    return int(n_jobs)


def check_seed(random_state: Any) -> None:
    """Refuse an invalid random state without drawing from a valid one."""
    if not isinstance(random_state, np.random.Generator | np.random.RandomState):
        generator(random_state)


def generator(random_state: Any) -> np.random.Generator:
    """A generator from whatever scikit-learn accepts as a random state."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if random_state is None:
        return np.random.default_rng()
    return np.random.default_rng(_random_state(random_state).randint(0, 2**31 - 1, size=4))


def _random_state(random_state: Any) -> Any:
    """NumPy's older generator, itself, from its seed, or the one that NumPy shares."""
    if isinstance(random_state, np.random.RandomState) or random_state is np.random:
        return random_state
    if isinstance(random_state, Integral) and 0 <= int(random_state) <= LARGEST_SEED:
        return np.random.RandomState(int(random_state))
    raise ParameterError(
        "random_state", random_state, f"a whole number from 0 to {LARGEST_SEED:,}, a NumPy generator or None"
    )
