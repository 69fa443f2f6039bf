"""Short names of leaves: true, unique, and no longer than they must be."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedensity import Histogram, datasets
from sparsedensity.domain import Domain, Feature
from sparsedensity.report.naming import MOSTLY, unique
from sparsedensity.structures import Condition, RuleList, Tree
from tests.draw_list import rules_on
from tests.report.models import profile_report, report_of, rules_report, tree_report
from tests.strategies import data_in, domains, rule_lists, trees

SERVICES = Domain(tuple(Feature.nominal(name, ("no", "none", "yes")) for name in "abcdef"))
DIGITS = Domain(
    tuple(Feature.nominal(name, tuple("0123"[:size])) for name, size in zip("abcd", (2, 3, 4, 4), strict=True))
)
PEOPLE = Domain(
    (
        Feature.nominal("class", ("1st", "2nd", "3rd", "crew")),
        Feature.nominal("sex", ("female", "male")),
        Feature.nominal("survived", ("no", "yes")),
        Feature.continuous("fare", (0, 10, 20, 50)),
    )
)


def names_of(report):
    return [leaf.name for leaf in report.leaves]


def named_conditions(domain, name):
    """The conditions that a name states, read from its text: (feature, codes, whether it says mostly)."""
    separator = "; " if ";" in name else ", "
    for part in name.split(separator) if name != "every record" else ():
        column, text = part.split(" ", 1)
        feature = domain.names.index(column)
        codes = {int(digit) for digit in re.findall(r"\d", text)}
        denied = text.startswith(("not ", "neither "))
        yield feature, set(range(domain.sizes[feature])) - codes if denied else codes, text.startswith("mostly ")


def chain():
    """A tree that asks for one column after another: its leaves have 1, 2, .. 6 and 6 conditions."""
    tree = Tree.leaf(SERVICES)
    for feature in range(6):
        tree = tree.split(2 * feature, feature, [{0, 2}, {1}])
    return tree


@given(st.data())
def test_every_record_of_a_leaf_meets_its_name_and_no_other_leaf_does(data):
    tree = data.draw(trees(DIGITS))
    rows = data.draw(data_in(DIGITS))
    report = data.draw(st.sampled_from([tree_report(tree), profile_report(tree, *zip(*rows, strict=True))]))
    for leaf, region in zip(report.leaves, tree.regions, strict=True):
        parts = list(named_conditions(DIGITS, leaf.name))
        for feature, codes, mostly in parts:
            if mostly:
                held = sum(float(report.profiles.inside[leaf.number, DIGITS.span(feature)][code]) for code in codes)
                assert held >= MOSTLY
            else:
                assert region.allowed[feature] == codes
        if not any(mostly for *_, mostly in parts):
            alike = [other for other in tree.regions if all(other.allowed[f] <= codes for f, codes, _ in parts)]
            assert alike == [region]


@given(st.data())
def test_no_two_leaves_of_a_model_have_one_name(data):
    domain = data.draw(domains())
    tree, rules, rows = data.draw(trees(domain)), data.draw(rule_lists(domain)), data.draw(data_in(domain))
    list_report = report_of(rules, np.ones(rules.n_leaves), rules_on(domain))
    for report in (tree_report(tree), profile_report(tree, *zip(*rows, strict=True)), list_report):
        names = names_of(report)
        assert len(set(names)) == len(names)
        assert all(names)


def test_a_leaf_of_many_conditions_goes_by_two():
    names = names_of(tree_report(chain(), np.array([50.0, 1, 2, 3, 4, 5, 6])))
    assert max(len(name.split(", ")) for name in names) == 2


def test_values_that_are_words_go_without_their_column():
    tree = Tree.leaf(PEOPLE).split(0, 0, [{0, 1}, {2}, {3}]).split(1, 1, [{0}, {1}])
    assert names_of(tree_report(tree)) == ["1st or 2nd, female", "1st or 2nd, male", "3rd", "crew"]


def test_values_that_say_nothing_alone_go_with_their_column():
    tree = Tree.leaf(PEOPLE).split(0, 2, [{0}, {1}]).split(1, 3, [{0}, {1, 2}])
    assert names_of(tree_report(tree)) == ["fare 0 to 10, survived no", "survived no, fare 10 to 50", "survived yes"]


def test_a_value_that_two_columns_have_goes_with_its_column():
    domain = Domain((Feature.nominal("cap", ("brown", "white")), Feature.nominal("gill", ("black", "white"))))
    assert names_of(tree_report(Tree.leaf(domain).split(0, 0, [{0}, {1}]))) == ["cap brown", "cap white"]


def test_of_two_columns_that_say_the_same_one_is_named():
    same = Domain((*(Feature.nominal(name, ("no", "yes")) for name in ("phone", "lines")), Feature.nominal("tv", "ab")))
    tree = Tree.leaf(same).split(0, 2, [{0}, {1}]).split(2, 0, [{0}, {1}])
    rows = [(phone, phone, tv) for phone in (0, 1) for tv in (0, 1) for _ in range(40)]
    assert [name.count("phone") + name.count("lines") for name in names_of(profile_report(tree, rows))] == [0, 1, 1]


def test_a_trait_that_tells_more_than_any_condition_is_in_the_name():
    domain = Domain((Feature.nominal("size", ("small", "large")), Feature.nominal("odor", ("none", "foul", "almond"))))
    wide = Domain((*domain, Feature.nominal("bruises", ("no", "yes"))))
    tree = Tree.leaf(wide).split(0, 0, [{0}, {1}]).split(1, 2, [{0}, {1}]).split(2, 2, [{0}, {1}])
    rows = [(0, 0, 0), (0, 0, 1), (1, 0, 1)] * 50 + [(1, 1, 0)] * 40
    assert "odor mostly foul" in names_of(profile_report(tree, rows))[2]


def test_a_condition_on_many_values_gives_way_to_what_most_records_have():
    causes, lines = ("baggage", "fire", "glass", "theft", "water"), ("travel", "property")
    domain = Domain((Feature.nominal("cause", causes), Feature.nominal("line", lines)))
    tree = Tree.leaf(domain).split(0, 0, [{0, 1, 2}, {3, 4}]).split(1, 1, [{0}, {1}])
    rows = [(0, 0)] * 90 + [(1, 0), (2, 0)] * 5 + [(1, 1), (2, 1)] * 50 + [(3, 0), (4, 1)] * 20
    assert "mostly baggage" in names_of(profile_report(tree, rows))[0]


def test_of_many_values_the_commonest_is_named():
    countries = tuple(f"country of {letter * 6}" for letter in "abcdefgh")
    domain = Domain((Feature.nominal("born", countries), Feature.nominal("sex", ("female", "male"))))
    tree = Tree.leaf(domain).split(0, 0, [{0, 1, 2, 3}, {4, 5, 6, 7}])
    rows = [(1, 0), (1, 1), (0, 0), (2, 0), (3, 0), (7, 1), (7, 1), (4, 0), (5, 1), (6, 0)] * 9
    assert names_of(profile_report(tree, rows)) == ["country of bbbbbb or 3 others", "country of hhhhhh or 3 others"]


def test_labels_that_read_alike_get_the_number_of_the_leaf():
    long = "x" * 80
    domain = Domain((Feature.nominal("what", (f"{long}1", f"{long}2")),))
    first, second = names_of(tree_report(Tree.leaf(domain).split(0, 0, [{0}, {1}])))
    assert (first[-8:], second[-8:]) == ("(leaf 0)", "(leaf 1)")
    assert len(set(unique(["a", "a", "a (leaf 0)", "a (leaf 0) (leaf 2)"]))) == 4


def test_rules_go_by_their_conditions_and_the_rest_by_having_met_none():
    assert names_of(rules_report()) == [
        "crew, male",
        "fare 10 to 50",
        "female, fare 50 to 100",
        "none of the rules above",
    ]
    nothing = RuleList.of(PEOPLE, [])
    assert names_of(report_of(nothing, np.ones(1), rules_on(PEOPLE))) == ["every record"]


def test_a_repeated_rule_still_has_a_name_of_its_own():
    twice = RuleList.of(PEOPLE, [[Condition(0, 3, 3)], [Condition(0, 3, 3), Condition(1, 0, 0)]])
    assert len(set(names_of(report_of(twice, np.array([5.0, 0.0, 2.0]), rules_on(PEOPLE))))) == 3


def test_the_points_of_a_histogram_go_by_all_their_values():
    leaves = Histogram().fit(datasets.load("titanic")).leaves_
    assert [leaf.name for leaf in leaves] == [str(leaf) for leaf in leaves]


def test_a_single_leaf_is_every_record():
    assert names_of(tree_report(Tree.leaf(PEOPLE))) == ["every record"]


@pytest.mark.parametrize("weights", [[0.0, 0.0, 3.0, 4.0], [1.0, 0.0, 0.0, 0.0]])
def test_leaves_without_rows_have_names(weights):
    tree = Tree.leaf(PEOPLE).split(0, 0, [{0, 1}, {2}, {3}]).split(1, 1, [{0}, {1}])
    assert len(set(names_of(tree_report(tree, np.array(weights))))) == 4
