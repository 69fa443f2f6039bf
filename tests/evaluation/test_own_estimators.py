"""An evaluation takes estimators that know neither weights nor leaves, and folds that are given."""

import math
from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from sparsedensity import Domain, GreedyTree, Histogram
from sparsedensity.errors import DataError, ParameterError
from sparsedensity.evaluation import CrossValidation, IndependentColumns, Method, evaluate
from sparsedensity.evaluation.scatter import scatter
from tests.command import run


class Shares(BaseEstimator):  # type: ignore[misc]
    """The histogram of a user who never heard of weights or leaves."""

    def __init__(self, pseudocount=1):
        self.pseudocount = pseudocount

    def fit(self, X, y=None):
        self.counts_ = dict(zip(*np.unique([repr(row) for row in X.rows()], return_counts=True), strict=True))
        self.total_ = X.height + 16 * self.pseudocount
        return self

    def score_samples(self, X):
        counts = np.array([self.counts_.get(repr(row), 0) for row in X.rows()])
        return np.log((counts + self.pseudocount) / self.total_)


class Bare:
    """No parameters, no base class."""

    def fit(self, X):
        return self

    def score_samples(self, X):
        return np.full(X.height, -math.log(16))


def test_an_estimator_without_weights_and_leaves_scores_as_one_that_has_them(people):
    methods = {"own": Method(Shares()), "ours": Method(Histogram())}
    found = evaluate(people, methods, CrossValidation(3))
    own, ours = found.of("own"), found.of("ours")
    assert [fold.log_likelihood for fold in own] == pytest.approx([fold.log_likelihood for fold in ours])
    assert all(math.isnan(fold.leaves) for fold in own)
    assert found.to_text().splitlines()[1].split()[:2] == ["own", found.to_text().splitlines()[2].split()[2]]
    assert "own (no leaves)" in scatter(found)
    assert found.to_frame()["leaves"].is_nan().sum() == 3


def test_weights_that_count_rows_are_spelt_out(people):
    counted = people.group_by("class", "sex", "age", maintain_order=True).len("n")
    methods = {"own": Method(Shares(), {"pseudocount": (1, 100)}), "ours": Method(Histogram())}
    found = evaluate(counted.drop("n"), methods, CrossValidation(3, inner=2), sample_weight=counted["n"].to_numpy())
    assert {fold.parameters["pseudocount"] for fold in found.of("own")} == {1}
    assert [fold.log_likelihood for fold in found.of("own")] == pytest.approx(
        [fold.log_likelihood for fold in found.of("ours")]
    )


def test_weights_that_do_not_count_rows_are_refused_in_one_sentence(people):
    with pytest.raises(DataError, match="Shares takes no sample_weight, so weights must be whole numbers"):
        evaluate(people, {"own": Method(Shares())}, CrossValidation(2), sample_weight=np.full(people.height, 0.5))


def test_an_estimator_without_a_base_class_is_taken(people, tmp_path):
    found = evaluate(people, {"bare": Method(Bare())}, CrossValidation(2), keep=tmp_path / "folds.jsonl")
    assert found.summaries()[0].per_row == pytest.approx(-math.log(16))
    again = evaluate(people, {"bare": Method(Bare())}, CrossValidation(2), keep=tmp_path / "folds.jsonl")
    assert again.summaries()[0].per_row == found.summaries()[0].per_row


def test_a_pipeline_is_an_estimator(people):
    found = evaluate(people, {"piped": Method(make_pipeline(FunctionTransformer(), Shares()))}, CrossValidation(2))
    plain = evaluate(people, {"plain": Method(Shares())}, CrossValidation(2))
    assert found.folds[0].log_likelihood == pytest.approx(plain.folds[0].log_likelihood)


def test_an_estimator_that_scores_nothing_is_refused(people):
    class Mute(BaseEstimator):
        def fit(self, X):
            return self

    with pytest.raises(DataError, match="Mute has neither score_samples"):
        evaluate(people, {"mute": Method(Mute())}, CrossValidation(2))


@pytest.mark.parametrize("splitter", [KFold(3), TimeSeriesSplit(3)], ids=["KFold", "TimeSeriesSplit"])
def test_given_splits_are_what_is_learned_and_held_out(people, splitter):
    pairs = list(splitter.split(people))
    model = GreedyTree(domain=Domain.infer(people))
    expected = [model.fit(people[train]).score(people[test]) for train, test in pairs]
    for folds in (splitter, pairs):
        found = evaluate(people, {"tree": Method(GreedyTree())}, CrossValidation(folds))
        assert [fold.log_likelihood for fold in found.folds] == pytest.approx(expected)
        assert [fold.rows for fold in found.folds] == [len(test) for _, test in pairs]


def test_truth_values_are_splits_too_and_rows_of_no_weight_are_counted(people):
    first = np.arange(people.height) < 1000
    weights = np.where(np.arange(people.height) % 2, 0.0, 1.0)
    found = evaluate(people, {"h": Method(Histogram())}, CrossValidation([(first, ~first)]), sample_weight=weights)
    assert [fold.rows for fold in found.folds] == [math.ceil((people.height - 1000) / 2)]


@pytest.mark.parametrize(
    ("folds", "said"),
    [
        ([], "folds must be"),
        ("five", "folds must be"),
        ([([0, 1], [1, 2])], "Row 1 is both learned from and held out in fold 0"),
        ([([0, 1], [])], "Fold 0 has no row to learn from or none to hold out"),
        ([([0, 1], [9999])], "rows are numbered 0 to 2,200"),
        ([([0.5], [1])], "rows are whole numbers"),
        ([1, 2], "folds must be"),
    ],
)
def test_bad_splits_get_one_sentence(people, folds, said):
    with pytest.raises((ParameterError, DataError), match=said):
        evaluate(people, {"h": Method(Histogram())}, CrossValidation(folds))


def test_kept_folds_of_other_splits_are_refused(people, tmp_path):
    halves = np.arange(people.height) % 2 == 0
    methods = {"h": Method(Histogram())}
    for folds in ([(halves, ~halves)], [(halves, ~halves)]):
        evaluate(people, methods, CrossValidation(folds), keep=tmp_path / "folds.jsonl")
    with pytest.raises(DataError, match="holds results of"):
        evaluate(people, methods, CrossValidation([(~halves, halves)]), keep=tmp_path / "folds.jsonl")


def test_a_column_names_the_folds_on_the_command_line(people, tmp_path):
    people.with_columns(month=np.arange(people.height) % 3).write_csv(tmp_path / "people.csv")
    done = run("evaluate", tmp_path / "people.csv", "--fold-column", "month", "--method", "greedy", "--json")
    assert done.returncode == 0, done.stderr
    assert '"rows": 734.0' in done.stdout
    refused = run("evaluate", tmp_path / "people.csv", "--fold-column", "year")
    assert "There is no column 'year'" in refused.stderr


class Sees(Bare):
    """Notes the width of what it is shown."""

    widths: ClassVar[set[int]] = set()

    def fit(self, X):
        self.widths.add(len(X.columns) if hasattr(X, "columns") else len(X[0]))
        return self

    def score_samples(self, X):
        return np.zeros(len(X))


@pytest.mark.filterwarnings("ignore:.*looks like an identifier")
@pytest.mark.parametrize("form", ["polars", "pandas", "array", "records", "rows"])
def test_no_estimator_sees_an_identifier(people, form):
    Sees.widths.clear()
    table = people.head(200).with_row_index("id")
    forms = {
        "polars": table,
        "pandas": table.to_pandas(),
        "array": table.to_numpy(),
        "records": table.to_dicts(),
        "rows": [list(row) for row in table.rows()],
    }
    methods = {"own": Method(Sees()), "ours": Method(GreedyTree()), "peer": Method(IndependentColumns())}
    found = evaluate(forms[form], methods, CrossValidation(2))
    assert Sees.widths == {3}
    without = evaluate(people.head(200), {"ours": Method(GreedyTree())}, CrossValidation(2))
    assert [fold.log_likelihood for fold in found.of("ours")] == [fold.log_likelihood for fold in without.of("ours")]
