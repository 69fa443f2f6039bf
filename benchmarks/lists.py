"""Rule lists: proposals per second, mining, the paper's tables, and whether chains and seeds agree.

The authors' program makes under 2,000 proposals per second on Titanic. Every fit of a paper's table has a process of
its own and a limit of time, which is looked at between blocks of proposals. ``BENCH_PARTS=agreement`` runs
that part only.
"""

import os
import resource
import time
import warnings
from typing import NamedTuple

import numpy as np
import polars as pl

from benchmarks.large_table import alone
from benchmarks.paper_data import paper_table
from benchmarks.timing import measured
from reproduction.datasets.random_trees import random_tree
from sparsedensity import SparseRuleList, datasets
from sparsedensity.engines import MemoryEngine
from sparsedensity.errors import SearchWarning
from sparsedensity.ingest import Reading, open_source, read_table
from sparsedensity.posterior import SparseRules
from sparsedensity.problem import Problem
from sparsedensity.search import AnnealLists, Found
from sparsedensity.search.lists import anneal, breeding, chain
from sparsedensity.search.lists.antecedents import Antecedents
from sparsedensity.table import Table

TABLES = (
    "balance", "car", "nursery", "compas", "chess_krkp", "us_census_1990_sample1000", "mushroom", "telco_churn",
    "heloc", "bank_full", "connect4", "coco_thing",
)  # fmt: skip
MINED = {"400 values, two conditions": (40, 10, 2), "100 values, three conditions": (20, 5, 3)}
"""Features, values of each, and conditions at most."""
MAX_RULES = 20
SEEDS = 5
SHORT = (5, 10)
"""The lengths of lists at which chains should agree."""
LEFT_OUT: dict[str, dict[str, float]] = {
    "nothing": {},
    "temperatures, hot starts": {"HOTTEST": 0.0},
    "rules drawn anew": {"ANTECEDENTS_PER_PROPOSAL": 1e-9},
    "breeding": {"MOST_WORDS": 0.0},
    "ruins": {"RUINED": 0.0},
    "shared conditions lost": {"FREED": 0.0},
    "looks at few antecedents": {"FEW": 10**9},
}
"""What each part of the search buys is seen by leaving it out: its constants are set to these."""
PARTS_TABLES = ("compas", "chess_krkp", "mushroom", "telco_churn")
TIME_LIMIT = 10.0
PROPOSALS = 20_000


def main() -> None:
    warnings.simplefilter("ignore", SearchWarning)
    SparseRuleList(iterations=1000).fit(datasets.load("titanic"))  # compiles
    parts = {"speed": speed, "mining": mining, "fits": fits, "agreement": agreement, "left_out": left_out}
    for name in os.environ.get("BENCH_PARTS", ",".join(parts)).split(","):
        parts[name]()


def speed() -> None:
    """How fast proposals are."""
    print("proposals of one chain at temperature 1 in a second of processor time, from the greedy list, best of five")
    print(f"  titanic, no limit: {proposals(datasets.load('titanic'), None):,.0f}")
    if (mushroom := paper_table("mushroom")) is not None:
        for limit in (7, MAX_RULES, None):
            print(f"  mushroom, max_rules={limit}: {proposals(mushroom, limit):,.0f}")


def mining() -> None:
    """How fast antecedents are mined."""
    print("mining 100,000 rows")
    for name, (features, values, conditions) in MINED.items():
        for support in (0.0, 0.001):
            print(f"  {name}, support {support}: {mine(features, values, conditions, support)}", flush=True)


def fits() -> None:
    """What a fit of each table takes."""
    print(f"fits with max_rules={MAX_RULES}, two conditions at most, time_limit={TIME_LIMIT:.0f}")
    for name in TABLES:
        if paper_table(name) is not None:
            print(alone(fit, name), flush=True)


def agreement() -> None:
    """Whether chains agree on short lists, and seeds on long ones."""
    print(f"R-hat with max_rules={SHORT[0]} and {SHORT[1]}; with {MAX_RULES}, {SEEDS} seeds: the best log posterior,")
    print("how far the worst is below it as a share of the gain over the empty list, and processor time per fit")
    for name in TABLES:
        if paper_table(name) is not None:
            print(alone(agree, name), flush=True)


def agree(name: str) -> str:
    warnings.simplefilter("ignore", SearchWarning)
    short = [walked(name, rules, 0) for rules in SHORT]
    long = [walked(name, MAX_RULES, seed) for seed in range(SEEDS)]
    r_hats = " and ".join(f"{fit.found.r_hat or np.nan:.3g}" for fit in short)
    modes = " and ".join(f"{max(1, len(fit.found.modes))}" for fit in short)
    return f"  {name:26} R-hat {r_hats:13} ({modes} modes)  {spread_of(long)}"


def left_out() -> None:
    """What each part of the search buys, by leaving it out."""
    print(f"the same {SEEDS} seeds with max_rules={MAX_RULES} if a part of the search is left out")
    for name in PARTS_TABLES:
        for part in LEFT_OUT:
            if paper_table(name) is not None:
                print(alone(without, (name, part)), flush=True)


def without(name_and_part: tuple[str, str]) -> str:
    name, part = name_and_part
    warnings.simplefilter("ignore", SearchWarning)
    for constant, value in LEFT_OUT[part].items():
        owner = next(module for module in (anneal, breeding, chain) if hasattr(module, constant))
        setattr(owner, constant, value)
    return f"  {name:26} without {part:24} {spread_of([walked(name, MAX_RULES, seed) for seed in range(SEEDS)])}"


class Walked(NamedTuple):
    """What chains found, how much better that is than the empty list, and the processor time it took."""

    found: Found
    gain: float
    seconds: float


def walked(name: str, max_rules: int, seed: int) -> Walked:
    """Let chains search in a table."""
    frame = paper_table(name)
    assert frame is not None
    model = SparseRuleList(max_rules=max_rules, search="anneal", kinds="nominal", random_state=seed)
    begin = time.process_time()
    found = model.fit(frame).search_
    seconds = time.process_time() - begin
    empty = model.posterior_.log_posterior(found.archive[0], np.array([float(len(frame))]))
    return Walked(found, found.log_posterior - empty, seconds)


def spread_of(fits: list[Walked]) -> str:
    """How far apart the fits of several seeds are."""
    gains, seconds = [fit.gain for fit in fits], np.mean([fit.seconds for fit in fits])
    share = (max(gains) - min(gains)) / max(*gains, 1e-9)
    best = max(fit.found.log_posterior for fit in fits)
    return f"best {best:,.1f}  spread {share:.3%} of {max(gains):,.0f}  {seconds:.1f} s"


def proposals(frame: pl.DataFrame, max_rules: int | None) -> float:
    """How many proposals a chain makes in a second of processor time, once it has grown greedily: the best of five."""
    table = read_table(open_source(frame), Reading())
    antecedents = Antecedents(table)
    limit = None if max_rules is None else max_rules + 1
    problem = Problem(MemoryEngine(table), SparseRules(antecedents.counts), limit)
    walk = AnnealLists(antecedents, chains=1).init(problem, np.random.default_rng(0)).ladders[0].cold.walk
    walk(1.0, 1.0, PROPOSALS)
    seconds = []
    for _ in range(5):
        begin = time.thread_time()
        walk(1.0, 1.0, PROPOSALS)
        seconds.append(time.thread_time() - begin)
    return PROPOSALS / min(seconds)


def mine(features: int, values: int, conditions: int, support: float) -> str:
    """List every antecedent of a random table that has a support."""
    table = random_table(100_000, features, values)
    (listed, _), seconds, peak = measured(lambda: Antecedents(table, conditions, min_support=support).listed)
    return f"{len(listed):,} antecedents in {seconds:.2f} s, {peak / 1e6:,.0f} MB"


def random_table(rows: int, features: int, values: int) -> Table:
    truth = random_tree(rows=rows, sizes=[values] * features, leaves=40, seed=1)
    return Table.of(truth.domain, truth.codes)


def fit(name: str) -> str:
    """Fit and score one table; what that took, and the most memory the whole process held."""
    warnings.simplefilter("ignore", SearchWarning)
    SparseRuleList(iterations=1000).fit(datasets.load("titanic"))
    frame, model = paper_table(name), SparseRuleList(max_rules=MAX_RULES, time_limit=TIME_LIMIT)
    assert frame is not None
    begin, cpu = time.perf_counter(), time.process_time()
    model.fit(frame)
    fitted, cpu = time.perf_counter(), time.process_time() - cpu
    model.score_samples(frame)
    scored = time.perf_counter()
    return (
        f"  {name:26} {len(frame):>8,} rows  fit {fitted - begin:5.1f} s ({cpu:.1f} s of processor time, ended by "
        f"{model.search_.reason})  score {scored - fitted:4.2f} s  {model.n_rules_:>2} rules  log posterior "
        f"{model.log_posterior_:,.1f}  R-hat {model.search_.r_hat or np.nan:.3g}  "
        f"process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:,.0f} MB"
    )
