"""All near-optimal structures: the set of good models, listed in windows below the best that widen until enough."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from sparsedensity.errors import DataError
from sparsedensity.posterior.base import check_positive
from sparsedensity.problem import check_limit
from sparsedensity.search.base import Proof
from sparsedensity.structures import Structure

FIRST_WINDOW = 0.25
"""Nats below the best to list first; doubled until there are enough structures."""


class TooManyError(Exception):
    """More lies within a window than can be listed."""


@dataclass(frozen=True)
class Near:
    """A listed structure with its log posterior; built when it is asked for."""

    log_posterior: float
    build: Callable[[], Structure] = field(repr=False)

    @cached_property
    def structure(self) -> Structure:
        """The structure."""
        return self.build()


@dataclass(frozen=True)
class NearOptimal:
    """The structures whose log posterior is within some nats of the optimum, the best first."""

    listed: tuple[Near, ...] = field(repr=False)
    within: float
    complete: bool
    """Whether these are all; if not there are more, and these are the best."""

    def __len__(self) -> int:
        return len(self.listed)

    def __iter__(self) -> Iterator[Near]:
        return iter(self.listed)

    def __str__(self) -> str:
        number = f"{len(self):,}" if self.complete else f"at least {len(self):,}"
        return f"{number} within {self.within:g} {'nat' if self.within == 1 else 'nats'} of the optimum"


def list_near(proof: Proof, list_within: Callable[[float], list[Near]], within: float, at_most: int) -> NearOptimal:
    """Finish a proof; then list windows below the best, each twice as wide, up to a distance or more than so many."""
    check_positive("within", within)
    check_limit("at_most", at_most)
    for _ in proof.work:
        if proof.upper_bound <= proof.threshold:
            break
    if proof.upper_bound > proof.threshold:
        raise DataError("The optimum of this table was not proven, so what is near it is not known.")
    window, listed, complete = min(FIRST_WINDOW, within), list[Near](), False
    try:
        listed = list_within(window)
        while window < within and len(listed) <= at_most:
            window = min(2 * window, within)
            listed = list_within(window)
        complete = len(listed) <= at_most
    except TooManyError:
        if not listed:
            message = f"More than can be listed lies within {FIRST_WINDOW} nats of the best."
            raise DataError(message) from None
    best = sorted(listed, key=lambda one: -one.log_posterior)[:at_most]
    return NearOptimal(tuple(best), within, complete)
