"""The documentation site, built once for all tests, however many processes they run in."""

import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
PATIENCE = 600
"""Seconds after which whoever builds the site must be taken for lost."""


def built_once(folder):
    """The site in a folder; one process builds it, the others wait for that."""
    begun, done = folder / "site-begun", folder / "site"
    try:
        begun.mkdir()
    except FileExistsError:
        wait_for(done)
    else:
        build(folder / "site-unfinished", done)
    return done


def build(unfinished, done):
    """Build the site as ``make docs`` does."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(unfinished)]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    unfinished.mkdir(exist_ok=True)
    unfinished.rename(done)
    assert made.returncode == 0, made.stdout + made.stderr


def wait_for(done):
    """Wait until the site is built; if that failed, it is empty."""
    deadline = time.monotonic() + PATIENCE
    while not done.exists():
        assert time.monotonic() < deadline, "the site was never built"
        time.sleep(0.1)
    assert (done / "index.html").exists(), "the site could not be built"
