"""Finding altered records: how well each model ranks them above the other rows of the table that it was fitted to.

In 2 % of the rows three values are exchanged for those of random other rows: the same columns, different values. The
area under the ROC curve is the share of pairs, an altered row and one that is not, in which the altered one is the more
unusual. ``BENCH_DRAWS`` sets how often rows are altered (10) and ``BENCH_SEARCH`` how trees are searched (``greedy`` or
``auto``).
"""

import os
import time
import warnings
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from benchmarks.paper_data import paper_table
from benchmarks.printing import header, with_error
from sparsedensity import LeafSparseTree
from sparsedensity.errors import SearchWarning
from sparsedensity.evaluation import ChowLiuTree

TABLES = ("mushroom", "telco_churn", "compas", "chess_krkp", "bank_full")
SHARE, EXCHANGED = 0.02, 3
PROFILES, RIVAL = "12 profile leaves", "Chow-Liu"

Floats = NDArray[np.float64]


class Altered(NamedTuple):
    """A table in which some rows were altered."""

    frame: pl.DataFrame
    rows: list[int]
    columns: list[list[str]]
    """Those that were altered in each of these rows."""


class Found(NamedTuple):
    """What one draw showed."""

    areas: dict[str, float]
    """Under the ROC curve, by model."""
    named: float
    """The share of altered rows whose explanation begins with a column that was altered."""
    chance: float


def main() -> None:
    warnings.simplefilter("ignore", SearchWarning)
    draws, search = int(os.environ.get("BENCH_DRAWS", "10")), os.environ.get("BENCH_SEARCH", "greedy")
    tables = {name: frame for name in TABLES if (frame := paper_table(name)) is not None}
    print(f"Area under the ROC curve, {draws} draws with the standard error of their mean, {search} search")
    titles = list(models(search))
    print(header("table", "rows", "columns", *titles, f"{PROFILES}, less {RIVAL}"))
    begin, found = time.perf_counter(), {}
    for name, frame in tables.items():
        found[name] = [draw(frame, search, seed) for seed in range(draws)]
        areas = {title: [one.areas[title] for one in found[name]] for title in titles}
        gains = np.subtract(areas[PROFILES], areas[RIVAL]).tolist()
        cells = " | ".join(map(with_error, [*areas.values(), gains]))
        print(f"| {name} | {frame.height:,} | {frame.width} | {cells} |", flush=True)
    print_named(found)
    print(f"\n{(time.perf_counter() - begin) / 60:.0f} minutes")


def print_named(found: dict[str, list[Found]]) -> None:
    """How often an explanation begins with the right column."""
    print(f"\nThe share of altered rows whose explanation by {PROFILES} names one of the three columns first")
    print(header("table", "share", "by chance", "factor"))
    for name, draws in found.items():
        named, chance = [one.named for one in draws], draws[0].chance
        print(f"| {name} | {with_error(named)} | {chance:.3f} | {np.mean(named) / chance:.1f} |")


def models(search: str) -> dict[str, Any]:
    """What is compared, by name."""
    leaves = {f"{limit} uniform leaves": tree(search, max_leaves=limit) for limit in (12, 100)}
    return {
        **leaves,
        RIVAL: ChowLiuTree(kinds="nominal"),
        "isolation forest": make_pipeline(OneHotEncoder(), IsolationForest(random_state=0)),
        PROFILES: tree(search, leaf="profile", max_leaves=12),
    }


def draw(frame: pl.DataFrame, search: str, seed: int) -> Found:
    """Alter some rows, then look for them."""
    altered = alter(frame, np.random.default_rng(seed))
    labels = np.zeros(frame.height, bool)
    labels[altered.rows] = True
    fitted = {name: model.fit(altered.frame) for name, model in models(search).items()}
    areas = {name: float(roc_auc_score(labels, unusualness(model, altered.frame))) for name, model in fitted.items()}
    explained = fitted[PROFILES].explain(altered.frame[altered.rows])
    named = [one.factors[0].column in columns for one, columns in zip(explained, altered.columns, strict=True)]
    return Found(areas, float(np.mean(named)), EXCHANGED / len(changeable(frame)))


def alter(frame: pl.DataFrame, rng: np.random.Generator) -> Altered:
    """Exchange some values of some rows."""
    columns = {name: frame[name].to_list() for name in frame.columns}
    rows = rng.choice(frame.height, round(SHARE * frame.height), replace=False).tolist()
    exchanged = [rng.choice(changeable(frame), EXCHANGED, replace=False).tolist() for _ in rows]
    for row, names in zip(rows, exchanged, strict=True):
        for name in names:
            columns[name][row] = another(frame[name], row, rng)
    return Altered(pl.DataFrame(columns), rows, exchanged)


def another(column: pl.Series, row: int, rng: np.random.Generator) -> Any:
    """The value of a random other row, a different one."""
    others = column.filter(column != column[row])
    return others[int(rng.integers(len(others)))]


def changeable(frame: pl.DataFrame) -> list[str]:
    """The columns that have more than one value."""
    return [name for name in frame.columns if frame[name].n_unique() > 1]


def unusualness(model: Any, frame: pl.DataFrame) -> Floats:
    """A number for every row, the larger the more unusual it is."""
    return model.unusualness(frame) if isinstance(model, LeafSparseTree) else -model.score_samples(frame)


def tree(search: Any, **given: Any) -> LeafSparseTree:
    """A tree of categories."""
    return LeafSparseTree(kinds="nominal", search=search, **given)
