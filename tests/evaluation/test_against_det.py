"""At the size of DET's tree ours predicts at least as well, and DET's likelihood takes fewer leaves."""

import pytest
from sklearn.base import clone

from sparsedensity import GreedyTree, LeafSparseTree, datasets
from sparsedensity.estimators.folds import folds_of
from sparsedensity.experiments import against_det as module
from sparsedensity.experiments.against_det import against_det, mean_gain
from sparsedensity.experiments.evaluation import held_out, readied
from sparsedensity.experiments.methods import Method
from sparsedensity.experiments.tables import rows_of

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
def test_the_leaves_that_dets_likelihood_takes_are_the_fewest_that_reach_it(name):
    rows = rows_of(TABLES[name](), None, None)
    ours = LeafSparseTree(time_limit=5.0, random_state=0)
    found = against_det(TABLES[name](), det=DET, ours=Method(ours), folds=4, inner=3)
    assert any(row.leaves_to_match is not None for row in found)
    for row, (train, test) in zip(found, folds_of(rows.weights, 4, 0, "folds"), strict=True):
        learned, unseen = rows.take(train > 0), rows.take(test > 0)
        limited = clone(ours).set_params(max_leaves=row.det_leaves, domain=rows.domain)
        model = limited.fit(learned, sample_weight=train[train > 0])
        sizes = model.sparsity_path(learned, cv=None, sample_weight=train[train > 0]).sizes
        scores = {size: model.cut(size).score(unseen, sample_weight=test[test > 0]) for size in sizes}
        reaching = [size for size, score in scores.items() if score >= row.det_log_likelihood - 1e-9 * row.rows]
        assert row.leaves_to_match == min(reaching, default=None)


def test_a_tree_that_differs_by_rounding_reaches_the_likelihood(people, monkeypatch):
    same = Method(GreedyTree("ise"))
    exact = against_det(people, det=same, ours=same, folds=2, inner=2)
    scores = []

    def rounded(rows, model, test):
        """The first score of a fold, DET's, a little higher than the others."""
        scores.append(held_out(rows, model, test))
        return scores[-1] + 1e-10 * (len(scores) == 1)

    monkeypatch.setattr(module, "held_out", rounded)
    for fold in exact:
        scores.clear()
        row = module._side_by_side(*fold_of(people, same), fold.fold)
        assert row.log_likelihood < row.det_log_likelihood
        assert row.leaves_to_match == fold.leaves_to_match


def fold_of(people, method):
    """What a fold of a comparison of a method with itself is given."""
    rows = rows_of(people, None, None)
    ready = readied("same", method, rows.domain)
    return rows, folds_of(rows.weights, 2, 0, "folds"), (ready, ready), 2, 0


def test_a_tree_is_its_own_match(people):
    same = Method(GreedyTree("ise"))
    for row in against_det(people, det=same, ours=same, folds=2, inner=2):
        assert (row.leaves, row.log_likelihood) == (row.det_leaves, pytest.approx(row.det_log_likelihood))
        assert row.leaves_to_match is not None
        assert row.leaves_to_match <= row.det_leaves
