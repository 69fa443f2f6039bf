"""Every study, in its quick version, and what its numbers must obey."""

import os
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reproduction import datasets as papers_datasets
from reproduction import grids, paper
from reproduction.distances import distances
from reproduction.parts import Parts
from reproduction.performance import performance
from reproduction.running import Skipped, StudyPlan, reproduce
from reproduction.sets import paper_cut, paper_table
from reproduction.studies import STUDIES, coco, crime, det, lists, simulated, study_of
from reproduction.study import Setting
from sparsedensity import LeafSparseTree, datasets
from sparsedensity.errors import DataError
from sparsedensity.evaluation import SideBySide
from tests.reproduction.command import run
from tests.reproduction.test_paper import SOURCE, one_line

WITHOUT_TABLES = [name for name in STUDIES if name != "coco"]


class Quick:
    """Studies in their quick version, each run when a test first asks for it."""

    def __init__(self, folder):
        self.folder = folder
        self.done = {}

    def __getitem__(self, name):
        if name not in self.done:
            (self.done[name],) = reproduce(StudyPlan((name,), self.folder, quick=True))
        return self.done[name]


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    return Quick(tmp_path_factory.mktemp("reproduction"))


def column(table, title, *, printed=False):
    """The cells of one column."""
    place = next(i for i, column in enumerate(table.columns) if column.title == title and column.paper == printed)
    return [row[place] for row in table.rows]


@pytest.mark.parametrize("name", WITHOUT_TABLES)
def test_every_study_writes_its_table_its_figure_and_its_sentences(quick, name):
    study, folder = quick[name], quick.folder
    assert all(figure.name.startswith(f"{name}-") for figure in study.figures)
    assert study.sentences
    assert study.tables
    assert study.figures
    assert study.foot.quick
    assert study.foot.command == f"python -m reproduction {name} --quick"
    for ending in ("csv", "md", "json"):
        assert (folder / f"{name}.{ending}").stat().st_size > 0
    for figure in study.figures:
        assert (folder / f"{figure.name}.svg").exists()
        assert (folder / f"{figure.name}.png").exists()


def test_studies_are_on_the_page_in_its_order_whatever_came_first(quick):
    assert {quick["simulated"].name, quick["lists"].name} == {"simulated", "lists"}
    text = (quick.folder / "index.html").read_text(encoding="utf-8")
    shown = re.findall(r'<h2 id="(\w+)">', text)
    assert shown == [name for name in STUDIES if name in quick.done]


def test_the_run_times_have_the_papers_seconds_beside_ours(quick):
    table = quick["runtime"].tables[0]
    names = [row.name for row in paper.RUN_TIMES.values() if row.printed in column(table, "data set")]
    assert names == list(grids.QUICK)
    for method in grids.METHODS:
        for what in ("best", "all"):
            printed = column(table, f"{method}, {what}", printed=True)
            assert printed == [getattr(paper.RUN_TIMES[name], f"{method}_{what}") for name in names]
            assert all(seconds > 0 for seconds in column(table, f"{method}, {what}"))
        best, every = (column(table, f"{method}, {what}") for what in ("best", "all"))
        assert all(one <= total for one, total in zip(best, every, strict=True))


def test_the_best_parameters_are_those_of_the_run_times(quick):
    times, best = quick["runtime"].tables[1], quick["parameters"].tables[0]
    leaves = [row[4] for row in times.rows if row[1] == grids.METHODS["leaf"]]
    assert column(best, "leaf, leaves") == leaves
    assert column(best, "leaf, leaves", printed=True) == [paper.BEST[name].leaves for name in grids.QUICK]


def test_the_best_parameters_have_the_highest_validation_likelihood(quick):
    every = quick["parameters"].tables[1]
    scores = {}
    for name, method, prior, score, *_ in every.rows:
        scores.setdefault((name, method), {})[prior] = score
    best = quick["parameters"].tables[0]
    for name, prior in zip(column(best, "data set"), column(best, "leaf, prior"), strict=True):
        own = scores[name, grids.METHODS["leaf"]]
        assert own[prior] == max(own.values())


def test_the_best_list_of_the_titanic_is_one_for_all_three_priors(quick):
    lists = next(table for table in quick["titanic"].tables if table.name == "lists")
    assert column(lists, "rules") == [7, 7, 7]
    assert column(lists, "proven") == [True, True, True]
    assert len(set(column(lists, "the list"))) == 1


def test_longer_lists_score_higher_and_the_papers_two_rules_lower(quick):
    table = quick["lists"].tables[0]
    one, two, told = column(table, "log posterior, 4 expected")
    assert told < one < two


def test_the_quoted_numbers_of_the_titanic_are_near_ours(quick):
    quoted = next(table for table in quick["titanic"].tables if table.name == "quoted")
    for printed, ours in zip(column(quoted, "text", printed=True), column(quoted, "our tree"), strict=True):
        assert ours == pytest.approx(printed, rel=0.15)


def test_the_six_leaves_are_those_on_which_the_simulated_density_is_constant():
    frame = datasets.load("simulated")
    counts = {key: rows.height for key, rows in frame.group_by("x1", "x2", "x3")}
    held = []
    for leaf in simulated.TRUTH:
        points = [
            (a, b, c)
            for a in (1, 2) for b in (1, 2) for c in (1, 2)
            if all({"x1": a, "x2": b, "x3": c}[name] == value for name, value in leaf.items())
        ]  # fmt: skip
        assert len({counts.get(point, 0) for point in points}) == 1
        held += points
    assert sorted(held) == [(a, b, c) for a in (1, 2) for b in (1, 2) for c in (1, 2)]


def test_the_story_of_the_housebreaks_is_the_papers_word_for_word():
    if not SOURCE.exists():
        pytest.skip(f"the source of the paper is not at {SOURCE}; PAPER_SOURCE names another place")
    text = one_line(SOURCE.read_text(encoding="utf-8"))
    assert [claim.words for claim in crime.CLAIMS if claim.words not in text] == []


def test_what_is_true_of_the_housebreaks_is_what_the_paper_says(quick):
    story, quoted = quick["crime"].tables[:2]
    assert min(column(story, "truth")) > 0.5
    truth, printed = column(quoted, "truth"), column(quoted, "density", printed=True)
    assert truth[1:] == pytest.approx(printed[1:], rel=0.01)
    assert truth[0] < printed[0]


def test_every_event_of_the_housebreaks_names_known_values():
    points = crime.EveryPoint(datasets.housebreaks(rows=10))
    for event in crime.QUOTED_EVENTS.values():
        assert 0 < points.inside(event).sum() < len(points.codes)
    assert points.given(points.log_truth, {}, {}) == pytest.approx(1.0)


@given(st.lists(st.floats(0.01, 1.0), min_size=2, max_size=12), st.data())
def test_distances_are_0_for_the_same_density_and_positive_for_others(weights, data):
    others = data.draw(st.lists(st.floats(0.01, 1.0), min_size=len(weights), max_size=len(weights)))
    p, q = (np.array(own) / np.sum(own) for own in (weights, others))
    away = distances(np.log(p), np.log(q))
    assert distances(np.log(p), np.log(p)) == {"variation": 0.0, "divergence": 0.0}
    assert 0 <= away["variation"] <= 1
    assert away["divergence"] >= 2 * away["variation"] ** 2 - 1e-12  # Pinsker's inequality
    naive = sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2
    assert away["variation"] == pytest.approx(naive)


def labels(rows=3000, seed=0):
    """Images of independent labels, but for a cat that never comes without its dog."""
    rng = np.random.default_rng(seed)
    frame = {f"label {i}": (rng.random(rows) < 0.1).astype(int) for i in range(6)}
    frame["dog"] = (rng.random(rows) < 0.06).astype(int)
    frame["cat"] = frame["dog"]
    return pl.DataFrame(frame)


def test_labels_that_come_together_are_the_most_surprising():
    frame = labels()
    surprising = coco.surprises(LeafSparseTree(max_leaves=20, time_limit=2.0, search="greedy").fit(frame), frame)
    assert {"cat", "dog"} <= set(surprising[0].present)
    assert surprising[0].lift > 5
    assert [one.lift for one in surprising] == sorted((one.lift for one in surprising), reverse=True)


def test_the_study_of_labels_tells_the_pair():
    study = coco.study_of(labels(), Setting(Parts(), quick=True))
    assert any("dog and cat" in sentence or "cat and dog" in sentence for sentence in study.sentences)
    assert study.tables[1].rows[0] == ("leaves", 20.0, study.figures[0].model.n_leaves_)
    assert 1 < study.figures[0].model.n_leaves_ <= 20


def folds_with(gains, leaves=3):
    """DET and ours on folds of 10 rows, ours better by so much a row."""
    return [SideBySide(i, 10.0, leaves, -20.0, 3, -20.0 + 10 * gain, 3) for i, gain in enumerate(gains)]


def test_equal_trees_are_within_the_error_of_each_other():
    assert det._verdict(folds_with([-1e-13, -1e-13])) == "within the error"
    assert det._verdict(folds_with([1e-13, 1e-13])) == "within the error"
    assert det._verdict(folds_with([-0.1, -0.1])) == "below"
    assert det._verdict(folds_with([0.1, 0.11])) == "above"


def test_the_study_of_det_says_what_stands_in_and_where_its_limit_binds(tmp_path, monkeypatch):
    monkeypatch.setattr(det, "QUICK_SETS", ("crime", "car"))
    monkeypatch.setattr(det, "against_det", lambda *_, **__: folds_with([0.1, 0.2], det.MOST_LEAVES))
    notes = " ".join(det.study(Setting(Parts(), quick=True)).tables[0].notes)
    assert "Crime is not the paper's table: housebreaks, rows of a known truth" in notes
    assert "Car is not" not in notes
    assert "DET's tree may have 100 leaves" in notes
    assert "in 4 of 4 folds it has as many" in notes
    assert "as large as 12.71 on the Titanic, and log-likelihoods from 396 to 13107 on its crime data" in notes


def test_a_shorter_list_scores_lower_only_where_it_does():
    best = {2: SimpleNamespace(n_rules_=3, log_posterior_=-5.0), 4: SimpleNamespace(n_rules_=2, log_posterior_=-6.0)}
    rows = [["1", "", -7.0, -5.5], ["2", "", -6.0, -6.0], ["3", "", -5.0, -6.0]]
    assert lists._lower(best, rows) == [True, False, True]


def test_folds_are_counted_in_the_seconds_of_a_second_run(tmp_path):
    people, told = datasets.load("titanic").head(200), []
    first = Parts(tmp_path / "titanic.jsonl", {})
    found = performance(Setting(first, quick=True, say=told.append), "titanic", people)
    again, count = Parts(tmp_path / "titanic.jsonl", {}), len(found.evaluation.folds)
    assert performance(Setting(again, quick=True), "titanic", people).evaluation == found.evaluation
    assert again.seconds_before > sum(fold.seconds for fold in found.evaluation.folds)
    assert f"cross-validating titanic, {count} of {count} folds" in told


def test_a_set_is_cut_after_as_many_rows_as_the_papers():
    for name in ("car", "titanic", "crime"):
        cut = paper_cut(name, None)
        printed = paper.DATA_SETS[name]
        assert (cut.train.height, cut.validation.height) == (printed.train_rows, printed.validation_rows)
        assert cut.domain.sizes == tuple(
            cut.train.vstack(cut.validation)[column].n_unique() for column in cut.train.columns
        )


def test_what_stands_in_says_so():
    assert "housebreaks" in paper_table("crime", None)[1]
    assert "known truth" in paper_table("crime", None)[1]
    assert paper_table("car", None)[1] == ""


@pytest.mark.parametrize("name", ["coco_stuff", "coco_stuff_thing"])
def test_a_set_that_nobody_has_is_one_sentence(name):
    with pytest.raises(DataError, match="the paper's table is not public"):
        paper_table(name, None)


def test_a_study_without_its_data_is_left_out_of_many_and_refused_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(papers_datasets, "load", lambda *_: (_ for _ in ()).throw(DataError("coco_thing is not here.")))
    with pytest.raises(DataError, match="coco_thing is not here"):
        list(reproduce(StudyPlan(("coco",), tmp_path, quick=True)))
    skipped = list(reproduce(StudyPlan(("coco", "coco"), tmp_path, quick=True)))
    assert skipped == [Skipped("coco", "coco_thing is not here.")] * 2


def test_an_interrupted_study_resumes(tmp_path, monkeypatch):
    computed = []
    whole = simulated._block

    def once(seeds):
        computed.append(seeds)
        if len(computed) == 2:
            raise KeyboardInterrupt
        return whole(seeds)

    monkeypatch.setattr(simulated, "_block", once)
    monkeypatch.setattr(simulated, "BLOCK", 2)
    plan = StudyPlan(("simulated",), tmp_path, quick=True)
    with pytest.raises(KeyboardInterrupt):
        list(reproduce(plan))
    (study,) = reproduce(plan)
    assert computed == [range(2), range(2, 4), range(2, 4)]
    assert study.name == "simulated"


def test_the_command_tells_what_it_found_and_where(tmp_path, monkeypatch):
    monkeypatch.setattr(simulated, "QUICK_DRAWS", 1)
    done = run("simulated", "--quick", "-o", tmp_path / "out")
    assert done.returncode == 0
    assert done.stdout.startswith("A tree recovered from the data it made (")
    assert "finds exactly the six leaves in 1 of 1 draws" in done.stdout
    assert done.stderr == f"wrote {tmp_path / 'out' / 'index.html'}\n"


def test_a_study_that_is_not_there_is_refused():
    done = run("atlantis")
    assert done.returncode == 2
    assert "No such command 'atlantis'" in done.stderr


def test_no_jobs_are_refused():
    assert "error: --jobs must be a whole number of 1 or more" in run("simulated", "--jobs", "0").stderr


def test_every_study_has_a_function_and_a_line_about_it():
    told = run("--help").stdout
    for name, entry in STUDIES.items():
        assert callable(study_of(name))
        assert entry.about
        assert f" {name} " in told


@pytest.mark.skipif(
    not Path(os.environ.get("PAPER_DATA", "../shared/data/paper"), "coco_thing.csv.gz").exists(),
    reason="the labels of COCO are not in PAPER_DATA (default ../shared/data/paper)",
)
def test_the_labels_of_coco_are_read_from_a_folder(tmp_path):
    folder = Path(os.environ.get("PAPER_DATA", "../shared/data/paper"))
    (study,) = reproduce(StudyPlan(("coco",), tmp_path, data=folder, quick=True))
    assert study.about.startswith("5,000 images with 80 labels")
