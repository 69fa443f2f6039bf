"""Finding altered records: how well each model ranks them above the other rows of the table that it was fitted to.

In 2 % of the rows three values are exchanged for those of random other rows, which may happen to be equal. The area
under the ROC curve is the share of pairs, an altered row and one that is not, in which the altered one is the more
unusual. ``BENCH_DRAWS`` sets how often rows are altered (10) and ``BENCH_SEARCH`` how trees are searched (``greedy`` or
``auto``). Greedy takes about a minute of processor time.
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
from sparsedensity.evaluation import ChowLiuTree, standard_error

TABLES = ("mushroom", "telco_churn", "compas", "chess_krkp", "bank_full")
SHARE, EXCHANGED = 0.02, 3
PROFILES, RIVAL = "12 profile leaves", "Chow-Liu"

Floats = NDArray[np.float64]
Areas = dict[str, float]
"""Under the ROC curve, by model."""


class Altered(NamedTuple):
    """A table in which some rows were altered."""

    frame: pl.DataFrame
    rows: list[int]
    columns: list[set[str]]
    """Those in which each of these rows differs from what it was."""


class Found(NamedTuple):
    """What one draw showed."""

    areas: Areas
    named: float
    """The share of altered rows whose first factor is a column in which they differ from what they were."""
    chance: float
    """The same, if any column came first."""
    spoken: float
    """The share of altered rows whose explanation speaks of a factor: others have none that is notable."""
    right: float
    """The share of these in which the first that it speaks of is a column in which they differ."""


def main() -> None:
    warnings.simplefilter("ignore", SearchWarning)
    draws, search = int(os.environ.get("BENCH_DRAWS", "10")), os.environ.get("BENCH_SEARCH", "greedy")
    print(f"Area under the ROC curve, {draws} draws with the standard error of their mean, {search} search")
    found = print_areas(draws, search)
    rivals = [title for title in models(search) if title != PROFILES]
    print_standing([[one.areas for one in each] for each in found.values()], rivals)
    print_named(found)
    print(f"\n{time.process_time():.0f} s of processor time")


def print_areas(draws: int, search: str) -> dict[str, list[Found]]:
    """Look for altered rows in every table, and print every model beside the others."""
    tables = {name: frame for name in TABLES if (frame := paper_table(name)) is not None}
    print(header("table", "rows", "columns", *models(search), f"{PROFILES}, less {RIVAL}"))
    found = {}
    for name, frame in tables.items():
        found[name] = [draw(frame, search, seed) for seed in range(draws)]
        areas = [one.areas for one in found[name]]
        cells = [*([one[title] for one in areas] for title in models(search)), gains(areas, RIVAL)]
        print(f"| {name} | {frame.height:,} | {frame.width} | {' | '.join(map(with_error, cells))} |", flush=True)
    return found


def gains(areas: list[Areas], rival: str) -> list[float]:
    """What profiles have above a rival, in every draw."""
    return [one[PROFILES] - one[rival] for one in areas]


def print_standing(tables: list[list[Areas]], rivals: list[str]) -> None:
    """On how many tables profiles are above each rival, from the areas of all draws of every table."""
    print(f"\nOn how many tables {PROFILES} are above, and by more than a standard error of the difference")
    print(header("model", "above", "by more than the error"))
    for rival in rivals:
        differences = [gains(areas, rival) for areas in tables]
        above = sum(np.mean(each) > 0 for each in differences)
        clearly = sum(np.mean(each) > standard_error(each) for each in differences)
        print(f"| {rival} | {above} of {len(tables)} | {clearly} of {len(tables)} |")


def print_named(found: dict[str, list[Found]]) -> None:
    """How often an explanation begins with the right column."""
    print(f"\nThe share of altered rows in which the first factor of the explanation by {PROFILES} is a column that")
    print("differs from before; how many explanations speak of a factor, and how often it is the right one then")
    print(header("table", "share", "by chance", "factor", "speak of one", "of these"))
    for name, draws in found.items():
        named, chance = [one.named for one in draws], np.mean([one.chance for one in draws])
        spoken, right = with_error([one.spoken for one in draws]), with_error([one.right for one in draws])
        print(f"| {name} | {with_error(named)} | {chance:.3f} | {np.mean(named) / chance:.1f} | {spoken} | {right} |")


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
    pairs = list(zip(explained, altered.columns, strict=True))
    right = [one.rare[0].column in columns for one, columns in pairs if one.rare]
    return Found(
        areas,
        named=float(np.mean([one.factors[0].column in columns for one, columns in pairs])),
        chance=sum(map(len, altered.columns)) / len(pairs) / frame.width,
        spoken=len(right) / len(pairs),
        right=float(np.mean(right)),
    )


def alter(frame: pl.DataFrame, rng: np.random.Generator) -> Altered:
    """Exchange some values of some rows."""
    columns = {name: frame[name].to_list() for name in frame.columns}
    rows = rng.choice(frame.height, round(SHARE * frame.height), replace=False).tolist()
    for row in rows:
        for name in rng.choice(frame.columns, EXCHANGED, replace=False).tolist():
            columns[name][row] = frame[name][another(row, frame.height, rng)]
    differ = [{name for name in columns if columns[name][row] != frame[name][row]} for row in rows]
    return Altered(pl.DataFrame(columns), rows, differ)


def another(row: int, rows: int, rng: np.random.Generator) -> int:
    """A random other row."""
    other = int(rng.integers(rows - 1))
    return other + (other >= row)


def unusualness(model: Any, frame: pl.DataFrame) -> Floats:
    """A number for every row, the larger the more unusual it is."""
    found: Floats = model.unusualness(frame) if isinstance(model, LeafSparseTree) else -model.score_samples(frame)
    return found


def tree(search: Any, **given: Any) -> LeafSparseTree:
    """A tree of categories."""
    return LeafSparseTree(kinds="nominal", search=search, **given)
