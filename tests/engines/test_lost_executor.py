"""Spark loses an executor."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sparsedensity.engines import MemoryEngine
from sparsedensity.ingest import Reading, open_source, read_table
from tests.engines.nasty import DOMAIN, TREE

ROOT = Path(__file__).parents[2]
SECONDS = 150
"""Longer than Spark ever took to go on without an executor, on a busy machine."""


@pytest.mark.cluster
def test_an_executor_that_is_killed_during_a_pass_changes_no_count(spark_runs, tmp_path):
    from tests.engines.lose_executor import FRAME

    table = read_table(open_source(FRAME.select(DOMAIN.names)), Reading(domain=DOMAIN), FRAME["quarter"].to_numpy())
    assert np.array_equal(counted_elsewhere(tmp_path / "counts.npy"), MemoryEngine(table).leaf_value_weights(TREE))


def counted_elsewhere(output):
    """The counts by a cluster in a process of its own: Spark may wait without end for what it lost, so try twice."""
    for _ in range(2):
        try:
            command = [sys.executable, "-m", "tests.engines.lose_executor", output]
            subprocess.run(command, cwd=ROOT, check=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            continue
        return np.load(output)
    pytest.skip(f"Spark did not go on without an executor within {SECONDS} seconds, twice")
