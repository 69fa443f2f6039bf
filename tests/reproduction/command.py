"""The command ``python -m reproduction``, called in this process."""

import io
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from typing import NamedTuple
from unittest import mock

from reproduction.__main__ import main


class Done(NamedTuple):
    """What a command answered, what it said beside the answer, and how it ended."""

    stdout: str
    stderr: str
    returncode: int


def run(*words):
    """Run the command."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    argv = mock.patch.object(sys, "argv", ["reproduction", *map(str, words)])
    with redirect_stdout(out), redirect_stderr(err), argv, mock.patch.dict(os.environ, COLUMNS="100"):
        try:
            main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 0
    return Done(out.getvalue(), err.getvalue(), code)
