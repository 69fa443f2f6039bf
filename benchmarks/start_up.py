"""What a command costs before it does anything: processor seconds, the libraries it loads, and the first compilation.

Every command is a process of its own on the bundled Titanic, its kernels compiled before: the best of three. Then the
processor seconds of a search, in a process that has loaded the library, until it first tells how far it is: cold, with
no kernel compiled, and warm, with all of them. ``BENCH_BEFORE`` names a folder with the sources of another version, to
be measured beside this one.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import sparsedensity
from benchmarks.printing import header

REPEATS = 3
COMMANDS = (
    "--help",
    "datasets",
    "show model.json",
    "fit titanic",
    "score model.json titanic",
    "explain model.json titanic --rows 2",
    "sample model.json",
    "compare titanic titanic",
    "path titanic",
    "report titanic",
    "evaluate titanic --method greedy --jobs 1",
)
SEARCHES = {
    "tree, greedy": "LeafSparseTree(search='greedy')",
    "tree, annealed": "LeafSparseTree(search='anneal')",
    "tree with profiles, annealed": "LeafSparseTree(search='anneal', leaf='profile')",
    "list, annealed": "SparseRuleList(search='anneal')",
}
LIBRARIES = (
    "typer", "rich", "pydantic", "numpy", "scipy.special", "scipy.sparse", "scipy.stats", "pandas", "sklearn", "joblib",
    "polars", "narwhals", "pyarrow", "numba", "jinja2", "matplotlib",
)  # fmt: skip
COMMAND = """
import atexit, json, runpy, sys, time

def tell():
    sys.stderr.write("\\n" + json.dumps([time.process_time(), list(sys.modules)]))

atexit.register(tell)
runpy.run_module("sparsedensity", run_name="__main__", alter_sys=True)
"""
"""What runs a command, and at the end says what it took and which modules it loaded."""
FIRST_LOOK = """
import json, sys, time
from sparsedensity import LeafSparseTree, SparseRuleList, datasets
from sparsedensity.engines import MemoryEngine
from sparsedensity.ingest import Reading, open_source, read_table

def look(state, seconds):
    sys.stderr.write("\\n" + json.dumps([time.process_time() - begin, []]))
    sys.exit()

begin = time.process_time()
{model}.learn(MemoryEngine(read_table(open_source(datasets.load("titanic")), Reading())), [look])
"""


class Told(NamedTuple):
    """What a process said of itself."""

    seconds: float
    modules: list[str]

    @property
    def libraries(self) -> list[str]:
        """The large libraries that it loaded."""
        return [name for name in LIBRARIES if name in self.modules]


def main() -> None:
    versions = sources()
    with tempfile.TemporaryDirectory() as folder:
        print(header("command", *titles(versions, "", ", s"), *titles(versions, "", ", modules"), "loads", "no longer"))
        for command in COMMANDS:
            told = [best(source, command, Path(folder) / name) for name, source in versions.items()]
            seconds, modules = cells([each.seconds for each in told]), cells([len(each.modules) for each in told], 0)
            gone = [name for name in told[0].libraries if name not in told[-1].libraries]
            loads = ", ".join(told[-1].libraries), ", ".join(gone) or "-"
            print(f"| {command} | {seconds} | {modules} | {' | '.join(loads)} |", flush=True)
    print()
    print(header("first search", *titles(versions, "cold: ", ", s"), *titles(versions, "warm: ", ", s")))
    for name, model in SEARCHES.items():
        cold, warm = zip(*(cold_and_warm(source, model) for source in versions.values()), strict=True)
        print(f"| {name} | {cells(cold)} | {cells(warm)} |", flush=True)


def sources() -> dict[str, Path]:
    """The folders of the versions to measure, this one last."""
    now = {"now": Path(sparsedensity.__file__).parents[1]}
    before = os.environ.get("BENCH_BEFORE")
    if not before:
        return now
    folder = Path(before).resolve()
    return {"before": folder / "src" if (folder / "src").is_dir() else folder, **now}


def titles(versions: Iterable[str], kind: str, unit: str) -> list[str]:
    """The columns of a number for every version, and of their ratio if there are two."""
    names = [f"{kind}{name}{unit}" for name in versions]
    return [*names, "ratio"] if len(names) > 1 else names


def cells(numbers: Sequence[float], digits: int = 2) -> str:
    """The numbers of these columns.

    >>> cells([3.0, 1.5])
    '3.00 | 1.50 | 0.50'
    """
    ratio = [f"{numbers[-1] / numbers[0]:.2f}"] if len(numbers) > 1 else []
    return " | ".join([*(f"{number:,.{digits}f}" for number in numbers), *ratio])


def best(source: Path, command: str, folder: Path) -> Told:
    """The fewest processor seconds of a command, in a folder with a saved model."""
    if not folder.exists():
        folder.mkdir()
        tell(source, COMMAND, "fit titanic --quiet -o model.json", folder)
    tell(source, COMMAND, command, folder)  # compiles what is not yet
    return min(tell(source, COMMAND, command, folder) for _ in range(REPEATS))


def cold_and_warm(source: Path, model: str) -> tuple[float, float]:
    """The processor seconds until a search first tells how far it is, in two processes that share an empty cache."""
    program = FIRST_LOOK.format(model=model)
    with tempfile.TemporaryDirectory() as folder:
        first, then = (tell(source, program, "", Path(folder), {"NUMBA_CACHE_DIR": folder}) for _ in range(2))
    return first.seconds, then.seconds


def tell(source: Path, program: str, words: str, folder: Path, more: Mapping[str, str] | None = None) -> Told:
    """Run a program with some sources of the library, and read what it says last."""
    command = [sys.executable, "-W", "ignore", "-c", program, *words.split()]
    environment = {**os.environ, "PYTHONPATH": str(source), **(more or {})}
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=True)
    return Told(*json.loads(done.stderr.splitlines()[-1]))
