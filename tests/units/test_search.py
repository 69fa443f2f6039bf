"""The driver of every search: budgets, Ctrl-C, traces."""

import pytest

from sparsedensity import GreedyTree, datasets
from sparsedensity.engines import MemoryEngine
from sparsedensity.errors import SearchWarning
from sparsedensity.ingest import Reading, open_source, read_table
from sparsedensity.models import greedy
from sparsedensity.posterior import LeafSparse
from sparsedensity.problem import Problem
from sparsedensity.search import Budget, Greedy, run

TITANIC = datasets.load("titanic")


@pytest.fixture(scope="module")
def problem():
    return Problem(MemoryEngine(read_table(open_source(TITANIC), Reading())), LeafSparse(8, 2), 100)


def interrupting(after):
    """A watcher that presses Ctrl-C after some steps."""

    def look(state, seconds):
        if state.moves >= after:
            raise KeyboardInterrupt

    return look


def test_an_interrupted_search_hands_back_its_best(problem):
    found = run(Greedy(), problem, watch=[interrupting(3)])
    assert found.reason == "interrupted"
    assert found.moves == 3
    assert found.structure.n_leaves == 4
    assert found.log_posterior == pytest.approx(problem.score(found.structure))


def test_an_interrupted_fit_is_a_model_with_a_warning(monkeypatch):
    def stopped(search, problem, **others):
        return run(search, problem, budget=others["budget"], watch=[interrupting(2)])

    monkeypatch.setattr(greedy, "run", stopped)
    with pytest.warns(SearchWarning, match=r"stopped early \(interrupted\)"):
        tree = GreedyTree().fit(TITANIC)
    assert tree.n_leaves_ == 3
    assert sum(leaf.probability for leaf in tree.leaves_) == pytest.approx(1)


def test_a_budget_of_moves_is_kept(problem):
    found = run(Greedy(), problem, budget=Budget(moves=5))
    assert (found.reason, found.moves) == ("iterations", 5)


def test_the_trace_only_rises_and_ends_at_the_best(problem):
    found = run(Greedy(), problem)
    scores = [score for _, score in found.trace]
    times = [seconds for seconds, _ in found.trace]
    assert scores == sorted(scores)
    assert times == sorted(times)
    assert scores[-1] == pytest.approx(found.log_posterior)


def test_the_limit_binds_only_where_one_more_leaf_would_pay(problem):
    assert run(Greedy(), Problem(problem.engine, problem.posterior, 4)).limit_binds
    assert not run(Greedy(), Problem(problem.engine, problem.posterior, 9)).limit_binds
    assert not run(Greedy(), Problem(problem.engine, problem.posterior, None)).limit_binds
