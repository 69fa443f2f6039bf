"""Laws of exact passes: every score is the plain one, none is lower than the last, and no single move is left."""

import re
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reproduction.datasets.random_trees import random_tree
from sparsedensity.engines import MemoryEngine
from sparsedensity.models.progress import standing
from sparsedensity.posterior import BranchSparse, LeafSparse, profile_leaf
from sparsedensity.problem import Problem
from sparsedensity.search import Anneal, Greedy, run
from sparsedensity.search.trees import anneal, greedy
from sparsedensity.search.trees.passes import Passes
from sparsedensity.structures import Tree
from sparsedensity.table import Table
from tests import naive, naive_profiles
from tests.far_rows import FarRows
from tests.naive_search import divisions
from tests.strategies import data_in, domains, positive, real_weights, shares, table_of, trees

limits = st.none() | st.integers(2, 8)
whole = st.integers(1, 30).map(float)


def passes_of(table, posterior, starts, limit=None):
    """Passes from some trees that the limit allows."""
    some = [tree for tree in starts if limit is None or tree.n_leaves <= limit]
    problem = Problem(FarRows(MemoryEngine(table)), posterior, limit)
    return Passes(problem, table, some or [Tree.leaf(table.domain)])


def all_bests(passes):
    """The best counted tree after every pass."""
    while not passes.finished:
        passes.step()
        yield passes.best


def holds_in_every_pass(passes, plain):
    """Every score is the plain one, and never lower than the last; so are those of the trees of other sizes."""
    bests = list(all_bests(passes))
    for tree, score in bests:
        assert score == pytest.approx(plain(tree), rel=1e-9, abs=1e-9)
        assert tree.n_leaves <= passes.limit
    scores = [best.log_posterior for best in bests]
    assert scores == sorted(scores)
    for size, (tree, score) in passes.trees(6).items():
        assert tree.n_leaves == size
        assert score == pytest.approx(plain(tree), rel=1e-9, abs=1e-7)


@settings(max_examples=40)
@given(domains(), st.data(), positive, positive, limits)
def test_the_score_of_a_leaf_sparse_tree_is_the_naive_one_after_every_pass(domain, data, lam, a, limit):
    rows, starts = data.draw(data_in(domain, real_weights)), [data.draw(trees(domain)) for _ in range(2)]
    passes = passes_of(table_of(domain, rows), LeafSparse(lam, a), starts, limit)
    holds_in_every_pass(passes, lambda tree: naive.leaf_sparse(tree, rows, lam, a))


@settings(max_examples=40)
@given(domains(), st.data(), positive, positive, st.none() | shares, limits)
def test_the_score_of_a_branch_sparse_tree_is_the_naive_one_after_every_pass(domain, data, lam, a, g, limit):
    rows, starts = data.draw(data_in(domain, real_weights)), [data.draw(trees(domain)) for _ in range(2)]
    passes = passes_of(table_of(domain, rows), BranchSparse(lam, a, g), starts, limit)
    holds_in_every_pass(passes, lambda tree: naive.branch_sparse(tree, rows, lam, a, g))


@pytest.mark.parametrize("method", ["leaf", "branch"])
@settings(max_examples=25)
@given(domains(), st.data(), limits)
def test_the_score_of_a_tree_of_profiles_is_the_naive_one_after_every_pass(method, domain, data, limit):
    rows, starts = data.draw(data_in(domain, whole)), [data.draw(trees(domain)) for _ in range(2)]
    table = table_of(domain, rows)
    leaf = profile_leaf(domain, MemoryEngine(table).value_weights(), 2, 0.5)
    term = partial(naive_profiles.leaf_term, naive_profiles.model_of(domain, rows, 2, 0.5))
    posterior = LeafSparse(3, 2, leaf=leaf) if method == "leaf" else BranchSparse(2, 2, leaf=leaf)
    plain = naive.leaf_sparse if method == "leaf" else naive.branch_sparse
    lam = 3 if method == "leaf" else 2
    passes = passes_of(table, posterior, starts, limit)
    holds_in_every_pass(passes, lambda tree: plain(tree, rows, lam, 2, term=term))
    best = passes.best
    problem = Problem(MemoryEngine(table), posterior)
    assert all(problem.score(other) <= best.log_posterior + 1e-6 for other in pruned_once(best.tree))


def pruned_once(tree):
    """Every tree with one split less, whose children are all leaves."""
    for node in tree.walk():
        if not node.is_leaf and all(child.is_leaf for child in node.children):
            yield without(tree, node.index)


def without(tree, index):
    """The tree with a leaf at some node."""
    splits = tree.splits()
    return Tree.grown(tree.domain, 0, lambda node: None if node == index else splits[node])


def split_once(tree, groups_of=lambda division: len(division) == 2):
    """Every tree with one leaf divided, along any feature in any way."""
    for leaf in tree.leaves():
        for feature, codes in enumerate(leaf.region.allowed):
            for division in divisions(tree.domain[feature], codes):
                if groups_of(division):
                    yield tree.split(leaf.index, feature, division)


def regrouped_once(tree):
    """Every tree with a split above leaves only replaced by any other division of the same region."""
    for node in tree.walk():
        if not node.is_leaf and all(child.is_leaf for child in node.children):
            bare = without(tree, node.index)
            (leaf,) = [one for one in bare.leaves() if one.region == node.region]
            for feature, codes in enumerate(leaf.region.allowed):
                for division in divisions(tree.domain[feature], codes):
                    yield bare.split(leaf.index, feature, division)


def exchanged_once(tree):
    """Every tree with one split above leaves only closed, and another leaf divided in two."""
    for bare in pruned_once(tree):
        yield from split_once(bare)


def one_move_away(tree, limit):
    """Every tree that one split, prune, regrouping or exchange leads to, within the limit."""
    for move in (split_once, pruned_once, regrouped_once, exchanged_once):
        for other in move(tree):
            if limit is None or other.n_leaves <= limit:
                yield other


@pytest.mark.parametrize("posterior", [LeafSparse(3, 1.5), BranchSparse(2, 1.5)], ids=["leaf", "branch"])
@settings(max_examples=30)
@given(domains(most_features=2, equal_measures=True), st.data(), limits)
def test_passes_end_where_no_single_move_pays(posterior, domain, data, limit):
    table = table_of(domain, data.draw(data_in(domain, whole)))
    passes = passes_of(table, posterior, [data.draw(trees(domain))], limit)
    *_, best = all_bests(passes)
    problem = Problem(MemoryEngine(table), posterior)
    scores = [problem.score(other) for other in one_move_away(best.tree, limit)]
    assert max(scores, default=-np.inf) <= best.log_posterior + 1e-6


def test_the_parts_of_several_trees_make_a_better_one():
    truth = random_tree(rows=2000, sizes=[3, 4, 2, 5], leaves=8, seed=2)
    table = Table.of(truth.domain, truth.codes)
    root, *_ = truth.tree.walk()
    halves = [truth.tree]
    for child in root.children:
        halves = [*halves, *([without(truth.tree, child.index)] if not child.is_leaf else [])]
    assert len(halves) > 2
    passes = passes_of(table, LeafSparse(), halves[1:], 20)
    *_, best = all_bests(passes)
    assert best.log_posterior >= Problem(MemoryEngine(table), LeafSparse()).score(truth.tree) - 1e-6


def test_a_tree_that_needs_nothing_is_counted_once():
    truth = random_tree(rows=3000, sizes=[2, 2], leaves=3, seed=1)
    passes = passes_of(Table.of(truth.domain, truth.codes), LeafSparse(), [truth.tree])
    assert len(list(all_bests(passes))) == 1
    assert len(passes.problem.engine.passes) == 1


@pytest.fixture
def many_rows(monkeypatch):
    """A table of more rows than are searched, and one whose rows are elsewhere."""
    monkeypatch.setattr(anneal, "MOST_ROWS", 300)
    monkeypatch.setattr(anneal, "SAMPLE", 250)
    monkeypatch.setattr(greedy, "MOST_ROWS", 250)
    truth = random_tree(rows=3000, sizes=[3, 4, 2, 5, 3, 4], leaves=10, seed=4)
    table = Table.of(truth.domain, truth.codes)
    assert len(table) > 300
    return table


POSTERIORS = {
    "leaf": lambda leaf: LeafSparse(8, 2),
    "branch": lambda leaf: BranchSparse(2, 2),
    "features": lambda leaf: BranchSparse(2, 2, 0.3),
    "leaf-profile": lambda leaf: LeafSparse(8, 2, leaf=leaf),
    "branch-profile": lambda leaf: BranchSparse(2, 2, leaf=leaf),
}


def far_problem(table, kind, limit=15):
    leaf = profile_leaf(table.domain, MemoryEngine(table).value_weights(), 2, 0.5)
    return Problem(FarRows(MemoryEngine(table)), POSTERIORS[kind](leaf), limit)


@pytest.mark.parametrize("kind", POSTERIORS)
@pytest.mark.parametrize("search", [Anneal(restarts=2, iterations=150), Greedy()], ids=["anneal", "greedy"])
def test_what_a_search_of_a_sample_says_of_scores_is_counted_on_all_rows(many_rows, search, kind):
    problem = far_problem(many_rows, kind)
    found = run(search, problem, rng=np.random.default_rng(1))
    assert found.log_posterior == pytest.approx(problem.score(found.structure))
    assert found.structure.n_leaves in found.scores
    for size, score in found.scores.items():
        assert problem.score(found.archive[size]) == pytest.approx(score, rel=1e-9)


@pytest.mark.parametrize("kind", ["leaf", "branch"])
def test_passes_keep_at_least_what_the_sample_found_and_the_greedy_tree(many_rows, kind):
    problem = far_problem(many_rows, kind)
    search, rng = Anneal(restarts=2, iterations=150), np.random.default_rng(1)
    state = search.init(problem, rng)
    while state.passes is None:
        state = search.step(problem, state, rng)
    searched = [problem.score(chain.tree(problem)) for chain in state.everyone()]
    while not state.finished:
        state = search.step(problem, state, rng)
    assert state.log_posterior >= max([*searched, problem.score(state.grown)]) - 1e-6


def test_ctrl_c_between_passes_keeps_the_best_tree_that_was_counted(many_rows):
    problem = far_problem(many_rows, "leaf")
    counted = []

    def interrupt(state, seconds):
        if state.passes is not None and state.passes.best is not None:
            counted.append(state.passes.best)
            raise KeyboardInterrupt

    found = run(Anneal(restarts=2, iterations=150), problem, watch=[interrupt], rng=np.random.default_rng(1))
    assert found.reason == "interrupted"
    assert len(counted) == 1
    assert found.log_posterior == pytest.approx(counted[0].log_posterior, rel=1e-12)


@pytest.mark.parametrize("search", [Anneal(restarts=2, iterations=20_000), Greedy()], ids=["anneal", "greedy"])
def test_progress_says_which_pass_over_all_rows_is_under_way(many_rows, search):
    problem, told = far_problem(many_rows, "leaf", 10), []
    found = run(search, problem, watch=[lambda state, _: told.append(standing(state))])
    passes = [re.match(r"pass (\d+) over all rows, log posterior -[\d,.]+", line) for line in told]
    numbers = [int(match[1]) for match in passes if match]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) == 1 if found.method == "greedy" else len(numbers) > 1
    assert told[0].startswith("log posterior")


def test_a_time_limit_leaves_time_to_count_all_rows(many_rows):
    problem = far_problem(many_rows, "leaf")
    search, rng = Anneal(seconds=0.01), np.random.default_rng(1)
    state = search.init(problem, rng)
    state = search.step(problem, state, rng)
    assert state.passes is not None
    assert search.step(problem, state, rng).log_posterior == pytest.approx(problem.score(state.passes.best.tree))


@pytest.mark.parametrize("kind", ["leaf", "leaf-profile"])
def test_the_same_seed_gives_the_same_tree_of_far_rows(many_rows, kind):
    found = [
        run(Anneal(restarts=2, iterations=150, jobs=jobs), far_problem(many_rows, kind), rng=np.random.default_rng(5))
        for jobs in (1, 2)
    ]
    assert found[0].structure.splits() == found[1].structure.splits()
    assert found[0].log_posterior == found[1].log_posterior


def test_the_limit_binds_if_all_rows_say_that_one_more_leaf_pays(many_rows):
    assert run(Anneal(restarts=2, iterations=150), far_problem(many_rows, "leaf", 4)).limit_binds
    loose = run(Anneal(restarts=2, iterations=150), far_problem(many_rows, "leaf", 60))
    assert loose.limit_binds is None


def test_a_greedy_tree_of_a_sample_is_the_best_pruning_by_all_rows(many_rows):
    problem = far_problem(many_rows, "leaf", 10)
    search, rng = Greedy(), np.random.default_rng(0)
    state = search.init(problem, rng)
    while not state.finished:
        state = search.step(problem, state, rng)
    before = len(problem.engine.passes)
    best = search.best(problem, state)
    assert len(problem.engine.passes) == before + 1
    scores = {size: problem.score(tree) for size, tree in best.archive.items()}
    assert problem.score(best.structure) == pytest.approx(max(scores.values()))
