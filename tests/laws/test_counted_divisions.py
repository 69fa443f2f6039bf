"""Laws of divisions whose children are counted: the gain is what the parts say, and few values are divided at best."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sparsedensity.domain import Domain, Feature
from sparsedensity.engines import MemoryEngine
from sparsedensity.kernels import divisions
from sparsedensity.kernels.belief import NOTHING
from sparsedensity.kernels.counted_divisions import FEW_ATOMS
from sparsedensity.kernels.counted_parts import MOST_GROUPS
from sparsedensity.kernels.row_bits import NOBODY, Rows
from sparsedensity.posterior import LeafSparse, profile_leaf
from sparsedensity.posterior.trees import belief_of, counted_terms, space_of
from sparsedensity.problem import Problem
from sparsedensity.search import Greedy, run
from sparsedensity.search.trees import anneal_memory, greedy
from sparsedensity.search.trees.anneal_memory import make_desk, make_parts
from sparsedensity.structures import Tree
from sparsedensity.table import Table
from tests.strategies import data_in, domains, positive, table_of


def profile_problem(table, max_leaves=None, s=2.0, r=0.5):
    engine = MemoryEngine(table)
    leaf = profile_leaf(table.domain, engine.value_weights(), s, r)
    return Problem(engine, LeafSparse(8.0, 2.0).with_leaf(leaf), max_leaves)


def whole_region(problem, name):
    """The whole domain as divisions read it.

    The rows of a region with a name are read when it is asked for once, and written as bits if more often.
    """
    domain, table = problem.domain, problem.engine.table
    allowed, counts = np.ones(int(domain.starts[-1]), np.uint8), problem.engine.value_weights()
    term = float(counted_terms(problem.posterior.leaf, domain, counts[None], allowed[None])[0])
    rows = Rows(table.columns, *table.units, table.uncommon, np.arange(len(table)), name)
    return divisions.CountedRegion(allowed, counts, float(table.weights.sum()), term, rows)


def best_split(problem, feature, atoms=None, words=None, name=NOBODY, times=1):
    """The best division of the whole domain in two along one feature: its gain and the codes of its first part."""
    domain, values = problem.domain, int(problem.domain.starts[-1])
    desk = make_desk(values, max(domain.sizes), even=False)
    if atoms is not None:
        desk = desk._replace(parts=desk.parts._replace(pairs=np.zeros((atoms, values))))
    if words is not None:
        bits = desk.parts.bits._replace(words=np.zeros((words, values), np.uint64))
        desk = desk._replace(parts=desk.parts._replace(bits=bits))
    first, belief = np.zeros(values, bool), belief_of(problem.posterior, domain, problem.engine.n, 1, 2)
    look = divisions.Look(np.full(times, feature), NOTHING, 0.0)
    region, rng = whole_region(problem, name), np.random.default_rng(0)
    gain, found = divisions.best_split(belief, space_of(domain), desk, region, look, first, rng)
    return gain if found >= 0 else None, set(np.flatnonzero(first[domain.span(feature)]).tolist())


def best_divisions(problem, feature):
    """The best division of the whole domain along one feature into any number of groups, noted at that number."""
    domain, values = problem.domain, int(problem.domain.starts[-1])
    desk = make_desk(values, max(domain.sizes), even=False)
    belief = belief_of(problem.posterior, domain, problem.engine.n, 1, 2)._replace(most_branches=MOST_GROUPS)
    gain, of_feature = np.full(MOST_GROUPS + 1, NOTHING), np.full(MOST_GROUPS + 1, -1)
    found = divisions.BestDivisions(gain, of_feature, np.full((MOST_GROUPS + 1, values), -1, np.int16))
    region, rng = whole_region(problem, NOBODY), np.random.default_rng(0)
    divisions.best_divisions(belief, space_of(domain), desk, region, np.array([feature]), rng, found)
    return found


def gain_of(problem, feature, *groups):
    """What dividing the whole domain gains, beside the prior of the leaves, from the scores of whole trees."""
    one = Tree.leaf(problem.domain)
    divided = one.split(0, feature, list(groups))
    by_leaves = problem.posterior.by_leaves(np.array([1, len(groups)]), problem.engine.n)
    return problem.score(divided) - problem.score(one) - float(by_leaves[1] - by_leaves[0])


def gain_in_two(problem, feature, part):
    """The same for a part and the rest."""
    return gain_of(problem, feature, part, set(range(problem.domain.sizes[feature])) - part)


def ways_in_two(feature):
    """Every first part of a division of a feature's values in two."""
    codes = range(feature.size)
    for mask in range(1, 2 ** (feature.size - 1)):
        part = {code for code in codes if mask >> code & 1}
        sides = [[code in part for code in codes if code != feature.missing]]
        changes = sum(a != b for side in sides for a, b in itertools.pairwise(side))
        if not feature.ordered or changes <= 1:
            yield part


@given(domain=domains(most_features=3, most_values=6), data=st.data(), s=positive, r=st.sampled_from([0.0, 0.3, 0.9]))
@settings(max_examples=60)
def test_a_division_gains_what_it_says_and_no_division_of_a_few_values_gains_more(domain, data, s, r):
    rows = data.draw(data_in(domain, weights=st.integers(1, 9).map(float)))
    problem = profile_problem(table_of(domain, rows), s=s, r=r)
    feature = data.draw(st.integers(0, len(domain) - 1))
    assume(domain.sizes[feature] > 1)
    gain, part = best_split(problem, feature)
    assert gain == pytest.approx(gain_in_two(problem, feature, part), rel=1e-8, abs=1e-7)
    counts = problem.engine.value_weights()[domain.span(feature)]
    if np.all(counts > 0) and (domain[feature].ordered or domain.sizes[feature] <= FEW_ATOMS):
        best = max(gain_in_two(problem, feature, other) for other in ways_in_two(domain[feature]))
        assert gain >= best - 1e-7 * max(1.0, abs(best))


@given(
    rows=st.sampled_from([9, 60, 300]),
    sizes=st.sampled_from([(5, 2, 2), (7, 3, 3), (12, 7, 3)]),
    ordered=st.booleans(),
    seed=st.integers(0, 99),
)
@settings(max_examples=60)
def test_a_division_into_any_number_of_groups_gains_what_it_says(rows, sizes, ordered, seed):
    rng = np.random.default_rng(seed)
    make = Feature.ordinal if ordered else Feature.nominal
    domain = Domain(tuple(make(f"x{i}", [str(k) for k in range(size)]) for i, size in enumerate(sizes)))
    kind = rng.integers(0, 5, rows)
    codes = np.stack([np.where(rng.random(rows) < 0.8, kind % k, rng.integers(0, k, rows)) for k in sizes], axis=1)
    problem = profile_problem(Table.of(domain, codes.astype(domain.code_type)).on_grid())
    found = best_divisions(problem, 0)
    (b,) = np.flatnonzero(found.feature == 0).tolist()
    groups = [set(np.flatnonzero(found.labels[b, domain.span(0)] == name).tolist()) for name in range(b)]
    assert found.gain[b] == pytest.approx(gain_of(problem, 0, *groups), rel=1e-8, abs=1e-7)


@given(
    weights=st.sampled_from([[1.0], [0.1], [1.0, 2.0, 7.0], [1.0, 1000.0], [0.3, math.pi, 1e-6, 40.0]]),
    words=st.sampled_from([1, 2, 9, None]),
    rows=st.sampled_from([60, 64, 65, 300]),
    sizes=st.sampled_from([(2, 3, 2), (5, 2, 2), (12, 7, 3)]),
    seed=st.integers(0, 9),
)
@settings(max_examples=60)
def test_rows_are_counted_the_same_however_little_room_their_bits_have(weights, words, rows, sizes, seed):
    rng = np.random.default_rng(seed)
    domain = Domain(tuple(Feature.nominal(f"x{i}", [str(k) for k in range(size)]) for i, size in enumerate(sizes)))
    kind = rng.integers(0, 2, rows)
    codes = np.stack([np.where(rng.random(rows) < 0.5, kind, rng.integers(0, k, rows)) for k in sizes], axis=1)
    table = Table(domain, codes.astype(domain.code_type), rng.choice(weights, rows)).on_grid()
    problem = profile_problem(table)
    gain, part = best_split(problem, 0, words=words)
    assert gain == pytest.approx(gain_in_two(problem, 0, part), rel=1e-8, abs=1e-7)
    assert (gain, part) == best_split(problem, 0)
    for times in (1, 2, 3):
        assert (gain, part) == best_split(problem, 0, words=words, name=5, times=times)


@pytest.mark.parametrize("ordered", [False, True])
def test_many_values_are_bundled_where_there_is_no_room_for_all_their_pairs(ordered):
    rng = np.random.default_rng(0)
    names = [str(i) for i in range(60)]
    wide = Feature.ordinal("wide", names) if ordered else Feature.nominal("wide", names)
    domain = Domain((wide, Feature.nominal("other", ["a", "b"])))
    heavy = rng.integers(0, 4, 2000)
    code = np.where(rng.random(2000) < 0.7, heavy if not ordered else heavy // 2, rng.integers(0, 60, 2000))
    table = Table.of(domain, np.stack([code, (code < 2).astype(int)], axis=1).astype(domain.code_type))
    problem = profile_problem(table)
    gain, part = best_split(problem, 0, atoms=16)
    whole, _ = best_split(problem, 0)
    assert gain == pytest.approx(gain_in_two(problem, 0, part), rel=1e-8)
    assert 0.8 * whole < gain <= whole + 1e-6


def test_the_room_for_pairs_is_limited():
    for values, widest in ((100, 12), (4_000, 2), (65_540, 65_535), (1_000_000, 65_535)):
        pairs = make_parts(values, widest).pairs
        assert pairs.shape[0] <= widest
        assert pairs.size <= max(anneal_memory.MOST_PAIRS, anneal_memory.FEWEST_ATOMS * values)


def test_growth_in_short_steps_finds_the_same_tree(monkeypatch):
    rng = np.random.default_rng(3)
    kind = rng.integers(0, 3, 400)
    codes = np.stack([np.where(rng.random(400) < 0.6, kind, rng.integers(0, 4, 400)) for _ in range(5)], axis=1)
    domain = Domain(tuple(Feature.nominal(f"x{i}", ["a", "b", "c", "d"]) for i in range(5)))
    problem = profile_problem(Table.of(domain, codes.astype(domain.code_type)).on_grid(), 6)
    whole = run(Greedy(), problem)
    monkeypatch.setattr(greedy, "MOST_WORK", 1.0)
    state = Greedy().init(problem, rng)
    for _ in range(3):
        state = Greedy().step(problem, state, rng)
    assert state.moves == 0  # a step has looked at one of five features only
    assert run(Greedy(), problem).log_posterior == pytest.approx(whole.log_posterior, abs=1e-9)
