"""What many tests share.

Hypothesis draws the same examples on every machine and in every run: a red test stays red until it is mended.
"""

import os
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, settings

from sparsedensity import GreedyTree, datasets
from sparsedensity.kernels.cache import cache_folder
from tests.docs.building import built_once

settings.register_profile(
    "laws", deadline=None, derandomize=True, max_examples=70, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("laws")

# Modules are kept compiled, whatever the user's default, as in the Makefile: tests start a hundred processes, each of
# which would take seconds longer, and so would every worker.
os.environ["PYTHONDONTWRITEBYTECODE"] = ""
sys.dont_write_bytecode = False

COMPILE = """
import warnings
from sparsedensity.cli.warm_up import every_kind

warnings.simplefilter("ignore")
kinds = [*every_kind()]
for model, table in kinds[len(kinds) * {part} // {parts} : len(kinds) * ({part} + 1) // {parts}]:
    model.fit(table).score_samples(table)
"""
"""A part of what a warm-up compiles: trees of either leaf, and the rest."""


def pytest_configure(config):
    """Before workers start from an empty cache, compile everything side by side; else each compiles everything."""
    starts_workers = config.getoption("numprocesses", None) and not hasattr(config, "workerinput")
    folder = cache_folder()
    if starts_workers and folder is not None and not any(folder.glob("*.nbi")):
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        codes = [COMPILE.format(part=part, parts=3) for part in range(3)]
        for process in [subprocess.Popen([sys.executable, "-c", code], **quiet) for code in codes]:
            process.wait()


@pytest.fixture(scope="session")
def people():
    """Those aboard the Titanic."""
    return datasets.load("titanic")


@pytest.fixture(scope="session")
def titanic(people):
    """A model of them."""
    return GreedyTree().fit(people)


@pytest.fixture(scope="session")
def site(tmp_path_factory, request):
    """The folder of the documentation site."""
    own = tmp_path_factory.getbasetemp()
    return built_once(own.parent if hasattr(request.config, "workerinput") else own)
