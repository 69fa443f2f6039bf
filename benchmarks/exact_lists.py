"""Exact search for rule lists: the time and outcome of proofs, and what the chains miss.

``PAPER_DATA`` names a folder with ``compas.csv.gz`` and other tables of the paper to prove as well. Every proof begins
with the empty list; those that take longer than a minute end with a gap.
"""

from typing import NamedTuple

import numpy as np

from benchmarks.exact import engine_of
from benchmarks.paper_data import PAPER
from sparsedensity.posterior import SparseRules
from sparsedensity.problem import Problem
from sparsedensity.search import AnnealLists, Budget, ExactLists, run
from sparsedensity.search.lists.antecedents import Antecedents

SECONDS = 60.0
PROPOSALS = 200_000


class Job(NamedTuple):
    """A table, and which lists of it."""

    table: str
    conditions: int
    rules: int | None = None


JOBS = (
    *(Job("titanic", conditions) for conditions in (1, 2, 3)),
    *(Job("simulated", conditions) for conditions in (1, 2)),
    *(Job(name, 2) for name in ("4 of 2", "5 of 2", "3 of 3")),
    *(Job("6 of 2", conditions) for conditions in (1, 2)),
    Job("compas", 1),
    *(Job("compas", 2, rules) for rules in (2, 3, 4, None)),
    *(Job(name, 2) for name in ("balance", "car", "nursery")),
)
FROM_FILES = ("compas", "balance", "car", "nursery")


def main() -> None:
    print("| table | conditions | most rules | prefixes | seconds | proven | rules | gap | chains miss by |")
    print("| --- | --: | --: | --: | --: | --- | --: | --: | --: |")
    prove(Job("titanic", 1))
    for job in JOBS:
        if job.table not in FROM_FILES or (PAPER / f"{job.table}.csv.gz").exists():
            print(prove(job), flush=True)


def prove(job: Job) -> str:
    """Prove one table, and let chains look for the same list."""
    engine = engine_of(job.table)
    antecedents = Antecedents(engine.table, job.conditions)
    problem = Problem(engine, SparseRules(antecedents.counts), None if job.rules is None else job.rules + 1)
    found = run(ExactLists(antecedents, anytime=True), problem, budget=Budget(seconds=SECONDS))
    walked = run(AnnealLists(antecedents), problem, budget=Budget(moves=PROPOSALS), rng=np.random.default_rng(0))
    missed = f"{max(0.0, found.log_posterior - walked.log_posterior):.2f}" if found.proven else ""
    best = max(found, walked, key=lambda one: one.log_posterior)
    assert found.upper_bound is not None
    gap = max(0.0, found.upper_bound - best.log_posterior)
    return (
        f"| {job.table} | {job.conditions} | {job.rules or ''} | {found.moves:,} | {found.seconds:.2f} "
        f"| {'yes' if found.proven else 'no'} | {best.structure.n_leaves - 1} | {gap:.2f} | {missed} |"
    )
