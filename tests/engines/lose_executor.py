"""Counts with Spark, and kills an executor meanwhile: `python -m tests.engines.lose_executor counts.npy`."""

import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import narwhals as nw
import numpy as np
import psutil

from sparsedensity.ingest import Reading
from sparsedensity.ingest.queries import open_query
from tests.engines import sparks
from tests.engines.lazy import of_spark
from tests.engines.nasty import DOMAIN, TREE, nasty

FRAME = nasty(60).select(*DOMAIN.names, "quarter")
"""Rows, with their weights."""
SLOWLY = "java_method('java.lang.Thread', 'sleep', 10L) is not null"
"""True of every row, 10 milliseconds later."""


def count_while_one_is_lost(spark) -> np.ndarray:
    """Weights by leaf and value, counted while an executor is killed."""
    table = nw.from_native(of_spark(spark, FRAME))
    engine = open_query(table, Reading(domain=DOMAIN), "quarter", np.random.default_rng(0))
    slow = replace(engine, frame=nw.from_native(engine.frame.to_native().where(SLOWLY)))
    with ThreadPoolExecutor() as threads:
        while True:
            counting = threads.submit(slow.leaf_value_weights, TREE)
            if has_active_task(spark, counting):
                break
        executors(spark)[0].kill()
    return counting.result()


def has_active_task(spark, counting: Future) -> bool:
    """Whether a task was seen at work, before the counting was done."""
    tracker = spark.sparkContext.statusTracker()
    while not counting.done():
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        if any(stage.numActiveTasks for stage in stages if stage is not None):
            return True
        time.sleep(0.05)
    return counting.result() is None


def executors(spark) -> list[psutil.Process]:
    """Their processes, which name the application they work for."""
    name = spark.sparkContext.applicationId
    return [process for process in psutil.process_iter(["cmdline"]) if name in (process.info["cmdline"] or ())]


if __name__ == "__main__":
    output = Path(sys.argv[1])
    with sparks.session(output.parent / "warehouse") as session:
        np.save(output, count_while_one_is_lost(session))
