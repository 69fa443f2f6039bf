"""At the size of DET's tree ours predicts at least as well, and DET's likelihood takes fewer leaves."""

import pytest
from sklearn.base import clone

from reproduction.datasets import balance
from reproduction.datasets.random_trees import random_tree
from sparsedensity import GreedyTree, LeafSparseTree, datasets
from sparsedensity.evaluation import CrossValidation, Method, against_det, mean_gain
from sparsedensity.evaluation.rows import WeightedRows

TABLES = {
    "titanic": lambda: datasets.load("titanic"),
    "simulated": lambda: datasets.load("simulated"),
    "uniform": balance,
    "random": lambda: random_tree(rows=1500, sizes=(2, 3, 4, 3, 2), leaves=12, seed=3).frame,
}
DET = Method(GreedyTree("ise"), {"max_leaf": (5, 50)})
CV = CrossValidation(4, inner=3)
TWO = CrossValidation(2, inner=2)


@pytest.mark.parametrize("name", TABLES)
def test_at_the_size_of_dets_tree_ours_predicts_at_least_as_well(name):
    found = against_det(TABLES[name](), CV, det=DET)
    gain, error = mean_gain(found)
    assert [row.fold for row in found] == [0, 1, 2, 3]
    assert all(row.leaves <= row.det_leaves for row in found)
    assert gain >= -max(error, 1e-9)


@pytest.mark.parametrize("name", ["titanic", "random"])
def test_the_leaves_that_dets_likelihood_takes_are_the_fewest_that_reach_it(name):
    rows = WeightedRows.of(TABLES[name]())
    ours = LeafSparseTree(time_limit=5.0, random_state=0)
    found = against_det(TABLES[name](), CV, det=DET, ours=Method(ours))
    assert any(row.leaves_to_match is not None for row in found)
    for row, (train, test) in zip(found, CV.split(rows), strict=True):
        (learned, known), (unseen, weights) = rows.weighing(train), rows.weighing(test)
        limited = clone(ours).set_params(max_leaves=row.det_leaves, domain=rows.domain)
        model = limited.fit(learned, sample_weight=known)
        sizes = model.sparsity_path(learned, cv=None, sample_weight=known).sizes
        scores = {size: model.cut(size).score(unseen, sample_weight=weights) for size in sizes}
        reaching = [size for size, score in scores.items() if score >= row.det_log_likelihood - 1e-9 * row.rows]
        assert row.leaves_to_match == min(reaching, default=None)


def test_a_tree_that_differs_by_rounding_reaches_the_likelihood(people, monkeypatch):
    same = Method(GreedyTree("ise"))
    exact = against_det(people, TWO, det=same, ours=same)
    score, scores = WeightedRows.score, []

    def rounded(rows, model, test):
        """The first score of a fold, DET's, a little higher than the others."""
        scores.append(id(test))
        return score(rows, model, test) + 1e-10 * (scores.count(id(test)) == 1)

    monkeypatch.setattr(WeightedRows, "score", rounded)
    for row, fold in zip(against_det(people, TWO, det=same, ours=same), exact, strict=True):
        assert row.log_likelihood < row.det_log_likelihood
        assert row.leaves_to_match == fold.leaves_to_match


def test_a_tree_is_its_own_match(people):
    same = Method(GreedyTree("ise"))
    for row in against_det(people, TWO, det=same, ours=same):
        assert (row.leaves, row.log_likelihood) == (row.det_leaves, pytest.approx(row.det_log_likelihood))
        assert row.leaves_to_match is not None
        assert row.leaves_to_match <= row.det_leaves
