"""Clocks and memory, for things measured side by side."""

import gc
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple


class Measured(NamedTuple):
    """What a call gave, the seconds it took, and the bytes of memory it needed on top at its peak."""

    value: Any
    seconds: float
    peak: int


def measured(call: Callable[[], Any]) -> Measured:
    """Call once, with the resident memory watched every few milliseconds."""
    gc.collect()
    before = resident()
    peak = before
    done = threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.005):
            peak = max(peak, resident())

    watcher = threading.Thread(target=watch)
    watcher.start()
    begin = time.perf_counter()
    value = call()
    seconds = time.perf_counter() - begin
    done.set()
    watcher.join()
    return Measured(value, seconds, max(peak, resident()) - before)


def best_of(repeats: int, call: Callable[[], Any]) -> float:
    """The seconds of the fastest of some calls."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return min(times)


def resident() -> int:
    """The bytes of memory this process holds now; 0 where the system does not tell."""
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[1]) * 4096 if statm.exists() else 0


def peak_resident() -> int:
    """The bytes of memory this process held at its largest; 0 where the system does not tell."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM"))
