"""Laws of what annealing chains know together: the best tree of all their splits, with the score that it has."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reproduction.datasets.random_trees import random_tree
from sparsedensity.search.trees import anneal_pool
from sparsedensity.search.trees.anneal_chain import AnnealChain
from sparsedensity.search.trees.anneal_pool import EVERYONE, Graph, Splits
from sparsedensity.table import Table
from tests.laws.test_lifts import PROBLEMS
from tests.strategies import data_in, domains, real_weights, table_of


@pytest.fixture
def table():
    """Rows of a tree, with more regions than a chain would meet by chance."""
    truth = random_tree(rows=500, sizes=[3, 4, 2, 5, 3], leaves=12, seed=3)
    return Table.of(truth.domain, truth.codes)


prices = st.floats(-4.0, 8.0)


def chains_of(method, table, many=3):
    """Chains that have searched for a moment."""
    problem = PROBLEMS[method](table)
    chains = [AnnealChain(problem, table, np.random.default_rng(seed)) for seed in range(many)]
    for number, chain in enumerate(chains):
        chain.number, chain.proposals = number, 60
        while not chain.done:
            chain.block(0.0)
    return problem, chains


def graph_of(chains):
    known = [chain.known_splits() for chain in chains]
    return Graph(Splits.together(known), chains[0].table.domain), known


def worth_of(splits, givers, price, values):
    """What the best tree is worth, term by term: of every region the best split, or none."""
    by_region, root = {}, None
    for i, key in enumerate(splits.keys.tolist()):
        by_region.setdefault(key, []).append(i)
        root = key if splits.sizes[i] == values else root

    def best(key):
        worths = [0.0]
        for i in by_region.get(key, []):
            if splits.givers[i] & givers:
                parts = [part for part in splits.parts[i].tolist() if part]
                worths.append(splits.gains[i] - price * (len(parts) - 1) + sum(map(best, parts)))
        return max(worths)

    return best(root)


@pytest.mark.parametrize("method", PROBLEMS)
@settings(max_examples=15)
@given(domain=domains(most_values=4), data=st.data(), price=prices, givers=st.sampled_from([EVERYONE, 1, 6]))
def test_the_best_tree_of_all_splits_is_worth_what_its_score_says(method, domain, data, price, givers):
    table = table_of(domain, data.draw(data_in(domain, real_weights))).on_grid()
    problem, chains = chains_of(method, table)
    graph, known = graph_of(chains)
    values = int(domain.starts[-1])
    tree = graph.tree(price, 10**6, givers)
    by_leaves = chains[0].memory.belief.by_leaves
    gained = problem.score(tree) - problem.score_of_one_leaf() - (by_leaves[tree.n_leaves] - by_leaves[1])
    worth = gained - price * (tree.n_leaves - 1)
    assert worth == pytest.approx(worth_of(Splits.together(known), givers, price, values), rel=1e-8, abs=1e-6)


@pytest.mark.parametrize("method", PROBLEMS)
@settings(max_examples=10)
@given(domain=domains(most_values=4), data=st.data(), limit=st.integers(1, 6))
def test_the_price_of_a_leaf_keeps_the_tree_within_its_limit(method, domain, data, limit):
    table = table_of(domain, data.draw(data_in(domain, real_weights))).on_grid()
    _, chains = chains_of(method, table)
    graph, _ = graph_of(chains)
    price = graph.price(-1.0, limit)
    assert price >= -1.0
    assert graph.tree(price, limit).n_leaves <= limit


def test_a_split_that_two_chains_know_is_there_once_and_both_gave_it(table):
    _, chains = chains_of("leaf", table, 2)
    known = [chain.known_splits() for chain in chains]
    both = Splits.together(known)
    names = [{*zip(one.keys.tolist(), one.features.tolist(), map(bytes, one.labels), strict=True)} for one in known]
    common = names[0] & names[1]
    assert common
    assert len(both.keys) == len(names[0] | names[1])
    assert np.count_nonzero(both.givers == 3) == len(common)


def test_of_too_many_splits_those_of_the_heaviest_regions_are_kept(table, monkeypatch):
    _, (chain,) = chains_of("leaf", table, 1)
    every = chain.known_splits()
    monkeypatch.setattr(anneal_pool, "MOST_BYTES", every.bytes // 2)
    some = chain.known_splits()
    assert 0 < len(some.keys) < len(every.keys)
    regions = chain.memory.regions
    weights = dict(zip(regions["key"].tolist(), regions["weight"].tolist(), strict=True))
    left = set(every.keys.tolist()) - set(some.keys.tolist())
    assert min(weights[key] for key in some.keys.tolist()) >= max(weights[key] for key in left)


def test_where_nobody_knows_a_split_the_tree_is_a_leaf(table):
    _, (chain,) = chains_of("leaf", table, 1)
    nothing = chain.known_splits().chosen(np.zeros(0, np.intp))
    graph = Graph(nothing, table.domain)
    assert graph.tree(graph.price(1.0, 5), 5).n_leaves == 1
