"""What a quick look beyond the limit says, and what folds may take."""

from contextlib import contextmanager

import pytest

from sparsedensity import BranchSparseTree, GreedyTree, Histogram, LeafSparseTree, SparseRuleList, datasets
from sparsedensity.estimators import evidence, paths
from sparsedensity.estimators.answers import read_rows
from sparsedensity.estimators.further import look_further
from sparsedensity.estimators.paths import learn_folds

TITANIC = datasets.load("titanic")
WIDE = datasets.load("housebreaks", rows=300)
BOUND = {
    "leaf": LeafSparseTree(max_leaves=4),
    "branch": BranchSparseTree(max_leaves=4),
    "grown": LeafSparseTree(max_leaves=4, search="greedy"),
    "honest": LeafSparseTree(max_leaves=4, honest=0.5),
    "list": SparseRuleList(max_rules=2),
    "greedy": GreedyTree(max_leaves=4),
}


@pytest.mark.parametrize("name", BOUND)
def test_a_look_beyond_the_limit_finds_what_a_whole_search_finds_at_least(name):
    model = BOUND[name].fit(TITANIC)
    further = look_further(model, TITANIC)
    assert further.after > further.before
    larger = type(model)(**model.get_params() | {f"max_{model.unit}": further.limit}).fit(TITANIC)
    assert model.n_leaves_ - (model.unit == "rules") < further.size <= further.limit
    assert larger.log_posterior_ > model.log_posterior_
    if name != "honest":
        assert further.before == pytest.approx(model.score(TITANIC) / TITANIC.height)
        assert further.after <= larger.score(TITANIC) / TITANIC.height + 0.01


@pytest.mark.parametrize(
    "model",
    [
        LeafSparseTree(max_leaves=100),
        LeafSparseTree(max_leaves=None),
        LeafSparseTree(max_leaves=3, depth=1),
        Histogram(),
    ],
    ids=["wide limit", "no limit", "depth", "histogram"],
)
def test_a_limit_that_keeps_nothing_out_needs_no_look(model):
    assert look_further(model.fit(TITANIC), TITANIC) is None


@pytest.mark.filterwarnings("ignore:The chains do not agree")
@pytest.mark.parametrize("folds", [2, 5, 9])
@pytest.mark.parametrize(
    "model",
    [
        LeafSparseTree(max_leaves=8, search="anneal"),
        BranchSparseTree(max_leaves=8, search="anneal", iterations=2000),
        SparseRuleList(max_rules=4, search="anneal", r_hat=1e-9),
        SparseRuleList(max_rules=4, search="anneal", restarts=1, r_hat=1e-9),
    ],
    ids=["leaf", "branch with iterations", "list", "list of one chain"],
)
def test_all_folds_together_try_at_most_about_twice_what_the_fit_tried(model, folds):
    model.fit(WIDE)
    learned = learn_folds(model, read_rows(model, WIDE, None), folds, lambda _text: None)
    assert sum(fold.found.moves for fold in learned) <= 2.5 * model.search_.moves


def test_the_stages_of_a_report_and_of_a_path_are_named(monkeypatch):
    said = []

    @contextmanager
    def telling(shown, title):
        said.append(title if shown else "nothing")
        yield said.append

    for module in (evidence, paths):
        monkeypatch.setattr(module, "telling", telling)
    model = GreedyTree(progress=True).fit(TITANIC)
    model.to_html(None, TITANIC, cv=2)
    stages = ["looking for unusual records", "fold 1 of 2", "fold 2 of 2", "scoring every size"]
    assert said == ["gathering the report", *stages]
    said.clear()
    model.sparsity_path(TITANIC, 2)
    assert said == ["cross-validating", "fold 1 of 2", "fold 2 of 2"]
