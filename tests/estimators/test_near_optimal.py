"""Near-optimal models are fitted models, and say what they share."""

from collections import Counter

import numpy as np
import pytest

from reproduction.datasets.random_trees import random_tree
from sparsedensity import BranchSparseTree, LeafSparseTree, SparseRuleList

MODELS = {
    "leaf": (LeafSparseTree(), 5.0),
    "branch": (BranchSparseTree(), 1.0),
    "list": (SparseRuleList(max_conditions=1), 4.0),
}


@pytest.fixture(scope="module")
def near(people):
    return {name: model.fit(people).near_optimal(within) for name, (model, within) in MODELS.items()}


@pytest.mark.parametrize("name", MODELS)
def test_each_is_a_fitted_model_with_its_own_score(near, name, people):
    model, within = MODELS[name]
    assert near[name][0].log_posterior_ == pytest.approx(model.log_posterior_)
    for each in near[name]:
        assert each.log_posterior_ >= model.log_posterior_ - within - 1e-6
        assert each.posterior_.log_posterior(each.structure_, each.density_.weights) == pytest.approx(
            each.log_posterior_
        )
        assert sum(leaf.weight for leaf in each.leaves_) == people.height
        assert each.search_.proven == (each.log_posterior_ >= near[name][0].log_posterior_)
        assert each.search_.gap == pytest.approx(model.log_posterior_ - each.log_posterior_, abs=1e-6)
        assert each.to_svg().startswith("<svg")
    assert model.structure_ is not near[name][1].structure_


@pytest.mark.parametrize("name", MODELS)
def test_what_they_share_is_counted_model_by_model(near, name):
    found, models = near[name].agreement, list(near[name])
    last = [len(each.leaves_) - (name == "list") for each in models]
    leaves = [leaf for each, end in zip(models, last, strict=True) for leaf in each.leaves_[:end]]
    texts = Counter(" and ".join(map(str, leaf.conditions)) for leaf in leaves)
    assert {part.text: part.models for part in found.parts} == dict(texts)
    assert {part.text for part in found.shared} == {text for text, count in texts.items() if count == len(models)}
    assert len(found.shared) + len(found.differing) == len(texts)
    assert found.sizes == (min(last), max(last))
    columns = Counter(
        column for each in models for column in {c.feature for leaf in each.leaves_ for c in leaf.conditions}
    )
    assert dict(found.columns) == columns


def test_the_share_of_a_leaf_is_that_of_its_rows(near, people):
    shares = {part.text: part.share for part in near["leaf"].agreement.parts}
    for each in near["leaf"]:
        for leaf in each.leaves_:
            assert shares[str(leaf)] == pytest.approx(leaf.weight / people.height)


def test_they_are_a_sequence(near):
    trees = near["leaf"].trees
    assert trees[-1] is trees[len(trees) - 1]
    assert trees[:2] == [trees[0], trees[1]]
    assert trees is near["leaf"]
    assert near["list"].lists is near["list"]
    with pytest.raises(IndexError):
        trees[len(trees)]


def test_a_set_that_is_cut_short_says_at_least(people):
    few = LeafSparseTree().fit(people).near_optimal(5.0, at_most=2)
    assert str(few).startswith("At least 2 trees within 5 nats of the optimum")
    assert not few.agreement.as_dict()["complete"]


def test_one_nat_is_one(people):
    near = LeafSparseTree().fit(people).near_optimal(1.0)
    assert str(near).startswith("1 tree within 1 nat of the optimum")


def test_a_single_leaf_is_everything():
    frame = random_tree(rows=40, sizes=[2, 2], leaves=1).frame
    only = LeafSparseTree(expected_leaves=0.01).fit(frame).near_optimal(0.1)
    assert len(only) == 1
    assert str(only).splitlines()[0] == "1 tree within 0.1 nats of the optimum, with 1 leaf"
    assert "everything" in str(only)
    assert np.isclose(only.agreement.shared[0].share, 1)


def test_columns_of_some_trees_are_named_with_their_number():
    frame = random_tree(rows=20, sizes=[2, 2, 2]).frame
    found = LeafSparseTree(expected_leaves=2).fit(frame).near_optimal(3.0)
    some = [(name, models) for name, models in found.agreement.columns if 0 < models < len(found)]
    assert some
    assert all(f"{name} ({models})" in str(found) for name, models in some)


def test_only_the_best_says_that_the_limit_was_reached(people):
    near = LeafSparseTree(max_leaves=4).fit(people).near_optimal(40)
    assert near[0].search_.limit_binds
    assert [each.search_.limit_binds for each in near[1:]] == [None] * (len(near) - 1)


def test_trees_that_share_no_leaf_divide_all_of_the_data_differently(people):
    near = LeafSparseTree(max_leaves=4).fit(people).near_optimal(300)
    assert not near.agreement.shared
    assert "In some of them, which divide the data differently" in near.to_text()
