"""Laws of the greedy search: the best split is the best, the best pruning is the best, limits are kept."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reproduction.datasets.random_trees import random_tree
from sparsedensity.domain import Domain, Feature
from sparsedensity.engines import MemoryEngine
from sparsedensity.kernels import divisions
from sparsedensity.kernels.belief import NOTHING, SquaredError
from sparsedensity.posterior import LeafSparse
from sparsedensity.posterior.trees import belief_of, space_of
from sparsedensity.problem import Problem
from sparsedensity.search import Budget, Greedy, run
from sparsedensity.search.trees.anneal_memory import make_desk
from sparsedensity.structures import Tree
from tests import naive
from tests.compiled import opened
from tests.strategies import data_in, domains, positive, real_weights, table_of

SORT = opened(divisions.sort_by_density)
CRITERIA = st.sampled_from(["posterior", "ise"])


def problem_of(domain, rows, lam=8.0, a=2.0, max_leaves=None):
    return Problem(MemoryEngine(table_of(domain, rows)), LeafSparse(lam, a), max_leaves)


def best_tree(search, problem):
    """The tree that a search finds, as a tree."""
    found = run(search, problem).structure
    assert isinstance(found, Tree)
    return found


def grown(search, problem):
    """The state of a search when it has nothing left to do."""
    rng = np.random.default_rng(0)
    state = search.init(problem, rng)
    while not state.finished:
        state = search.step(problem, state, rng)
    return state


def leaf_worth(criterion, a, n, whole):
    if criterion == "posterior":
        return lambda weight, volume: naive.posterior_leaf(weight, volume, a)
    return lambda weight, volume: naive.ise_leaf(weight, volume, n, whole)


@st.composite
def open_leaves(draw, domain):
    """What a leaf allows of every feature: any values of a nominal one, a run of an ordered one and maybe missing."""
    allowed = []
    for feature in domain:
        if feature.ordered and len(feature.known):
            low = draw(st.integers(0, len(feature.known) - 1))
            codes = set(range(low, draw(st.integers(low, len(feature.known) - 1)) + 1))
            if feature.missing is not None and draw(st.booleans()):
                codes.add(feature.missing)
        else:
            codes = draw(st.sets(st.integers(0, feature.size - 1), min_size=1))
        allowed.append(sorted(codes))
    return allowed


def ask_best_split(domain, allowed, weights, n, criterion="posterior", a=1.0, least=0.0):
    """The kernel's answer, and the volume of the leaf; n is the weight of all rows, there may be others."""
    mask = np.zeros(sum(domain.sizes), np.uint8)
    for feature, codes in enumerate(allowed):
        mask[domain.span(feature)][codes] = 1
    sides = [sum(feature.measures[c] for c in codes) for feature, codes in zip(domain, allowed, strict=True)]
    belief = belief_of(LeafSparse(8, a), domain, n, 1, 2)
    if criterion == "ise":
        belief = belief._replace(leaf=SquaredError(math.exp(domain.log_volume) / math.prod(sides) / n**2))
    region = divisions.CountedRegion(mask, np.concatenate(weights), float(weights[0].sum()), 0.0, None)
    desk = make_desk(sum(domain.sizes), max(domain.sizes), even=True)
    first, rng = np.zeros(len(mask), bool), np.random.default_rng(0)
    look = divisions.Look(0, len(domain), NOTHING, float(least))
    gain, feature = divisions.best_split(belief, space_of(domain), desk, region, look, first, rng)
    return (gain if feature >= 0 else -np.inf), feature, first, sides


@st.composite
def weighed_leaves(draw, equal_measures=False):
    """A domain, what a leaf of it allows, and a weight at every value that adds up alike over every feature."""
    domain = draw(domains(most_values=5, equal_measures=equal_measures))
    allowed = draw(open_leaves(domain))
    inside = st.tuples(*map(st.sampled_from, allowed))
    rows = draw(st.lists(st.tuples(inside, real_weights), min_size=1, max_size=15))
    weights = [np.zeros(size) for size in domain.sizes]
    for row, weight in rows:
        for feature, code in enumerate(row):
            weights[feature][code] += weight
    return domain, allowed, weights, math.fsum(weight for _, weight in rows)


@given(weighed_leaves(), CRITERIA, positive)
def test_the_best_split_beats_every_other_and_gains_what_it_says(leaf, criterion, a):
    domain, allowed, weights, n = leaf
    n += 10.0  # the leaf holds a part of the data only
    whole = math.exp(domain.log_volume)
    gain, feature, first, sides = ask_best_split(domain, allowed, weights, n, criterion, a)
    worth = leaf_worth(criterion, a, n, whole)

    def best(column):
        divisions = naive.groupings(allowed[column], domain[column].ordered, domain[column].missing)
        side = math.prod(sides) / sides[column]
        return naive.best_grouping(weights[column], domain[column].measures, divisions, side, worth)

    equal = [len(set(own.measures)) == 1 for own in domain]
    proven = [column for column in range(len(domain)) if domain[column].ordered or equal[column]]
    assert all(gain >= best(column) - 1e-7 * (1 + abs(gain)) for column in proven)
    if all(len(codes) == 1 for codes in allowed):
        assert (gain, feature) == (-np.inf, -1)
        return
    span = domain.span(feature)
    group = set(np.flatnonzero(first[span]).tolist())
    assert not first[: span.start].any()
    assert not first[span.stop :].any()
    rest = set(allowed[feature]) - group
    assert group
    assert rest
    assert group <= set(allowed[feature])
    side = math.prod(sides) / sides[feature]
    own = naive.best_grouping(weights[feature], domain[feature].measures, [(group, rest)], side, worth)
    assert gain == pytest.approx(own, rel=1e-7, abs=1e-7)
    allowed_groups = list(naive.groupings(allowed[feature], domain[feature].ordered, domain[feature].missing))
    assert (group, rest) in allowed_groups


@given(weighed_leaves(equal_measures=True), CRITERIA, positive)
def test_with_equal_measures_no_grouping_of_any_feature_is_better(leaf, criterion, a):
    domain, allowed, weights, n = leaf
    gain, _, _, sides = ask_best_split(domain, allowed, weights, n, criterion, a)
    worth = leaf_worth(criterion, a, n, math.exp(domain.log_volume))
    expected = max(
        naive.best_grouping(
            weights[column],
            feature.measures,
            naive.groupings(allowed[column], feature.ordered, feature.missing),
            math.prod(sides) / sides[column],
            worth,
        )
        for column, feature in enumerate(domain)
    )
    assert gain == pytest.approx(expected, rel=1e-7, abs=1e-7)


@given(weighed_leaves(), st.floats(0, 60))
def test_a_split_leaves_no_part_too_small_unless_it_is_empty(leaf, least):
    domain, allowed, weights, n = leaf
    _, feature, first, _ = ask_best_split(domain, allowed, weights, n, least=least)
    if feature >= 0:
        part = weights[feature][first[domain.span(feature)]].sum()
        for held in (part, weights[feature].sum() - part):
            assert held < 1e-9 or held >= least - 1e-9


@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from([0.5, 1.0, 2.0])), max_size=40), st.data())
def test_values_are_sorted_by_density_and_ties_by_code(values, data):
    weight, measure = (np.array([value[i] for value in values], float) for i in range(2))
    cells = np.zeros(len(values), divisions.CELL)
    cells["order"] = data.draw(st.permutations(range(len(values))))
    cells["density"] = weight / measure
    SORT(cells, len(values))
    assert cells["order"].tolist() == sorted(range(len(values)), key=lambda code: (-weight[code] / measure[code], code))


def test_many_values_are_sorted_by_density():
    """One sort of 3,000 values finds the split that separates the dense half."""
    rng = np.random.default_rng(2)
    dense = rng.permutation(3000) < 1200
    domain = Domain((Feature.nominal("x", range(3000)),))
    weights = np.where(dense, rng.integers(50, 60, 3000), rng.integers(0, 3, 3000)).astype(float)
    _, _, first, _ = ask_best_split(domain, [list(range(3000))], [weights], weights.sum())
    assert (first == dense).all() or (first == ~dense).all()


@given(domains(), st.data(), CRITERIA, positive, positive, st.none() | st.integers(1, 9))
def test_greedy_reports_the_log_posterior_of_its_tree(domain, data, criterion, lam, a, most):
    rows = data.draw(data_in(domain))
    found = run(Greedy(criterion), problem_of(domain, rows, lam, a, most))
    assert isinstance(found.structure, Tree)
    assert found.log_posterior == pytest.approx(naive.leaf_sparse(found.structure, rows, lam, a), rel=1e-9, abs=1e-7)
    assert found.reason == "finished"


@given(domains(), st.data(), CRITERIA, st.integers(1, 6), st.floats(0, 30), st.none() | st.floats(0, 60))
def test_a_greedy_tree_keeps_its_limits(domain, data, criterion, most, least, largest):
    rows = data.draw(data_in(domain))
    search, problem = Greedy(criterion, least, largest), problem_of(domain, rows, lam=20, a=0.3, max_leaves=most)
    state = grown(search, problem)
    assert 1 <= len(state.leaves) <= 2 * most
    raw = pruned(domain, state.splits, {i for i, split in enumerate(state.splits) if split is not None})
    held = naive.node_weights(raw, rows)
    for node in raw.walk():
        if node.is_leaf:
            assert held[node.index] == 0 or held[node.index] >= least - 1e-9 or raw.n_leaves == 1
        else:
            assert held[node.index] > (largest or 0.0)
    tree = search.best(problem, state).structure
    assert 1 <= tree.n_leaves <= most
    weights = naive.leaf_weights(tree, rows)
    assert len(weights) == 1 or all(weight == 0 or weight >= least - 1e-9 for weight in weights)


@given(domains(), st.data(), CRITERIA)
def test_a_greedy_tree_groups_only_neighbours_of_an_ordered_feature(domain, data, criterion):
    tree = best_tree(Greedy(criterion), problem_of(domain, data.draw(data_in(domain)), lam=20, a=0.3))
    for region in tree.regions:
        for feature, codes in zip(domain, region.allowed, strict=True):
            if feature.ordered:
                known = sorted(codes - {feature.missing})
                assert known == list(range(known[0], known[-1] + 1)) if known else codes == {feature.missing}


@given(domains(), st.data(), CRITERIA, positive, positive, st.integers(1, 5))
def test_no_pruning_of_the_grown_tree_is_better(domain, data, criterion, lam, a, most):
    rows = data.draw(data_in(domain))
    search, problem = Greedy(criterion), problem_of(domain, rows, lam, a, most)
    state = grown(search, problem)
    n, whole = problem.engine.n, math.exp(domain.log_volume)

    def worth(tree):
        if criterion == "posterior":
            return naive.leaf_sparse(tree, rows, lam, a)
        leaves = zip(naive.leaf_weights(tree, rows), naive.leaf_volumes(tree), strict=True)
        return math.fsum(naive.leave_one_out_leaf(held, volume, n, whole) for held, volume in leaves)

    prunings = [pruned(domain, state.splits, kept) for kept in naive.prunings(state.splits)]
    every = [worth(tree) for tree in prunings if tree.n_leaves <= most]
    assert worth(search.best(problem, state).structure) == pytest.approx(max(every), rel=1e-9, abs=1e-7)


def pruned(domain, splits, kept):
    """The grown tree with only some of its nodes split."""
    tree = Tree.leaf(domain)
    places = {0: 0}
    for node, split in enumerate(splits):
        if node in kept:
            feature, branches = split
            for i, (_, child) in enumerate(branches):
                places[child] = len(tree.feature) + i
            tree = tree.split(places[node], feature, [codes for codes, _ in branches])
    return tree


@given(domains(), st.data(), CRITERIA)
def test_a_greedy_tree_is_no_worse_than_a_single_leaf(domain, data, criterion):
    rows = data.draw(data_in(domain))
    problem = problem_of(domain, rows)
    found = run(Greedy(criterion), problem)
    if criterion == "posterior":
        assert found.log_posterior >= naive.leaf_sparse(Tree.leaf(domain), rows, 8.0, 2.0) - 1e-9


@given(domains(), st.data(), CRITERIA)
def test_the_order_of_rows_does_not_change_the_tree(domain, data, criterion):
    rows = data.draw(data_in(domain, weights=st.integers(1, 9).map(float)))
    shuffled = data.draw(st.permutations(rows))
    trees = [best_tree(Greedy(criterion), problem_of(domain, own)) for own in (rows, shuffled)]
    assert trees[0].splits() == trees[1].splits()


def test_a_search_stopped_early_returns_a_whole_tree():
    truth = random_tree(rows=500, sizes=(4, 4, 3, 3), leaves=9, seed=4)
    rows = [(tuple(row), 1.0) for row in truth.codes.tolist()]
    problem = problem_of(truth.domain, rows)
    found = run(Greedy(), problem, budget=Budget(moves=3))
    assert found.reason == "iterations"
    assert found.moves == 3
    assert 2 <= found.structure.n_leaves <= 4
    assert found.log_posterior == pytest.approx(naive.leaf_sparse(found.structure, rows, 8.0, 2.0))


@pytest.mark.parametrize("criterion", ["posterior", "ise"])
def test_a_factorial_has_nothing_to_find(criterion):
    domain = Domain(tuple(Feature.nominal(name, range(q)) for name, q in zip("abc", (3, 3, 4), strict=True)))
    rows = [(row, 5.0) for row in np.ndindex(3, 3, 4)]
    found = run(Greedy(criterion), problem_of(domain, rows, lam=3.0))
    assert found.structure.n_leaves == 1


def test_a_clear_truth_is_found_again():
    domain = Domain(tuple(Feature.nominal(name, range(4)) for name in "xyz"))
    truth = Tree.leaf(domain).split(0, 0, [{0, 2}, {1, 3}]).split(1, 2, [{0}, {1, 2, 3}])
    density = {leaf.number: 10.0**leaf.number for leaf in truth.leaves()}
    leaf_of = naive.router(truth)
    rows = [(point, 3 * density[leaf_of(point)]) for point in naive.points(domain)]
    found = best_tree(Greedy(), problem_of(domain, rows))
    assert {region.allowed for region in found.regions} == {region.allowed for region in truth.regions}
