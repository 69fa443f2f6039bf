"""mlpack's DET as a peer: its tree is read as ours, scored with volumes of categories, and a start for our searches."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from reproduction.datasets.random_trees import random_tree
from reproduction.sampled_det import SampledMlpackTree
from sparsedensity import BranchSparseTree, Domain, Feature, LeafSparseTree
from sparsedensity.errors import DataError, ParameterError, SparseDensityError
from sparsedensity.evaluation.mlpack_tree import MlpackTree, as_tree, one_hot
from tests import naive
from tests.strategies import domains

SIDES = ("value0", "value1")
both_encodings = pytest.mark.parametrize("tree_of_det", [MlpackTree, SampledMlpackTree])


@pytest.fixture
def det():
    """mlpack's DET itself."""
    return pytest.importorskip("mlpack", reason="mlpack is not installed: pip install sparsedensity[mlpack]").det


@st.composite
def number_trees(draw, columns, depth=4):
    """A random tree of splits on columns of numbers, as mlpack writes it."""
    if depth == 0 or draw(st.booleans()):
        return {"hasLeft": False, "hasRight": False, "splitDim": 7, "splitValue": 0.1}
    threshold = draw(st.sampled_from([-1.0, 0.2, 0.5, 0.9, 1.5, 2.5]))
    below = number_trees(columns, depth - 1)
    node = {"hasLeft": True, "hasRight": True, "splitDim": draw(st.integers(0, columns - 1)), "splitValue": threshold}
    return node | {side: {"smartPointer": {"ptr_wrapper": {"valid": 1, "data": draw(below)}}} for side in SIDES}


def leaf_of(node, numbers, path=""):
    """The way of one row of numbers to its leaf."""
    if not node["hasLeft"]:
        return path
    right = bool(numbers[node["splitDim"]] > node["splitValue"])
    return leaf_of(node[SIDES[right]]["smartPointer"]["ptr_wrapper"]["data"], numbers, path + "LR"[right])


@given(st.data())
def test_the_imported_tree_sends_every_record_where_the_tree_of_numbers_does(data):
    domain = data.draw(domains(most_features=3))
    points = naive.points(domain)
    codes = np.array(points, domain.code_type)
    numbers, cut_of = one_hot(codes, domain)
    root = data.draw(number_trees(numbers.shape[1]))
    tree = as_tree(domain, root, cut_of)
    ways = [leaf_of(root, row) for row in numbers]
    leaves = tree.leaf_numbers(codes)
    assert len(set(zip(ways, leaves.tolist(), strict=True))) == len(set(ways)) == tree.n_leaves
    assert np.exp(tree.log_volumes).sum() == pytest.approx(naive.volume(domain, points))


@both_encodings
def test_densities_of_every_record_add_up_to_one(det, tree_of_det, people):
    model = tree_of_det(min_leaf=1, max_leaf=5, folds=None).fit(people)
    logs = model.density_.log_densities[model.density_.leaf_numbers(np.array(naive.points(model.domain_), np.uint8))]
    assert np.exp(logs).sum() == pytest.approx(1.0)
    assert model.n_leaves_ > 5


def test_the_tree_has_the_leaves_that_mlpack_counts(det):
    table = random_tree(rows=800, sizes=(2, 3, 4, 2), leaves=8, seed=2).frame
    model = MlpackTree(min_leaf=3, max_leaf=20, folds=None).fit(table)
    domain = model.domain_
    codes = np.array([[domain[i].code(v) for i, v in enumerate(row)] for row in table.rows()], np.uint8)
    numbers, _ = one_hot(codes, domain)
    estimates = det(training=numbers, min_leaf_size=3, max_leaf_size=20, skip_pruning=True)["training_set_estimates"]
    leaves = model.tree_.leaf_numbers(codes)
    assert len(set(leaves.tolist())) == model.n_leaves_  # every leaf of DET's holds rows
    by_leaf = {leaf: set(np.round(estimates[leaves == leaf, 0], 9)) for leaf in set(leaves.tolist())}
    assert all(len(own) == 1 for own in by_leaf.values())  # and all rows of a leaf have one density


@both_encodings
@pytest.mark.parametrize("kind", [LeafSparseTree, BranchSparseTree])
def test_a_search_that_starts_from_the_imported_tree_never_ends_below_it(det, tree_of_det, kind, people):
    peer = tree_of_det(min_leaf=1, max_leaf=5, folds=None).fit(people)
    quick = {"search": "anneal", "iterations": 1, "restarts": 1, "domain": peer.domain_}
    model = kind(warm_start_from=peer.tree_, **quick).fit(people)
    own = model.posterior_.log_posterior(peer.tree_, peer.density_.weights)
    assert model.log_posterior_ >= own - 1e-9
    assert kind(warm_start_from=peer, **quick).fit(people).log_posterior_ == model.log_posterior_


def test_the_same_seed_gives_the_same_tree(det, people):
    one, other = (SampledMlpackTree(random_state=3).fit(people) for _ in range(2))
    assert one.log_posterior_ == other.log_posterior_
    assert clone(one).get_params() == one.get_params()


def test_counts_are_rows_and_other_weights_are_refused(det, people):
    counted = people.group_by(people.columns, maintain_order=True).len("n")
    few = MlpackTree(min_leaf=1, max_leaf=5, folds=None).fit(counted.drop("n"), sample_weight=counted["n"])
    many = MlpackTree(min_leaf=1, max_leaf=5, folds=None).fit(people)
    assert few.log_posterior_ == pytest.approx(many.log_posterior_)
    with pytest.raises(DataError, match="whole weights"):
        MlpackTree().fit(people, sample_weight=np.full(people.height, 0.5))


@both_encodings
def test_ordered_columns_are_cut_into_runs(det, tree_of_det):
    rng = np.random.default_rng(0)
    domain = Domain((Feature.ordinal("size", ("s", "m", "l", "xl")), Feature.nominal("c", ("a", "b", "c"))))
    rows = [
        {"size": domain[0].values[a], "c": domain[1].values[b]}
        for a, b in zip(rng.binomial(3, 0.3, 500), rng.integers(0, 3, 500), strict=True)
    ]
    model = tree_of_det(min_leaf=1, max_leaf=5, folds=None, domain=domain).fit(rows)
    for region in model.tree_.regions:
        levels = sorted(region.allowed[0])
        assert levels == list(range(levels[0], levels[-1] + 1))


def test_a_peer_is_not_saved_as_a_file_that_nothing_reads(det, people, tmp_path):
    with pytest.raises(SparseDensityError, match="start a LeafSparseTree from its tree_"):
        MlpackTree().fit(people).save(tmp_path / "m.json")
    assert not list(tmp_path.iterdir())


def test_bad_parameters_are_refused(people):
    for wrong in ({"min_leaf": 0}, {"max_leaf": 1.5}, {"folds": 0}):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            MlpackTree(**wrong).fit(people)
