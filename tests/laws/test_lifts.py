"""Laws of splits that are lifted: what one is worth, as weighed without a row, is what the tree made of it is worth."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reproduction.datasets.random_trees import random_tree
from sparsedensity.engines import MemoryEngine
from sparsedensity.kernels import kernel
from sparsedensity.kernels.anneal_lifts import label_first, sketch, worth_first
from sparsedensity.kernels.anneal_regions import counted_slot
from sparsedensity.kernels.anneal_transplants import put_above
from sparsedensity.kernels.anneal_trees import close, copy, teach
from sparsedensity.posterior import BranchSparse, LeafSparse
from sparsedensity.problem import Problem
from sparsedensity.search.trees.anneal_chain import AnnealChain
from sparsedensity.table import Table
from tests.laws.test_counted_divisions import profile_problem
from tests.strategies import data_in, domains, real_weights, table_of, trees

PROBLEMS = {
    "leaf": lambda table: Problem(MemoryEngine(table), LeafSparse(8, 2)),
    "branch": lambda table: Problem(MemoryEngine(table), BranchSparse(2, 2)),
    "profile": profile_problem,
}


@kernel
def weigh_and_make(s, t, spare, price, rng, weighed, made):
    """Every split that is tried as the first one: what it is worth as weighed, and in the tree made so."""
    root = np.int64(0)
    for i in range(weighed.size):
        m = sketch(s, t, root, rng)
        f, b = label_first(s.belief, s, t, root, m, i, rng)
        if b < 2:
            continue
        weighed[i] = worth_first(s, m, f, b, price)
        copy(t, spare)
        close(s, t, root)
        counted_slot(s, root)
        put_above(s, t, root, f, spare, root, rng)
        child = t.nodes[0].first
        while child >= 0:
            teach(s, t, child, price, 0.0)
            child = t.nodes[child].next
        made[i] = t.nodes[0].worth - price * (t.nodes[0].below - 1) + s.regions[0].term
        copy(spare, t)


def both(method, table, start, price):
    """What the first splits of a chain's tree are worth: as weighed, and as made."""
    chain = AnnealChain(PROBLEMS[method](table), table, np.random.default_rng(0))
    chain.start = start
    chain.begin()
    weighed, made = np.zeros((2, 3 * len(table.domain)))
    tree, spare, _ = chain.trees
    weigh_and_make(chain.memory, tree, spare, price, chain.rng, weighed, made)
    return weighed, made


@pytest.mark.parametrize("method", PROBLEMS)
@settings(max_examples=30)
@given(domain=domains(most_values=4), data=st.data(), price=st.floats(-6.0, 6.0))
def test_a_split_is_worth_as_much_first_as_the_pruned_tree_that_it_makes(method, domain, data, price):
    table = table_of(domain, data.draw(data_in(domain, real_weights))).on_grid()
    weighed, made = both(method, table, data.draw(trees(domain)), price)
    assert weighed == pytest.approx(made, rel=1e-9, abs=1e-7)


@pytest.mark.parametrize("price", [0.0, 3.0, 10.0, 30.0])
@pytest.mark.parametrize("method", PROBLEMS)
def test_that_holds_for_large_trees_of_which_some_splits_pay_on_one_side_only(method, price):
    truth = random_tree(rows=3000, sizes=[2, 2, 2, 2, 2, 2, 3], leaves=25, seed=3)
    table = Table.of(truth.domain, truth.codes).on_grid()
    weighed, made = both(method, table, truth.tree, price)
    assert np.count_nonzero(made) >= 5
    assert weighed == pytest.approx(made, rel=1e-9)
