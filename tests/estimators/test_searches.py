"""How often an estimator searches and mines, and what it starts from."""

from pathlib import Path

import pytest

from sparsedensity import BranchSparseTree, GreedyTree, Histogram, LeafSparseTree, SparseRuleList, load
from sparsedensity.errors import DataError, ModelFileError, ParameterError
from sparsedensity.models import greedy, rule_list, sparse_tree
from sparsedensity.models.evidence import gather
from sparsedensity.search.lists.antecedents import Antecedents
from tests.command import run

pytestmark = pytest.mark.filterwarnings("ignore:The chains do not agree")


@pytest.fixture
def searches(monkeypatch):
    """The names of the searches that were run so far."""
    names = []

    def counting(search):
        def counted(how, *args, **kwargs):
            names.append(how.name)
            return search(how, *args, **kwargs)

        return counted

    for module in (sparse_tree, rule_list, greedy):
        monkeypatch.setattr(module, "run", counting(module.run))
    return names


class TestFolds:
    @pytest.mark.parametrize(
        ("model", "for_the_path"),
        [
            (LeafSparseTree(iterations=500), 0),
            (BranchSparseTree(feature_probability=0.5, iterations=500), 1),  # a proof knows only some sizes here
            (LeafSparseTree(search="anneal", iterations=500), 0),
            (BranchSparseTree(search="greedy"), 0),
            (SparseRuleList(search="anneal", iterations=500, max_rules=3), 0),
            (GreedyTree(), 0),
        ],
        ids=["proven", "features", "annealed", "branch", "list", "greedy"],
    )
    def test_a_report_searches_every_fold_once(self, model, for_the_path, people, searches):
        model.fit(people)
        searches.clear()
        model.to_html(None, people, cv=4)
        assert len(searches) == 4 + for_the_path

    @pytest.mark.parametrize("kind", [LeafSparseTree, BranchSparseTree])
    def test_the_path_and_the_folds_of_a_small_table_are_proven(self, kind, people, searches):
        model = kind().fit(people)
        model.sparsity_path(people, cv=3)
        model.cut(4)
        assert set(searches) == {"exact"}

    def test_a_path_that_was_asked_for_is_not_searched_again(self, people, searches):
        model = LeafSparseTree(iterations=500).fit(people)
        model.sparsity_path(people, cv=None)
        searches.clear()
        model.cut(3).cut(9)
        model.to_html(None, people, cv=None)
        assert searches == []

    def test_the_page_and_the_path_are_about_the_same_folds(self, people):
        model = GreedyTree().fit(people)
        shown, path = gather(model, people, cv=3), model.sparsity_path(people, cv=3)
        assert (shown.path.points, shown.scores) == (path.points, path.scores)

    def test_the_score_of_a_report_heeds_the_depth(self, people):
        shallow, deep = (gather(LeafSparseTree(depth=depth).fit(people), people, cv=3).scores[0] for depth in (1, 3))
        assert shallow.held_out < deep.held_out - 0.1

    def test_rows_that_a_fit_dropped_are_not_in_the_path(self):
        rows = [{"a": "xyx"[i % 3], "b": "uvuw"[i % 4] if i % 5 else None} for i in range(60)]
        model = GreedyTree(missing="drop").fit(rows)
        assert model.sparsity_path(rows, cv=2).most_probable.size == model.n_leaves_
        assert "How good is it?" in model.to_html(None, rows, cv=2)

    @pytest.mark.parametrize("kind", [GreedyTree, LeafSparseTree])
    def test_a_model_from_a_file_finds_its_path_again(self, kind, people, tmp_path):
        model = kind().fit(people)
        model.save(tmp_path / "m.json")
        again = load(tmp_path / "m.json")
        assert again.sparsity_path(people, cv=None).most_probable.size == model.n_leaves_
        assert again.cut(3).n_leaves_ == 3

    def test_a_model_of_one_size_has_no_path(self):
        assert not hasattr(Histogram(), "sparsity_path")
        assert not hasattr(Histogram(), "cut")


@pytest.mark.parametrize("search", ["auto", "anneal", "exact"])
def test_a_list_mines_its_antecedents_once(search, people, monkeypatch):
    mined, mine = [], Antecedents._mined.func

    def counting(self):
        mined.append(self)
        return mine(self)

    monkeypatch.setattr(Antecedents._mined, "func", counting)
    SparseRuleList(min_support=0.05, max_rules=3, iterations=500, search=search).fit(people)
    assert len(mined) == 1


@pytest.fixture(scope="module")
def saved(people, tmp_path_factory):
    """Files of a tree, a list and a histogram."""
    folder = tmp_path_factory.mktemp("saved")
    models = {
        "tree": LeafSparseTree(),
        "list": SparseRuleList(max_rules=4, iterations=500),
        "histogram": Histogram(),
    }
    for name, model in models.items():
        model.fit(people).save(folder / f"{name}.json")
    return folder


class TestWarmStarts:
    @pytest.mark.parametrize("as_text", [True, False])
    def test_a_tree_starts_from_a_file(self, people, saved, as_text):
        path = str(saved / "tree.json") if as_text else saved / "tree.json"
        model = LeafSparseTree(search="anneal", iterations=1, restarts=1, warm_start_from=path).fit(people)
        assert model.log_posterior_ >= load(path).log_posterior_ - 1e-9

    @pytest.mark.parametrize("search", ["auto", "anneal", "exact"])
    def test_a_list_starts_from_the_file_of_a_list(self, people, saved, search):
        start = saved / "list.json"
        model = SparseRuleList(search=search, iterations=1, max_rules=4, warm_start_from=start).fit(people)
        assert model.log_posterior_ >= load(start).log_posterior_ - 1e-9

    def test_a_list_starts_from_the_file_of_a_tree(self, people, saved):
        options = {"search": "anneal", "iterations": 200, "max_rules": 4}
        from_file = SparseRuleList(**options, warm_start_from=str(saved / "tree.json")).fit(people)
        from_model = SparseRuleList(**options, warm_start_from=load(saved / "tree.json")).fit(people)
        assert from_file.structure_.rules == from_model.structure_.rules

    @pytest.mark.parametrize("kind", [LeafSparseTree, BranchSparseTree, SparseRuleList])
    def test_a_start_on_another_domain_is_refused_whatever_the_search(self, kind, people, saved):
        with pytest.raises(DataError, match="warm_start_from has another domain"):
            kind(warm_start_from=saved / "tree.json").fit(people.select("class", "sex"))

    @pytest.mark.parametrize("kind", [LeafSparseTree, BranchSparseTree, SparseRuleList])
    def test_a_file_that_is_not_there_is_refused_whatever_the_search(self, kind, people):
        with pytest.raises(ModelFileError, match="does not exist"):
            kind(warm_start_from="nowhere.json").fit(people)

    @pytest.mark.parametrize(("kind", "start"), [(LeafSparseTree, "list"), (LeafSparseTree, "histogram"),
                                                 (SparseRuleList, "histogram")])  # fmt: skip
    def test_a_model_of_another_kind_is_refused(self, kind, start, people, saved):
        with pytest.raises(ParameterError, match="warm_start_from must be a fitted tree"):
            kind(warm_start_from=saved / f"{start}.json").fit(people)

    @pytest.mark.parametrize("method", ["leaf", "branch", "list"])
    def test_the_command_line_starts_from_a_file(self, method, saved, tmp_path):
        words = ["fit", "titanic", "--method", method, "--search", "anneal", "--iterations", "200", "--json"]
        done = run(*words, "--warm-start-from", saved / "tree.json", "-o", tmp_path / "m.json")
        assert done.returncode == 0, done.stderr
        assert load(tmp_path / "m.json").warm_start_from == str(saved / "tree.json")

    @pytest.mark.parametrize("method", ["leaf", "list"])
    def test_the_command_line_says_what_is_wrong_with_a_start(self, method, saved):
        words = ["fit", "titanic", "--method", method, "--warm-start-from"]
        missing = run(*words, Path("nowhere.json"))
        assert missing.returncode == 1
        assert missing.stderr == "error: nowhere.json does not exist. Check the name and the folder.\n"
        other = run(*words, saved / "tree.json", "--drop", "age")
        assert other.stderr.startswith("error: The model in warm_start_from has another domain than this table.")
