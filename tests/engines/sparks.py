"""Spark as tests start it: two executors, each a process of its own."""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from tests.engines.lazy import PARTS

SETTINGS = {
    "spark.default.parallelism": str(PARTS),  # no shuffle, after which a sample would depend on who was first
    "spark.driver.memory": "512m",
    "spark.executor.memory": "512m",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    # Java for small tables: it starts in half the time.
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    "spark.executor.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
}


@contextmanager
def session(warehouse: Path) -> Iterator:
    """A session that keeps its tables in a folder."""
    import pyspark.sql

    with patch.dict(os.environ, {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}):
        os.environ.pop("SPARK_HOME", None)  # the Spark that comes with pyspark, not another one
        builder = pyspark.sql.SparkSession.builder.master("local-cluster[2,1,512]")
        started = builder.config(map={**SETTINGS, "spark.sql.warehouse.dir": str(warehouse)}).getOrCreate()
        written = Path(pyspark.__file__).parent / "work" / started.sparkContext.applicationId
        try:
            yield started
        finally:
            started.stop()
            shutil.rmtree(written, ignore_errors=True)
