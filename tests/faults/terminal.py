"""A command at a terminal of its own, and someone who watches and presses Ctrl-C."""

import os
import re
import select
import signal
import subprocess
import sys
import time

PATIENCE = 120
"""Seconds until something is taken for a hang: machines that test are busy."""


class Terminal:
    """The real command in a session of its own, with what it says on a terminal and what it answers."""

    def __init__(self, *arguments, module="sparsedensity", answer_at_terminal=False, **environment):
        self.master, slave = os.openpty()
        self.said = ""
        self.process = subprocess.Popen(
            [sys.executable, "-m", module, *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            stdout=slave if answer_at_terminal else subprocess.PIPE,
            stderr=slave,
            start_new_session=True,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "300", **environment},
        )
        os.close(slave)

    def wait_for(self, pattern):
        """Read what it says until that is there."""
        end = time.monotonic() + PATIENCE
        while not re.search(pattern, self.said):
            assert self._read(end), f"ended without {pattern!r}: {self.said[-2000:]}"
        return self

    def ctrl_c(self):
        """Interrupt it and all that it has started, as a terminal does."""
        os.killpg(self.process.pid, signal.SIGINT)
        return self

    def end(self):
        """Wait for its end; the exit code."""
        end = time.monotonic() + PATIENCE
        while self._read(end):
            pass
        answer, _ = self.process.communicate(timeout=PATIENCE)
        self.answer = (answer or b"").decode()
        return self.process.returncode

    def _read(self, end):
        left = end - time.monotonic()
        if left <= 0 or not select.select([self.master], [], [], left)[0]:
            os.killpg(self.process.pid, signal.SIGKILL)
            raise AssertionError(f"hangs: {self.said[-2000:]}")
        try:
            some = os.read(self.master, 65536)
        except OSError:  # on Linux, the end of what a terminal has to say
            return False
        self.said += some.decode(errors="replace")
        return bool(some)
