"""A whole fit of a Parquet file of 50 million rows by 20 columns of text, and of a tenth of it: memory and time.

Every fit is the default one of a leaf-sparse tree, in a process of its own. Peak memory is all that the process holds
at its largest, libraries and those pages of the temporary file of codes included that the system has in memory.
``BENCH_FOLDER`` may name a folder where the files stay for another time, ``BENCH_SEARCH`` another search.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from benchmarks.printing import header
from benchmarks.text_files import SIZES, write_known_tree
from benchmarks.timing import peak_resident

ROWS = int(os.environ.get("BENCH_ROWS", "50000000"))
SEARCH = os.environ.get("BENCH_SEARCH", "auto")


class Job(NamedTuple):
    """A fit of a table of so many rows, and the memory it may take."""

    engine: str
    rows: int
    gigabytes: float | None = None


class Outcome(NamedTuple):
    """Of one fit."""

    peak: int
    processor: float
    seconds: float
    leaves: int


def main() -> None:
    print(f"{len(SIZES)} columns of {sum(SIZES)} values, search={SEARCH!r}")
    print(f"load of the last minute: {psutil.getloadavg()[0]:.1f}\n")
    print(header("engine", "rows", "peak memory, GB", "at most", "processor s", "seconds", "leaves"))
    with tempfile.TemporaryDirectory() as passing:
        folder = Path(os.environ.get("BENCH_FOLDER", passing))
        for job in jobs():
            print(line(job, alone(job, written(folder, job.rows))), flush=True)


def jobs() -> list[Job]:
    few = ROWS // 10
    return [
        Job("memory", few),
        Job("Polars", few, 1),
        Job("Polars", ROWS, 2),
        Job("DuckDB", few),
        Job("DuckDB", ROWS, 1),
    ]


def line(job: Job, one: Outcome) -> str:
    most = "" if job.gigabytes is None else f"{job.gigabytes:g}"
    return (
        f"| {job.engine} | {job.rows:,} | {one.peak / 1e9:.2f} | {most} | {one.processor:.0f} | {one.seconds:.0f} | "
        f"{one.leaves} |"
    )


def written(folder: Path, rows: int) -> Path:
    """A file of so many rows."""
    path = folder / f"{rows}.parquet"
    if not path.exists():
        write_known_tree(path, rows)
    return path


def alone(job: Job, path: Path) -> Outcome:
    """One fit in a process of its own."""
    command = [sys.executable, str(Path(__file__)), job.engine, str(path), SEARCH]
    root = str(Path(__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return Outcome(**json.loads(done.stdout))


def fit(engine: str, path: str, search: str) -> Outcome:
    """Open a file and fit it."""
    from sparsedensity import LeafSparseTree

    begin = time.perf_counter()
    model = LeafSparseTree(search=search).fit(  # type: ignore[arg-type]
        OPENED[engine](path)
    )
    return Outcome(peak_resident(), time.process_time(), time.perf_counter() - begin, int(model.n_leaves_))


def in_memory(path: str) -> Any:
    import polars as pl

    return pl.read_parquet(path)


def in_polars(path: str) -> Any:
    import polars as pl

    return pl.scan_parquet(path)


def in_duckdb(path: str) -> Any:
    import duckdb

    return duckdb.read_parquet(path)


OPENED: dict[str, Callable[[str], Any]] = {"memory": in_memory, "Polars": in_polars, "DuckDB": in_duckdb}

if __name__ == "__main__":
    print(json.dumps(fit(*sys.argv[1:])._asdict()))
