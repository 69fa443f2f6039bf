"""The upper bound is never below a score that anything attains, and every search prints a gap."""

from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from sparsedensity.engines import MemoryEngine
from sparsedensity.posterior import BranchSparse, LeafSparse
from sparsedensity.problem import Problem
from sparsedensity.search import Budget, Exact, Greedy, run
from sparsedensity.search.bounds import upper_bound
from sparsedensity.search.trees.exact import best_by_region as tables
from sparsedensity.structures import Tree
from tests.draw_list import rules_on
from tests.strategies import data_in, domains, positive, rule_lists, shares, table_of, trees


def rounded(number):
    """A little more than a number: sums in another order differ by rounding."""
    return number + 1e-8 * max(1.0, abs(number))


def problem_of(domain, rows, posterior, most=None):
    return Problem(MemoryEngine(table_of(domain, rows)), posterior, most)


@settings(max_examples=200)
@given(domains(), st.data(), positive, positive, st.none() | shares)
def test_no_tree_is_above_the_cheap_bound(domain, data, rate, a, g):
    rows, tree = data.draw(data_in(domain)), data.draw(trees(domain))
    for posterior in (LeafSparse(rate, a), BranchSparse(rate, a, g)):
        for structure in (tree, Tree.leaf(domain)):
            problem = problem_of(domain, rows, posterior, data.draw(st.none() | st.integers(structure.n_leaves, 30)))
            assert problem.score(structure) <= rounded(upper_bound(problem))


@settings(max_examples=100)
@given(domains(), st.data(), positive, positive, positive, st.booleans())
def test_no_list_is_above_the_cheap_bound(domain, data, rate, eta, a, as_printed):
    rows, rules = data.draw(data_in(domain)), data.draw(rule_lists(domain))
    posterior = rules_on(
        domain,
        max_conditions=3,
        ordinal_conditions="interval",
        expected_rules=rate,
        expected_conditions=eta,
        pseudocount=a,
        as_printed=as_printed,
    )
    problem = problem_of(domain, rows, posterior)
    assert problem.score(rules) <= rounded(upper_bound(problem))


@settings(max_examples=50)
@given(domains(2, 3), st.data(), positive, positive, st.integers(1, 8))
def test_a_proof_stopped_at_any_moment_bounds_every_tree(domain, data, rate, a, most):
    rows, tree = data.draw(data_in(domain)), data.draw(trees(domain))
    for posterior in (LeafSparse(rate, a), BranchSparse(rate, a), BranchSparse(rate, a, 0.4)):
        problem = problem_of(domain, rows, posterior, most)
        best = run(Exact(), problem).log_posterior
        for regions in (0, 1, 5, 20, 100):
            with patch.object(tables, "PARTINGS_PER_STEP", 1):
                found = run(Exact(), problem, budget=Budget(moves=regions))
            assert found.log_posterior <= rounded(best)
            assert best <= rounded(found.upper_bound)
            assert found.proven == (found.gap == 0)
        if tree.n_leaves <= most:
            assert problem.score(tree) <= rounded(best)
            assert run(Exact(warm=tree), problem, budget=Budget(moves=0)).log_posterior >= problem.score(tree) - 1e-9


@settings(max_examples=40)
@given(domains(), st.data(), positive, positive)
def test_greedy_search_is_never_above_its_bound(domain, data, rate, a):
    found = run(Greedy(), problem_of(domain, data.draw(data_in(domain)), LeafSparse(rate, a), 20))
    assert found.log_posterior <= found.upper_bound
    assert found.gap >= 0
