"""The paper's tables, from the folder in PAPER_DATA; benchmarks skip, saying why, if they are absent."""

import os
from pathlib import Path

import polars as pl

PAPER = Path(os.environ.get("PAPER_DATA", "../shared/data/paper"))


def paper_table(name: str) -> pl.DataFrame | None:
    """One of the paper's tables, every column a category; None if the file is absent."""
    path = PAPER / f"{name}.csv.gz"
    if not path.exists():
        print(f"{name} is skipped: {path} is not there. Set PAPER_DATA to the folder of the paper's tables.")
        return None
    return pl.read_csv(path, infer_schema_length=0)
