"""Rule lists: volumes, priors, antecedents, and the search against complete enumeration."""

import math
from collections import Counter
from unittest import mock

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from reproduction.volumes import inclusion_exclusion, markov_chain, uniform_samples
from sparsedensity.domain import Domain, Feature
from sparsedensity.engines import MemoryEngine
from sparsedensity.kernels import list_moves, list_weigh
from sparsedensity.posterior import SparseRules
from sparsedensity.problem import Problem
from sparsedensity.search import AnnealLists, Budget, run
from sparsedensity.search.lists.anneal import gelman_rubin, one_more_rule_pays, split_gelman_rubin
from sparsedensity.search.lists.antecedents import Antecedents
from sparsedensity.search.lists.breeding import Breeding
from sparsedensity.search.lists.chain import ListChain
from sparsedensity.search.lists.chain_arrays import scratch_of, task_of
from sparsedensity.search.lists.ladder import Ladder
from sparsedensity.structures import Condition, RuleList
from sparsedensity.structures.rule_order import in_reading_order
from tests import naive
from tests.compiled import opened
from tests.draw_list import draw_list, rules_on
from tests.naive_lists import Scorer, best_list, every_antecedent, every_list, supported
from tests.strategies import data_in, domains, positive, rule_lists, table_of

kinds_of_conditions = st.sampled_from(["value", "interval"])
propose, weigh = opened(list_moves.propose), opened(list_weigh.weigh)


def chain_on(domain, data, lam=3.0, eta=1.0, a=1.0, most=2, kind="value", least=0.0, limit=8, seed=0, printed=False):
    """A chain at the empty list, its antecedents and its posterior."""
    table = table_of(domain, data)
    antecedents = Antecedents(table, most, kind, least)
    posterior = SparseRules(antecedents.counts, lam, eta, a, printed)
    task = task_of(posterior, antecedents, 40)
    limit = min(limit, sum(antecedents.counts))
    chain = ListChain(task, scratch_of(task, limit), limit, most, np.random.default_rng(seed))
    return chain, antecedents, posterior


def listed(chain, antecedents, domain):
    """The list that a chain is at."""
    return RuleList.of(domain, [[antecedents.conditions[c] for c in rule] for rule in chain.rules])


# Volumes --------------------------------------------------------------------------------------------------------


@given(domains(), st.data())
def test_inclusion_and_exclusion_give_the_volumes_of_every_point(domain, data):
    rules = data.draw(rule_lists(domain))
    volumes = naive.leaf_volumes(rules)
    np.testing.assert_allclose(np.exp(inclusion_exclusion(rules)), volumes, rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(np.exp(rules.log_volumes), volumes, rtol=1e-9, atol=1e-300)


@settings(max_examples=10)
@given(st.data())
def test_exact_volumes_agree_on_domains_far_beyond_counting(data):
    sizes = data.draw(st.lists(st.integers(2, 40), min_size=30, max_size=60))
    domain = Domain(tuple(Feature.nominal(f"x{i}", range(size)) for i, size in enumerate(sizes)))
    assert domain.log_points > math.log(1e9)
    rules = data.draw(rule_lists(domain, most_rules=8, most_conditions=3))
    np.testing.assert_allclose(rules.log_volumes, inclusion_exclusion(rules), rtol=1e-12)


@settings(max_examples=10)
@given(domains(), st.data())
@pytest.mark.parametrize("estimate", [uniform_samples, markov_chain])
def test_estimates_come_near_the_exact_volumes(estimate, domain, data):
    rules = data.draw(rule_lists(domain))
    shares = np.exp(rules.log_volumes - domain.log_volume)
    found = np.exp(estimate(rules, 20_000, 0) - domain.log_volume)
    assert found.sum() == pytest.approx(1)
    np.testing.assert_allclose(found, shares, atol=0.06 if estimate is markov_chain else 0.02)


# Priors ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lam", [0.7, 4.0])
def test_lists_drawn_from_the_prior_are_as_frequent_as_it_says(lam):
    domain = Domain((Feature.nominal("x", "ab"), Feature.ordinal("y", "ab", missing=True)))
    prior = rules_on(domain, max_conditions=2, expected_rules=lam, expected_conditions=1.5)
    rng, draws = np.random.default_rng(5), 5_000
    drawn = Counter(draw_list(domain, prior, rng).rules for _ in range(draws))
    assert sum(prior.antecedents) == 11
    for rules, count in drawn.most_common(30):
        share = math.exp(prior.log_prior([len(rule) for rule in rules]))
        assert count / draws == pytest.approx(share, abs=5 * math.sqrt(share / draws))
    lengths = Counter()
    for rules, count in drawn.items():
        lengths[len(rules)] += count
    for n, count in lengths.items():
        share = math.exp(prior.log_length(n))
        assert count / draws == pytest.approx(share, abs=5 * math.sqrt(share / draws))


def test_a_list_can_use_every_antecedent_there_is():
    domain = Domain((Feature.nominal("x", "ab"), Feature.nominal("y", "ab")))
    prior = rules_on(domain, expected_rules=50.0)
    assert max(draw_list(domain, prior, seed).n_rules for seed in range(30)) == 8


# Antecedents ----------------------------------------------------------------------------------------------------


@given(domains(), st.data(), kinds_of_conditions, st.integers(1, 3), st.sampled_from([0.0, 0.2, 0.6, 1.0, 7.5]))
def test_antecedents_are_those_that_rows_support(domain, data, kind, most, least):
    rows = data.draw(data_in(domain))
    antecedents = Antecedents(table_of(domain, rows), most, kind, least)
    total = math.fsum(weight for _, weight in rows)
    bound = least * total if least < 1 else least
    assume(all(abs(w - bound) > 1e-9 * total for w in _supports(domain, rows, most, kind)) or least == 0)
    expected = supported(every_antecedent(domain, most, kind), rows, bound)
    found, begin = antecedents.listed
    rules = [tuple(antecedents.conditions[c] for c in rule if c >= 0) for rule in found.tolist()]
    assert sorted(rules) == sorted(expected)
    assert sum(antecedents.counts) == len(expected)
    assert np.diff(begin[1:]).tolist() == list(antecedents.counts)
    assert all(antecedents.has(rule) for rule in expected)


def _supports(domain, rows, most, kind):
    for rule in every_antecedent(domain, most, kind):
        yield math.fsum(w for row, w in rows if all(low <= row[f] <= high for f, low, high in rule))


def test_very_many_antecedents_are_counted_and_not_listed():
    domain = Domain(tuple(Feature.nominal(f"x{i}", range(10)) for i in range(60)))
    codes = np.random.default_rng(0).integers(0, 10, (100, 60)).astype(np.uint8)
    antecedents = Antecedents(table_of(domain, [(tuple(row), 1.0) for row in codes.tolist()]), 4)
    assert antecedents.counts == (600, 177_000, 34_220_000, 4_876_350_000)
    assert len(antecedents.listed[0]) == 0


# The chains -----------------------------------------------------------------------------------------------------


@given(domains(), st.data(), positive, positive, positive, kinds_of_conditions, st.booleans())
def test_a_chain_scores_its_lists_like_the_formula(domain, data, lam, eta, a, kind, printed):
    rows = data.draw(data_in(domain))
    assume(every_antecedent(domain, 2, kind))
    chain, antecedents, posterior = chain_on(domain, rows, lam, eta, a, kind=kind, printed=printed)
    for temperature in (30.0, 1.0):
        chain.walk(temperature, temperature, 30)
        rules = listed(chain, antecedents, domain)
        expected = naive.rule_list(rules, rows, antecedents.counts, lam, eta, a, printed)
        assert chain.log_posterior == pytest.approx(expected, rel=1e-9, abs=1e-9)
        weights = MemoryEngine(table_of(domain, rows)).leaf_weights(rules)
        assert posterior.log_posterior(rules, weights) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@settings(max_examples=150)
@given(domains(), st.data(), positive, kinds_of_conditions, st.integers(0, 10**6))
def test_a_proposal_is_weighed_as_if_its_list_were_counted_anew(domain, data, a, kind, seed):
    rows = data.draw(data_in(domain))
    assume(every_antecedent(domain, 2, kind))
    chain, antecedents, posterior = chain_on(domain, rows, a=a, kind=kind, seed=seed)
    chain.walk(50.0, 50.0, 20)
    engine = MemoryEngine(table_of(domain, rows))
    for _ in range(10):
        state, pool, draft, _ = chain.memory
        change = propose(chain.task, state, draft, chain.limit, chain.rng)
        if change.hi == 0:
            continue
        evidence = weigh(chain.task, state, pool, draft, change)
        sizes = draft.size[: change.n].tolist()
        drafted = [draft.rule[j, :size].tolist() for j, size in enumerate(sizes)]
        rules = RuleList.of(domain, [[antecedents.conditions[c] for c in rule] for rule in drafted])
        expected = posterior.log_posterior(rules, engine.leaf_weights(rules)) - posterior.log_prior(sizes)
        assert evidence == pytest.approx(expected, rel=1e-9, abs=1e-9)


def assert_visits_follow_the_posterior(chain, antecedents, posterior, rows, steps, visit):
    """Compare how often a chain is at each list of up to its limit of rules with the enumerated posterior."""
    domain = antecedents.table.domain
    usable = supported(every_antecedent(domain, 2, antecedents.ordinal_conditions), rows, antecedents.least)
    assert len(usable) == sum(antecedents.counts)
    engine = MemoryEngine(antecedents.table)
    lists = {
        rules.rules: posterior.log_posterior(rules, engine.leaf_weights(rules))
        for rules in every_list(domain, usable, chain.limit)
    }
    log_total = np.logaddexp.reduce(list(lists.values()))
    visits = Counter(
        tuple(tuple(antecedents.conditions[c] for c in rule) for rule in visit().rules) for _ in range(steps)
    )
    assert set(visits) <= set(lists)
    for rules in sorted(lists, key=lists.__getitem__, reverse=True)[:25]:
        share = math.exp(lists[rules] - log_total)
        assert visits[rules] / steps == pytest.approx(share, abs=7 * math.sqrt(share / steps))


SMALL = Domain((Feature.nominal("x", "ab"), Feature.continuous("y", (0, 1, 3, 4))))
FEW_ROWS = [((0, 0), 3.0), ((0, 2), 1.0), ((1, 1), 2.0)]


@pytest.mark.parametrize(("kind", "least"), [("value", 0.0), ("interval", 0.0), ("value", 3.0)])
@pytest.mark.parametrize("every", [0, 3])
def test_a_chain_at_temperature_one_visits_lists_as_often_as_the_posterior_says(kind, least, every):
    made = chain_on(SMALL, FEW_ROWS, lam=1.5, eta=1.2, kind=kind, least=least, limit=2)

    def visit():
        made[0].walk(1.0, 1.0, 15, every)
        return made[0]

    assert_visits_follow_the_posterior(*made, FEW_ROWS, 20_000, visit)


def test_a_rule_is_drawn_anew_as_the_posterior_says_even_where_antecedents_run_out():
    domain = Domain((Feature.nominal("x", "ab"), Feature.nominal("y", "a")))
    rows = [((0, 0), 3.0), ((1, 0), 1.0)]
    made = chain_on(domain, rows, lam=2.0, eta=1.5, limit=3)
    assert min(made[1].counts) < 3

    def visit():
        made[0].walk(1.0, 1.0, 4, 1)
        return made[0]

    assert_visits_follow_the_posterior(*made, rows, 20_000, visit)


def test_the_coldest_chain_of_a_ladder_visits_lists_as_often_as_the_posterior_says(monkeypatch):
    monkeypatch.setattr("sparsedensity.search.lists.ladder.BLOCK", 15)
    chain, antecedents, posterior = chain_on(SMALL, FEW_ROWS, lam=1.5, eta=1.2, limit=2)

    def another(rng):
        return ListChain(chain.task, scratch_of(chain.task, 2), 2, 2, rng)

    ladder = Ladder(another, 4.0, np.random.default_rng(1))
    assert len(ladder.rungs) > 2

    def visit():
        for _ in ladder.rungs:
            ladder.step(10**6)
        return ladder.cold

    visit()
    assert_visits_follow_the_posterior(chain, antecedents, posterior, FEW_ROWS, 20_000, visit)


@settings(max_examples=30)
@given(domains(), st.data(), positive, kinds_of_conditions, st.sampled_from([0, 100]), st.integers(0, 10**6))
def test_what_is_bred_scores_like_the_formula_and_breeding_loses_nothing(domain, data, a, kind, tiny, seed):
    rows = data.draw(data_in(domain))
    chain, antecedents, posterior = chain_on(domain, rows, a=a, kind=kind, limit=4, seed=seed)
    breeding = Breeding(chain, 1e-4)
    with mock.patch("sparsedensity.search.lists.breeding.TINY", tiny):
        list(breeding.anneal([[], []], 3))
        first = breeding.best.log_posterior
        list(breeding.breed(1e6, 2))
    assert breeding.best.log_posterior >= first
    for log_posterior, numbers in breeding.members:
        rules = RuleList.of(domain, [[antecedents.conditions[c] for c in rule] for rule in numbers])
        weights = MemoryEngine(table_of(domain, rows)).leaf_weights(rules)
        assert log_posterior == pytest.approx(posterior.log_posterior(rules, weights), rel=1e-9, abs=1e-6)


@settings(max_examples=40)
@given(domains(), st.data(), kinds_of_conditions, st.sampled_from([0.0, 1.5]), st.integers(0, 10**6))
def test_rules_that_exchange_a_condition_are_antecedents_and_none_is_there_twice(domain, data, kind, least, seed):
    rows = data.draw(data_in(domain))
    usable = supported(every_antecedent(domain, 2, kind), rows, least)
    assume(len(usable) > 2 and all(abs(w - least) > 1e-9 for w in _supports(domain, rows, 2, kind)))
    chain, antecedents, _ = chain_on(domain, rows, kind=kind, least=least, limit=4, seed=seed)
    chain.walk(50.0, 50.0, 20)
    breeding, before = Breeding(chain, 1e-4), chain.rules
    for lost in {condition for rule in before for condition in rule}:
        for other in breeding._alike(lost):
            after = breeding._exchanged(before, lost, other)
            assert not any(lost in rule for rule in after)
            rules = RuleList.of(domain, [[antecedents.conditions[c] for c in rule] for rule in after]).rules
            assert len({*rules}) == len(rules)
            assert all(rule in usable for rule in rules)


@settings(max_examples=40)
@given(domains(), st.data(), positive, kinds_of_conditions, st.sampled_from([0.0, 1.5]), st.integers(0, 10**6))
def test_an_insertion_is_the_best_of_all_antecedents_at_all_places(domain, data, a, kind, least, seed):
    rows = data.draw(data_in(domain))
    usable = supported(every_antecedent(domain, 2, kind), rows, least)
    assume(len(usable) > 2 and all(abs(w - least) > 1e-9 for w in _supports(domain, rows, 2, kind)))
    chain, antecedents, posterior = chain_on(domain, rows, a=a, kind=kind, least=least, limit=4, seed=seed)
    chain.walk(50.0, 50.0, 20)
    engine = MemoryEngine(table_of(domain, rows))
    rules, before = listed(chain, antecedents, domain).rules, chain.log_posterior
    assume(len(rules) < chain.limit)
    assume(all(Counter(map(len, rules))[c] + 1 < n for c, n in enumerate(antecedents.counts, 1) if n))
    first = data.draw(st.integers(0, len(rules)))
    longer = [
        RuleList.of(domain, [*rules[:place], rule, *rules[place:]])
        for rule in usable
        if rule not in rules
        for place in range(first, len(rules) + 1)
    ]
    best = max(posterior.log_posterior(rules, engine.leaf_weights(rules)) for rules in longer)
    assert chain.insert(first) == (best > before + 1e-9) or best == pytest.approx(before, abs=1e-6)
    assert chain.log_posterior == pytest.approx(max(best, before), rel=1e-9, abs=1e-6)


def test_a_limit_binds_where_only_a_rule_before_others_would_pay():
    domain = Domain((Feature.nominal("x", "ab"), Feature.nominal("y", "abcd")))
    rows = [((0, 0), 90.0), ((0, 1), 10.0), ((1, 2), 1.0), ((1, 3), 1.0)]
    antecedents = Antecedents(table_of(domain, rows))
    problem = Problem(MemoryEngine(antecedents.table), SparseRules(antecedents.counts), 2)
    search = AnnealLists(antecedents)
    state = search.init(problem, np.random.default_rng(0))
    best = RuleList.of(domain, [[Condition(0, 0, 0)]])
    chain = state.ladders[0].cold
    chain.set(antecedents.numbers(best.rules))
    assert not chain.insert(1)
    assert one_more_rule_pays(problem, antecedents, best)


def random_table(seed):
    """A small domain, skewed rows in it, and a prior."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 4, rng.integers(2, 4))
    domain = Domain(tuple(Feature.nominal(f"x{i}", range(size)) for i, size in enumerate(sizes.tolist())))
    n = int(rng.integers(3, 60))
    points = np.array(naive.points(domain))
    chosen = rng.choice(len(points), n, p=rng.dirichlet(np.full(len(points), 0.5)))
    return (
        domain,
        [(tuple(points[i].tolist()), 1.0) for i in chosen],
        rng.choice([1.0, 3.0, 7.0]),
        rng.choice([1.0, 2.0]),
    )


@pytest.mark.parametrize("printed", [False, True])
def test_the_search_finds_the_optimum_of_a_hundred_small_tables(printed):
    found = 0
    for seed in range(100 if not printed else 20):
        domain, rows, lam, eta = random_table(seed)
        usable = every_antecedent(domain, 2)
        most = 3 if len(usable) <= 16 else 2
        best = best_list(Scorer(domain, rows, usable, lam, eta, 1.0, printed), usable, most)
        table = table_of(domain, rows)
        antecedents = Antecedents(table, 2)
        posterior = SparseRules(antecedents.counts, lam, eta, 1.0, printed)
        problem = Problem(MemoryEngine(table), posterior, most + 1)
        result = run(
            AnnealLists(antecedents, 20_000), problem, budget=Budget(moves=80_000), rng=np.random.default_rng(seed)
        )
        assert result.log_posterior <= best + 1e-7
        found += result.log_posterior >= best - 1e-7
    assert found >= (99 if not printed else 20)


# Reading order --------------------------------------------------------------------------------------------------


@given(domains(), st.data())
def test_lists_of_the_same_leaves_are_told_alike(domain, data):
    rules = data.draw(rule_lists(domain, most_rules=4, most_conditions=2))
    rows = data.draw(data_in(domain))
    weights = np.array(naive.leaf_weights(rules, rows))
    told = in_reading_order(rules, weights, lambda rule: True)
    assert told.n_rules == rules.n_rules
    leaf_of, leaf_told = naive.router(rules), naive.router(told)
    pairs = {(leaf_of(point), leaf_told(point)) for point in naive.points(domain)}
    assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})
    again = in_reading_order(told, np.array(naive.leaf_weights(told, rows)), lambda rule: True)
    if len(set(weights.tolist())) == len(weights):
        assert again.rules == told.rules


# Gelman-Rubin ---------------------------------------------------------------------------------------------------


def test_the_statistic_of_gelman_and_rubin_is_that_of_its_formula():
    traces = np.random.default_rng(0).normal(size=(4, 50)) + np.arange(4)[:, None]
    m, n = traces.shape
    means = traces.mean(axis=1)
    b = n / (m - 1) * ((means - means.mean()) ** 2).sum()
    w = np.mean([((trace - trace.mean()) ** 2).sum() / (n - 1) for trace in traces])
    assert gelman_rubin(traces) == pytest.approx(math.sqrt(((n - 1) / n * w + b / n) / w))


def test_chains_that_still_drift_do_not_agree_however_alike_they_are():
    rising = np.tile(np.linspace(0.0, 1.0, 200), (3, 1))
    assert gelman_rubin(rising) < 1
    assert split_gelman_rubin(rising) > 2
