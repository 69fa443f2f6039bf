"""Real engines, started once and only if a test asks for them; clusters end with the last test that needs one.

Spark needs Java, found by JAVA_HOME or by its name.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engines import sparks
from tests.engines.lazy import MAKERS


def pytest_collection_modifyitems(items):
    """Tests with clusters come first, so that one worker runs them all: others steal from the end of its queue."""
    items.sort(key=lambda item: item.get_closest_marker("cluster") is None)


@pytest.fixture(scope="package")
def as_lazy(request):
    """Makes the rows of a Polars frame a lazy table of an engine, given by name."""

    def make(engine, frame):
        return frame.lazy() if engine == "polars" else MAKERS[engine](request.getfixturevalue(engine), frame)

    return make


@pytest.fixture(scope="session")
def duckdb():
    """DuckDB's default connection."""
    return pytest.importorskip("duckdb", reason="DuckDB is not installed: pip install duckdb")


@pytest.fixture(scope="session")
def duckdb_apart(duckdb):
    """Another connection."""
    with duckdb.connect() as connection:
        yield connection


@pytest.fixture(scope="session")
def ibis():
    return pytest.importorskip("ibis", reason="Ibis is not installed: pip install 'ibis-framework[duckdb,sqlite]'")


@pytest.fixture(scope="session")
def ibis_duckdb(ibis):
    connection = ibis.duckdb.connect()
    yield connection
    connection.disconnect()


@pytest.fixture(scope="session")
def ibis_sqlite(ibis):
    connection = ibis.sqlite.connect()
    yield connection
    connection.disconnect()


@pytest.fixture(scope="package")
def dask():
    """A client of two worker processes, which are not idle even if they have nothing to do."""
    pytest.importorskip("dask.dataframe", reason="Dask is not installed: pip install 'dask[dataframe]'")
    distributed = pytest.importorskip("distributed", reason="Dask's cluster is not installed: pip install distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="session")
def spark_runs():
    """Skips where Spark cannot be started."""
    pytest.importorskip("pyspark.sql", reason="Spark is not installed: pip install pyspark")
    if sys.platform == "win32":
        pytest.skip("Spark needs Hadoop's own tools on Windows")
    if not _java_runs():
        pytest.skip("Spark needs Java 17 or later, which is neither at JAVA_HOME nor on the path")


@pytest.fixture(scope="package")
def spark(spark_runs, tmp_path_factory):
    with sparks.session(tmp_path_factory.mktemp("spark")) as session:
        yield session


def _java_runs():
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=str(Path(home, "bin")) if home else None)
    return java is not None and subprocess.run([java, "-version"], capture_output=True, check=False).returncode == 0
