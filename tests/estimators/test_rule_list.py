"""The rule list as its users meet it."""

import json

import numpy as np
import pytest

from reproduction.datasets.random_trees import random_tree
from sparsedensity import GreedyTree, SparseRuleList, datasets, load
from sparsedensity.engines import MemoryEngine
from sparsedensity.errors import DataError, ParameterError, SearchWarning
from sparsedensity.ingest import Reading, open_source, read_table
from sparsedensity.posterior import SparseRules
from sparsedensity.problem import Problem
from sparsedensity.search import AnnealLists, Budget, run
from sparsedensity.search.lists.antecedents import Antecedents
from tests import naive
from tests.command import run as run_command

TITANIC = datasets.load("titanic")
OPTIMUM = {2: -4165.536107776, 4: -4162.684077513, 7: -4161.766766997}


def counted(model):
    """The training rows of a Titanic model as naive data."""
    codes = [[model.domain_[i].code(value) for i, value in enumerate(row)] for row in TITANIC.rows()]
    return [(tuple(row), 1.0) for row in codes]


def test_a_list_without_conditions_is_the_only_one_near_the_optimum():
    rows = [{"a": "x", "b": "y"}] * 3
    kinds = {"a": "ordinal", "b": "ordinal"}
    near = SparseRuleList(ordinal_conditions="interval", kinds=kinds).fit(rows).near_optimal(within=1.0)
    assert [rules.structure_.n_rules for rules in near] == [0]
    assert near.complete


@pytest.fixture(scope="module")
def rules():
    return SparseRuleList(expected_conditions=2).fit(TITANIC)


@pytest.mark.parametrize("expected", OPTIMUM)
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.filterwarnings("ignore:The chains do not agree")
def test_the_titanic_is_one_list_of_seven_rules_from_every_seed(rules, expected, seed):
    model = SparseRuleList(expected, expected_conditions=2, search="anneal", random_state=seed).fit(TITANIC)
    assert model.structure_.rules == rules.structure_.rules
    assert model.n_rules_ == 7
    assert model.log_posterior_ == pytest.approx(OPTIMUM[expected])


@pytest.mark.parametrize("expected", OPTIMUM)
def test_that_list_is_proven(rules, expected):
    model = SparseRuleList(expected, expected_conditions=2).fit(TITANIC)
    assert (model.search_.method, model.search_.proven, model.search_.gap) == ("exact", True, 0.0)
    assert model.structure_.rules == rules.structure_.rules
    assert model.log_posterior_ == pytest.approx(OPTIMUM[expected])


def test_an_exact_search_walks_first_and_keeps_the_path():
    model = SparseRuleList(search="exact", max_rules=3, iterations=2_000).fit(TITANIC)
    assert model.search_.proven
    assert model.search_.limit_binds
    assert set(model.search_.archive) == {0, 1, 2, 3}


@pytest.mark.filterwarnings("ignore:The chains do not agree", "ignore:The search stopped early")
def test_a_proof_out_of_reach_is_refused_or_bounded():
    wide = random_tree(rows=300, sizes=(4, 4, 4, 4)).frame
    with pytest.raises(DataError, match="could visit"):
        SparseRuleList(search="exact").fit(wide)
    model = SparseRuleList(search="exact", time_limit=0.5, iterations=500).fit(wide)
    assert model.search_.upper_bound >= model.log_posterior_
    walked = SparseRuleList(iterations=500).fit(wide)
    assert walked.search_.method == "chains" or walked.search_.proven
    assert walked.search_.upper_bound >= walked.log_posterior_


def test_an_unknown_search_is_refused():
    with pytest.raises(ParameterError, match="'exact'"):
        SparseRuleList(search="greedy").fit(TITANIC)


def test_the_log_posterior_is_that_of_the_formula(rules):
    counts = rules.posterior_.antecedents
    assert rules.log_posterior_ == pytest.approx(naive.rule_list(rules.structure_, counted(rules), counts, 7, 2, 1))
    assert sum(leaf.probability for leaf in rules.leaves_) == pytest.approx(1)


def test_the_posterior_as_printed_is_searched_too():
    table = read_table(open_source(TITANIC), Reading())
    antecedents = Antecedents(table)
    problem = Problem(MemoryEngine(table), SparseRules(antecedents.counts, 7, 2, 1, as_printed=True))
    found = {
        run(AnnealLists(antecedents, 20_000), problem, budget=Budget(moves=80_000), rng=np.random.default_rng(seed))
        .structure.rules
        for seed in range(3)
    }  # fmt: skip
    assert len(found) == 1


@pytest.mark.filterwarnings("ignore:The chains do not agree")
def test_jobs_change_nothing():
    one, two = (
        SparseRuleList(search="anneal", iterations=5_000, random_state=4, n_jobs=jobs).fit(TITANIC) for jobs in (1, 2)
    )
    assert one.structure_.rules == two.structure_.rules
    assert one.search_.r_hat == two.search_.r_hat


def test_chains_that_do_not_agree_are_told_with_the_list_of_each():
    wide = random_tree(rows=300, sizes=(4, 4, 4, 4)).frame
    with pytest.warns(SearchWarning, match="ended at 2 lists; the posterior has several modes"):
        found = SparseRuleList(max_rules=10, search="anneal", iterations=5_000).fit(wide).search_
    assert found.modes[0].structure == found.structure
    assert sum(mode.restarts for mode in found.modes) == found.restarts == 2
    assert len({mode.structure.rules for mode in found.modes}) == len(found.modes)
    assert [mode.log_posterior for mode in found.modes] == sorted((m.log_posterior for m in found.modes), reverse=True)
    assert found.spread == pytest.approx(found.modes[-2].log_posterior - found.modes[-1].log_posterior)


@pytest.mark.filterwarnings("ignore:The chains do not agree")
def test_chains_walk_on_while_one_that_came_late_to_the_list_of_the_others_may_agree(monkeypatch):
    wide = random_tree(rows=300, sizes=(4, 4, 4, 4)).frame
    model = SparseRuleList(max_rules=10, search="anneal", iterations=50_000)
    assert model.fit(wide).search_.r_hat < 1.05
    monkeypatch.setattr("sparsedensity.search.lists.anneal.NEAR", 0.0)
    assert model.fit(wide).search_.r_hat > 1.1


def test_a_limit_is_kept_and_said():
    model = SparseRuleList(max_rules=3).fit(TITANIC)
    assert model.n_rules_ == 3
    assert model.search_.limit_binds
    assert not SparseRuleList().fit(TITANIC).search_.limit_binds


def test_the_path_counts_rules_from_none(rules):
    path = rules.sparsity_path(TITANIC, cv=None)
    assert path.unit == "rules"
    assert set(path.sizes) >= set(range(8))
    assert path.most_probable.size == 7
    for size in (0, 3, 7):
        model = rules.cut(size)
        assert model.n_rules_ == size
        assert path.at(size).log_posterior == pytest.approx(model.log_posterior_)


def test_rules_are_read_as_if_and_else(rules):
    lines = [line.text for line in rules.report().lines]
    assert lines[0].startswith("if ")
    assert all(line.startswith("else if ") for line in lines[1:-1])
    assert lines[-1] == "else"


def test_chains_that_do_not_agree_are_a_warning():
    with pytest.warns(SearchWarning, match="The chains do not agree yet"):
        SparseRuleList(search="anneal", iterations=10).fit(TITANIC)


def test_mined_antecedents_have_their_support_and_come_back_from_a_file(tmp_path):
    model = SparseRuleList(min_support=0.1, max_rules=2).fit(TITANIC)
    assert sum(model.posterior_.antecedents) < 28
    for rule in model.structure_.rules:
        held = sum(w for row, w in counted(model) if all(low <= row[f] <= high for f, low, high in rule))
        assert held >= 0.1 * 2201
    model.save(tmp_path / "list.json")
    assert load(tmp_path / "list.json").posterior_ == model.posterior_


@pytest.mark.parametrize("start", ["tree", "list", "structure"])
@pytest.mark.filterwarnings("ignore:The chains do not agree")
def test_a_search_can_start_from_a_tree_or_a_list(rules, start):
    tree = GreedyTree().fit(TITANIC)
    model = SparseRuleList(
        warm_start_from={"tree": tree, "list": rules, "structure": tree.structure_}[start], iterations=2_000
    ).fit(TITANIC)
    assert model.log_posterior_ >= SparseRuleList(max_rules=1).fit(TITANIC).log_posterior_


def test_a_start_on_another_domain_is_refused(rules):
    with pytest.raises(DataError, match="another domain"):
        SparseRuleList(warm_start_from=rules).fit(TITANIC.select("class", "sex"))


def test_the_command_line_fits_a_list():
    done = run_command("fit", "titanic", "--method", "list", "--max-rules", "2", "--seed", "1", "--json")
    assert done.returncode == 0
    assert len(json.loads(done.stdout)["leaves"]) == 3
