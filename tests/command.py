"""The command line, called in this process."""

import io
import os
import sys
import warnings
from contextlib import redirect_stderr, redirect_stdout
from typing import NamedTuple
from unittest import mock

from sparsedensity.cli import main


class Done(NamedTuple):
    """What a command answered, what it said beside the answer, and how it ended."""

    stdout: str
    stderr: str
    returncode: int


def run(*words, stdin="", columns=100):
    """Run the command in this process."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    given = io.TextIOWrapper(io.BytesIO(stdin.encode()))
    patches = (
        mock.patch.object(sys, "argv", ["sparsedensity", *map(str, words)]),
        mock.patch.object(sys, "stdin", given),
    )
    with redirect_stdout(out), redirect_stderr(err), patches[0], patches[1], warnings.catch_warnings():
        warnings.simplefilter("default")
        with mock.patch.dict(os.environ, COLUMNS=str(columns)):
            try:
                main()
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else 0
    return Done(out.getvalue(), err.getvalue(), code)
