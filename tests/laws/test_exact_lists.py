"""The exact search for rule lists against complete enumeration, and its bound against everything."""

import itertools
import math
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sparsedensity.domain import Domain, Feature
from sparsedensity.engines import MemoryEngine
from sparsedensity.errors import DataError
from sparsedensity.kernels import list_prefixes, list_terms
from sparsedensity.posterior import SparseRules
from sparsedensity.problem import Problem
from sparsedensity.search import AnnealLists, Budget, ExactLists, estimate_list, near_optimal_lists, run
from sparsedensity.search.lists import prefix_growth
from sparsedensity.search.lists.antecedents import Antecedents
from sparsedensity.search.lists.exact_arrays import cells_of, count_uses, every_use, scratch_for
from sparsedensity.structures import RuleList
from tests import naive
from tests.compiled import opened
from tests.naive_lists import Scorer, best_list, every_antecedent, supported
from tests.strategies import data_in, domains, positive, table_of

MOST_LISTS = 1_500
"""Problems of more lists are too slow to enumerate."""
best_runs, put_into_bins = opened(list_prefixes.best_runs), opened(list_prefixes.put_into_bins)
leaf_term, fit, surplus = opened(list_terms.leaf_term), opened(list_terms.fit), opened(list_terms.surplus)


def rounded(number):
    """A little more than a number: sums in another order differ by rounding."""
    return number + 1e-8 * max(1.0, abs(number))


def longest(antecedents):
    """The most rules of which every list can be enumerated."""
    sizes = range(antecedents + 1)
    counts = itertools.accumulate(math.perm(antecedents, m) for m in sizes)
    return max(m for m, count in zip(sizes, counts, strict=True) if count <= MOST_LISTS)


@st.composite
def problems(draw):
    """A problem small enough to list every list: with its antecedents, its scorer, and the most rules."""
    domain = draw(domains(most_features=3, most_values=3))
    rows = draw(data_in(domain))
    kind, most = draw(st.sampled_from(["value", "interval"])), draw(st.integers(1, 3))
    least = draw(st.sampled_from([0.0, 0.0, 0.3, 5.5]))
    prior = draw(positive), draw(positive), draw(positive), draw(st.booleans())
    table = table_of(domain, rows)
    antecedents = Antecedents(table, most, kind, least)
    usable = supported(every_antecedent(domain, most, kind), rows, antecedents.least)
    assume(len(usable) == sum(antecedents.counts))
    limit = draw(st.integers(0, longest(len(usable))))
    free = limit == len(usable) and draw(st.booleans())
    problem = Problem(MemoryEngine(table), SparseRules(antecedents.counts, *prior), None if free else limit + 1)
    return problem, antecedents, Scorer(domain, rows, usable, *prior), usable, limit


@settings(max_examples=200)
@given(problems())
def test_the_proven_list_is_the_best_of_all_lists(example):
    problem, antecedents, scorer, usable, limit = example
    found = run(ExactLists(antecedents), problem)
    assert found.proven
    assert found.structure.n_rules <= limit
    assert all(map(antecedents.has, found.structure.rules))
    assert found.log_posterior == pytest.approx(best_list(scorer, usable, limit), rel=1e-9, abs=1e-9)


@settings(max_examples=60)
@given(problems(), st.data())
def test_a_proof_stopped_at_any_moment_bounds_every_list(example, data):
    problem, antecedents, _, usable, limit = example
    rules = data.draw(st.lists(st.sampled_from(usable), max_size=limit, unique=True)) if usable else []
    warm = RuleList.of(problem.domain, rules)
    best = run(ExactLists(antecedents), problem).log_posterior
    assert problem.score(warm) <= rounded(best)
    for prefixes in (0, 1, 3, 10, 30):
        with patch.object(prefix_growth, "BLOCK_SECONDS", 0.0):
            found = run(ExactLists(antecedents, warm), problem, budget=Budget(moves=prefixes))
        assert problem.score(warm) - 1e-9 <= found.log_posterior <= rounded(best)
        assert best <= rounded(found.upper_bound)
        assert found.proven == (found.gap == 0)


def leaves_of(scorer, rules):
    """What tells a list from others: the points that each of its rules takes, and the rules' sizes, in no order."""
    left, leaves = set(range(len(scorer.points))), []
    for rule in rules:
        leaves.append((tuple(sorted(left & scorer.obeying[rule])), len(rule)))
        left -= scorer.obeying[rule]
    return tuple(sorted(leaves))


@settings(max_examples=60)
@given(problems(), st.floats(0.01, 6))
def test_the_near_optimal_lists_are_all_there_are(example, within):
    problem, antecedents, scorer, usable, limit = example
    scores = {}
    for rules in itertools.chain.from_iterable(itertools.permutations(usable, n) for n in range(limit + 1)):
        key = leaves_of(scorer, rules)
        scores[key] = max(scores.get(key, -math.inf), scorer(rules))
    best = max(scores.values())
    assume(all(abs(best - score - within) > 1e-6 for score in scores.values()))
    near = {key: score for key, score in scores.items() if score > best - within}
    found = near_optimal_lists(problem, antecedents, within, at_most=10_000)
    assert found.complete
    assert len(found) == len(near)
    for scored in found:
        assert scored.log_posterior == pytest.approx(problem.score(scored.structure), rel=1e-9, abs=1e-9)
        assert near[leaves_of(scorer, scored.structure.rules)] == pytest.approx(
            scored.log_posterior, rel=1e-9, abs=1e-9
        )


def test_more_lists_than_asked_for_are_said_to_be_more():
    problem, antecedents, _ = wide_problem(0, 2)
    few, many = (near_optimal_lists(problem, antecedents, 20.0, at_most) for at_most in (3, 1000))
    assert str(few) == "at least 3 within 20 nats of the optimum"
    assert [scored.log_posterior for scored in few] == [scored.log_posterior for scored in many][:3]


def wide_problem(seed, most_rules, conditions=1):
    """Random rows over a hundred points: more than a word of them, and more than are grouped."""
    rng = np.random.default_rng(seed)
    domain = Domain(tuple(Feature.nominal(f"x{i}", range(size)) for i, size in enumerate((5, 5, 4))))
    points = np.array(naive.points(domain))
    chosen = rng.choice(len(points), 400, p=rng.dirichlet(np.full(len(points), 0.3)))
    rows = [(tuple(points[i].tolist()), 1.0) for i in chosen]
    table = table_of(domain, rows)
    antecedents = Antecedents(table, conditions)
    problem = Problem(MemoryEngine(table), SparseRules(antecedents.counts, 2.0), most_rules + 1)
    return problem, antecedents, rows


@pytest.mark.parametrize("seed", range(5))
def test_the_proof_holds_on_more_points_than_a_word_has_bits(seed):
    problem, antecedents, rows = wide_problem(seed, 2)
    usable = every_antecedent(problem.domain, 1)
    found = run(ExactLists(antecedents), problem)
    assert found.proven
    assert found.log_posterior == pytest.approx(
        best_list(Scorer(problem.domain, rows, usable, 2.0, 1.0, 1.0), usable, 2)
    )


@pytest.mark.parametrize("seed", range(3))
def test_chains_never_exceed_the_proven_list_and_a_warm_start_changes_nothing(seed):
    problem, antecedents, _ = wide_problem(seed, 3, conditions=2)
    walked = run(AnnealLists(antecedents, 2_000), problem, budget=Budget(moves=8_000), rng=np.random.default_rng(seed))
    cold = run(ExactLists(antecedents), problem)
    warm = run(ExactLists(antecedents, walked.structure), problem)
    assert cold.proven
    assert warm.proven
    assert walked.log_posterior <= rounded(cold.log_posterior)
    assert warm.log_posterior == pytest.approx(cold.log_posterior)
    assert warm.moves <= cold.moves


def test_layers_grow_as_they_fill():
    problem, antecedents, _ = wide_problem(0, 4)
    expected = run(ExactLists(antecedents), problem)
    with patch.object(prefix_growth, "FIRST_ROOM", 1):
        found = run(ExactLists(antecedents), problem)
    assert (found.log_posterior, found.moves) == (expected.log_posterior, expected.moves)


def partitions(items):
    """Every division of some items into groups."""
    if not items:
        yield []
        return
    for groups in partitions(items[1:]):
        yield [[items[0]], *groups]
        for i in range(len(groups)):
            yield [*groups[:i], [items[0], *groups[i]], *groups[i + 1 :]]


def scratch_of(cells):
    """Some cells as the kernels read them."""
    weight, volume = np.array(cells).T.copy()
    bits = np.empty((1, 1), np.uint64)
    scratch = scratch_for(list_prefixes.ListCells(weight, volume, bits, np.zeros(1, np.int64)), 1)
    scratch.weight[: len(weight)], scratch.volume[: len(volume)] = weight, volume
    return scratch


@settings(max_examples=60)
@given(st.lists(st.tuples(st.floats(0.1, 50) | st.just(0.0), st.floats(0.01, 5)), min_size=1, max_size=6))
def test_the_best_groups_of_cells_are_runs_by_density(cells):
    cells = sorted(cells, key=lambda cell: cell[0] / cell[1])
    n, scratch = len(cells), scratch_of(cells)
    best_runs(np.int64(n), np.int64(n), np.int64(0), scratch)
    best = [-math.inf] * (n + 1)
    for groups in partitions(cells):
        sums = [(math.fsum(w for w, _ in group), math.fsum(v for _, v in group)) for group in groups]
        worth = math.fsum(w * math.log(w / v) for w, v in sums if w > 0)
        best[len(groups)] = max(best[len(groups)], worth)
    np.testing.assert_allclose(scratch.grouped[:n], best[1:], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_bins_of_many_cells_bound_all_runs_of_cells(seed):
    rng = np.random.default_rng(seed)
    cells = np.column_stack([rng.gamma(0.3, 5, 130), rng.uniform(0.1, 2, 130)])
    cells = cells[np.argsort(cells[:, 0] / cells[:, 1])]
    scratch, most = scratch_of(cells), 6
    bins = put_into_bins(np.int64(len(cells)), scratch)
    best_runs(bins, np.int64(most), np.int64(1), scratch)
    sums = np.vstack([[0.0, 0.0], np.cumsum(cells, axis=0)])
    best = [fit(*prefix) for prefix in sums]
    for k in range(most):
        assert best[-1] <= rounded(scratch.grouped[k])
        runs = range(len(sums))
        best = [max(best[i] + fit(*(sums[j] - sums[i])) for i in range(j + 1)) for j in runs]
    apart = math.fsum(fit(*cell) for cell in cells)
    assert scratch.grouped[most - 1] < apart


@given(st.lists(st.floats(0, 50), min_size=1, max_size=6), positive)
def test_no_leaves_exceed_their_fit_by_more_than_the_surplus(weights, a):
    total = math.fsum(weights)
    terms = SparseRules((), pseudocount=a).terms(total, 0.0, 0)
    over = math.fsum(leaf_term(terms, w, 1.0) - fit(w, 1.0) for w in weights)
    assert over <= rounded(surplus(terms, total, float(len(weights))))


@given(problems())
def test_cells_hold_all_weight_and_volume_and_no_rule_divides_them(example):
    problem, antecedents, _, usable, _ = example
    assume(usable)
    cells = cells_of(problem, antecedents)
    assert cells.weight.sum() == pytest.approx(problem.engine.n)
    assert cells.volume.sum() == pytest.approx(1)
    assert len(cells.weight) <= math.prod(problem.domain.sizes)
    assert (np.diff(cells.weight / cells.volume) >= 0).all()


@given(st.lists(st.integers(0, 4), min_size=1, max_size=3), st.integers(0, 6))
def test_uses_are_counted_as_they_are_listed(counts, most):
    uses = every_use(counts, most)
    assert len(set(uses)) == len(uses)
    assert uses[0] == (0,) * len(counts)
    assert count_uses(counts, most) == [sum(sum(use) == m for use in uses) for m in range(most + 1)]


def test_a_hopeless_proof_is_refused_with_its_estimate_or_answered_with_a_bound():
    problem, antecedents, _ = wide_problem(0, 60, conditions=3)
    assert estimate_list(problem, antecedents).hopeless
    with pytest.raises(DataError, match="prefixes"):
        run(ExactLists(antecedents), problem)
    found = run(ExactLists(antecedents, anytime=True), problem, budget=Budget(moves=1))
    assert found.gap > 0
    assert not found.proven


def test_a_domain_of_too_many_points_has_the_bound_of_every_table():
    domain = Domain(tuple(Feature.nominal(f"x{i}", range(10)) for i in range(8)))
    table = table_of(domain, [((0,) * 8, 5.0), ((1,) * 8, 3.0)])
    antecedents = Antecedents(table)
    problem = Problem(MemoryEngine(table), SparseRules(antecedents.counts))
    assert not estimate_list(problem, antecedents).possible
    found = run(ExactLists(antecedents, anytime=True), problem)
    assert found.moves == 0
    assert found.gap > 0
