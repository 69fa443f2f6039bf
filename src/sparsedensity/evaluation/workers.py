"""Work that is done in any order by as many processes as are wanted."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import resource_tracker
from typing import TypeVar

from sparsedensity.errors import ParameterError
from sparsedensity.scalars import is_whole

Task = TypeVar("Task")
Result = TypeVar("Result")

ALONE_SECONDS = 2.0
"""Other processes take about so long to start: what is done by then is done here, and compiles what they will use."""


def in_any_order(work: Callable[[Task], Result], tasks: Sequence[Task], jobs: int) -> Iterator[Result]:
    """The result of every task, as they come. What is quick is best given last: it is done first, before others start.

    >>> sorted(in_any_order(abs, [-1, -2], jobs=1))
    [1, 2]
    """
    if not is_whole(jobs) or jobs == 0 or jobs < -1:
        raise ParameterError("jobs", jobs, "a whole number of 1 or more, or -1 for all cores")
    begin, left = time.perf_counter(), list(tasks)
    while left and (jobs == 1 or time.perf_counter() - begin < ALONE_SECONDS):
        yield work(left.pop())
    if left:
        yield from _side_by_side(work, left, jobs)


def _side_by_side(work: Callable[[Task], Result], tasks: list[Task], jobs: int) -> Iterator[Result]:
    """The results of tasks by several processes, unless there is one core only."""
    from joblib import Parallel, delayed, effective_n_jobs

    if effective_n_jobs(jobs) == 1:
        yield from map(work, reversed(tasks))
    else:
        run = Parallel(n_jobs=jobs, return_as="generator_unordered")
        with _starting_deaf():
            results = run(delayed(_deaf)(work, task) for task in tasks)
        yield from results


@contextmanager
def _starting_deaf() -> Iterator[None]:
    """Hold Ctrl-C back, also from the processes that are started meanwhile, which never hear of it."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # or joblib starts it, and Python 3.11 hears Ctrl-C again thereafter
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _deaf(work: Callable[[Task], Result], task: Task) -> Result:
    """Leave it to the process that a person talks to to be interrupted; it ends the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return work(task)
