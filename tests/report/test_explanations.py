"""Why a record is rare, in sentences."""

import math

from sparsedensity.report.explanation import Change, Explanation, Factor

RARE = (
    Factor("ring type", "evanescent", 0.03, 0.41),
    Factor("odor", "none", 0.005, 0.2),
    Factor("cap\x1b", "flat", 0.1, 0.4),
    Factor("habitat", "woods", 0.1, 0.3),
)


def explained(**known):
    given = {"leaf": 3, "path": ("a is 1", "b is 2"), "probability": 0.2, "log_density": -9.0, "unusualness": 0.996}
    return Explanation(row=7, observed=0.2, **given | known)


def test_the_values_that_make_a_record_rare_are_told_strongest_first_and_at_most_three():
    assert explained(factors=RARE).remarks == [
        "among records like it, ring type evanescent is rare: 3 %, overall 41 %; it makes the record 14 times rarer",
        "so is odor none: 0.5 %, overall 20 %; 40 times rarer",
        "so is cap\\x1b flat: 10 %, overall 40 %; 4 times rarer",
    ]


def test_values_that_are_common_enough_are_not_told():
    ordinary = (Factor("odor", "none", 0.4, 0.5), Factor("habitat", "woods", 0.8, 0.3))
    assert explained(factors=ordinary).remarks == []


def test_a_value_that_is_rare_everywhere_is_told_though_it_is_no_rarer_here():
    delay, other = Factor("delay", "59 days", 0.001, 0.001), Factor("gender", "other", 0.009, 0.006)
    everywhere = "rare everywhere: delay 59 days, 0.1 % of all records"
    assert explained(factors=(delay, other)).remarks == [
        everywhere,
        "rare everywhere: gender other, 0.6 % of all records",
    ]
    assert explained(factors=(RARE[0], delay)).remarks == [str(RARE[0]), everywhere]
    assert explained(factors=(delay, RARE[1], RARE[0])).remarks == [everywhere, str(RARE[1]), RARE[0].likewise]
    assert explained(factors=(Factor("gender", "other", 0.02, 0.009),)).remarks == []


def test_the_density_is_told_if_all_records_of_the_leaf_have_it():
    assert explained().share == "20.0 % of all records, density 0.000123"
    assert explained(factors=RARE).share == "20.0 % of all records"


def test_a_value_that_is_never_expected_is_told_as_such():
    (sentence,) = explained(factors=(Factor("odor", "none", 0.0, 0.2),)).remarks
    assert sentence == "among records like it, odor none is not expected; overall 20 % have it"
    assert explained(factors=(RARE[0], Factor("odor", "none", 0.0, 0.2))).remarks[1] == sentence
    assert explained(factors=(Factor("odor", "none", 0.0, 0.2),)).as_dict()["factors"][0]["times"] is None


def test_the_best_change_comes_last_on_the_card_and_in_the_sentence():
    change = Change("odor", "foul", -2.0, 0.1, math.log(40))
    one = explained(factors=RARE[:1], change=change)
    assert one.card([("odor", "none")], 200).splitlines() == [
        "Row 7: odor none",
        "  rarer than 99.6 % of expected records",
        "  leaf 3: a is 1 and b is 2",
        "  20.0 % of all records",
        "  among records like it, ring type evanescent is rare: 3 %, overall 41 %; it makes the record 14 times rarer",
        "  with odor foul it would be 40 times as common",
    ]
    assert str(one).endswith("14 times rarer. With odor foul it would be 40 times as common.")


def test_a_leaf_of_many_conditions_goes_by_its_name():
    path = tuple(f"x{i} is 1" for i in range(10))
    one = explained(path=path, kind="odor none, woods")
    assert str(one).startswith("Row 7: odor none, woods (leaf 3, 10 conditions: 20.0 % of all records")
    assert "leaf 3, 10 conditions: odor none, woods" in one.card([])
    assert one.as_dict()["path"] == list(path)
    assert one.as_dict()["kind"] == "odor none, woods"


def test_a_leaf_of_few_conditions_goes_by_them():
    assert str(explained(kind="x, y")).startswith("Row 7: a is 1 and b is 2 (leaf 3: ")


def test_a_record_outside_the_domain_has_no_kind():
    assert str(explained(leaf=None, unknown=("odor", "fishy"))) == "Row 7: outside the domain, because odor is fishy."


def test_a_value_of_a_column_all_of_whose_values_are_rare_is_not_told():
    assert explained(factors=(Factor("city", "Ulm", 0.004, 0.004, usual=0.006),)).remarks == []
    assert explained(factors=(Factor("city", "Ulm", 0.0004, 0.0004, usual=0.006),)).remarks != []


def test_a_change_that_gives_a_density_says_that_the_record_would_be_possible():
    change = Change("odor", "foul", -2.0, 0.1, math.inf)
    assert str(change) == "with odor foul it would be possible, rarer than 10.0 % of expected records"
