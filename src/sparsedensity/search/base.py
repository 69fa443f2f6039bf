"""One driver for every search, its budget, and the record of what it did."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from sparsedensity.engines import LeafWeights
from sparsedensity.problem import Problem
from sparsedensity.search.bounds import upper_bound
from sparsedensity.search.interrupts import Quit, asked_to_stop, stopping_on_ctrl_c
from sparsedensity.structures import RuleList, Structure


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


class Mode(NamedTuple):
    """A structure at which some restarts ended, and others did not."""

    structure: Structure
    log_posterior: float
    restarts: int
    """How many restarts ended there by themselves; 0 if what they found was put together."""


@dataclass(frozen=True)
class Best:
    """What a search can hand over at any time."""

    structure: Structure = field(repr=False)
    archive: Mapping[int, Structure] = field(default_factory=dict, repr=False)
    """The best structure seen for each number of leaves or rules."""
    scores: Mapping[int, float] = field(default_factory=dict, repr=False)
    """Their log posteriors, as far as the search knows them."""
    limit_binds: bool | None = False
    """Whether a structure above the limit on leaves or rules scores higher; ``None`` if that is not known."""
    upper_bound: float | None = None
    """What no structure exceeds, if the search has proven that."""
    r_hat: float | None = None
    """The Gelman-Rubin statistic of the log posterior, if chains sampled it: near 1 when they agree."""
    by_kind: Mapping[str, tuple[int, int, int]] = field(default_factory=dict, repr=False)
    """Moves proposed, accepted, and leading to a new best structure, by kind."""
    restarts: int = 1
    spread: float | None = None
    """How far apart the best log posteriors of the restarts are, in nats; None for a single one."""
    converged: bool | None = None
    """Whether the last rounds of a search brought next to nothing; ``None`` if it has none, or was stopped before."""
    modes: tuple[Mode, ...] = field(default=(), repr=False)
    """Where the restarts ended, the best first, if chains that sample the posterior do not agree."""
    sampled: int | None = None
    """The rows that were searched, if they are a sample; what was found is counted on all rows."""


S = TypeVar("S", bound=State)
T = TypeVar("T")
R = TypeVar("R")
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
        if asked_to_stop():
            return "interrupted"
        if self.moves is not None and state.moves >= self.moves:
            return "iterations"
        if self.seconds is not None and seconds >= self.seconds:
            return "time limit"
        return None


@dataclass
class Proof:
    """How far a proof has come: the best structure known rises and the bound falls until they meet."""

    structure: Any
    log_posterior: float
    upper_bound: float
    work: Iterator[int] = field(default_factory=lambda: iter(()), repr=False)
    """What is left to do; yields how many regions or prefixes were visited since the last time."""
    moves: int = 0
    """How many were visited."""
    finished: bool = False

    @property
    def tie(self) -> float:
        """Log posteriors this close are equal."""
        return tie_of(self.log_posterior)

    @property
    def threshold(self) -> float:
        """What a structure must exceed to be better than the best known."""
        return self.log_posterior + self.tie

    def advance(self) -> None:
        """One block of work."""
        done = next(self.work, None)
        self.moves += done or 0
        self.finished = done is None


class Scored(NamedTuple):
    """A structure with its log posterior and what its leaves hold."""

    structure: Structure
    log_posterior: float
    counts: LeafWeights


@dataclass(frozen=True, kw_only=True)
class Found(Best):
    """What a search found and how."""

    method: str
    log_posterior: float
    """The log posterior of the structure, counted anew on all rows."""
    reason: str
    """Why the search stopped: finished, iterations, time limit, or interrupted."""
    moves: int
    seconds: float
    trace: tuple[tuple[float, float], ...] = field(default=(), repr=False)
    """Seconds and best log posterior, at every improvement."""
    proven: bool = False
    calibrated_leaves: int | None = None
    """The leaves of the tree in the archive that is best if the choice among splits is charged for."""

    @property
    def gap(self) -> float | None:
        """How far below the optimum the structure can be at most, in nats."""
        return None if self.upper_bound is None else max(0.0, self.upper_bound - self.log_posterior)


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
    with stopping_on_ctrl_c() as ongoing:
        too_late = asked_to_stop()  # while another search ran before this one
        state = search.init(problem, rng)
        try:
            while not (reason := "interrupted" if too_late else budget.spent(state, time.perf_counter() - begin)):
                state = search.step(problem, state, rng)
                ongoing.has_result = True
                seconds = time.perf_counter() - begin
                if not trace or state.log_posterior > trace[-1][1]:
                    trace.append((seconds, state.log_posterior))
                for look in watchers:
                    look(state, seconds)
        except Quit:
            raise
        except KeyboardInterrupt:
            reason = "interrupted"
        best = search.best(problem, state)
        log_posterior = problem.score(best.structure)
    # What was searched was a sample, or the last look at what was found made it better.
    if trace and abs(trace[-1][1] - log_posterior) > 1e-8 * abs(log_posterior):
        trace.append((time.perf_counter() - begin, log_posterior))
    bound = certified(problem, best.upper_bound, log_posterior)
    archive = {**best.archive, size_of(best.structure): best.structure}
    return Found(
        **vars(replace(best, upper_bound=bound, archive=archive)),
        method=search.name,
        log_posterior=log_posterior,
        reason=reason,
        moves=state.moves,
        seconds=time.perf_counter() - begin,
        trace=tuple(trace),
        proven=bound is not None and bound <= log_posterior,
        calibrated_leaves=calibrated_leaves(problem, best),
    )


def each(ones: Sequence[T], job: Callable[[T], R], jobs: int) -> list[R]:
    """Do something with every chain or its work, several at a time; all cores if `jobs` is not positive."""
    jobs = min(jobs if jobs > 0 else os.cpu_count() or 1, len(ones))
    if jobs <= 1:
        return [job(one) for one in ones]
    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(job, ones))


def calibrated_leaves(problem: Problem[Any], best: Best) -> int | None:
    """How many leaves the calibrated prior would choose among the trees that a search keeps; the fewest of equals."""
    if not best.scores:
        return None
    own, n = problem.posterior, problem.engine.n
    calibrated = own.calibrated(problem.domain, most=max(best.scores))

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
    return log_posterior if bound <= log_posterior + tie_of(log_posterior) else bound


def tie_of(log_posterior: float) -> float:
    """Log posteriors this close to one are equal to it, if they come from different sums."""
    return 1e-9 * max(1.0, abs(log_posterior))


def spread_of(log_posteriors: Sequence[float]) -> float:
    """How far apart log posteriors are: by nothing if they are equal but for the order of their sums."""
    best, worst = max(log_posteriors), min(log_posteriors)
    return 0.0 if best - worst <= tie_of(best) else best - worst


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
