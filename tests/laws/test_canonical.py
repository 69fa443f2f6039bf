"""The canonical tree has the same leaves, no more inner nodes, and is the same whatever tree it came from."""

from hypothesis import given
from hypothesis import strategies as st

from sparsedensity.domain import Domain, Feature
from sparsedensity.structures import Tree, canonical
from tests.strategies import domains, trees


def inner_nodes(tree):
    return tree.n_nodes - tree.n_leaves


@given(domains(), st.data())
def test_the_canonical_tree_has_the_same_leaves_and_no_more_inner_nodes(domain, data):
    tree = data.draw(trees(domain))
    shown = canonical(tree)
    assert set(shown.regions) == set(tree.regions)
    assert shown.n_leaves == tree.n_leaves
    assert inner_nodes(shown) <= inner_nodes(tree.merged())


@given(domains(), st.data())
def test_no_child_splits_on_the_feature_of_its_parent(domain, data):
    for node in canonical(data.draw(trees(domain))).walk():
        assert all(child.feature is None or child.feature != node.feature for child in node.children)


@given(domains(), st.data())
def test_ordered_features_are_split_into_runs(domain, data):
    for node in canonical(data.draw(trees(domain))).walk():
        if node.feature is None or not domain[node.feature].ordered:
            continue
        missing = domain[node.feature].missing
        known = sorted(node.region.allowed[node.feature] - {missing})
        for child in node.children:
            places = [known.index(code) for code in sorted(child.group - {missing})]
            assert not places or places == list(range(places[0], places[-1] + 1))


@given(domains(), st.data())
def test_the_canonical_tree_is_canonical(domain, data):
    once = canonical(data.draw(trees(domain)))
    twice = canonical(once)
    assert [node.region for node in twice.walk()] == [node.region for node in once.walk()]


def test_the_split_that_saves_inner_nodes_comes_first():
    domain = Domain((Feature.nominal("many", range(5)), Feature.nominal("two", range(2))))
    tree = Tree.leaf(domain).split(0, 0, [{0}, {1}, {2}, {3}, {4}])
    for node in range(1, 6):
        tree = tree.split(node, 1, [{0}, {1}])
    assert inner_nodes(tree) == 6
    shown = canonical(tree)
    assert inner_nodes(shown) == 3
    assert shown.root().feature == 1


def test_equal_trees_show_the_lowest_column_first():
    domain = Domain((Feature.nominal("a", range(2)), Feature.nominal("b", range(2))))
    tree = Tree.leaf(domain).split(0, 1, [{0}, {1}]).split(1, 0, [{0}, {1}]).split(2, 0, [{0}, {1}])
    assert canonical(tree).root().feature == 0
