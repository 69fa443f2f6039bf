"""The paper's tables, from the folder in PAPER_DATA; benchmarks skip, saying why, if they are absent."""

import os
from pathlib import Path

import polars as pl

PAPER = Path(os.environ.get("PAPER_DATA", "../shared/data/paper"))
TABLES = (
    "balance", "titanic", "car", "compas", "nursery", "chess_krkp", "mushroom", "us_census_1990_sample1000",
    "telco_churn", "heloc", "bank_full", "connect4", "coco_thing",
)  # fmt: skip
BINARY = ("nltcs", "plants")
"""Two binary tables that density estimators are often compared on, in a folder beside the paper's."""


def paper_table(name: str) -> pl.DataFrame | None:
    """One of the paper's tables, every column a category; None if the file is absent."""
    return _read(name, PAPER / f"{name}.csv.gz")


def paper_tables() -> list[tuple[str, pl.DataFrame]]:
    """All of the paper's tables that are here, by name."""
    return [(name, frame) for name in TABLES if (frame := paper_table(name)) is not None]


def binary_tables(part: str) -> list[tuple[str, pl.DataFrame]]:
    """The ``train``, ``valid`` or ``test`` rows of the binary tables that are here, by name."""
    paths = [(name, PAPER.parent / "density20" / f"{name}.{part}.csv.gz") for name in BINARY]
    return [(name, frame) for name, path in paths if (frame := _read(name, path)) is not None]


def _read(name: str, path: Path) -> pl.DataFrame | None:
    if not path.exists():
        print(f"{name} is skipped: {path} is not there. Set PAPER_DATA to the folder of the paper's tables.")
        return None
    return pl.read_csv(path, infer_schema_length=0)
