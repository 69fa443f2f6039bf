"""What a proof would take: regions, memory and time, known before anything is allocated."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sparsedensity.errors import DataError
from sparsedensity.problem import AnyProblem, check_limit
from sparsedensity.search.bounds import most_leaves
from sparsedensity.search.trees.exact.depth_limited import count_sets, count_states
from sparsedensity.search.trees.exact.regions import count_regions, count_sides

BYTES_PER_REGION = 64.0
"""As measured for method II; method I takes half."""
MOST_BYTES = 4e9
MOST_SECONDS = 3600.0
MOST_SIZES = 300
"""Up to this many leaves the best tree of each size is kept."""
QUICK_STEPS = 2e9
"""A table over the number of leaves that takes no more is made in a moment."""


class Cost(NamedTuple):
    """Seconds, as measured: to count a region, to visit it and one of its partings in a pass.

    Also to weigh a value of a region, if the leaf model asks for it, to count the table of a set of features with its
    rows, and to set up the case of one.
    """

    counting: float
    region: float
    parting: float
    value: float = 4.5e-8
    table: float = 1e-4
    row: float = 1e-8
    case: float = 1e-3


LEAF_COST = Cost(1e-7, 2e-8, 2.5e-9)
BRANCH_COST = Cost(3.5e-7, 2e-8, 1e-8)
"""Passes of method II carry the number of groups."""
LEAF_PASSES = 12
"""How many passes method I takes, about."""


@dataclass(frozen=True)
class Estimate:
    """What a proof would take, known before anything is allocated."""

    regions: int
    partings: int
    """Ways to part a region in two, over all regions."""
    bytes: float
    seconds: float

    @property
    def hopeless(self) -> bool:
        """Whether a proof is out of reach."""
        return self.bytes > MOST_BYTES or self.seconds > MOST_SECONDS


def estimate(problem: AnyProblem, depth: int | None = None) -> Estimate:
    """The regions, memory and time of an exact search, in advance; without all distinct rows it never ends."""
    check_limit("depth", depth)
    domain, posterior = problem.domain, problem.posterior
    cost = LEAF_COST if posterior.only_leaves and depth is None else BRANCH_COST
    passes = LEAF_PASSES if posterior.only_leaves else 1
    regions, partings = count_regions(domain) if depth is None else count_states(domain, depth)
    counting = cost.counting + (0.0 if posterior.even else cost.value * sum(domain.sizes))
    seconds = as_float(regions) * (counting + passes * cost.region) + as_float(partings) * passes * cost.parting
    table = problem.engine.collapsed()
    if table is None:
        seconds = math.inf
    elif depth is not None:
        tables = 1 if posterior.even else 1 + len(domain)
        seconds += count_sets(domain, depth) * tables * (cost.table + cost.row * len(table))
    if posterior.by_features(np.arange(1), len(domain)) is not None:
        # one lattice for every set of features: each feature has its sides or is left whole
        seconds *= math.prod(1 + 1 / count_sides(feature)[0] for feature in domain)
        seconds += cost.case * 2.0 ** sum(size > 1 for size in domain.sizes)
    return Estimate(regions, partings, BYTES_PER_REGION * as_float(regions), seconds)


def sizes_kept(problem: AnyProblem) -> int:
    """Up to how many leaves the best tree of every size is kept."""
    return min(most_leaves(problem), MOST_SIZES)


def gives_every_size(problem: AnyProblem, depth: int | None = None) -> bool:
    """Whether a proof also tells the best tree of every size, because a table of them is quick to make."""
    free_features = problem.posterior.by_features(np.arange(1), len(problem.domain)) is None
    return depth is None and free_features and has_table(problem, sizes_kept(problem), QUICK_STEPS)


def has_table(problem: AnyProblem, most: int, most_steps: float) -> bool:
    """Whether a table over so many numbers of leaves is within reach."""
    regions, partings = count_regions(problem.domain)
    if not problem.posterior.only_leaves:  # the lines through a region along every feature
        partings = regions * sum(count_sides(feature)[1] * feature.size for feature in problem.domain) // 4
    return 8 * regions * most < MOST_BYTES and partings * most**2 < most_steps


def as_float(number: int) -> float:
    """A whole number of any size; infinite if it is beyond all floats."""
    return float(number) if number.bit_length() < 1000 else math.inf


def too_large(ahead: Estimate) -> DataError:
    """The sentence for a table whose proof is out of reach."""
    return DataError(
        f"An exact search of this table would visit {about(ahead.regions)} regions and take "
        f"{about(ahead.bytes / 1e9)} GB of memory and {about(ahead.seconds / 60)} minutes a proof. "
        "Use search='anneal', set a time_limit to get the best tree known with a bound, or merge values."
    )


def about(number: float) -> str:
    """A number as one reads it: large ones as powers of ten."""
    if number < 1e6:
        return f"{number:,.0f}" if number >= 10 else f"{number:.1g}"
    return f"10^{math.log10(number):.0f}" if number < math.inf else "more than 10^18"
