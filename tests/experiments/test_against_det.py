"""At the size of DET's tree ours predicts at least as well, and DET's likelihood takes fewer leaves."""

import pytest

from sparsedensity import GreedyTree, datasets
from sparsedensity.experiments.against_det import against_det, mean_gain
from sparsedensity.experiments.methods import Method

TABLES = {
    "titanic": lambda: datasets.load("titanic"),
    "simulated": lambda: datasets.load("simulated"),
    "uniform": lambda: datasets.load("factorial", levels=(5, 5, 5, 5)),
    "random": lambda: datasets.load("random-tree", rows=1500, sizes=(2, 3, 4, 3, 2), leaves=12, seed=3),
}
DET = Method(GreedyTree("ise"), {"max_leaf": (5, 50)})


@pytest.mark.parametrize("name", TABLES)
def test_at_the_size_of_dets_tree_ours_predicts_at_least_as_well(name):
    found = against_det(TABLES[name](), det=DET, folds=4, inner=3)
    gain, error = mean_gain(found)
    assert [row.fold for row in found] == [0, 1, 2, 3]
    assert all(row.leaves <= row.det_leaves for row in found)
    assert gain >= -max(error, 1e-9)


@pytest.mark.parametrize("name", ["titanic", "random"])
def test_dets_likelihood_takes_no_more_leaves(name):
    found = against_det(TABLES[name](), det=DET, folds=4, inner=3)
    reached = [row for row in found if row.leaves_to_match is not None]
    assert reached
    assert all(row.leaves_to_match <= row.det_leaves for row in reached)


def test_a_tree_is_its_own_match(people):
    same = Method(GreedyTree("ise"))
    for row in against_det(people, det=same, ours=same, folds=2, inner=2):
        assert (row.leaves, row.log_likelihood) == (row.det_leaves, pytest.approx(row.det_log_likelihood))
        assert row.leaves_to_match is not None
        assert row.leaves_to_match <= row.det_leaves
