"""The sparsity path: the best model of every size, and models cut from it."""

import matplotlib as mpl
import numpy as np
import pytest

from sparsedensity import GreedyTree, datasets
from sparsedensity.errors import DataError, ParameterError
from sparsedensity.report.path import PathPoint, SparsityPath
from tests import naive

mpl.use("Agg")
TITANIC = datasets.load("titanic")


def counted(model):
    """The training rows of a Titanic model as naive data."""
    codes = [[model.domain_[i].code(value) for i, value in enumerate(row)] for row in TITANIC.rows()]
    return [(tuple(row), 1.0) for row in codes]


@pytest.fixture(scope="module")
def tree():
    return GreedyTree().fit(TITANIC)


@pytest.fixture(scope="module")
def path(tree):
    return tree.sparsity_path(TITANIC, cv=4)


def test_a_path_has_every_size_and_its_naive_score(tree, path):
    rows = counted(tree)
    assert path.sizes == tuple(range(1, 16))
    for point in path.points[::4]:
        model = tree.cut(point.size)
        assert model.n_leaves_ == point.size
        assert point.log_posterior == pytest.approx(naive.leaf_sparse(model.structure_, rows, 8, 2), rel=1e-10)
        assert model.log_posterior_ == pytest.approx(point.log_posterior, rel=1e-12)
        assert point.log_likelihood == pytest.approx(model.score(TITANIC) / TITANIC.height, rel=1e-12)


def test_the_fitted_model_is_the_most_probable_point(tree, path):
    assert path.most_probable.size == tree.n_leaves_
    assert path.most_probable.log_posterior == pytest.approx(tree.log_posterior_)


def test_a_cut_is_a_model_of_its_own(tree):
    small = tree.cut(3)
    assert small.n_leaves_ == 3
    assert tree.n_leaves_ == 9
    assert len(small.leaves_) == 3
    assert small.cut(9).score(TITANIC) == pytest.approx(tree.score(TITANIC))
    assert sum(leaf.probability for leaf in small.leaves_) == pytest.approx(1)


def test_held_out_numbers_are_those_of_the_folds(tree, path):
    from sklearn.model_selection import KFold

    scores = []
    for train, test in KFold(4, shuffle=True, random_state=0).split(TITANIC):
        fold = GreedyTree(domain=tree.domain_).fit(TITANIC[train])
        scores.append(fold.cut(4).score(TITANIC[test]) / len(test))
    point = path.at(4)
    assert point.held_out == pytest.approx(np.mean(scores))
    assert point.held_out_error == pytest.approx(np.std(scores, ddof=1) / 2)


def test_the_same_numbers_from_counts_as_weights(tree):
    import polars as pl

    counts = TITANIC.group_by(pl.all(), maintain_order=True).len("count")
    weighted = GreedyTree().fit(counts.drop("count"), sample_weight=counts["count"].to_numpy())
    found = weighted.sparsity_path(counts.drop("count"), None, counts["count"].to_numpy())
    plain = tree.sparsity_path(TITANIC, None)
    for one, other in zip(found, plain, strict=True):
        assert one.log_posterior == pytest.approx(other.log_posterior)
        assert one.held_out is None


def test_the_simplest_is_within_one_error_of_the_best_and_no_larger():
    held = [(-3.0, 0.1), (-2.1, 0.1), (-2.02, 0.1), (-2.0, 0.05), (-2.0, 0.2)]
    path = SparsityPath(tuple(PathPoint(k, -k, -1.0, *pair) for k, pair in enumerate(held, 1)))
    assert path.best.size == 4
    assert path.simplest.size == 3
    assert path.most_probable.size == 1


def test_a_size_that_was_not_found_is_said_with_those_that_were(tree):
    with pytest.raises(DataError, match=r"No model with 99 leaves was found. Found: 1 to 15."):
        tree.cut(99)


def test_a_path_without_folds_has_no_best():
    path = SparsityPath((PathPoint(1, -1.0, -1.0),))
    with pytest.raises(DataError, match="cv=5"):
        _ = path.best


@pytest.mark.parametrize("folds", [1, 0, True, 2.5, "five", 10**9])
def test_nonsense_folds_are_refused(tree, folds):
    with pytest.raises(ParameterError, match="cv must be"):
        tree.sparsity_path(TITANIC, cv=folds)


def test_a_path_reads_as_a_table_and_draws_as_a_plot(path):
    table, standing = str(path).split("\n\n")
    lines = table.splitlines()
    assert len(lines) == 16
    assert standing.startswith("Held out, the model gives new records 1.1")
    assert lines[0].split() == ["leaves", "log", "posterior", "per", "row", "held", "out", "+-"]
    assert "best held out" in str(path)
    axes = path.plot()
    assert axes.get_xlabel() == "leaves"
    assert list(axes.lines[0].get_xdata()) == list(path.sizes)
