"""Laws of the annealing search: scores are true, limits are kept, seeds decide, starts are never lost."""

import itertools
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reproduction.datasets.random_trees import random_tree
from sparsedensity import BranchSparseTree, LeafSparseTree, datasets
from sparsedensity.engines import MemoryEngine
from sparsedensity.posterior import BranchSparse, LeafSparse
from sparsedensity.problem import Problem
from sparsedensity.search import Anneal, Budget, Greedy, run
from sparsedensity.search.trees import anneal, anneal_memory
from sparsedensity.search.trees import anneal_chain as chain
from sparsedensity.structures import Tree
from sparsedensity.table import Table
from tests import naive
from tests.naive_search import best_branch_sparse, best_leaf_sparse
from tests.strategies import data_in, domains, positive, real_weights, shares, table_of, trees

QUICK = Anneal(restarts=2, iterations=150)
HALVES = 40
limits = st.none() | st.integers(1, 12)


def found_by(search, table, posterior, max_leaves=None, seed=0):
    return run(search, Problem(MemoryEngine(table), posterior, max_leaves), rng=np.random.default_rng(seed))


@settings(max_examples=40)
@given(domains(), st.data(), positive, positive, limits, st.integers(0, 99))
def test_the_reported_score_of_a_leaf_sparse_tree_is_the_naive_one(domain, data, lam, a, most, seed):
    rows = data.draw(data_in(domain, real_weights))
    found = found_by(QUICK, table_of(domain, rows), LeafSparse(lam, a), most, seed)
    assert found.log_posterior == pytest.approx(naive.leaf_sparse(found.structure, rows, lam, a), rel=1e-8, abs=1e-6)
    assert found.trace[-1][1] == pytest.approx(found.log_posterior, rel=1e-7, abs=1e-5)
    assert most is None or found.structure.n_leaves <= most


@settings(max_examples=40)
@given(domains(), st.data(), positive, positive, st.none() | shares, limits, st.integers(0, 99))
def test_the_reported_score_of_a_branch_sparse_tree_is_the_naive_one(domain, data, lam, a, g, most, seed):
    rows = data.draw(data_in(domain, real_weights))
    found = found_by(QUICK, table_of(domain, rows), BranchSparse(lam, a, g), most, seed)
    naively = naive.branch_sparse(found.structure, rows, lam, a, g)
    assert found.log_posterior == pytest.approx(naively, rel=1e-8, abs=1e-6)
    assert found.trace[-1][1] == pytest.approx(found.log_posterior, rel=1e-7, abs=1e-5)
    assert most is None or found.structure.n_leaves <= most


@settings(max_examples=25)
@given(domains(), st.data(), positive, positive, limits)
def test_it_is_never_below_the_greedy_tree(domain, data, lam, a, most):
    table = table_of(domain, data.draw(data_in(domain)))
    greedy = found_by(Greedy(), table, LeafSparse(lam, a), most)
    found = found_by(QUICK, table, LeafSparse(lam, a), most)
    assert found.log_posterior >= greedy.log_posterior - 1e-7 * abs(greedy.log_posterior)


@settings(max_examples=25)
@given(domains(), st.data(), positive, positive, st.none() | shares)
def test_it_is_never_below_the_tree_it_starts_from(domain, data, lam, a, g):
    table, start = table_of(domain, data.draw(data_in(domain))), data.draw(trees(domain))
    posterior = BranchSparse(lam, a, g)
    begin = Problem(MemoryEngine(table), posterior).score(start)
    found = found_by(Anneal(restarts=1, iterations=20, starts=(start,)), table, posterior)
    assert found.log_posterior >= begin - 1e-7 * abs(begin)


@settings(max_examples=25)
@given(domains(), st.data(), st.integers(2, 12))
def test_every_size_of_the_archive_is_a_tree_of_that_size_within_the_limit(domain, data, most):
    found = found_by(QUICK, table_of(domain, data.draw(data_in(domain))), LeafSparse(), most)
    assert set(found.archive) <= set(range(1, most + 1))
    assert {size: tree.n_leaves for size, tree in found.archive.items()} == {size: size for size in found.archive}
    assert found.structure.n_leaves in found.archive


@pytest.mark.parametrize("posterior", [LeafSparse(), BranchSparse(feature_probability=0.4)])
def test_the_same_seed_gives_the_same_tree_whatever_the_number_of_jobs(posterior):
    truth = random_tree(rows=800, sizes=[3, 4, 2, 5, 3], leaves=12, seed=3)
    table = table_of(truth.domain, [(tuple(row), 1.0) for row in truth.codes.tolist()])
    runs = [
        found_by(Anneal(iterations=500, jobs=jobs), table, posterior, 20, seed)
        for jobs, seed in ((1, 5), (3, 5), (1, 6))
    ]
    assert runs[0].structure.splits() == runs[1].structure.splits()
    assert runs[0].by_kind == runs[1].by_kind
    assert runs[0].by_kind != runs[2].by_kind


def test_the_record_counts_every_kind_of_move():
    tree = LeafSparseTree(search="anneal", random_state=1).fit(datasets.titanic())
    record = tree.search_.by_kind
    assert set(record) == set(chain.KINDS)
    assert sum(proposed for proposed, _, _ in record.values()) == tree.search_.moves
    assert all(better <= accepted <= proposed for proposed, accepted, better in record.values())
    assert all(record[kind][0] > 0 for kind in ("grow", "raise", "lift", "change", "insert"))
    assert tree.search_.restarts == 24


@pytest.mark.parametrize(
    ("scores", "going"),
    [([1.0, 5.0, 3.0, 4.0, 2.0, 6.0], [5.0, 3.0, 4.0, 2.0, 6.0]), ([2.0, 1.0], [2.0, 1.0]), ([7.0], [7.0])],
)
def test_the_better_four_fifths_go_on_in_their_order_but_two_at_least(scores, going):
    chains = [SimpleNamespace(score=score) for score in scores]
    assert [chain.score for chain in anneal.better(chains)] == going


@pytest.mark.parametrize("posterior", [LeafSparse(8, 2), BranchSparse(2, 2)], ids=["leaf", "branch"])
def test_restarts_with_even_leaves_begin_with_trees_of_their_own(posterior):
    truth = random_tree(rows=2000, sizes=[3, 4, 2, 5, 3, 2, 6], leaves=30, seed=3)
    problem = Problem(MemoryEngine(Table.of(truth.domain, truth.codes)), posterior, 30)
    chains = Anneal().init(problem, np.random.default_rng(0)).chains
    for each in chains:
        each.begin()
        assert each.score == pytest.approx(problem.score(each.tree(problem)))
    assert len({round(each.score, 6) for each in chains}) > len(chains) / 2


def test_the_record_says_how_far_apart_the_restarts_were():
    frame = datasets.titanic()
    assert LeafSparseTree(search="anneal", restarts=3).fit(frame).search_.spread >= 0
    assert LeafSparseTree(search="anneal", restarts=1).fit(frame).search_.spread is None


def test_a_search_that_was_still_gaining_when_it_ended_says_so(monkeypatch):
    truth = random_tree(rows=300, sizes=[3, 2, 2], leaves=4, seed=1)
    problem = Problem(MemoryEngine(Table.of(truth.domain, truth.codes)), LeafSparse(8, 2))
    assert run(Anneal(), problem).converged is True
    long = Anneal(restarts=1, iterations=100_000)
    assert run(long, problem, budget=Budget(moves=1)).converged is None
    monkeypatch.setattr(anneal, "MOST_ROUNDS", 1)
    monkeypatch.setattr(anneal, "ENOUGH", -1.0)
    assert run(Anneal(restarts=1), problem).converged is False


def test_chains_that_meet_at_one_score_go_on_as_one_and_then_the_search_ends(monkeypatch):
    monkeypatch.setattr(anneal, "ENOUGH", -1.0)
    truth = random_tree(rows=300, sizes=[3, 2, 2], leaves=4, seed=1)
    problem = Problem(MemoryEngine(Table.of(truth.domain, truth.codes)), LeafSparse(8, 2))
    search, rng = Anneal(restarts=3), np.random.default_rng(0)
    state = search.init(problem, rng)
    while not state.finished:
        search.step(problem, state, rng)
    assert {round(chain.score, 6) for chain in state.everyone()} == {round(state.log_posterior, 6)}
    assert state.settled is True
    assert state.rounds < anneal.MOST_ROUNDS


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("expected", [5, 8, 10])
def test_the_leaf_sparse_tree_of_titanic_is_the_optimum_from_every_seed(expected, seed):
    frame = datasets.titanic()
    tree = LeafSparseTree(expected_leaves=expected, search="anneal", random_state=seed).fit(frame)
    assert tree.log_posterior_ == pytest.approx(best_leaf_sparse(tree.domain_, rows_of(tree, frame), expected, 2))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("expected", [2, 3])
def test_the_branch_sparse_tree_of_titanic_is_the_optimum_from_every_seed(expected, seed):
    frame = datasets.titanic()
    tree = BranchSparseTree(expected_branches=expected, search="anneal", random_state=seed).fit(frame)
    assert tree.log_posterior_ == pytest.approx(best_branch_sparse(tree.domain_, rows_of(tree, frame), expected, 2))


def rows_of(tree, frame):
    codes = [tuple(tree.domain_[i].code(value) for i, value in enumerate(row)) for row in frame.rows()]
    return [(row, float(n)) for row, n in Counter(codes).items()]


def test_random_halves_of_the_simulated_data_give_back_the_six_leaves_that_made_them():
    frame = datasets.simulated()
    whole = LeafSparseTree(expected_leaves=5).fit(frame)
    made = leaves_of(whole)
    assert len(made) == 6
    rng, hits = np.random.default_rng(0), 0
    for seed in range(HALVES):
        half = frame[np.sort(rng.permutation(len(frame))[: len(frame) // 2])]
        tree = LeafSparseTree(
            expected_leaves=5, search="anneal", iterations=500, domain=whole.domain_, random_state=seed
        ).fit(half)
        hits += leaves_of(tree) == made
    assert hits >= 0.95 * HALVES


def leaves_of(tree):
    return {region.allowed for region in tree.structure_.regions}


def test_a_table_of_many_rows_is_searched_on_a_sample_and_scored_on_all_rows(monkeypatch):
    monkeypatch.setattr(anneal, "MOST_ROWS", 300)
    monkeypatch.setattr(anneal, "SAMPLE", 200)
    truth = random_tree(rows=3000, sizes=[3, 4, 2, 5, 3, 4], leaves=10, seed=4)
    rows = [(tuple(row), 1.0) for row in truth.codes.tolist()]
    table = table_of(truth.domain, rows)
    assert len(table) > 300
    found = found_by(QUICK, table, LeafSparse(), 15)
    counted = [(tuple(row), w) for row, w in zip(table.codes.tolist(), table.weights.tolist(), strict=True)]
    assert found.log_posterior == pytest.approx(naive.leaf_sparse(found.structure, counted, 8, 2))


@pytest.fixture
def few_of_many(monkeypatch):
    """Problems of a thousand rows, of which chains look at fifty or so in the beginning."""
    monkeypatch.setattr(anneal, "SOME_ROWS", 50)
    monkeypatch.setattr(anneal, "ROWS_PER_LEAF", 2)
    truth = random_tree(rows=2000, sizes=[4] * 8, leaves=30, seed=3)
    table = table_of(truth.domain, [(tuple(row), 1.0) for row in truth.codes.tolist()])
    assert len(table) > 500
    return Problem(MemoryEngine(table), LeafSparse(), 12)


def test_chains_that_looked_at_some_rows_go_on_with_all_and_every_score_is_that_of_all_rows(few_of_many):
    looked = []
    watch = [lambda state, seconds: looked.append((state.some is None, state.log_posterior))]
    found = run(Anneal(restarts=4, iterations=100), few_of_many, watch=watch, rng=np.random.default_rng(0))
    assert [every for every, _ in looked] == sorted(every for every, _ in looked)
    assert (looked[0][0], looked[-1][0]) == (False, True)
    rows = zip(few_of_many.engine.table.codes.tolist(), few_of_many.engine.table.weights.tolist(), strict=True)
    assert found.log_posterior == pytest.approx(
        naive.leaf_sparse(found.structure, [(tuple(row), w) for row, w in rows], 8, 2)
    )
    for size, score in found.scores.items():
        assert score == pytest.approx(few_of_many.score(found.archive[size]))
    assert found.log_posterior == pytest.approx(max(found.scores.values()))
    assert [score for _, score in looked] == sorted(score for _, score in looked)
    assert 0.0 <= found.spread <= found.log_posterior - few_of_many.score_of_one_leaf()


def test_ctrl_c_while_some_rows_are_looked_at_hands_back_a_tree_with_its_score_on_all(few_of_many):
    def interrupt(state, seconds):
        assert state.some is not None
        raise KeyboardInterrupt

    long = Anneal(restarts=2, iterations=1_000_000)
    found = run(long, few_of_many, watch=[interrupt], rng=np.random.default_rng(0))
    assert found.reason == "interrupted"
    assert found.log_posterior == pytest.approx(few_of_many.score(found.structure))


@pytest.mark.parametrize("iterations", [1, 30])
def test_a_given_tree_is_not_lost_because_some_rows_like_another_better(few_of_many, iterations):
    best = run(Anneal(), few_of_many, rng=np.random.default_rng(0))
    again = Anneal(restarts=2, iterations=iterations, starts=(best.structure,))
    found = run(again, few_of_many, rng=np.random.default_rng(1))
    assert found.log_posterior >= best.log_posterior - 1e-6


def test_some_rows_weigh_what_all_do_and_there_are_some_for_every_leaf():
    domain = random_tree(rows=1, sizes=[4] * 8, leaves=2, seed=0).domain
    codes = np.arange(60_000)[:, None] // 4 ** np.arange(8) % 4
    table = Table.of(domain, codes.astype(np.uint8), np.ones(60_000))
    some = anneal.some_rows(table, 20, np.random.default_rng(0))
    assert anneal.SOME_ROWS <= len(some) < 2 * anneal.SOME_ROWS
    assert some.n == pytest.approx(table.n, rel=0.1)
    assert np.array_equal(some.weights, np.rint(some.weights))
    assert len(anneal.some_rows(table, 300, np.random.default_rng(0))) >= 300 * anneal.ROWS_PER_LEAF
    assert anneal.some_rows(table, 1000, np.random.default_rng(0)) is None
    assert anneal.some_rows(some, 20, np.random.default_rng(0)) is None


@pytest.mark.parametrize("groups", [1, 2])
def test_a_memory_that_fills_up_changes_no_score(monkeypatch, groups):
    make = anneal_memory.make_memory
    small = {"regions": 130, "allowed": 130, "counts": 3}

    def little(*given):
        memory = make(*given)
        return memory._replace(**{name: getattr(memory, name)[:rows].copy() for name, rows in small.items()})

    truth = random_tree(rows=500, sizes=[3, 4, 2, 5, 3], leaves=12, seed=3)
    table = table_of(truth.domain, [(tuple(row), 1.0) for row in truth.codes.tolist()])
    monkeypatch.setattr(anneal_memory, "make_memory", little)
    monkeypatch.setattr(anneal, "GROUPS", groups)
    found = found_by(Anneal(iterations=300, restarts=2), table, LeafSparse(), 8)
    assert found.trace[-1][1] == pytest.approx(found.log_posterior)
    assert found.structure.n_leaves <= 8


@pytest.mark.parametrize("posterior", [LeafSparse(8, 2), BranchSparse(2, 2)], ids=["leaf", "branch"])
def test_chains_that_count_regions_together_know_what_each_saw(posterior):
    truth = random_tree(rows=500, sizes=[3, 4, 2, 5, 3], leaves=12, seed=3)
    table = Table.of(truth.domain, truth.codes)
    problem = Problem(MemoryEngine(table), posterior, 12)
    shared = anneal_memory.Shared(problem, table, 2)
    one, other = (chain.AnnealChain(problem, table, np.random.default_rng(i), shared=shared) for i in range(2))
    other.start = Tree.leaf(table.domain)
    one.proposals = other.proposals = 200
    one.block(0.0)
    other.begin()
    assert other.memory.regions is one.memory.regions
    assert not other.memory.places.any()
    while not (one.done and other.done):
        one.block(0.0)
        other.block(0.0)
    knows = [np.flatnonzero(each.memory.places) for each in (one, other)]
    assert set(knows[0]) - set(knows[1])
    assert set(knows[1]) - set(knows[0])
    for each in (one, other):
        assert each.score == pytest.approx(problem.score(each.tree(problem)))
        assert chain.score_of(each.trees[0]) == pytest.approx(
            problem.score(chain.Stored.of(each.trees[0]).tree(problem))
        )


def test_a_chain_whose_regions_others_gave_up_goes_on_with_the_same_trees():
    truth = random_tree(rows=500, sizes=[3, 4, 2, 5, 3], leaves=12, seed=3)
    table = Table.of(truth.domain, truth.codes)
    problem = Problem(MemoryEngine(table), LeafSparse(), 12)
    shared = anneal_memory.Shared(problem, table, 2)
    one, other = (chain.AnnealChain(problem, table, np.random.default_rng(i), shared=shared) for i in range(2))
    one.proposals = other.proposals = 10_000
    for each in (one, other):
        each.block(0.0)
    before, known = chain.Stored.of(other.trees[2]).tree(problem), set(other.known_splits().keys.tolist())
    one.memory.used["full"] = 1
    one.block(0.0)
    other._rejoin()
    after = chain.Stored.of(other.trees[2]).tree(problem)
    assert other.memory.regions is one.memory.regions
    assert {region.allowed for region in after.regions} == {region.allowed for region in before.regions}
    assert chain.score_of(other.trees[2]) == pytest.approx(problem.score(before))
    assert known <= set(other.known_splits().keys.tolist())


def test_a_tree_to_go_on_from_finds_room_in_a_memory_that_is_nearly_full():
    truth = random_tree(rows=500, sizes=[3, 4, 2, 5, 3], leaves=12, seed=3)
    table = Table.of(truth.domain, truth.codes)
    problem = Problem(MemoryEngine(table), LeafSparse(), 12)
    one = chain.AnnealChain(problem, table, np.random.default_rng(0))
    one.begin()
    score, known = one.score, set(one.known_splits().keys.tolist())
    one.memory.used["regions"] = len(one.memory.regions) - 3
    one.resume(truth.tree)
    grown = chain.Stored.of(one.trees[0]).tree(problem)
    assert {region.allowed for region in grown.regions} == {region.allowed for region in truth.tree.regions}
    assert chain.score_of(one.trees[0]) == pytest.approx(problem.score(truth.tree))
    assert one.score >= score
    assert known <= set(one.known_splits().keys.tolist())  # what the old memory knew is not lost


def test_ctrl_c_and_time_limits_hand_back_the_best_so_far():
    truth = random_tree(rows=2000, sizes=[4] * 8, leaves=30, seed=3)
    table = table_of(truth.domain, [(tuple(row), 1.0) for row in truth.codes.tolist()])
    problem = Problem(MemoryEngine(table), LeafSparse(), 30)

    def interrupt(state, seconds):
        if state.moves > 1000:
            raise KeyboardInterrupt

    stopped = run(Anneal(jobs=2), problem, watch=[interrupt])
    limited = run(Anneal(seconds=0.1), problem, budget=Budget(seconds=0.1))
    assert (stopped.reason, limited.reason) == ("interrupted", "time limit")
    for found in (stopped, limited):
        assert found.log_posterior == pytest.approx(problem.score(found.structure))


def test_the_limit_binds_only_where_one_more_leaf_would_pay():
    titanic = datasets.titanic()
    assert LeafSparseTree(search="anneal", max_leaves=4).fit(titanic).search_.limit_binds
    assert not LeafSparseTree(search="anneal", max_leaves=9).fit(titanic).search_.limit_binds
    assert not LeafSparseTree(search="anneal", max_leaves=None).fit(titanic).search_.limit_binds


@pytest.mark.parametrize(("cooling", "restarts"), list(itertools.product(["geometric", "linear"], [1, 3])))
def test_any_schedule_and_number_of_restarts_gives_a_whole_tree(cooling, restarts):
    tree = LeafSparseTree(search="anneal", cooling=cooling, restarts=restarts, iterations=500).fit(datasets.titanic())
    assert isinstance(tree.structure_, Tree)
    assert sum(leaf.probability for leaf in tree.leaves_) == pytest.approx(1)
