"""Laws of the look ahead: a division is worth what it gains with the best split of every feature in both parts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparsedensity.domain import Domain, Feature
from sparsedensity.engines import MemoryEngine
from sparsedensity.kernels import kernel
from sparsedensity.kernels.anneal_looks import SMALL_PART, is_seen
from sparsedensity.posterior import LeafSparse
from sparsedensity.problem import Problem
from sparsedensity.search import Anneal, Greedy, run
from sparsedensity.search.trees import anneal, subtrees
from sparsedensity.search.trees.anneal_memory import make_memory
from sparsedensity.structures import Tree
from sparsedensity.table import Table


@kernel
def look(s, region, price, rng):
    return is_seen(s, s.ahead, region, price, rng)


def problem_of(sizes, codes):
    domain = Domain(tuple(Feature.nominal(f"f{i}", range(size)) for i, size in enumerate(sizes)))
    return Problem(MemoryEngine(Table.of(domain, np.array(codes, np.uint8))), LeafSparse(8, 2))


def looked_at(problem, price):
    memory = make_memory(problem, problem.engine.collapsed(), 64)
    assert look(memory, np.int64(0), price, np.random.default_rng(0))
    return [one for one in memory.ahead.looks[1] if one["feature"] >= 0]


def in_two(values):
    """All ways to put values into two groups."""
    for bits in range(1, 2 ** (len(values) - 1)):
        yield [v for i, v in enumerate(values) if bits >> i & 1], [v for i, v in enumerate(values) if not bits >> i & 1]


def gain(problem, splits, before):
    """What the last split of a tree gains, apart from what the prior says of the number of leaves."""
    domain = problem.domain
    by = problem.posterior.by_leaves(np.arange(1, 9), problem.engine.n)
    new, old = Tree.of_splits(domain, splits), Tree.of_splits(domain, before)
    return problem.score(new) - problem.score(old) - float(by[new.n_leaves - 1] - by[old.n_leaves - 1])


def worth(problem, feature, groups, price):
    """What a division of the whole domain is worth, by the scores of all trees with one more split."""
    whole, divided = [None], [(feature, [(groups[0], 1), (groups[1], 2)]), None, None]
    total = gain(problem, divided, whole) - price
    for part in (1, 2):
        for f, size in enumerate(problem.domain.sizes):
            allowed = groups[part - 1] if f == feature else list(range(size))
            trees = []
            for one, two in in_two(allowed):
                splits = [*divided, None, None]
                splits[part] = (f, [(one, 3), (two, 4)])
                trees.append(gain(problem, splits, divided))
            total += max(max(trees, default=0.0) - price, 0.0)
    return total


@settings(max_examples=25, deadline=None)
@given(data=st.data(), price=st.floats(0.5, 10))
def test_a_look_ahead_adds_up_what_every_feature_gains_below(data, price):
    sizes = data.draw(st.lists(st.integers(2, 4), min_size=2, max_size=3))
    row = st.tuples(*(st.integers(0, size - 1) for size in sizes))
    problem = problem_of(sizes, data.draw(st.lists(row, min_size=3, max_size=40)))
    looks = looked_at(problem, price)
    weights, n = problem.engine.value_weights(), problem.engine.n
    assert [one["worth"] for one in looks] == sorted((one["worth"] for one in looks), reverse=True)
    for one in looks:
        f, start = int(one["feature"]), int(problem.domain.starts[int(one["feature"])])
        held = weights[start : start + sizes[f]]
        order = np.lexsort((np.arange(sizes[f]), -held)).tolist()
        first = sorted(order[one["begin"] : one["end"]])
        groups = (first, sorted(set(range(sizes[f])) - set(first)))
        assert min(held[first].sum(), n - held[first].sum()) >= SMALL_PART * n
        assert one["worth"] == pytest.approx(worth(problem, f, groups, price), rel=1e-9, abs=1e-8)


def test_a_split_that_gains_nothing_itself_is_found_by_what_it_makes_possible(monkeypatch):
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, 600)
    rows = np.stack([kind, *(kind ^ (rng.random(600) < 0.02) for _ in range(7)), rng.integers(0, 2, 600)], axis=1)
    problem = problem_of([2] * 9, rows)
    problem = Problem(problem.engine, problem.posterior, 12)
    greedy = run(Greedy(), problem).log_posterior
    monkeypatch.setattr(subtrees, "MOST_REGIONS", 0)  # or proofs of subtrees find it too

    def first_moves(looking):
        recipe = anneal.RECIPES[0]
        settings = recipe.settings._replace(looking=looking)
        monkeypatch.setattr(anneal, "RECIPES", (recipe._replace(settings=settings),))
        monkeypatch.setattr(anneal, "MOST_ROUNDS", 0)
        return np.mean(
            [
                run(Anneal(restarts=1, iterations=12), problem, rng=np.random.default_rng(i)).log_posterior
                for i in range(8)
            ]
        )

    assert first_moves(1.0) > max(first_moves(0.0), greedy)
