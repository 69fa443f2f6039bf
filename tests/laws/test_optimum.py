"""No tree scores above the optimum that dynamic programming over all regions finds."""

import math
from collections import Counter

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sparsedensity import GreedyTree, datasets
from sparsedensity.engines import MemoryEngine
from sparsedensity.posterior import BranchSparse, LeafSparse
from sparsedensity.problem import Problem
from sparsedensity.search import Greedy, run
from tests import naive
from tests.naive_search import best_branch_sparse, best_leaf_sparse
from tests.strategies import data_in, domains, positive, shares, table_of, trees

MOST_REGIONS = 400


def small(domain):
    """Whether every region of a domain can be visited."""
    return math.prod(2**size - 1 for size in domain.sizes) <= MOST_REGIONS


@settings(max_examples=25)
@given(domains(), st.data(), positive, positive, st.integers(1, 6))
def test_no_leaf_sparse_tree_beats_the_optimum(domain, data, lam, a, most):
    assume(small(domain))
    rows = data.draw(data_in(domain))
    best = best_leaf_sparse(domain, rows, lam, a, most)
    tree = data.draw(trees(domain))
    if tree.n_leaves <= most:
        assert naive.leaf_sparse(tree, rows, lam, a) <= best + 1e-7 * abs(best)
    found = run(Greedy(), Problem(MemoryEngine(table_of(domain, rows)), LeafSparse(lam, a), most))
    assert found.log_posterior <= best + 1e-7 * abs(best)


@settings(max_examples=25)
@given(domains(), st.data(), positive, positive, st.none() | shares)
def test_no_branch_sparse_tree_beats_the_optimum(domain, data, lam, a, g):
    assume(small(domain))
    rows = data.draw(data_in(domain))
    best = best_branch_sparse(domain, rows, lam, a, g)
    tree = data.draw(trees(domain))
    assert naive.branch_sparse(tree, rows, lam, a, g) <= best + 1e-7 * abs(best)
    weights = MemoryEngine(table_of(domain, rows)).leaf_weights(tree)
    assert BranchSparse(lam, a, g).log_posterior(tree, weights) <= best + 1e-7 * abs(best)


@pytest.mark.parametrize(("name", "expected", "leaves"), [("simulated", 5, 6), ("titanic", 8, 9)])
def test_the_greedy_tree_of_the_bundled_tables_is_the_optimum(name, expected, leaves):
    frame = datasets.load(name)
    tree = GreedyTree(expected_leaves=expected).fit(frame)
    codes = [tuple(tree.domain_[i].code(value) for i, value in enumerate(row)) for row in frame.rows()]
    best = best_leaf_sparse(tree.domain_, [(row, float(n)) for row, n in Counter(codes).items()], expected, 2)
    assert tree.log_posterior_ == pytest.approx(best)
    assert tree.n_leaves_ == leaves
