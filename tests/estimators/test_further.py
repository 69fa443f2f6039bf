"""What a quick look beyond the limit, or at profiles, says, and what folds may take."""

from contextlib import contextmanager

import numpy as np
import pytest

from sparsedensity import BranchSparseTree, GreedyTree, Histogram, LeafSparseTree, SparseRuleList, datasets
from sparsedensity.models import evidence, further, paths
from sparsedensity.models.answers import read_rows
from sparsedensity.models.baselines import per_row
from sparsedensity.models.folds import hold_out
from sparsedensity.models.further import look_at_profiles, look_further
from sparsedensity.models.paths import learn_folds

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


def coins(rows, columns=12, heads=0.9):
    """Columns that have nothing to do with each other, each with a rare value."""
    return np.where(np.random.default_rng(0).random((rows, columns)) < heads, "head", "tail")


@pytest.mark.parametrize("kind", [LeafSparseTree, BranchSparseTree])
def test_profiles_are_scored_on_rows_they_did_not_learn_from(kind):
    table = datasets.load("housebreaks", rows=2000)
    model = kind(max_leaves=6, search="greedy").fit(table)
    found = look_at_profiles(model, table)
    learned, scored = (part > 0 for part in hold_out(np.ones(2000), further.SCORED, seed=0))
    profiled = kind(max_leaves=6, search="greedy", leaf="profile", domain=model.domain_).fit(table.filter(learned))
    held = read_rows(model, table.filter(scored), None).table(model.domain_)
    assert (found.size, found.limit) == (profiled.n_leaves_, 6)
    assert found.before == pytest.approx(per_row(model.density_, held))
    assert found.after == pytest.approx(per_row(profiled.density_, held))
    assert found.after > found.before
    assert (model.leaf, model.search, model.density_.profiles) == ("uniform", "greedy", None)


def test_profiles_are_looked_at_if_independent_columns_are_better():
    table = coins(400)
    model = LeafSparseTree(max_leaves=100, prior="calibrated", search="greedy").fit(table)
    assert model.n_leaves_ < 100
    found = look_at_profiles(model, table)
    assert found.size == 1
    assert found.after > found.before


@pytest.mark.parametrize(
    ("model", "table"),
    [
        (LeafSparseTree(max_leaves=12), TITANIC),
        (LeafSparseTree(max_leaves=4, leaf="profile", search="greedy"), WIDE),
        (LeafSparseTree(max_leaves=3, depth=1), TITANIC),
        (LeafSparseTree(max_leaves=4, search="greedy"), WIDE.head(further.FEWEST_ROWS - 1)),
        (GreedyTree(max_leaves=4), WIDE),
        (SparseRuleList(max_rules=2), TITANIC),
        (Histogram(), TITANIC),
    ],
    ids=["nothing to gain", "profile", "depth", "few rows", "greedy", "list", "histogram"],
)
def test_profiles_are_not_looked_at_without_a_reason(model, table):
    assert look_at_profiles(model.fit(table), table) is None


def test_profiles_that_are_no_better_are_not_told():
    table = np.random.default_rng(0).choice(["a", "b"], (300, 6))
    model = LeafSparseTree(max_leaves=4, search="greedy").fit(table)
    assert model.n_leaves_ == 4
    assert look_at_profiles(model, table) is None


@pytest.mark.parametrize("weights", [None, np.full(2000, 3.0), np.full(2000, 0.25)], ids=["rows", "counts", "weights"])
def test_of_a_large_table_profiles_see_a_sample(weights, monkeypatch):
    seen, grow = [], further._grown_with_profiles
    monkeypatch.setattr(further, "MOST_ROWS", 400)
    monkeypatch.setattr(
        further, "_grown_with_profiles", lambda model, table: seen.append(table.n) or grow(model, table)
    )
    model = LeafSparseTree(max_leaves=4, search="greedy").fit(table := coins(2000), sample_weight=weights)
    assert look_at_profiles(model, table, weights) is not None
    assert seen == [300 * (0.25 if weights is not None and weights[0] < 1 else 1)]


@pytest.mark.filterwarnings("ignore:The chains do not agree")
@pytest.mark.parametrize(
    "model",
    [
        LeafSparseTree(max_leaves=8, search="anneal"),
        BranchSparseTree(max_leaves=8, search="anneal", iterations=2000),
        SparseRuleList(max_rules=4, search="anneal", iterations=20_000, r_hat=1e-9),
        SparseRuleList(max_rules=4, search="anneal", iterations=20_000, restarts=1, r_hat=1e-9),
    ],
    ids=["leaf", "branch with iterations", "list", "list of one chain"],
)
def test_all_folds_together_try_at_most_about_twice_what_the_fit_tried(model):
    model.fit(WIDE)
    for folds in (2, 5, 9):
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
