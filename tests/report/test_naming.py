"""Short names of leaves."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sparsedensity.domain import Domain, Feature
from sparsedensity.report.model import allowed_values
from sparsedensity.report.naming import brief_names
from sparsedensity.structures import Tree
from tests.report.models import tree_report
from tests.strategies import domains, trees

SERVICES = Domain(tuple(Feature.nominal(name, ("no", "none", "yes")) for name in "abcdef"))


def chain():
    """A tree that asks for one column after another: its leaves have 1, 2, .. 6 and 6 conditions."""
    tree = Tree.leaf(SERVICES)
    for feature in range(6):
        tree = tree.split(2 * feature, feature, [{0, 2}, {1}])
    return tree


def test_a_leaf_of_many_conditions_goes_by_two_that_no_other_leaf_meets():
    report = tree_report(chain(), np.array([50.0, 1, 2, 3, 4, 5, 6]))
    names = brief_names(report, report.leaves)
    deepest = max(report.leaves, key=lambda leaf: len(leaf.conditions))
    assert names[deepest.number].endswith("(6 conditions)")
    assert names[deepest.number].count(" is ") == 2
    assert len(set(names.values())) == len(names)


def test_a_leaf_of_few_conditions_goes_by_all_of_them():
    report = tree_report(chain())
    short = [leaf for leaf in report.leaves if len(leaf.conditions) <= 3]
    assert brief_names(report, short) == {leaf.number: str(leaf) for leaf in short}


@given(st.data())
def test_no_two_leaves_of_a_tree_have_one_name(data):
    tree = data.draw(trees(data.draw(domains())))
    report = tree_report(tree)
    names = brief_names(report, report.leaves)
    assert len(set(names.values())) == tree.n_leaves
    for leaf in report.leaves:
        assert len(allowed_values(tree, leaf.number)) == len(leaf.conditions)
