"""Honest estimation: some rows choose the leaves, others weigh them."""

import json
from functools import partial

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from sparsedensity import BranchSparseTree, GreedyTree, LeafSparseTree, SparseRuleList, datasets, load
from sparsedensity.errors import DataError, ModelFileError, ParameterError
from sparsedensity.models import folds
from sparsedensity.models.folds import hold_out
from sparsedensity.posterior.base import exact_intervals
from sparsedensity.report import from_file
from tests import naive

PEOPLE = datasets.load("titanic")
MODELS = [LeafSparseTree(), BranchSparseTree(), SparseRuleList(max_rules=4), GreedyTree()]
PROFILES = [partial(kind, leaf="profile") for kind in (LeafSparseTree, BranchSparseTree)]
every_model = pytest.mark.parametrize("kind", [*(type(model) for model in MODELS), *PROFILES])


def honest(kind, share=0.5, **more):
    return kind(honest=share, **more).fit(PEOPLE)


def parts(model):
    """The rows of the Titanic that chose the leaves, and those that weigh them."""
    split = model.held_out_.divide(np.ones(PEOPLE.height))
    return PEOPLE.filter(split.train > 0), PEOPLE.filter(split.test > 0)


@every_model
def test_leaves_come_from_some_rows_and_weights_from_the_others(kind):
    model = honest(kind)
    searched, held = parts(model)
    assert (searched.height, held.height) == (1101, 1100)
    plain = kind(domain=model.domain_).fit(searched)
    assert list(map(str, plain.leaves_)) == list(map(str, model.leaves_))
    assert model.log_posterior_ == pytest.approx(plain.log_posterior_)
    assert [leaf.weight for leaf in model.leaves_] == np.bincount(model.apply(held), minlength=model.n_leaves_).tolist()
    assert sum(leaf.probability for leaf in model.leaves_) == pytest.approx(1)
    assert model.held_out_.searched == 1101


def test_the_score_is_the_naive_score_of_the_searched_rows():
    model = honest(LeafSparseTree)
    rows = [(tuple(model.domain_[i].code(v) for i, v in enumerate(row)), 1.0) for row in parts(model)[0].rows()]
    assert model.log_posterior_ == pytest.approx(naive.leaf_sparse(model.structure_, rows, 8, 2), rel=1e-12)


@every_model
def test_densities_sum_to_1_over_every_point(kind):
    model = honest(kind)
    points = PEOPLE.select("class").unique().join(PEOPLE.select("sex").unique(), how="cross")
    points = points.join(PEOPLE.select("age").unique(), how="cross")
    assert np.exp(model.score_samples(points)).sum() == pytest.approx(1)


@every_model
def test_intervals_are_clopper_pearson(kind):
    model = honest(kind)
    for leaf in model.leaves_:
        exact = binomtest(int(leaf.weight), 1100).proportion_ci(method="exact")
        assert leaf.interval == pytest.approx((exact.low, exact.high))


def test_intervals_of_empty_full_and_impossible_leaves():
    intervals = exact_intervals(np.array([0.0, 5.0, 0.0]), np.array([0.0, 0.0, -np.inf]))
    assert intervals.tolist() == [
        [0, pytest.approx(1 - 0.025 ** (1 / 5))],
        [pytest.approx(0.025 ** (1 / 5)), 1],
        [0, 0],
    ]
    assert exact_intervals(np.array([5.0, 0.0]), np.array([0.0, -np.inf])).tolist() == [[1, 1], [0, 0]]


@given(st.lists(st.integers(0, 5), min_size=2).filter(lambda w: sum(w) > 1), st.floats(0.01, 0.99), st.integers(0, 99))
def test_weights_are_divided_like_the_rows_they_count(weights, share, seed):
    weights = np.array(weights, float)
    split = hold_out(weights, share, seed)
    written = np.repeat(np.arange(len(weights)), weights.astype(int))
    rows = hold_out(np.ones(len(written)), share, seed)
    assert split.test.tolist() == np.bincount(written, rows.test, len(weights)).tolist()
    assert (split.train + split.test).tolist() == weights.tolist()
    assert split.test.sum() == min(max(1, round(share * weights.sum())), weights.sum() - 1)


def test_more_rows_than_can_be_counted_one_by_one_are_divided_too(monkeypatch):
    monkeypatch.setattr(folds, "MOST_UNITS", 10)
    weights = np.array([4000.0, 6000.0])
    split = hold_out(weights, 0.25, 0)
    assert (split.train + split.test).tolist() == weights.tolist()
    assert split.test == pytest.approx(weights / 4, rel=0.1)


@every_model
def test_a_table_of_counts_gives_the_model_of_its_rows(kind):
    table = PEOPLE.sort("class", "sex", "age")
    counts = table.group_by("class", "sex", "age", maintain_order=True).len("n")
    weighted = kind(honest=0.4).fit(counts.drop("n"), sample_weight=counts["n"])
    plain = kind(honest=0.4).fit(table)
    assert weighted.leaves_ == plain.leaves_
    assert weighted.log_posterior_ == plain.log_posterior_


@every_model
def test_a_saved_model_says_so_and_is_the_same(kind, tmp_path):
    model = honest(kind, 0.3, random_state=np.random.default_rng(1))
    model.save(tmp_path / "m.json")
    saved = load(tmp_path / "m.json")
    assert saved.leaves_ == model.leaves_
    assert saved.held_out_ == model.held_out_
    assert saved.report().facts == model.report().facts == from_file.read(tmp_path / "m.json").report().facts
    assert dict(model.report().facts)["Honest"].startswith("leaves chosen on 1,541 rows")
    assert saved.compare(PEOPLE).test == model.compare(PEOPLE).test
    said = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))
    assert (said["honest"]["share"], said["honest"]["searched"]) == (0.3, 1541)
    saved.sparsity_path(PEOPLE, None)
    assert saved.cut(1).leaves_ == model.cut(1).leaves_


def test_files_from_before_and_files_that_are_damaged(tmp_path):
    file = tmp_path / "m.json"
    honest(GreedyTree).save(file)
    document = json.loads(file.read_text(encoding="utf-8"))
    del document["parameters"]["honest"], document["parameters"]["random_state"]
    said = document.pop("honest")
    file.write_text(json.dumps(document), encoding="utf-8")
    assert load(file).held_out_ is None
    for damage in ({"share": 2}, {"seed": -1}, {"searched": "many"}, {"searched": float("inf")}, {"more": 1}):
        file.write_text(json.dumps({**document, "honest": {**said, **damage}}), encoding="utf-8")
        with pytest.raises(ModelFileError, match="is damaged"):
            load(file)


@every_model
def test_a_path_scores_searched_rows_and_fits_held_ones(kind):
    model = honest(kind)
    path = model.sparsity_path(PEOPLE, cv=3)
    held = parts(model)[1]
    for point in (path.points[1], path.points[-1]):
        smaller = model.cut(point.size)
        assert smaller.log_posterior_ == pytest.approx(point.log_posterior)
        assert point.log_likelihood == pytest.approx(smaller.score(held) / held.height)
        assert sum(leaf.weight for leaf in smaller.leaves_) == 1100
        assert smaller.compare(PEOPLE).p_value is not None
        assert point.held_out < 0


def test_folds_are_honest_too():
    model = honest(GreedyTree)
    (train, test), *_ = folds.folds_of(np.ones(PEOPLE.height), 2)
    fold = GreedyTree(honest=0.5, domain=model.domain_).fit(PEOPLE.filter(train > 0))
    other = GreedyTree(honest=0.5, domain=model.domain_).fit(PEOPLE.filter(test > 0))
    scores = [
        fold.cut(4).score(PEOPLE.filter(test > 0)) / test.sum(),
        other.cut(4).score(PEOPLE.filter(train > 0)) / train.sum(),
    ]
    assert model.sparsity_path(PEOPLE, cv=2).at(4).held_out == pytest.approx(np.mean(scores))


def test_near_optimal_trees_are_those_of_the_searched_rows_weighed_by_the_others():
    model = honest(LeafSparseTree)
    plain = LeafSparseTree(domain=model.domain_).fit(parts(model)[0])
    ours, theirs = (list(near_best.near_optimal(within=2)) for near_best in (model, plain))
    assert [tree.log_posterior_ for tree in ours] == [tree.log_posterior_ for tree in theirs]
    assert [str(leaf) for tree in ours for leaf in tree.leaves_] == [
        str(leaf) for tree in theirs for leaf in tree.leaves_
    ]
    assert {sum(leaf.weight for leaf in tree.leaves_) for tree in ours} == {1100}


def test_values_and_ranges_come_from_all_rows_and_quantiles_from_the_searched_ones():
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"x": rng.exponential(size=200), "c": [*("ab" * 99), "rare", "b"]})
    model = GreedyTree(honest=0.5, bins="quantile:4").fit(table)
    searched = table.filter(model.held_out_.divide(np.ones(200)).train > 0)
    edges = np.array(model.domain_["x"].edges)
    assert (edges[0], edges[-1]) == (table["x"].min(), table["x"].max())
    alone = GreedyTree(bins="quantile:4").fit(searched).domain_["x"].edges
    assert edges[1:-1].tolist() == list(alone)[1:-1]
    assert "rare" in model.domain_["c"].values


def test_the_page_counts_held_rows(people):
    page = honest(GreedyTree).to_html(None, PEOPLE, cv=2)
    assert "leaves chosen on 1,101 rows, their probabilities and intervals from the other 1,100" in page


@pytest.mark.parametrize("share", [0, 1, -0.5, 1.5, float("nan"), True, "half"])
def test_the_share_lies_between_0_and_1(share):
    with pytest.raises(ParameterError, match=r"^honest must be a number between 0 and 1, both excluded"):
        honest(GreedyTree, share)


def test_one_row_cannot_be_divided():
    with pytest.raises(DataError, match="An honest model needs two rows or more"):
        GreedyTree(honest=0.5).fit(PEOPLE.head(1))
    assert GreedyTree(honest=0.5).fit(PEOPLE.head(2)).n_leaves_ >= 1


def test_the_seed_divides_the_rows():
    assert honest(GreedyTree).leaves_ == honest(GreedyTree).leaves_
    assert honest(GreedyTree).leaves_ != honest(GreedyTree, random_state=1).leaves_
