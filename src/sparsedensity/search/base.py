"""One driver for every search, its budget, and the record of what it did."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from sparsedensity.problem import Problem
from sparsedensity.search.bounds import upper_bound
from sparsedensity.structures import RuleList, Structure
from sparsedensity.table import Floats

TIE = 1e-9
"""Log posteriors this close, relative to their size, are equal."""


class State(Protocol):
    """What a search carries from step to step."""

    @property
    def log_posterior(self) -> float:
        """The best log posterior so far."""

    @property
    def moves(self) -> int:
        """How many changes were tried so far."""

    @property
    def finished(self) -> bool:
        """Whether there is nothing left to try."""


@dataclass(frozen=True)
class Best:
    """What a search can hand over at any time."""

    structure: Structure
    archive: Mapping[int, Structure] = field(default_factory=dict)
    """The best structure seen for each number of leaves or rules."""
    scores: Mapping[int, float] = field(default_factory=dict)
    """Their log posteriors, as far as the search knows them."""
    limit_binds: bool | None = False
    """Whether a structure above the limit on leaves or rules scores higher; ``None`` if that is not known."""
    upper_bound: float | None = None
    """What no structure exceeds, if the search has proven that."""
    r_hat: float | None = None
    """The Gelman-Rubin statistic of the log posterior, if chains sampled it: near 1 when they agree."""
    by_kind: Mapping[str, tuple[int, int, int]] = field(default_factory=dict)
    """Moves proposed, accepted, and leading to a new best structure, by kind."""
    restarts: int = 1


S = TypeVar("S", bound=State)
Watch = Callable[[Any, float], None]
"""Called after every step with the state and the seconds so far."""


class Search(Protocol[S]):
    """A way to look, in steps short enough to be interrupted between two of them."""

    @property
    def name(self) -> str:
        """What the search is called in reports."""

    def init(self, problem: Problem[Any], rng: np.random.Generator) -> S:
        """The state before the first step."""

    def step(self, problem: Problem[Any], state: S, rng: np.random.Generator) -> S:
        """One block of work."""

    def best(self, problem: Problem[Any], state: S) -> Best:
        """The best structure of a state, whole at any time, with all that is known of it."""


@dataclass(frozen=True)
class Budget:
    """When to stop: after so many moves or seconds, or when the search says that it is done."""

    moves: int | None = None
    seconds: float | None = None

    def spent(self, state: State, seconds: float) -> str | None:
        """Why the search must stop now, if it must."""
        if state.finished:
            return "finished"
        if self.moves is not None and state.moves >= self.moves:
            return "iterations"
        if self.seconds is not None and seconds >= self.seconds:
            return "time limit"
        return None


class Scored(NamedTuple):
    """A structure with its log posterior and the weight in its leaves."""

    structure: Structure
    log_posterior: float
    weights: Floats


@dataclass(frozen=True)
class Found:
    """What a search found and how."""

    method: str
    structure: Structure = field(repr=False)
    log_posterior: float
    """The log posterior of the structure, counted anew on all rows."""
    reason: str
    """Why the search stopped: finished, iterations, time limit, or interrupted."""
    moves: int
    seconds: float
    limit_binds: bool | None = False
    """Whether a structure above the limit on leaves or rules scores higher; ``None`` if that is not known."""
    trace: tuple[tuple[float, float], ...] = field(default=(), repr=False)
    """Seconds and best log posterior, at every improvement."""
    upper_bound: float | None = None
    proven: bool = False
    r_hat: float | None = None
    """The Gelman-Rubin statistic of the log posterior, where chains sampled it: near 1 when they agree."""
    archive: Mapping[int, Structure] = field(default_factory=dict, repr=False)
    """The best structure seen for each number of leaves or rules."""
    by_kind: Mapping[str, tuple[int, int, int]] = field(default_factory=dict, repr=False)
    """Moves proposed, accepted, and leading to a new best structure, by kind."""
    restarts: int = 1
    n: float | None = None
    """The total weight of the rows."""
    calibrated_leaves: int | None = None
    """The leaves of the tree in the archive that is best if the choice among splits is charged for."""

    @property
    def gap(self) -> float | None:
        """How far below the optimum the structure can be at most, in nats."""
        return None if self.upper_bound is None else max(0.0, self.upper_bound - self.log_posterior)

    @property
    def gap_per_row(self) -> float | None:
        """The gap for every row."""
        return None if self.gap is None or not self.n else self.gap / self.n


def run(
    search: Search[S],
    problem: Problem[Any],
    *,
    budget: Budget | None = None,
    rng: np.random.Generator | None = None,
    watch: Iterable[Watch] = (),
) -> Found:
    """Drive any search to the end of its budget. Ctrl-C ends it early and keeps the best so far."""
    budget, rng, watchers = budget or Budget(), rng or np.random.default_rng(0), tuple(watch)
    begin = time.perf_counter()
    trace: list[tuple[float, float]] = []
    state = search.init(problem, rng)
    try:
        while not (reason := budget.spent(state, time.perf_counter() - begin)):
            state = search.step(problem, state, rng)
            seconds = time.perf_counter() - begin
            if not trace or state.log_posterior > trace[-1][1]:
                trace.append((seconds, state.log_posterior))
            for look in watchers:
                look(state, seconds)
    except KeyboardInterrupt:
        reason = "interrupted"
    best = search.best(problem, state)
    log_posterior = problem.score(best.structure)
    # What was searched was a sample, or the last look at what was found made it better.
    if trace and abs(trace[-1][1] - log_posterior) > 1e-6 * abs(log_posterior):
        trace.append((time.perf_counter() - begin, log_posterior))
    bound = certified(problem, best.upper_bound, log_posterior)
    return Found(
        method=search.name,
        structure=best.structure,
        log_posterior=log_posterior,
        reason=reason,
        moves=state.moves,
        seconds=time.perf_counter() - begin,
        limit_binds=best.limit_binds,
        trace=tuple(trace),
        upper_bound=bound,
        proven=bound is not None and bound <= log_posterior,
        archive={**best.archive, size_of(best.structure): best.structure},
        r_hat=best.r_hat,
        by_kind=best.by_kind,
        restarts=best.restarts,
        n=problem.engine.n,
        calibrated_leaves=calibrated_leaves(problem, best),
    )


def calibrated_leaves(problem: Problem[Any], best: Best) -> int | None:
    """How many leaves the calibrated prior would choose among the trees that a search keeps; the fewest of equals."""
    if not best.scores:
        return None
    own, n = problem.posterior, problem.engine.n
    calibrated = own.calibrated(problem.domain)

    def score(size: int) -> float:
        tree = best.archive[size]
        return best.scores[size] + float(calibrated.log_shape(tree, n) - own.log_shape(tree, n))

    return max(sorted(best.scores), key=score)


def certified(problem: Problem[Any], proven: float | None, log_posterior: float) -> float | None:
    """What no structure exceeds: as a search has proven it, else the bound that any table has.

    Bounds within rounding of the log posterior are equal to it.
    """
    bound = upper_bound(problem) if proven is None else proven
    if bound is None:
        return None
    return log_posterior if bound <= log_posterior + TIE * max(1.0, abs(log_posterior)) else bound


def size_of(structure: Structure) -> int:
    """What a structure's size is counted in: rules for a list, else leaves."""
    return structure.n_rules if isinstance(structure, RuleList) else structure.n_leaves


def better_of(
    problem: Problem[Any], one: Mapping[int, Structure], other: Mapping[int, Structure]
) -> dict[int, Structure]:
    """The better structure of each size; of equals the first."""
    sizes = sorted({*one, *other})
    both = {size: [archive[size] for archive in (one, other) if size in archive] for size in sizes}
    return {size: found[0] if len(found) == 1 else max(found, key=problem.score) for size, found in both.items()}


def score_archive(problem: Problem[Any], archive: Mapping[int, Structure]) -> dict[int, Scored]:
    """Count and score the structures of an archive on all rows."""
    return {size: Scored(archive[size], *problem.count_and_score(archive[size])) for size in sorted(archive)}
