"""What many tests share.

Hypothesis draws the same examples on every machine and in every run: a red test stays red until it is mended.
"""

import subprocess
import sys

import pytest
from hypothesis import HealthCheck, settings

from sparsedensity import GreedyTree, datasets
from sparsedensity.kernels.cache import cache_folder

settings.register_profile(
    "laws", deadline=None, derandomize=True, max_examples=70, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("laws")


def pytest_configure(config):
    """Before workers start from an empty cache, compile trees and lists side by side; else each compiles everything."""
    starts_workers = config.getoption("numprocesses", None) and not hasattr(config, "workerinput")
    folder = cache_folder()
    if starts_workers and folder is not None and not any(folder.glob("*.nbi")):
        fit = [sys.executable, "-m", "sparsedensity", "fit", "titanic", "--search", "anneal", "--iterations", "100"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        for process in [subprocess.Popen([*fit, "--method", method], **quiet) for method in ("leaf", "list")]:
            process.wait()


@pytest.fixture(scope="session")
def people():
    """Those aboard the Titanic."""
    return datasets.load("titanic")


@pytest.fixture(scope="session")
def titanic(people):
    """A model of them."""
    return GreedyTree().fit(people)
