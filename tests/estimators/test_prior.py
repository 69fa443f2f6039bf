"""The calibrated prior as its users meet it: nothing in noise, and what is there is still found."""

import numpy as np
import polars as pl
import pytest

from benchmarks import noise
from reproduction.datasets.random_trees import random_tree
from sparsedensity import BranchSparseTree, LeafSparseTree, datasets, load
from sparsedensity.errors import ModelFileError, ParameterError
from sparsedensity.structures import files
from tests.command import run

TITANIC = datasets.load("titanic")
NOTHING = "Charging for the choice among splits, the best size is 1: there may be nothing here."
DRAWS = 40


@pytest.fixture(scope="module")
def coins():
    """Noise in which the paper's prior sees something."""
    codes = np.random.default_rng(0).integers(0, 2, (500, 7))
    return pl.DataFrame({f"x{i}": column for i, column in enumerate(codes.T.astype(str))})


@pytest.fixture(scope="module")
def overfitted(coins):
    return LeafSparseTree().fit(coins)


def test_noise_has_one_leaf(monkeypatch):
    monkeypatch.setattr(noise, "COLUMNS", (5, 30))
    monkeypatch.setattr(noise, "ROWS", (200, 1000))
    fits = [LeafSparseTree(2, prior="calibrated", search="greedy").fit(table) for table in noise.noise(DRAWS)]
    assert sum(tree.n_leaves_ == 1 for tree in fits) >= 0.95 * DRAWS


@pytest.mark.parametrize("seed", range(5))
def test_a_planted_tree_is_still_found(seed):
    truth = random_tree(rows=4000, sizes=(3, 3, 2, 4, 2), leaves=6, seed=seed)
    frame = truth.frame.cast(pl.String)
    tree = LeafSparseTree(prior="calibrated", search="greedy").fit(frame[:3000])
    known = truth.log_density(truth.codes[3000:]).mean()
    assert tree.score(frame[3000:]) / 1000 > known - 0.03


def test_a_tree_of_noise_says_that_there_may_be_nothing(overfitted, tmp_path):
    assert overfitted.search_.proven
    assert overfitted.n_leaves_ > 1
    assert overfitted.search_.calibrated_leaves == 1
    assert NOTHING in overfitted.to_text(width=200)
    assert dict(overfitted.report().search)["Noise"] == NOTHING
    overfitted.save(tmp_path / "m.json")
    assert load(tmp_path / "m.json").search_.calibrated_leaves == 1
    assert NOTHING in run("show", tmp_path / "m.json", "--width", 200).stdout
    assert '"calibrated_leaves": 1' in run("show", tmp_path / "m.json", "--json").stdout


def test_the_calibrated_tree_of_the_same_noise_is_one_leaf(coins, tmp_path):
    coins.write_csv(tmp_path / "coins.csv")
    done = run("fit", tmp_path / "coins.csv", "--prior", "calibrated", "-o", tmp_path / "m.json")
    assert done.stdout.startswith("Leaf-sparse density tree with 1 leaf\n")
    assert "Noise" not in done.stdout
    again = load(tmp_path / "m.json")
    assert again.prior == "calibrated"
    assert again.posterior_ == LeafSparseTree(prior="calibrated").posterior(again.domain_)


@pytest.mark.parametrize("search", ["exact", "anneal", "greedy"])
def test_every_search_finds_the_calibrated_tree_of_the_titanic(search):
    tree = LeafSparseTree(prior="calibrated", search=search).fit(TITANIC)
    assert tree.n_leaves_ == tree.search_.calibrated_leaves == 9
    assert tree.log_posterior_ == pytest.approx(-4162.162, abs=1e-3)


def test_a_branch_sparse_tree_tells_its_calibrated_size_too():
    assert BranchSparseTree().fit(TITANIC).search_.calibrated_leaves == 9
    assert BranchSparseTree(search="greedy").fit(TITANIC).search_.calibrated_leaves is not None


def test_the_prior_of_the_paper_is_the_default():
    model = LeafSparseTree().fit(TITANIC)
    assert model.posterior_ == LeafSparseTree(prior="paper").fit(TITANIC).posterior_
    assert model.posterior_.log_splits == ()


def test_another_prior_is_refused():
    with pytest.raises(ParameterError, match="prior must be 'paper' or 'calibrated', not 'flat'"):
        LeafSparseTree(prior="flat").fit(TITANIC)


def test_a_file_whose_calibrated_size_is_no_number_is_refused(overfitted, tmp_path):
    overfitted.save(tmp_path / "m.json")
    document = files.read_document(tmp_path / "m.json")
    document["search"]["calibrated_leaves"] = "one"
    files.write_document(tmp_path / "m.json", document)
    with pytest.raises(ModelFileError, match="calibrated_leaves"):
        load(tmp_path / "m.json")
