"""Rule lists: proposals a second, the paper's tables, and growth with rows, values and rules.

The paper's tables are read from the folder in PAPER_DATA; without it they are skipped. The authors' program makes
under 2,000 proposals a second on Titanic.
"""

import os
import resource
import time
import warnings
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.large_table import alone
from benchmarks.timing import measured
from sparsedensity import SparseRuleList, datasets
from sparsedensity.engines import MemoryEngine
from sparsedensity.errors import SearchWarning
from sparsedensity.ingest import Reading, open_source, read_table
from sparsedensity.posterior import SparseRules
from sparsedensity.problem import Problem
from sparsedensity.search import Lists
from sparsedensity.search.antecedents import Antecedents

PAPER = Path(os.environ.get("PAPER_DATA", "../shared/data/paper"))
MAX_RULES = 20
PROPOSALS = 20_000


def main() -> None:
    warnings.simplefilter("ignore", SearchWarning)
    SparseRuleList(iterations=1000).fit(datasets.load("titanic"))
    print("proposals of one chain at temperature 1 in a second of processor time, from the greedy list")
    print(f"  titanic, no limit: {proposals(datasets.load('titanic'), None):,.0f}")
    tables = sorted(PAPER.glob("*.csv.gz"))
    if not tables:
        print(f"the paper's tables are skipped: there are none in {PAPER}. Set PAPER_DATA to their folder.")
    for path in tables:
        if path.name.startswith("mushroom"):
            for limit in (7, MAX_RULES, None):
                print(f"  mushroom, max_rules={limit}: {proposals(read(path), limit):,.0f}")
    print(f"fits with max_rules={MAX_RULES}, two conditions at most")
    for path in tables:
        print(alone(fit, path))
    growth()


def read(path: Path) -> pl.DataFrame:
    return pl.read_csv(path, infer_schema=False)


def proposals(frame: pl.DataFrame, max_rules: int | None) -> float:
    """How many proposals a chain makes in a second of processor time, once it has grown greedily and settled."""
    table = read_table(open_source(frame), Reading())
    antecedents = Antecedents(table)
    limit = None if max_rules is None else max_rules + 1
    problem = Problem(MemoryEngine(table), SparseRules(antecedents.counts), limit)
    chain = Lists(antecedents, chains=1).init(problem, np.random.default_rng(0)).chains[0]
    chain.walk(1.0, 1.0, PROPOSALS)
    begin = time.thread_time()
    chain.walk(1.0, 1.0, PROPOSALS)
    return PROPOSALS / (time.thread_time() - begin)


def fit(path: Path) -> str:
    """Fit and score one table; what that took, and the most memory the whole process held."""
    warnings.simplefilter("ignore", SearchWarning)
    SparseRuleList(iterations=1000).fit(datasets.load("titanic"))
    frame, model = read(path), SparseRuleList(max_rules=MAX_RULES)
    begin, cpu = time.perf_counter(), time.process_time()
    model.fit(frame)
    fitted, cpu = time.perf_counter(), time.process_time() - cpu
    model.score_samples(frame)
    scored = time.perf_counter()
    return (
        f"  {path.name.removesuffix('.csv.gz'):28} {len(frame):>9,} rows  fit {fitted - begin:6.2f} s ({cpu:.2f} s of "
        f"processor time)  score {scored - fitted:5.2f} s  {model.n_rules_:>3} rules  log posterior "
        f"{model.log_posterior_:,.1f}  R-hat {model.search_.r_hat or 0:.3g}  "
        f"process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:,.0f} MB"
    )


def growth() -> None:
    """The time of a fit against rows, values and rules, each alone."""
    print("growth, 4 chains of 10,000 proposals each")
    for rows in (1_000, 10_000, 100_000):
        _grown(f"{rows:,} rows", rows, 10, 4, 10)
    for values in (2, 4, 8):
        _grown(f"{values} values a feature", 5_000, 10, values, 10)
    for rules in (5, 10, 20, 40):
        _grown(f"{rules} rules", 5_000, 10, 4, rules)


def _grown(name: str, rows: int, features: int, values: int, rules: int) -> None:
    truth = datasets.random_tree(rows=rows, sizes=[values] * features, leaves=40, seed=1)
    model = SparseRuleList(max_rules=rules, iterations=10_000)
    print(f"  {name:24} {measured(lambda: model.fit(truth.frame)).seconds:6.2f} s")
