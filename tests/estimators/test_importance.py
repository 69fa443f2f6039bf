"""One column at a time: what it is worth, and its distribution."""

import numpy as np
import pytest

from sparsedensity import BranchSparseTree, GreedyTree, Histogram, SparseRuleList, load
from sparsedensity.errors import DataError, UnknownValueError

MODELS = [GreedyTree(max_leaves=5), BranchSparseTree(search="greedy"), SparseRuleList(max_rules=2), Histogram()]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_marginal_adds_up_to_1_and_is_the_probability_of_each_value(model, people):
    model.fit(people)
    for column in people.columns:
        marginal = model.marginal(column)
        assert sum(marginal.values()) == pytest.approx(1)
        assert marginal == pytest.approx({value: model.probability({column: value}) for value in marginal})


def test_a_marginal_is_of_one_column_that_exists(titanic):
    with pytest.raises(DataError, match="Refer to columns by name"):
        titanic.marginal(["age", "sex"])
    with pytest.raises(DataError, match="'cabin'"):
        titanic.marginal("cabin")


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_importance_is_what_merging_a_column_costs(model, people):
    model.fit(people)
    found = model.importance()
    assert set(found) == set(people.columns)
    assert list(found.values()) == sorted(found.values(), reverse=True)
    for column, loss in found.items():
        others = [name for name in people.columns if name != column]
        joint = model.conditional([column, *others])
        size = len(model.marginal(column))
        merged = {}
        for (_, *rest), mass in joint.items():
            merged[tuple(rest)] = merged.get(tuple(rest), 0.0) + mass / size
        drop = sum(mass * np.log(mass / merged[tuple(rest)]) for (_, *rest), mass in joint.items() if mass > 0)
        assert loss == pytest.approx(drop, abs=1e-9)


def test_a_column_that_no_leaf_uses_makes_no_difference(people):
    noise = people.with_columns(coin=np.arange(people.height) % 2)
    model = GreedyTree(kinds={"coin": "nominal"}).fit(noise)
    assert model.importance()["coin"] == 0
    assert str(model.importance()).endswith("No difference: coin")
    assert model.importance(noise)["coin"] == 0


def test_a_column_that_misleads_on_new_rows_has_a_negative_importance(titanic, people):
    children = people.filter(people["age"] == "child")
    assert titanic.importance(people)["age"] > 0
    assert titanic.importance(children)["age"] < 0


def test_importance_on_rows_counts_weights_and_leaves_out_rows_outside(titanic, people):
    counted = people.group_by("class", "sex", "age", maintain_order=True).len("n")
    weighed = titanic.importance(counted.drop("n"), sample_weight=counted["n"])
    assert dict(weighed) == pytest.approx(dict(titanic.importance(people)))
    strange = people.head(1).with_columns(sex=people["sex"].head(1).replace("male", "x").replace("female", "x"))
    assert dict(titanic.importance(people.vstack(strange))) == pytest.approx(dict(titanic.importance(people)))
    with pytest.raises(DataError, match="No row of the table lies in the domain"):
        titanic.importance(strange)
    strict = GreedyTree(unknown="error").fit(people)
    with pytest.raises(UnknownValueError, match="'sex'"):
        strict.importance(strange)


def test_a_row_of_density_0_makes_its_column_minus_infinity(people):
    model = GreedyTree(density="empirical", max_leaves=3).fit(people)
    empty = Histogram(density="empirical").fit(people)
    child_of_the_crew = people.head(1).with_columns(age=people["age"].head(1).replace("adult", "child"))
    child_of_the_crew = child_of_the_crew.with_columns(**{"class": people["class"].head(1).replace("1st", "crew")})
    assert np.isfinite(list(model.importance(child_of_the_crew).values())).all()
    assert empty.importance(child_of_the_crew)["age"] == -np.inf
    assert "-inf" in str(empty.importance(child_of_the_crew))


def test_a_single_leaf_says_that_no_column_matters(people):
    model = GreedyTree(max_leaves=1).fit(people)
    assert str(model.importance()) == "No difference: class, sex, age"
    assert model.importance().sentence() == ""


def test_a_saved_model_knows_its_importance(titanic, tmp_path):
    titanic.save(tmp_path / "model.json")
    assert dict(load(tmp_path / "model.json").importance()) == pytest.approx(dict(titanic.importance()))


@pytest.mark.parametrize("unknown", ["zero", "error"])
def test_a_value_that_the_domain_does_not_have_is_ignored_in_a_column_that_no_leaf_uses(people, unknown):
    coin = np.arange(people.height) % 2
    kinds = {"coin": "nominal"}
    model = GreedyTree(kinds=kinds, unknown=unknown).fit(people.with_columns(coin=coin))
    assert model.importance(people.with_columns(coin=coin + 7)) == model.importance(people.with_columns(coin=coin))
