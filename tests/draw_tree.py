"""A tree drawn from the prior of method II, exactly.

The prior gives a tree e^-lambda for every node and lambda^b / b! for every inner node of b children. Summed over all
trees below a region, this depends only on how many values each feature still allows there (its *side*), so a table
over sides gives the probability of every first step, and the tree is drawn from the top.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from sparsedensity.domain import Domain
from sparsedensity.errors import DataError
from sparsedensity.posterior.branch_sparse import BranchSparse
from sparsedensity.structures import Tree
from sparsedensity.structures.tree import Division

MOST_SIDES = 20_000


class Side(NamedTuple):
    """How many values of a feature are allowed, and whether missing is, beside the run of an ordered feature."""

    values: int
    missing: bool = False


Sides = tuple[Side, ...]


def draw_tree(domain: Domain, prior: BranchSparse, random_state: int | np.random.Generator | None = None) -> Tree:
    """Draw a tree from the prior of the branch-sparse posterior.

    >>> from sparsedensity.domain import Feature
    >>> domain = Domain((Feature.nominal("sex", ("f", "m")), Feature.nominal("age", ("child", "adult"))))
    >>> draw_tree(domain, BranchSparse(expected_branches=2), random_state=4).n_leaves
    2
    """
    if prior.feature_probability is not None:
        raise DataError("A tree is drawn from the prior of its nodes alone: set feature_probability=None.")
    if math.prod(domain.sizes) > MOST_SIDES:
        raise DataError(
            f"The domain has {math.prod(domain.sizes):,} points and trees can be drawn on at most {MOST_SIDES:,}. "
            "Take fewer columns or values."
        )
    rng = np.random.default_rng(random_state)
    sums = _PriorSums(domain, prior.expected_branches)

    def divide(allowed: list[list[int]]) -> Division[list[list[int]]]:
        feature, groups = sums.draw_split(allowed, rng)
        branches = [(group, [*allowed[:feature], group, *allowed[feature + 1 :]]) for group in groups]
        return (feature, branches) if branches else None

    return Tree.grown(domain, [list(range(size)) for size in domain.sizes], divide)


class _PriorSums:
    """Log sums of the prior over all trees below a region, and draws of its first split."""

    def __init__(self, domain: Domain, rate: float) -> None:
        self.domain, self.rate = domain, rate
        self.below = cache(self._below)
        self.grouped = cache(self._grouped)

    def draw_split(self, allowed: list[list[int]], rng: np.random.Generator) -> tuple[int, list[list[int]]]:
        """A feature and the groups of its values; no groups for a leaf."""
        sides = self._sides(allowed)
        choices = self._choices(sides)
        feature, branches, _ = choices[_draw([log for _, _, log in choices], rng)]
        return feature, [] if not branches else self._draw_groups(sides, feature, branches, allowed[feature], rng)

    def _below(self, sides: Sides) -> float:
        return float(np.logaddexp.reduce([log for _, _, log in self._choices(sides)]))

    def _choices(self, sides: Sides) -> list[tuple[int, int, float]]:
        """A leaf (0 branches), or any number of branches on any feature, each with its log sum."""
        choices = [(0, 0, -self.rate)]
        for feature, side in enumerate(sides):
            for b in range(2, side.values + side.missing + 1):
                node = -self.rate + b * math.log(self.rate) - math.lgamma(b + 1)
                choices.append((feature, b, node + self.grouped(sides, feature, side, b)))
        return choices

    def _grouped(self, sides: Sides, feature: int, left: Side, b: int) -> float:
        """The log sum over all groupings of what is left of a feature's values into b groups."""
        if b == 0:
            return 0.0 if left == Side(0) else -math.inf
        options = self._first_groups(sides, feature, left, b)
        return float(np.logaddexp.reduce([log for _, log in options], initial=-math.inf))

    def _first_groups(self, sides: Sides, feature: int, left: Side, b: int) -> list[tuple[Side, float]]:
        """What the first group may take of the values left, with its log sum: it holds the lowest value."""
        ordered = self.domain[feature].ordered
        options = []
        for taken in self._takes(left):
            rest = Side(left.values - taken.values, left.missing and not taken.missing)
            if rest.values + rest.missing < b - 1 or (b == 1 and rest != Side(0)):
                continue
            ways = 0.0 if ordered else _log_choose(left.values - 1, taken.values - 1)
            child = self.below((*sides[:feature], taken, *sides[feature + 1 :]))
            options.append((taken, ways + child + self.grouped(sides, feature, rest, b - 1)))
        return options

    def _takes(self, left: Side) -> list[Side]:
        if left.values == 0:
            return [left] if left.missing else []
        runs = [Side(size, joined) for size in range(1, left.values + 1) for joined in {False, left.missing}]
        return sorted(runs)

    def _draw_groups(
        self, sides: Sides, feature: int, b: int, codes: Sequence[int], rng: np.random.Generator
    ) -> list[list[int]]:
        missing = self.domain[feature].missing if self.domain[feature].ordered else None
        known, left, groups = [code for code in codes if code != missing], sides[feature], []
        for branches in range(b, 0, -1):
            options = self._first_groups(sides, feature, left, branches)
            taken = options[_draw([log for _, log in options], rng)][0]
            if not self.domain[feature].ordered:
                known = [known[0], *rng.permutation(known[1:]).tolist()]
            group, known = known[: taken.values], sorted(known[taken.values :])
            groups.append(sorted(group) + ([missing] if taken.missing and missing is not None else []))
            left = Side(left.values - taken.values, left.missing and not taken.missing)
        return groups

    def _sides(self, allowed: list[list[int]]) -> Sides:
        return tuple(
            Side(len(codes) - 1, True) if feature.ordered and feature.missing in codes else Side(len(codes))
            for feature, codes in zip(self.domain, allowed, strict=True)
        )


def _draw(logs: Sequence[float], rng: np.random.Generator) -> int:
    weights = np.exp(np.array(logs) - max(logs))
    return int(rng.choice(len(weights), p=weights / weights.sum()))


def _log_choose(n: int, k: int) -> float:
    return math.log(math.comb(n, k))
