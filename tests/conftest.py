"""What many tests share.

Hypothesis draws the same examples on every machine and in every run: a red test stays red until it is mended.
"""

import pytest
from hypothesis import HealthCheck, settings

from sparsedensity import GreedyTree, datasets

settings.register_profile(
    "laws", deadline=None, derandomize=True, max_examples=70, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("laws")


@pytest.fixture(scope="session")
def people():
    """Those aboard the Titanic."""
    return datasets.load("titanic")


@pytest.fixture(scope="session")
def titanic(people):
    """A model of them."""
    return GreedyTree().fit(people)
