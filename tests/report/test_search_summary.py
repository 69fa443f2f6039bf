"""How a model was found, in words."""

from types import SimpleNamespace

from sparsedensity import GreedyTree, LeafSparseTree, datasets
from sparsedensity.report.search_summary import search_facts, search_in_words
from sparsedensity.search.base import Mode
from sparsedensity.structures import Condition, RuleList
from tests.report.models import rules_report

RULES = rules_report().structure


def search(**changes):
    known = {
        "method": "chains", "reason": "iterations", "moves": 1200, "seconds": 1.5, "limit_binds": False,
        "log_posterior": -10.0, "upper_bound": None, "proven": False,
    }  # fmt: skip
    return SimpleNamespace(**{**known, **changes})


def test_a_search_is_told_in_one_line():
    assert search_in_words(search(), RULES) == "chains, stopped at the iteration limit after 1,200 moves in 1.5 s"
    limited = search_in_words(search(limit_binds=True), RULES)
    assert limited.endswith(". The rule limit was reached; more rules would raise the score.")
    assert "more leaves" in search_in_words(search(limit_binds=True), None)


def test_a_sample_that_was_searched_is_named():
    assert search_in_words(search(sampled=60_000), RULES).endswith(
        "; searched on a sample of 60,000 rows, counted on all"
    )


def test_what_is_proven_is_said_and_what_is_not_too():
    def said(**changes):
        return dict(search_facts(search(**changes), RULES))["Optimality"]

    assert said(proven=True) == "proven: no list scores higher"
    assert said(upper_bound=-8.0) == "The optimum is at most 2 nats higher (proven)."
    assert said(upper_bound=19_231.0) == "No list can score more than 19,240 higher (a loose bound)."
    assert said() == "unknown: no bound available"


def test_convergence_is_told_where_it_was_measured():
    assert "Convergence" not in dict(search_facts(search(), RULES))
    assert "1.02" in dict(search_facts(search(r_hat=1.02), RULES))["Convergence"]


def test_it_is_said_how_far_restarts_agreed_and_when_a_longer_search_is_worth_it():
    rounds = {"restarts": 4, "spread": 12.34, "converged": True}
    assert dict(search_facts(search(**rounds), RULES))["Restarts"] == (
        "They were up to 12.3 nats apart before they shared what they had found; "
        "the last rounds gained next to nothing."
    )
    assert "worth it" not in search_in_words(search(**rounds), RULES)
    still = search_in_words(search(**{**rounds, "converged": False}), RULES)
    assert still.endswith(". The search was still gaining: a longer one is worth it")
    assert "Restarts" not in dict(search_facts(search(), RULES))


def test_modes_are_told_with_what_they_differ_in():
    other = RuleList.of(RULES.domain, [*RULES.rules[:-1], [Condition(0, 1, 1)]])
    modes = (Mode(RULES, -10.0, 1), Mode(other, -12.5, 1), Mode(RULES, -13.0, 1))
    told = dict(search_facts(search(modes=modes), RULES))["Modes"]
    name, value = RULES.domain[0].name, RULES.domain[0].values[1]
    assert told == (
        "The chains ended at 3 lists, so the posterior has several modes. One is 2.5 nats below the best, with other "
        f"rules: {name} is {value}. One is 3 nats below the best, with its rules in another order."
    )
    assert "Modes" not in dict(search_facts(search(modes=modes[:1]), RULES))
    put_together = dict(search_facts(search(modes=(Mode(RULES, -9.0, 0), Mode(other, -12.5, 2))), RULES))["Modes"]
    assert put_together.startswith("All chains ended at one list. The best was found by annealing and crossing")


def test_a_smaller_calibrated_size_is_told_and_an_equal_one_is_not():
    def told(size):
        return dict(search_facts(search(calibrated_leaves=size), RULES)).get("Noise")

    doubt = "Charging for the choice among splits, the best size is"
    assert told(1) == f"{doubt} 1: there may be nothing here."
    assert told(2) == f"{doubt} 2: finer leaves may be chance."
    assert told(RULES.n_leaves) is told(None) is None


def test_the_calibrated_prior_is_named():
    model = LeafSparseTree(prior="calibrated").fit(datasets.load("titanic"))
    assert dict(model.report().search)["Prior"] == "calibrated, expected leaves 8, pseudocount 2"


def test_the_prior_is_told_with_its_numbers():
    model = GreedyTree(expected_leaves=5, pseudocount=0.5).fit(datasets.load("titanic"))
    assert dict(model.report().search)["Prior"] == "expected leaves 5, pseudocount 0.5"
