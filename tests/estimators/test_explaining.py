"""Explanations: rows go by what their table calls them, and a column is spoken of once."""

import pandas as pd
import polars as pl
import pytest

from sparsedensity import GreedyTree, LeafSparseTree, datasets
from sparsedensity.domain import Domain, Feature
from sparsedensity.report.model import path_of
from sparsedensity.structures import Tree

PEOPLE = datasets.load("titanic")


@pytest.fixture(scope="module")
def model():
    return GreedyTree().fit(PEOPLE.to_pandas())


def test_a_row_of_a_pandas_frame_goes_by_its_label(model):
    frame = PEOPLE.to_pandas()
    (found,) = model.explain(frame.iloc[[22]])
    assert found.row == 22
    assert str(found).startswith("Row 22: ")
    (named,) = model.explain(frame.iloc[[22]].set_axis(["Ms \x1b[31m Allen"]))
    assert named.row == 0
    assert str(named).startswith("Row Ms \\x1b[31m Allen: ")


def test_a_row_outside_the_domain_goes_by_its_label_too(model):
    strange = pd.DataFrame({"class": ["stowaway"], "sex": ["male"], "age": ["adult"]}, index=[7])
    with pytest.warns(UserWarning, match="outside the domain"):
        assert str(model.explain(strange)[0]).startswith("Row 7: outside the domain")


def test_a_row_of_a_frame_without_labels_goes_by_its_number():
    assert [one.row for one in GreedyTree().fit(PEOPLE).explain(PEOPLE[20:23])] == [0, 1, 2]
    assert isinstance(PEOPLE, pl.DataFrame)


def test_conditions_on_one_column_are_told_as_one_in_the_order_of_the_tree():
    domain = Domain((Feature.nominal("b", ("x", "y")), Feature.nominal("a", ("1", "2", "3", "4", "5"))))
    tree = Tree.leaf(domain).split(0, 1, [{0, 1, 2}, {3, 4}])
    tree = tree.split(1, 0, [{0}, {1}])
    tree = tree.split(next(leaf.index for leaf in tree.leaves() if leaf.depth == 2), 1, [{0}, {1, 2}])
    assert path_of(tree, 1) == ("a is 2 or 3", "b is x")


@pytest.mark.parametrize("leaf", ["uniform", "profile"])
def test_a_row_knows_the_name_of_its_leaf(leaf):
    tree = LeafSparseTree(leaf=leaf, search="greedy").fit(PEOPLE)
    assert [one.kind for one in tree.explain(PEOPLE[::300])] == [
        tree.leaves_[number].name for number in tree.apply(PEOPLE[::300])
    ]
