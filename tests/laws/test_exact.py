"""Exact search finds the optimum of every small problem, proves it, and bounds every other tree."""

import math
from unittest.mock import patch

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sparsedensity.engines import MemoryEngine
from sparsedensity.posterior import BranchSparse, LeafSparse
from sparsedensity.problem import Problem
from sparsedensity.search import Exact, run
from sparsedensity.search.trees.exact import proof
from sparsedensity.search.trees.exact.near_optimal import near_optimal
from sparsedensity.search.trees.exact.regions import Lattice, count_sides
from tests.naive_search import (
    Regions,
    best_branch_sparse,
    best_leaf_sparse,
    branch_sparse_of,
    every_tree,
    leaf_sparse_of,
)
from tests.strategies import data_in, domains, features, positive, shares, table_of

MOST_REGIONS = 500


def close(value):
    return pytest.approx(value, rel=1e-8, abs=1e-7)


def small(domain):
    return math.prod(count_sides(feature)[0] for feature in domain) <= MOST_REGIONS


def problem_of(domain, rows, posterior, most=None):
    return Problem(MemoryEngine(table_of(domain, rows)), posterior, most)


def region_of(lattice, number):
    """A region of the product as the naive search spells it."""
    return tuple(frozenset(lattice.codes(number, f)) for f in range(len(lattice.domain)))


@given(features(most=5))
def test_sides_are_counted_without_listing_them(feature):
    from sparsedensity.search.trees.exact.regions import sides_of

    sides = sides_of(feature)
    assert count_sides(feature) == (len(sides.masks), len(sides.first))
    assert len(set(sides.masks)) == len(sides.masks)


@settings(max_examples=40)
@given(domains(), st.data())
def test_every_region_is_counted_and_its_parts_come_before_it(domain, data):
    assume(small(domain))
    rows = data.draw(data_in(domain))
    lattice, regions = Lattice(domain, tuple(range(len(domain)))), Regions(domain, rows)
    weights = lattice.weights(MemoryEngine(table_of(domain, rows)))
    log_volumes = lattice.log_volumes()
    numbers = {region_of(lattice, number): number for number in range(lattice.regions)}
    assert len(numbers) == lattice.regions
    assert numbers[regions.whole] == lattice.root
    for region, number in numbers.items():
        assert weights[number] == close(regions.weight(region))
        assert log_volumes[number] == close(regions.log_volume(region))
        for _, parts in regions.children(region):
            assert all(numbers[part] < number for part in parts)


@settings(max_examples=150)
@given(domains(), st.data(), positive, positive, st.none() | st.integers(1, 9))
def test_the_exact_leaf_sparse_tree_is_the_optimum(domain, data, lam, a, most):
    assume(small(domain))
    rows = data.draw(data_in(domain))
    found = run(Exact(), problem_of(domain, rows, LeafSparse(lam, a), most))
    assert found.log_posterior == close(best_leaf_sparse(domain, rows, lam, a, most))
    assert found.proven
    assert found.gap == 0
    assert most is None or found.structure.n_leaves <= most
    unlimited = best_leaf_sparse(domain, rows, lam, a)
    if most is not None and abs(unlimited - found.log_posterior) > 1e-6 and found.structure.n_leaves == most:
        assert found.limit_binds
    if unlimited == close(found.log_posterior):
        assert not found.limit_binds


@settings(max_examples=150)
@given(domains(), st.data(), positive, positive, st.none() | shares)
def test_the_exact_branch_sparse_tree_is_the_optimum(domain, data, lam, a, g):
    assume(small(domain))
    rows = data.draw(data_in(domain))
    found = run(Exact(), problem_of(domain, rows, BranchSparse(lam, a, g)))
    assert found.log_posterior == close(best_branch_sparse(domain, rows, lam, a, g))
    assert found.proven
    assert not found.limit_binds


@settings(max_examples=150)
@given(domains(2, 3), st.data(), positive, positive, st.none() | shares, st.integers(1, 6))
def test_the_exact_branch_sparse_tree_keeps_its_limit(domain, data, lam, a, g, most):
    rows = data.draw(data_in(domain))
    every = every_tree(domain, rows, lam, a)
    assume(every is not None)
    allowed = [grown for grown in every if len(grown.leaves) <= most]
    best = max(branch_sparse_of(grown, len(domain), g) for grown in allowed)
    found = run(Exact(), problem_of(domain, rows, BranchSparse(lam, a, g), most))
    assert found.proven
    assert found.structure.n_leaves <= most
    assert found.log_posterior == close(best)


def spelled(node):
    """A tree as the naive search spells it."""
    return () if node.is_leaf else (node.feature, frozenset((child.group, spelled(child)) for child in node.children))


def listed(problem, within, at_most=10_000):
    near = near_optimal(problem, within, at_most)
    for own in near:
        assert problem.score(own.structure) == close(own.log_posterior)
    return near


@settings(max_examples=100)
@given(domains(2, 3), st.data(), positive, positive, st.floats(0.1, 6), st.none() | st.integers(1, 6))
def test_all_near_optimal_sets_of_leaves_are_listed(domain, data, lam, a, within, most):
    rows = data.draw(data_in(domain))
    every = every_tree(domain, rows, lam, a)
    assume(every is not None)
    n = math.fsum(weight for _, weight in rows)
    scores = {grown.leaves: leaf_sparse_of(grown, n, lam, a) for grown in every if len(grown.leaves) <= (most or 99)}
    limit = max(scores.values()) - within
    assume(all(abs(score - limit) > 1e-6 for score in scores.values()))
    near = listed(problem_of(domain, rows, LeafSparse(lam, a), most), within)
    found = [frozenset(region.allowed for region in own.structure.regions) for own in near]
    assert len(set(found)) == len(found)
    assert set(found) == {leaves for leaves, score in scores.items() if score > limit}
    assert near.complete


@settings(max_examples=100)
@given(
    domains(2, 3), st.data(), positive, positive, st.none() | shares, st.floats(0.1, 6), st.none() | st.integers(1, 6)
)
def test_all_near_optimal_branch_sparse_trees_are_listed(domain, data, lam, a, g, within, most):
    rows = data.draw(data_in(domain))
    every = every_tree(domain, rows, lam, a)
    assume(every is not None)
    allowed = [grown for grown in every if len(grown.leaves) <= (most or 99)]
    scores = {grown.spelling: branch_sparse_of(grown, len(domain), g) for grown in allowed}
    limit = max(scores.values()) - within
    assume(all(abs(score - limit) > 1e-6 for score in scores.values()))
    near = listed(problem_of(domain, rows, BranchSparse(lam, a, g), most), within)
    found = [spelled(own.structure.root()) for own in near]
    assert len(set(found)) == len(found)
    assert set(found) == {spelling for spelling, score in scores.items() if score > limit}


@settings(max_examples=40)
@given(domains(2, 3), st.data(), st.sampled_from([LeafSparse(3, 1), BranchSparse(2, 1)]), st.integers(1, 5))
def test_a_short_list_has_the_best_of_a_long_one(domain, data, posterior, at_most):
    problem = problem_of(domain, data.draw(data_in(domain)), posterior)
    long, short = near_optimal(problem, 5.0), near_optimal(problem, 5.0, at_most)
    assert [own.log_posterior for own in short] == close([own.log_posterior for own in long][:at_most])
    assert short.complete == (len(long) <= at_most)
    assert ("at least" in str(short)) != short.complete


@settings(max_examples=120)
@given(
    domains(3, 3), st.data(), positive, positive, st.none() | shares, st.integers(1, 3), st.none() | st.integers(1, 6)
)
def test_the_best_tree_of_few_levels_is_found(domain, data, lam, a, g, depth, most):
    rows = data.draw(data_in(domain))
    every = every_tree(domain, rows, lam, a)
    assume(every is not None)
    allowed = [grown for grown in every if grown.levels <= depth and len(grown.leaves) <= (most or 99)]
    n = math.fsum(weight for _, weight in rows)
    best = {
        LeafSparse(lam, a): max(leaf_sparse_of(grown, n, lam, a) for grown in allowed),
        BranchSparse(lam, a, g): max(branch_sparse_of(grown, len(domain), g) for grown in allowed),
    }
    for posterior, score in best.items():
        found = run(Exact(depth=depth), problem_of(domain, rows, posterior, most))
        assert found.proven
        assert found.log_posterior == close(score)
        assert max(leaf.depth for leaf in found.structure.leaves()) <= depth


@settings(max_examples=60)
@given(domains(3, 3), st.data(), positive, positive, st.integers(1, 2), st.floats(0.1, 6))
def test_all_near_optimal_trees_of_few_levels_are_listed(domain, data, lam, a, depth, within):
    rows = data.draw(data_in(domain))
    every = every_tree(domain, rows, lam, a)
    assume(every is not None)
    n = math.fsum(weight for _, weight in rows)
    allowed = [grown for grown in every if grown.levels <= depth]
    leaves = {grown.leaves: leaf_sparse_of(grown, n, lam, a) for grown in allowed}
    spellings = {grown.spelling: branch_sparse_of(grown, len(domain)) for grown in allowed}
    for posterior, scores in ((LeafSparse(lam, a), leaves), (BranchSparse(lam, a), spellings)):
        limit = max(scores.values()) - within
        assume(all(abs(score - limit) > 1e-6 for score in scores.values()))
        near = near_optimal(problem_of(domain, rows, posterior), within, 10_000, depth=depth)
        assert len(near) == sum(score > limit for score in scores.values())
        assert [own.log_posterior for own in near] == close(
            sorted((s for s in scores.values() if s > limit), reverse=True)
        )


@settings(max_examples=60)
@given(domains(), st.data(), positive, positive, st.none() | st.integers(1, 9))
def test_a_table_over_the_number_of_leaves_proves_the_same(domain, data, lam, a, most):
    assume(small(domain))
    problem = problem_of(domain, data.draw(data_in(domain)), LeafSparse(lam, a), most)
    with patch.object(proof, "FEW_CHOICES", 0):
        found = run(Exact(), problem)
    assert found.proven
    assert found.log_posterior == close(run(Exact(), problem).log_posterior)
