"""Spark loses an executor."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import narwhals as nw
import numpy as np
import pytest

from sparsedensity.engines import MemoryEngine
from sparsedensity.ingest import Reading, open_source, read_table
from sparsedensity.ingest.queries import open_query
from sparsedensity.structures import Tree
from tests.engines.nasty import DOMAIN, nasty

TREE = Tree.leaf(DOMAIN).split(0, 0, [{0, 3}, {1, 2, 4, 5}, {6}]).split(1, 4, [{0, 1, 4}, {2, 3}])
SLOWLY = "java_method('java.lang.Thread', 'sleep', 30L) is not null"
"""True of every row, 30 milliseconds later."""


@pytest.mark.cluster
def test_an_executor_that_is_killed_during_a_pass_changes_no_count(spark, as_lazy):
    frame = nasty(60).select(*DOMAIN.names, "quarter")
    table, reading = as_lazy("spark", frame), Reading(domain=DOMAIN)
    engine = open_query(nw.from_native(table), reading, "quarter", np.random.default_rng(0))
    slow = replace(engine, frame=nw.from_native(engine.frame.to_native().where(SLOWLY)))
    with ThreadPoolExecutor() as threads:
        while True:
            counting = threads.submit(slow.leaf_value_weights, TREE)
            if has_active_task(spark, counting):
                break
        executors(spark)[0].kill()
    source = open_source(frame.select(DOMAIN.names))
    expected = MemoryEngine(read_table(source, reading, frame["quarter"].to_numpy()))
    assert np.array_equal(counting.result(), expected.leaf_value_weights(TREE))


def has_active_task(spark, counting):
    """Whether a task was seen at work, before the counting was done."""
    tracker = spark.sparkContext.statusTracker()
    while not counting.done():
        if any(tracker.getStageInfo(stage).numActiveTasks for stage in tracker.getActiveStageIds()):
            return True
        time.sleep(0.01)
    return counting.result() is None


def executors(spark):
    """Their processes, which name the application they work for."""
    import psutil

    name = spark.sparkContext.applicationId
    return [process for process in psutil.process_iter(["cmdline"]) if name in (process.info["cmdline"] or ())]
