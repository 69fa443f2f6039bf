"""Nested cross-validation: the numbers are those of the folds, whoever computes them, and nothing finished is lost."""

import json
import signal

import numpy as np
import polars as pl
import pytest
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold

from reproduction.datasets.random_trees import random_tree
from sparsedensity import Domain, GreedyTree, Histogram, LeafSparseTree
from sparsedensity.errors import DataError, ParameterError
from sparsedensity.evaluation import (
    ChowLiuTree,
    CrossValidation,
    Evaluation,
    FoldScore,
    IndependentColumns,
    Method,
    Share,
    evaluate,
    workers,
)
from sparsedensity.models.evidence import gather
from sparsedensity.models.folds import folds_of

GREEDY = Method(GreedyTree(), {"expected_leaves": (2, 8), "min_leaf": (1, Share(20))})
METHODS = {"greedy": GREEDY, "independent": Method(IndependentColumns())}


@pytest.fixture(scope="module")
def some(people):
    return people.sample(300, seed=1, shuffle=True)


@pytest.fixture(scope="module")
def found(some):
    return evaluate(some, METHODS, CrossValidation(3, inner=2))


def numbers(evaluation):
    """Everything but the seconds."""
    return [(f.method, f.fold, dict(f.parameters), f.leaves, f.log_likelihood, f.rows) for f in evaluation.folds]


class Interrupted(BaseEstimator):  # type: ignore[misc]
    """An estimator that is interrupted at its third fit, and then has half a model, as ours have."""

    fits = 0

    def fit(self, X, y=None, sample_weight=None):
        Interrupted.fits += 1
        if Interrupted.fits == 3:
            signal.raise_signal(signal.SIGINT)
        self.n_leaves_ = 1
        return self

    def score(self, X, sample_weight=None):
        return -1.0


def test_every_fold_of_every_method_is_there_in_order(found):
    assert [(fold.method, fold.fold) for fold in found.folds] == [(m, f) for m in METHODS for f in range(3)]
    assert found.methods == ("greedy", "independent")
    assert sum(fold.rows for fold in found.of("greedy")) == 300


def test_the_numbers_are_those_of_plain_loops(some, found):
    domain = Domain.infer(some)
    for number, (train, test) in enumerate(KFold(3, shuffle=True, random_state=0).split(some)):
        learned, held = some[train], some[test]
        scores = {}
        for leaves in (2, 8):
            for share in (0, 1):
                total = 0.0
                for a, b in KFold(2, shuffle=True, random_state=0).split(learned):
                    least = len(a) // 20 if share else 1
                    model = GreedyTree(expected_leaves=leaves, min_leaf=least, domain=domain).fit(learned[a])
                    total += model.score(learned[b])
                scores[leaves, share] = total
        leaves, share = max(scores, key=scores.__getitem__)
        least = len(train) // 20 if share else 1
        model = GreedyTree(expected_leaves=leaves, min_leaf=least, domain=domain).fit(learned)
        own = found.of("greedy")[number]
        assert own.parameters == {"expected_leaves": leaves, "min_leaf": least}
        assert (own.leaves, own.rows) == (model.n_leaves_, len(test))
        assert own.log_likelihood == pytest.approx(model.score(held))


def test_the_page_and_the_evaluation_say_the_same(people):
    model = GreedyTree().fit(people)
    scores = gather(model, people, cv=4).scores
    methods = {"a": Method(GreedyTree()), "b": Method(Histogram()), "c": Method(IndependentColumns())}
    methods["d"] = Method(GreedyTree(max_leaves=1))
    for score, summary in zip(scores, evaluate(people, methods, CrossValidation(4)).summaries(), strict=True):
        assert (summary.per_row, summary.error) == pytest.approx((score.held_out, score.error))


def test_the_numbers_do_not_depend_on_the_number_of_jobs(some, found, monkeypatch):
    monkeypatch.setattr(workers, "ALONE_SECONDS", 0.0)
    assert numbers(evaluate(some, METHODS, CrossValidation(3, inner=2, jobs=2))) == numbers(found)


def test_the_numbers_do_not_depend_on_the_kind_of_table(some, found):
    for table in (some.to_pandas(), some.to_arrow(), some.to_dicts(), some.lazy()):
        assert numbers(evaluate(table, METHODS, CrossValidation(3, inner=2))) == numbers(found)
    rows = evaluate(some.to_numpy(), METHODS, CrossValidation(3, inner=2))
    assert numbers(rows) == numbers(found)
    assert numbers(evaluate(some.rows(), METHODS, CrossValidation(3, inner=2))) == numbers(found)


def test_a_table_of_counts_is_divided_like_the_table_it_counts(people):
    sorted_rows = people.sort(people.columns)
    counted = sorted_rows.group_by(people.columns, maintain_order=True).len("n")
    rows = evaluate(sorted_rows, {"c": Method(ChowLiuTree())}, CrossValidation(4))
    counts = evaluate(counted.drop("n"), {"c": Method(ChowLiuTree())}, CrossValidation(4), sample_weight=counted["n"])
    for one, other in zip(rows.folds, counts.folds, strict=True):
        assert (one.rows, one.log_likelihood) == pytest.approx((other.rows, other.log_likelihood))


def test_rows_without_weight_do_not_count(some, found):
    more = pl.concat([some, some.head(5)])
    weights = np.array([1.0] * 300 + [0.0] * 5)
    assert numbers(evaluate(more, METHODS, CrossValidation(3, inner=2), sample_weight=weights)) == numbers(found)


def test_inner_folds_of_fractional_weights_are_of_rows_that_have_weight(some):
    weights = np.where(np.arange(300) % 10 == 0, 0.0, 1.5)
    weighed = evaluate(some, METHODS, CrossValidation(3, inner=3), sample_weight=weights)
    assert sum(fold.rows for fold in weighed.of("greedy")) == pytest.approx(1.5 * 270)
    for outer in folds_of(weights, 3):
        for split in folds_of(outer.train, 3):
            assert (split.test > 0).sum() == 60
            assert not np.any(split.test[weights == 0])
    with pytest.raises(ParameterError, match="270"):
        folds_of(weights, 271)


def test_another_seed_divides_the_rows_otherwise(some, found):
    assert numbers(evaluate(some, METHODS, CrossValidation(3, inner=2, seed=1))) != numbers(found)


def test_summaries_are_means_over_the_folds(found):
    greedy, independent = found.summaries()
    each = np.array([[f.per_row for f in found.of(m)] for m in found.methods])
    assert (greedy.per_row, independent.per_row) == pytest.approx(tuple(each.mean(axis=1)))
    assert greedy.error == pytest.approx(each[0].std(ddof=1) / 3**0.5)
    assert (greedy.difference, greedy.difference_error) == (0, 0)
    assert independent.difference == pytest.approx((each[1] - each[0]).mean())
    assert independent.difference_error == pytest.approx((each[1] - each[0]).std(ddof=1) / 3**0.5)


def test_a_method_that_gives_a_held_out_row_no_density_is_infinitely_far_behind():
    folds = [FoldScore("a", i, {}, 3, -2.0, 1, 0.0) for i in range(2)]
    folds += [FoldScore("b", i, {}, float("inf"), -np.inf, 1, 0.0) for i in range(2)]
    shown = Evaluation(tuple(folds))
    assert shown.summaries()[1].difference == -np.inf
    assert "-inf" in shown.to_text()
    assert "b (far below)" in shown.to_svg()


def test_finished_folds_are_kept_and_not_computed_again(some, found, tmp_path, monkeypatch):
    file = tmp_path / "folds.jsonl"
    evaluate(some, METHODS, CrossValidation(3, inner=2), keep=file)
    lines = file.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 7
    file.write_text("\n".join(lines[:3]) + "\n" + lines[3][:40], encoding="utf-8")  # the fourth was being written
    told = []
    again = evaluate(
        some, METHODS, CrossValidation(3, inner=2), keep=file, progress=lambda *so_far: told.append(so_far)
    )
    assert numbers(again) == numbers(found)
    assert told == [(2, 6), (3, 6), (4, 6), (5, 6), (6, 6)]
    assert len(file.read_text(encoding="utf-8").splitlines()) == 7
    monkeypatch.setattr(GreedyTree, "fit", None)  # nothing is fitted any more
    assert numbers(evaluate(some, METHODS, CrossValidation(3, inner=2), keep=file)) == numbers(found)


def test_a_method_may_be_added_to_what_is_kept(some, found, tmp_path):
    file = tmp_path / "folds.jsonl"
    evaluate(some, {"greedy": GREEDY}, CrossValidation(3, inner=2), keep=file)
    told = []
    both = evaluate(some, METHODS, CrossValidation(3, inner=2), keep=file, progress=lambda *so_far: told.append(so_far))
    assert told[0] == (3, 6)
    assert numbers(both) == numbers(found)


@pytest.mark.parametrize("cut", [0, 1, 20, 60])
def test_a_file_whose_first_line_was_cut_off_is_begun_anew(some, tmp_path, cut):
    file = tmp_path / "folds.jsonl"
    methods = {"independent": METHODS["independent"]}
    evaluate(some, methods, CrossValidation(2), keep=file)
    whole = file.read_bytes()
    file.write_bytes(whole[:cut])
    evaluate(some, methods, CrossValidation(2), keep=file)
    assert len(file.read_bytes().splitlines()) == len(whole.splitlines())


def test_a_file_of_something_else_is_refused_and_left_alone(some, people, tmp_path):
    file, methods = tmp_path / "folds.jsonl", {"greedy": Method(GreedyTree())}
    evaluate(some, methods, CrossValidation(2), keep=file)
    before = file.read_bytes()
    with pytest.raises(DataError, match=r"folds\.jsonl holds results of another table\. Name another file\."):
        evaluate(people, methods, CrossValidation(2), keep=file)
    with pytest.raises(DataError, match="folds=2, not folds=3"):
        evaluate(some, methods, CrossValidation(3), keep=file)
    with pytest.raises(DataError, match="'greedy' with other parameters"):
        evaluate(some, {"greedy": Method(GreedyTree(min_leaf=3))}, CrossValidation(2), keep=file)
    assert file.read_bytes() == before
    for strange in (b"my only copy", b"my only copy\n", b'{"results of": 3}\n', before + b"{}\n", before + b"?\n{}\n"):
        file.write_bytes(strange)
        with pytest.raises(DataError, match=r"folds\.jsonl is"):
            evaluate(some, methods, CrossValidation(2), keep=file)
        assert file.read_bytes() == strange


def test_an_interrupted_fit_is_not_kept_as_a_result(some, tmp_path):
    file = tmp_path / "folds.jsonl"
    with pytest.raises(KeyboardInterrupt):
        evaluate(some, {"slow": Method(Interrupted())}, CrossValidation(5), keep=file)
    assert len(file.read_text(encoding="utf-8").splitlines()) == 3
    told = []
    done = evaluate(
        some, {"slow": Method(Interrupted())}, CrossValidation(5), keep=file, progress=lambda *s: told.append(s)
    )
    assert told[0] == (2, 5)
    assert len(done.folds) == 5


def test_what_cannot_be_evaluated_is_refused(some):
    for wrong, text in (
        ({"folds": 1}, "folds"),
        ({"folds": 301}, "300"),
        ({"inner": 1}, "inner"),
        ({"jobs": 0}, "jobs"),
        ({"seed": -1}, "seed"),
        ({"seed": 0.5}, "seed"),
    ):
        with pytest.raises(ParameterError, match=text):
            evaluate(some, METHODS, CrossValidation(**wrong))
    with pytest.raises(ParameterError, match="parameters of GreedyTree, not 'leaves'"):
        evaluate(some, {"g": Method(GreedyTree(), {"leaves": (1, 2)})})
    with pytest.raises(ParameterError, match="a Method"):
        evaluate(some, {"g": GreedyTree()})


def test_rows_outside_a_declared_domain_are_left_out(some):
    domain = Domain.infer(some.filter(pl.col("class") != "crew"))
    done = evaluate(some, {"i": Method(IndependentColumns())}, domain=domain)
    assert sum(fold.rows for fold in done.folds) == some.filter(pl.col("class") != "crew").height


def test_an_evaluation_is_shown_as_a_table_a_picture_and_rows(found):
    lines = found.to_text().splitlines()
    assert lines[0].split() == ["leaves", "per", "row", "+-", "to", "the", "best", "+-"]
    assert lines[1].startswith("greedy ")
    assert lines[1].endswith("best")
    picture = found.to_svg()
    assert picture.startswith("<svg")
    assert "independent" in picture
    frame = found.to_frame()
    assert frame.height == 6
    assert json.loads(frame["parameters"][0]) == found.folds[0].parameters


def test_an_evaluation_of_sizes_beyond_floats_can_be_written():
    wide = random_tree(rows=60, sizes=(2,) * 1100, leaves=4, seed=0).frame
    done = evaluate(wide, {"h": Method(Histogram())}, CrossValidation(2))
    assert done.folds[0].leaves == float("inf")
    assert done.to_frame()["leaves"].to_list() == [float("inf")] * 2


def test_threads_are_not_started_within_folds(some):
    seen = []

    class Spy(LeafSparseTree):
        def fit(self, X, y=None, sample_weight=None):
            seen.append((self.n_jobs, self.progress))
            return super().fit(X, y, sample_weight)

    evaluate(some, {"s": Method(Spy(n_jobs=-1, progress=True, search="greedy"))}, CrossValidation(2))
    assert set(seen) == {(1, False)}
