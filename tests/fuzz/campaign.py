"""A campaign of attacks: cases in a worker that may crash or hang, counted."""

import json
import queue
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field

from tests.fuzz.cases import FAMILIES

HANG_SECONDS = 30
WARM_UP_SECONDS = 600
KINDS = ("fine", "refused", "traceback", "hang", "crash")


@dataclass
class Tally:
    """How the cases ended, by family, and all that went wrong."""

    ends: Counter = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def note(self, family, seed, end):
        """Count a case."""
        kind = end if end in KINDS else "traceback"
        self.ends[family, kind] += 1
        if kind not in ("fine", "refused"):
            self.wrong.append(f"{family} {seed}: {end}")

    def __str__(self):
        lines = [f"{'':12}" + "".join(f"{kind:>12}" for kind in ("cases", *KINDS))]
        for family in (*FAMILIES, "all"):
            counts = [sum(n for (f, k), n in self.ends.items() if family in (f, "all") and k == kind) for kind in KINDS]
            lines.append(f"{family:12}" + "".join(f"{n:>12,}" for n in (sum(counts), *counts)))
        return "\n".join(lines)


class Worker:
    """A process that runs cases."""

    def __init__(self):
        pipe = subprocess.PIPE
        command = [sys.executable, "-m", "tests.fuzz.worker"]
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)
        self.answers = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()
        assert self._answer(WARM_UP_SECONDS) == "ready", "the worker does not start"

    def run(self, family, seed):
        """How a case ends; the worker does not survive a hang or a crash."""
        self.process.stdin.write(f"{family} {seed}\n")
        self.process.stdin.flush()
        return self._answer(HANG_SECONDS)

    def close(self):
        """End the process."""
        self.process.kill()
        self.process.wait()

    def _listen(self):
        for line in self.process.stdout:
            if line.startswith('"'):
                self.answers.put(json.loads(line))
        self.answers.put("crash")

    def _answer(self, seconds):
        try:
            return self.answers.get(timeout=seconds)
        except queue.Empty:
            return "hang"


def attack(families, first_seed=0, cases=None, seconds=None):
    """Run so many cases of each family, or for so many seconds."""
    tally, worker, seed = Tally(), Worker(), first_seed
    end = None if seconds is None else time.monotonic() + seconds
    while (cases is None or seed < first_seed + cases) and (end is None or time.monotonic() < end):
        for family in families:
            found = worker.run(family, seed)
            tally.note(family, seed, found)
            if found in ("hang", "crash"):
                worker.close()
                worker = Worker()
        seed += 1
    worker.close()
    return tally
