"""Laws of subtrees that are put together from parts: scores stay true, and what does not belong is mended."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparsedensity.domain import Domain, Feature
from sparsedensity.engines import MemoryEngine
from sparsedensity.posterior import BranchSparse, LeafSparse
from sparsedensity.problem import Problem
from sparsedensity.search import Anneal, run
from sparsedensity.search.trees import anneal, anneal_chain
from sparsedensity.structures import Tree
from sparsedensity.table import Table
from tests import naive
from tests.strategies import data_in, domains, real_weights, table_of, trees

KINDS = anneal_chain.KINDS[1:]


def search_by(patched, kind):
    """Let all chains change trees in one way whenever they can."""
    shares = tuple(float(other == kind) for other in KINDS)
    patched.setattr(anneal_chain, "SETTINGS", anneal_chain.SETTINGS._replace(shares=shares))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", ["leaf", "branch"])
@settings(max_examples=15)
@given(domain=domains(most_values=5), data=st.data(), limit=st.none() | st.integers(2, 8))
def test_a_tree_that_was_put_together_from_parts_has_the_score_that_was_reported(method, kind, domain, data, limit):
    rows, start = data.draw(data_in(domain, real_weights)), data.draw(trees(domain))
    posterior = LeafSparse(8, 2) if method == "leaf" else BranchSparse(2, 2)
    plain = naive.leaf_sparse if method == "leaf" else naive.branch_sparse
    with pytest.MonkeyPatch.context() as patched:
        search_by(patched, kind)
        problem = Problem(MemoryEngine(table_of(domain, rows)), posterior, limit)
        found = run(Anneal(restarts=2, iterations=60, starts=(start,)), problem)
    assert found.log_posterior == pytest.approx(
        plain(found.structure, rows, 8 if method == "leaf" else 2, 2), rel=1e-8, abs=1e-6
    )
    assert found.trace[-1][1] == pytest.approx(found.log_posterior, rel=1e-7, abs=1e-5)
    assert limit is None or found.structure.n_leaves <= limit


def halved_tree():
    """A tree of four leaves, and the same four leaves on both sides of a split that does not belong."""
    domain = Domain(tuple(Feature.nominal(name, range(4)) for name in "abc"))
    good = below(Tree.leaf(domain), 0)
    bad = Tree.leaf(domain).split(0, 2, [{0, 1}, {2, 3}])
    for side in [leaf.index for leaf in bad.leaves()]:
        bad = below(bad, side)
    return good, bad


def below(tree, node):
    """Split a leaf by the values of two features into four leaves."""
    tree = tree.split(node, 0, [{0, 1}, {2, 3}])
    for leaf in [tree.n_nodes - 2, tree.n_nodes - 1]:
        tree = tree.split(leaf, 1, [{0}, {1, 2, 3}])
    return tree


@pytest.mark.parametrize("kind", ["raise", "lift"])
def test_a_split_that_does_not_belong_is_left_out(monkeypatch, kind):
    good, bad = halved_tree()
    rng = np.random.default_rng(0)
    leaf = rng.choice(4, 4000, p=[0.55, 0.05, 0.1, 0.3])
    first = 2 * (leaf // 2) + rng.integers(2, size=4000)
    second = np.where(leaf % 2 == 0, 0, rng.integers(1, 4, 4000))
    codes = np.stack([first, second, rng.integers(4, size=4000)], axis=1)
    problem = Problem(MemoryEngine(Table.of(good.domain, codes.astype(np.uint8))), LeafSparse(8, 2))
    assert problem.score(good) > problem.score(bad)
    search_by(monkeypatch, kind)
    monkeypatch.setattr(anneal, "MOST_ROUNDS", 0)
    found = run(Anneal(restarts=1, iterations=20, starts=(bad,)), problem)
    assert found.log_posterior >= problem.score(good) - 1e-6
