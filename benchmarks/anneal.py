"""The annealing search: proposals per second, the paper's tables, what each part buys, and a large table.

Name parts to run only those: ``python -m benchmarks anneal`` runs all, ``BENCH_PARTS=speed,quality`` some.
"""

import os
import time
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.paper_data import paper_table
from benchmarks.plain_annealer import PlainAnnealer
from benchmarks.seeds import tables as shared_tables
from benchmarks.timing import best_of, measured
from reproduction.datasets.random_trees import random_tree
from sparsedensity import datasets
from sparsedensity.engines import MemoryEngine, whole_table
from sparsedensity.ingest import Reading, open_source, read_table
from sparsedensity.posterior import LeafSparse
from sparsedensity.problem import Problem
from sparsedensity.search import Anneal, Found, Greedy, run
from sparsedensity.search.trees import anneal, anneal_chain
from sparsedensity.search.trees.anneal_chain import AnnealChain
from sparsedensity.table import Table


def shares_without(kind: str) -> tuple[float, ...]:
    """The shares of all kinds of moves but the first, without one of them."""
    pairs = zip(anneal_chain.KINDS[1:], anneal_chain.SETTINGS.shares, strict=True)
    return tuple(0.0 if other == kind else share for other, share in pairs)


BEST_KNOWN = {
    "compas": (-30860, -30198),
    "chess_krkp": (-54582, -46248),
    "mushroom": (-117621, -65814),
    "telco_churn": (-122557, -102763),
    "heloc": (-361629, -291741),
    "bank_full": (-524878, -492148),
    "connect4": (-1945486, -1598451),
    "coco_thing": (-5407640, -3529163),
}
"""The best log posteriors, at 20 and at 100 leaves, that two other programs found in 25 to 40 s,"""
UNLIMITED = {"chess_krkp": -39161, "mushroom": -53672, "coco_thing": -1222576}
"""and without a limit."""
LEFT_OUT: dict[str, dict[str, Any]] = {
    "nothing": {},
    **{kind: {"shares": shares_without(kind)} for kind in anneal_chain.KINDS[1:]},
    "trees of their own": {"FROM_GREEDY": anneal.RESTARTS},
    "what others know": {"KNOW_ALL": 0, "HEARD": 0.0},
    "gains of other regions": {"strange": 0.0},
    "memory of subtrees": {"trust": 1e-9},
    "shaken gains and cuts": {"noise": 0.0, "wild": 0.0},
    "some rows first": {"SOME_ROWS": 10**9},
}
"""The parts of the search, and the settings (or constants, in capitals) that leave them out."""
CENSUS = [2] * 12 + [3] * 10 + [4] * 8 + [5] * 10 + [6] * 8 + [8] * 8 + [10] * 6 + [13] * 4 + [17, 19]
PLAIN_SECONDS = 2.0


def main() -> None:
    run(Anneal(iterations=10), problem_of(random_table(100, [3, 2])))  # compiles
    parts: dict[str, Callable[[], None]] = {
        "speed": speed,
        "quality": quality,
        "left_out": left_out,
        "census": census,
    }
    for name in os.environ.get("BENCH_PARTS", ",".join(parts)).split(","):
        print(f"\n### {name}")
        parts[name]()


def random_table(rows: int, sizes: list[int], leaves: int = 100) -> Table:
    truth = random_tree(rows=rows, sizes=sizes, leaves=min(leaves, rows), seed=1)
    return Table.of(truth.domain, truth.codes)


def problem_of(table: Table, limit: int | None = 100) -> Problem[LeafSparse]:
    return Problem(MemoryEngine(table), LeafSparse(8, 2), limit)


def paper_problem(name: str, limit: int | None) -> Problem[LeafSparse] | None:
    frame = paper_table(name)
    return None if frame is None else problem_of(read_table(open_source(frame), Reading()), limit)


def speed() -> None:
    """Proposals that score a different tree, in a second of processor time on one core; reading rows apart."""
    tables = {
        "titanic": read_table(open_source(datasets.titanic()), Reading()),
        "50,000 x 20": random_table(50_000, [5] * 20),
    }
    mushroom = paper_problem("mushroom", 100)
    if mushroom is not None:
        tables["mushroom"] = whole_table(mushroom.engine)
    print("| table | proposals per second | plain Python, rows counted anew | ratio |")
    print("| --- | --: | --: | --: |")
    for name, table in tables.items():
        ours = proposals_per_second(problem_of(table))
        rows = np.repeat(table.codes, table.weights.astype(int), axis=0)
        plain = PlainAnnealer(rows, list(table.domain.sizes)).run(PLAIN_SECONDS)
        print(f"| {name} | {ours:,.0f} | {plain:,.0f} | {ours / plain:,.0f} |")


def proposals_per_second(problem: Problem[LeafSparse], steps: int = 2_000) -> float:
    """Subtrees grown again at a temperature of 20 nats, after the regions they visit have mostly been read."""
    chain = AnnealChain(problem, whole_table(problem.engine), np.random.default_rng(0))
    chain.begin()
    for _ in range(5):
        chain._rebuild(steps, 20.0)
    before, begin = chain.proposed, time.process_time()
    chain._rebuild(steps, 20.0)
    return (chain.proposed - before) / (time.process_time() - begin)


def quality() -> None:
    """Default fits of the paper's tables on two threads."""
    print("| table | limit | greedy | best known | ours | leaves | seconds | seconds to 99.9 % |")
    print("| --- | --: | --: | --: | --: | --: | --: | --: |")
    for name, scores in BEST_KNOWN.items():
        for limit, known in zip((20, 100, None), (*scores, UNLIMITED.get(name)), strict=True):
            if limit is None and known is None:
                continue
            problem = paper_problem(name, limit)
            if problem is None:
                continue
            greedy = run(Greedy(), problem).log_posterior if limit else None
            found = run(Anneal(jobs=2), problem)
            print(
                f"| {name} | {limit or 'none'} | {'' if greedy is None else round(greedy)} | {known} "
                f"| {found.log_posterior:.0f} | {found.structure.n_leaves} | {found.seconds:.1f} "
                f"| {nearly(found):.1f} |"
            )


def nearly(found: Found) -> float:
    """The seconds until 99.9 % of what was gained over the first look was there."""
    first, last = found.trace[0][1], found.trace[-1][1]
    return next(seconds for seconds, score in found.trace if score >= last - 0.001 * (last - first))


def left_out() -> None:
    """What each part of the search buys: nats above a search of the same budget without it, mean of some seeds.

    ``BENCH_SEEDS`` sets the number of seeds, ``BENCH_LEAVES`` the limit.
    """
    seeds, limit = range(int(os.environ.get("BENCH_SEEDS", "2"))), int(os.environ.get("BENCH_LEAVES", "100"))
    names = [name for name in LEFT_OUT if LEFT_OUT[name]]
    print(f"| table, {limit} leaves | all parts | " + " | ".join(names) + " |\n| --- |" + " --: |" * (len(names) + 1))
    for name, frame in shared_tables():
        problem = problem_of(read_table(open_source(frame), Reading(kinds="nominal")), limit)
        means = [np.mean([without(problem, part, seed) for seed in seeds]) for part in LEFT_OUT]
        cells = [f"{means[0]:,.0f}", *(f"{means[0] - mean:,.0f}" for mean in means[1:])]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def without(problem: Problem[LeafSparse], part: str, seed: int) -> float:
    """What is found if a part of the search is left out."""
    constants = {name: value for name, value in LEFT_OUT[part].items() if name.isupper()}
    settings = {name: value for name, value in LEFT_OUT[part].items() if name not in constants}
    changed = anneal_chain.SETTINGS._replace(**settings)
    with patch.dict(vars(anneal), constants), patch.object(anneal_chain, "SETTINGS", changed):
        return run(Anneal(jobs=2), problem, rng=np.random.default_rng(seed)).log_posterior


def census() -> None:
    """2.4 million distinct rows by 68 features of 396 values, in counting passes over all values."""
    table = random_table(2_400_000, CENSUS)
    engine, codes = MemoryEngine(table), table.codes.nbytes
    once = best_of(3, engine.value_weights)
    fit = measured(lambda: run(Anneal(jobs=2), Problem(engine, LeafSparse(8, 2), 100)))
    greedy = run(Greedy(), Problem(engine, LeafSparse(8, 2), 100))
    print(
        f"{len(table):,} distinct rows: {fit.seconds:.1f} s, {fit.seconds / once:.0f} counting passes of {once:.2f} s; "
        f"peak {(fit.peak + codes) / codes:.1f} x the codes; log posterior {fit.value.log_posterior:.0f}, "
        f"greedy {greedy.log_posterior:.0f} in {greedy.seconds:.1f} s"
    )
