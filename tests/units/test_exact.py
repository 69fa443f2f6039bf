"""Exact search on tables that people know, and on tables that are too large for it."""

from unittest.mock import patch

import numpy as np
import pytest

from sparsedensity import datasets
from sparsedensity.domain import Domain, Feature
from sparsedensity.engines import MemoryEngine
from sparsedensity.errors import DataError, ParameterError
from sparsedensity.ingest import Reading, open_source, read_table
from sparsedensity.posterior import BranchSparse, LeafSparse, profile_leaf
from sparsedensity.problem import Problem
from sparsedensity.search import Budget, Exact, Greedy, estimate, near_optimal, run
from sparsedensity.search.near import TooManyError
from sparsedensity.search.trees.exact import best_by_region as tables
from sparsedensity.search.trees.exact import depth_limited, regions
from sparsedensity.search.trees.exact.within_slack import Within
from sparsedensity.table import Table

METHODS = [LeafSparse(8, 2), BranchSparse(2, 2)]


@pytest.fixture(scope="module")
def titanic():
    return MemoryEngine(read_table(open_source(datasets.load("titanic")), Reading()))


def wide(features=40, values=6):
    """A table with more regions than atoms in a room."""
    domain = Domain(tuple(Feature.nominal(f"x{i}", range(values)) for i in range(features)))
    codes = np.random.default_rng(0).integers(0, values, (50, features)).astype(np.uint8)
    return MemoryEngine(Table.of(domain, codes))


@pytest.mark.parametrize("posterior", METHODS)
def test_the_titanic_optimum_groups_first_with_third_class_for_some_adults(titanic, posterior):
    found = run(Exact(), Problem(titanic, posterior, 100))
    assert found.proven
    assert found.structure.n_leaves == 9
    assert found.moves >= estimate(Problem(titanic, posterior)).regions


def test_the_limit_binds_where_a_larger_tree_is_better(titanic):
    assert run(Exact(), Problem(titanic, LeafSparse(8, 2), 4)).limit_binds
    assert run(Exact(), Problem(titanic, BranchSparse(2, 2), 4)).limit_binds
    assert not run(Exact(), Problem(titanic, LeafSparse(8, 2), 9)).limit_binds


def test_every_limit_is_proven(titanic):
    for posterior in METHODS:
        scores = [run(Exact(), Problem(titanic, posterior, most)) for most in range(1, 17)]
        assert all(found.proven for found in scores)
        assert all(found.structure.n_leaves <= most for most, found in enumerate(scores, 1))
        assert [found.log_posterior for found in scores] == sorted(found.log_posterior for found in scores)


def test_the_archive_holds_trees_of_their_size_and_the_best(titanic):
    found = run(Exact(), Problem(titanic, LeafSparse(8, 2), 100))
    assert all(tree.n_leaves == leaves for leaves, tree in found.archive.items())
    assert found.archive[9] is found.structure


@pytest.mark.parametrize("posterior", METHODS)
def test_a_hopeless_table_is_refused_with_the_numbers(posterior):
    with pytest.raises(DataError, match=r"10\^72 regions.*GB.*minutes.*time_limit"):
        run(Exact(), Problem(wide(), posterior, 100))


def test_a_hopeless_table_still_gives_a_tree_and_a_bound_if_asked():
    problem = Problem(wide(), LeafSparse(8, 2), 100)
    warm = run(Greedy(), problem).structure
    found = run(Exact(warm=warm, anytime=True), problem)
    assert found.log_posterior == pytest.approx(problem.score(warm))
    assert not found.proven
    assert found.gap > 0


def test_a_warm_tree_that_breaks_the_limit_is_left_out(titanic):
    warm = run(Exact(), Problem(titanic, LeafSparse(8, 2), 100)).structure
    found = run(Exact(warm=warm), Problem(titanic, LeafSparse(8, 2), 3))
    assert found.structure.n_leaves <= 3


def test_an_interrupted_proof_hands_back_a_tree_and_a_bound(titanic):
    def stop(state, seconds):
        raise KeyboardInterrupt

    with patch.object(tables, "PARTINGS_PER_STEP", 1):
        found = run(Exact(), Problem(titanic, LeafSparse(8, 2), 100), watch=[stop])
    assert found.reason == "interrupted"
    assert not found.proven
    assert found.gap > 0


def profiled(engine, posterior):
    """A posterior with profile leaves of a table."""
    return posterior.with_leaf(profile_leaf(engine.domain, engine.value_weights(), 2, 0.5))


@pytest.mark.parametrize("depth", [None, 2])
def test_weighing_every_value_of_every_region_is_part_of_what_a_proof_costs(titanic, depth):
    for posterior in METHODS:
        even, counted = Problem(titanic, posterior), Problem(titanic, profiled(titanic, posterior))
        assert estimate(counted, depth).seconds > estimate(even, depth).seconds
        assert estimate(counted, depth).regions == estimate(even, depth).regions


@pytest.mark.parametrize("depth", [None, 2])
def test_a_proof_can_end_while_it_weighs_the_values_of_regions(titanic, depth):
    for posterior in METHODS:
        problem = Problem(titanic, profiled(titanic, posterior), 100)
        with patch.object(regions, "VALUES_PER_STEP", 1), patch.object(depth_limited, "VALUES_PER_STEP", 1):
            found = run(Exact(depth=depth), problem, budget=Budget(moves=3))
        assert found.reason == "iterations"
        assert found.moves < 3 + max(titanic.domain.sizes) ** 2
        assert found.upper_bound > run(Exact(depth=depth), problem).log_posterior


def test_near_optimal_trees_that_cannot_all_be_listed_are_at_least_so_many(titanic):
    problem = Problem(titanic, LeafSparse(8, 2), 100)
    every = near_optimal(problem, 8.0, at_most=100_000)
    listing = Within._down

    def short(self):
        if self.slack > 2:
            raise TooManyError
        return (yield from listing(self))

    with patch.object(Within, "_down", short):
        some = near_optimal(problem, 8.0, at_most=100_000)
    assert every.complete
    assert not some.complete
    assert 0 < len(some) < len(every)
    assert [own.log_posterior for own in some] == [own.log_posterior for own in every][: len(some)]


def test_the_feature_prior_of_a_wide_table_is_refused():
    with pytest.raises(DataError, match="regions"):
        run(Exact(depth=1), Problem(wide(), BranchSparse(2, 2, 0.3)))


def test_near_optimal_needs_a_distance_and_a_number(titanic):
    problem = Problem(titanic, LeafSparse(8, 2), 100)
    with pytest.raises(ParameterError, match="within"):
        near_optimal(problem, -1.0)
    with pytest.raises(ParameterError, match="at_most"):
        near_optimal(problem, 1.0, at_most=0)


def test_a_domain_of_one_point_has_one_tree():
    domain = Domain((Feature.nominal("only", ("a",)),))
    engine = MemoryEngine(Table.of(domain, np.zeros((3, 1), np.uint8)))
    for posterior in (*METHODS, BranchSparse(2, 2, 0.3)):
        found = run(Exact(), Problem(engine, posterior))
        assert found.proven
        assert found.structure.n_leaves == 1
