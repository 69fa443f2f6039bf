"""The commands `fit` and `report` side by side: what the page costs in searches of one model.

Each is a process of its own, start-up included, on made tables of 1,000 rows by 21 columns and 100,000 by 30, with
the limits of the command line.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.timing import best_of
from reproduction.datasets.random_trees import random_tree

TABLES = {
    "1,000 x 21": (1_000, [2] * 4 + [3] * 4 + [4] * 4 + [5] * 4 + [6, 8, 10, 10, 10], 30),
    "100,000 x 30": (100_000, [2] * 8 + [3] * 6 + [4] * 6 + [6] * 4 + [10] * 6, 60),
}
METHODS = ("leaf", "branch", "list", "greedy")


def main() -> None:
    print("| table | method | fit, s | report, s | ratio |\n| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for name, (rows, sizes, leaves) in TABLES.items():
            table = Path(folder) / f"{rows}.csv"
            truth = random_tree(rows=rows, sizes=sizes, leaves=leaves, seed=1)
            truth.frame.write_csv(table)
            few = Path(folder) / "few.csv"
            truth.frame.head(100).write_csv(few)
            for method in METHODS:
                seconds(few, method, "report")  # compiles what is not yet
                fit, report = seconds(table, method, "fit"), seconds(table, method, "report")
                print(f"| {name} | {method} | {fit:.1f} | {report:.1f} | {report / fit:.1f} |", flush=True)


def seconds(table: Path, method: str, verb: str) -> float:
    """What a command takes on a table of codes."""
    command = [sys.executable, "-W", "ignore", "-m", "sparsedensity", verb, str(table)]
    options = ["--method", method, "--kind", "nominal", "--quiet", "-o", str(table.with_suffix(f".{verb}"))]
    return best_of(1, lambda: subprocess.run([*command, *options], check=True, capture_output=True))
