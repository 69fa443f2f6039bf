"""Searching trees with profile leaves: warm starts, sizes, seeds and limits are those of uniform leaves."""

import numpy as np
import pytest

from sparsedensity import BranchSparseTree, LeafSparseTree
from sparsedensity.engines import MemoryEngine
from sparsedensity.search.trees import anneal
from sparsedensity.search.trees.anneal_memory import FEW_ROWS, pairs_per_row, rows_within

QUICK = {"search": "anneal", "iterations": 60, "restarts": 2, "kinds": "nominal", "progress": False}


@pytest.fixture(scope="module")
def rows():
    """Three kinds of records in six columns."""
    rng = np.random.default_rng(5)
    kind = rng.integers(0, 3, 600)
    return np.stack([np.where(rng.random(600) < 0.6, kind, rng.integers(0, 4, 600)) for _ in range(6)], axis=1)


def problem_of(model):
    return model._problem(MemoryEngine(model.rows_))


@pytest.mark.parametrize("leaf", ["uniform", "profile"])
def test_a_warm_start_from_either_kind_of_tree_is_not_lost(rows, leaf):
    start = LeafSparseTree(leaf=leaf, search="greedy", max_leaves=5, kinds="nominal").fit(rows)
    model = LeafSparseTree(leaf="profile", warm_start_from=start, max_leaves=8, **QUICK).fit(rows)
    assert model.log_posterior_ >= problem_of(model).score(start.structure_) - 1e-7


@pytest.mark.parametrize("method", [LeafSparseTree, BranchSparseTree])
def test_annealing_is_as_good_as_growing(rows, method):
    grown = method(leaf="profile", search="greedy", kinds="nominal").fit(rows)
    model = method(leaf="profile", warm_start_from="greedy", **QUICK).fit(rows)
    assert model.log_posterior_ >= grown.log_posterior_ - 1e-7


def test_the_archive_has_the_scores_of_its_trees_and_the_calibrated_size_is_told(rows):
    model = LeafSparseTree(leaf="profile", prior="paper", max_leaves=6, **QUICK).fit(rows)
    found, problem = model.search_, problem_of(model)
    assert sorted(found.archive) == list(range(1, 7))
    for size, score in found.scores.items():
        assert problem.score(found.archive[size]) == pytest.approx(score, rel=1e-9)
    assert found.calibrated_leaves in found.archive
    assert found.limit_binds is True or found.limit_binds is None


def test_a_seed_gives_the_same_tree_whatever_the_number_of_jobs(rows):
    one, two = (LeafSparseTree(leaf="profile", n_jobs=jobs, **QUICK).fit(rows) for jobs in (1, 2))
    assert one.structure_.splits() == two.structure_.splits()


def test_a_table_with_many_pairs_is_searched_on_a_sample_and_weighed_on_all_rows(rows, monkeypatch):
    monkeypatch.setattr(anneal, "rows_within", lambda problem, pairs: 100)
    model = LeafSparseTree(leaf="profile", prior="paper", max_leaves=6, **QUICK).fit(rows)
    assert sum(leaf.weight for leaf in model.leaves_) == pytest.approx(len(rows))
    assert model.log_posterior_ == pytest.approx(problem_of(model).score(model.structure_))
    assert model.n_leaves_ > 1


def test_pairs_are_counted_beside_all_values_but_the_commonest(rows):
    model = LeafSparseTree(leaf="profile", search="greedy", kinds="nominal").fit(rows)
    problem = problem_of(model)
    shares = [np.bincount(column).max() / len(rows) for column in rows.T]
    assert pairs_per_row(problem) == pytest.approx(6 * sum(1 - share for share in shares))
    assert rows_within(problem, 1.0) == FEW_ROWS
    assert rows_within(problem, 1e9) == int(1e9 / pairs_per_row(problem))


def test_a_table_too_wide_to_anneal_is_grown_within_its_time():
    rng = np.random.default_rng(0)
    wide = rng.integers(0, 2, (300, 1500))
    with pytest.warns(match="time limit"):
        model = LeafSparseTree(leaf="profile", time_limit=0.5, kinds="nominal", progress=False).fit(wide)
    assert model.search_.method == "greedy"
    assert model.search_.reason == "time limit"
