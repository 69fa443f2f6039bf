"""What a stranger adds: a posterior with another price per leaf, and leaf models of their own.

None of them is known to the searches, and no search was edited for them. Each is held against enumeration: greedy
growth and annealing report the score that the plain formula gives, and the exact search finds the best of all trees.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reproduction.datasets.random_trees import random_tree
from sparsedensity.engines import MemoryEngine
from sparsedensity.posterior import BranchSparse, LeafSparse, leaf_model
from sparsedensity.posterior.base import PriorBound
from sparsedensity.problem import Problem
from sparsedensity.search import Anneal, Exact, Greedy, near_optimal, run
from sparsedensity.structures import Tree
from sparsedensity.table import Table
from tests.naive_search import Regions, branch_sparse_of, even_term, every_tree, leaf_sparse_of
from tests.strategies import data_in, domains, table_of

# --- A posterior: what a number of leaves adds is a table, so another price per leaf is one method. ---


@dataclass(frozen=True)
class DearLeaves(LeafSparse):
    """Every pair of leaves costs something: the more there are, the dearer is one more."""

    price: float = 0.3

    def by_leaves(self, leaves, n):
        return super().by_leaves(leaves, n) - self.price * leaves * (leaves - 1) / 2

    def best_log_prior(self, domain, most_leaves):
        one, others = super().best_log_prior(domain, most_leaves)
        return PriorBound(one, others - self.price)


# --- Leaf models: a NamedTuple of data, and a compiled function of the counts in a region. ---


class SmallLeaves(NamedTuple):
    """Records are spread evenly, but a leaf that holds few of them costs something."""

    penalty: float
    least: float


@leaf_model(SmallLeaves, bounded=True)
def small_leaves_term(model, counts, allowed, space):
    weight, log_volume = 0.0, 0.0
    for value in range(space.features[0].start, space.features[0].stop):
        weight += counts[value]
    for f in range(space.features.size):
        side = 0.0
        for value in range(space.features[f].start, space.features[f].stop):
            if allowed[value] > 0:
                side += space.values[value].measure
        log_volume += math.log(side)
    small = weight > 0.0 and weight < model.least
    return -weight * log_volume - (model.penalty if small else 0.0)


class FewConditions(NamedTuple):
    """Records of every feature follow the counts of a leaf, smoothed; and every condition of a leaf costs something."""

    price: float
    smoothing: float


@leaf_model(FewConditions)
def few_conditions_term(model, counts, allowed, space):
    total, (price, smoothing) = 0.0, model
    for f in range(space.features.size):
        weight, whole, conditions = 0.0, 0.0, 0.0
        for value in range(space.features[f].start, space.features[f].stop):
            weight += counts[value]
            whole += 1.0 if allowed[value] > 0 else 0.0
            conditions = max(conditions, 0.0 if allowed[value] > 0 else 1.0)
        for value in range(space.features[f].start, space.features[f].stop):
            if counts[value] > 0:
                share = (counts[value] + smoothing) / (weight + whole * smoothing)
                total += counts[value] * (math.log(share) - math.log(space.values[value].measure))
        total -= price * conditions
    return total


# --- The same, plainly. ---


def small_leaves(model):
    def term(regions, region):
        n = regions.weight(region)
        return even_term(regions, region) - (model.penalty if 0 < n < model.least else 0.0)

    return term


def few_conditions(model):
    def term(regions, region):
        total = 0.0
        for f, codes in enumerate(region):
            held = {c: regions.weight((*region[:f], frozenset([c]), *region[f + 1 :])) for c in codes}
            n = sum(held.values())
            for code, w in held.items():
                if w > 0:
                    share = (w + model.smoothing) / (n + len(codes) * model.smoothing)
                    total += w * math.log(share / regions.domain[f].measures[code])
            total -= model.price * (len(codes) < regions.domain.sizes[f])
        return total

    return term


MODELS = {
    "small leaves": (SmallLeaves(2.5, 6.0), small_leaves),
    "few conditions": (FewConditions(0.7, 0.5), few_conditions),
}
PLAIN = {
    "leaf": lambda tree, n, p: leaf_sparse_of(tree, n, 3.0, 1.5),
    "branch": lambda tree, n, p: branch_sparse_of(tree, p),
}


def posterior_of(method, leaf):
    return LeafSparse(3.0, 1.5, leaf=leaf) if method == "leaf" else BranchSparse(2.0, 1.5, leaf=leaf)


def plain_score(tree, data, term, scorer):
    """The log posterior of one tree by the plain formulas: it is the only tree of its own splits."""
    regions = Regions(tree.domain, data)
    leaves = [tuple(region.allowed) for region in tree.regions]
    terms = math.fsum(term(regions, leaf) for leaf in leaves)
    even = math.fsum(even_term(regions, leaf) for leaf in leaves)
    weights = np.array([regions.weight(leaf) for leaf in leaves])
    return scorer.log_posterior(tree, weights) - even + terms


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("method", ["leaf", "branch"])
@given(domain=domains(most_features=2, most_values=3), data=st.data())
@settings(max_examples=25)
def test_exact_search_with_a_strangers_leaf_model_finds_the_best_of_all_trees(name, method, domain, data):
    rows = data.draw(data_in(domain, weights=st.integers(1, 9).map(float)))
    leaf, plain = MODELS[name]
    trees = every_tree(domain, rows, 2.0, 1.5, term=plain(leaf))
    if trees is None:
        return
    n, p = sum(w for _, w in rows), len(domain)
    best = max(PLAIN[method](tree, n, p) for tree in trees)
    problem = Problem(MemoryEngine(table_of(domain, rows)), posterior_of(method, leaf))
    found = run(Exact(), problem)
    assert found.proven
    assert found.log_posterior == pytest.approx(best, rel=1e-9, abs=1e-9)
    shallow = [tree for tree in trees if tree.levels <= 1]
    limited = run(Exact(depth=1), problem)
    assert limited.log_posterior == pytest.approx(max(PLAIN[method](t, n, p) for t in shallow), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "search"),
    [("few conditions", Greedy()), ("few conditions", Anneal(iterations=100, restarts=2))],  # each compiles anew
    ids=lambda given: given if isinstance(given, str) else given.name,
)
@pytest.mark.parametrize("method", ["leaf", "branch"])
@given(domain=domains(most_features=3, most_values=4), data=st.data())
@settings(max_examples=10)
def test_a_search_reports_the_plain_score_of_a_strangers_leaf_model(name, search, method, domain, data):
    rows = data.draw(data_in(domain, weights=st.integers(1, 9).map(float)))
    leaf, plain = MODELS[name]
    even = LeafSparse(3.0, 1.5) if method == "leaf" else BranchSparse(2.0, 1.5)
    problem = Problem(MemoryEngine(table_of(domain, rows)), posterior_of(method, leaf), 6)
    found = run(search, problem)
    assert isinstance(found.structure, Tree)
    assert found.structure.n_leaves <= 6
    expected = plain_score(found.structure, rows, plain(leaf), even)
    assert found.log_posterior == pytest.approx(expected, rel=1e-9, abs=1e-9)
    if search.name == "anneal":
        assert found.trace[-1][1] == pytest.approx(expected, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("method", ["leaf", "branch"])
def test_annealing_with_a_strangers_leaf_model_finds_the_optimum(method):
    hits = 0
    for seed in range(5):
        truth = random_tree(rows=150, sizes=(3, 2, 3), leaves=5, seed=seed)
        problem = Problem(
            MemoryEngine(Table.of(truth.domain, truth.codes)), posterior_of(method, FewConditions(0.7, 0.5))
        )
        best = run(Exact(), problem)
        found = run(Anneal(), problem)
        assert found.log_posterior <= best.log_posterior + 1e-7
        hits += found.log_posterior >= best.log_posterior - 1e-7
    assert hits >= 4


@given(domain=domains(most_features=2, most_values=3), data=st.data())
@settings(max_examples=25)
def test_a_strangers_posterior_is_proven_like_ours(domain, data):
    rows = data.draw(data_in(domain, weights=st.integers(1, 9).map(float)))
    trees = every_tree(domain, rows, 2.0, 1.5)
    if trees is None:
        return
    n = sum(w for _, w in rows)

    def score(tree):
        k = len(tree.leaves)
        return leaf_sparse_of(tree, n, 3.0, 1.5) - 0.3 * k * (k - 1) / 2

    problem = Problem(MemoryEngine(table_of(domain, rows)), DearLeaves(3.0, 1.5))
    found = run(Exact(), problem)
    assert found.proven
    assert found.log_posterior == pytest.approx(max(map(score, trees)), rel=1e-9, abs=1e-9)
    near = near_optimal(problem, 1.0)
    scores = {tree.leaves: score(tree) for tree in trees}
    assert len(near) == sum(value > found.log_posterior - 1.0 for value in scores.values())
    for search in (Greedy(), Anneal(iterations=200, restarts=2)):
        other = run(search, problem)
        assert other.log_posterior == pytest.approx(problem.score(other.structure))
        assert other.log_posterior <= found.log_posterior + 1e-9
