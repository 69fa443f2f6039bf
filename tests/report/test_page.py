"""The page: whole, self-contained, small, and safe whatever the labels. In a browser: tests/browser."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import polars as pl
import pytest

from reproduction.datasets.random_trees import random_tree
from sparsedensity import GreedyTree, Histogram
from sparsedensity.errors import ParameterError
from sparsedensity.models.answers import read_rows
from sparsedensity.models.evidence import gather
from sparsedensity.report import html
from sparsedensity.report.model import path_of
from tests.report.models import HOSTILE, hostile_model, hostile_rows, rules_report

VOID = {"meta", "link", "br", "input", "wbr"}


class Reader(HTMLParser):
    """Collects what matters and complains about tags that do not match."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.text, self.addresses = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        self.addresses += [v for k, v in attrs if k in ("src", "href", "action", "srcset", "data", "xlink:href")]
        assert not [k for k, _ in attrs if k.startswith("on")]

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("script", "style"):
            self.text.append(data)


def read(page):
    reader = Reader()
    reader.feed(page)
    assert reader.open == []
    return reader


@pytest.fixture(scope="module")
def page(titanic, people):
    return titanic.to_html(None, people, source="titanic")


def test_the_page_loads_nothing_and_runs_only_its_own_script(page):
    reader = read(page)
    assert reader.tags.count("script") == 2
    assert [a for a in reader.addresses if not a.startswith(("#", "data:,"))] == []
    assert "default-src 'none'" in page
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")


@pytest.mark.parametrize(
    "phrase",
    [
        "The picture", "Which columns matter", "Look up a record", "The largest and the rarest groups",
        "The most unusual records",
        "How many leaves are enough?", "How good is it?", "How it was found", "The columns", "How to read it",
        "Independent columns", "Full histogram", "expected leaves 8, pseudocount 2",
        "Held out, the model gives new records 1.13 times the density that independent columns do",
        "Largest group, 39.2 % of all records (38.9 % expected)", "each step is a factor of 100.",
        "class is 1st or crew", "with age adult it would be 77.8 times as common",
    ],
)  # fmt: skip
def test_the_page_says_what_a_stranger_asks(page, phrase):
    assert phrase in "".join(read(page).text)


def test_without_the_table_the_page_says_what_the_model_knows(titanic):
    text = "".join(read(titanic.to_html()).text)
    assert "The most unusual records" not in text
    assert "How good is it?" not in text
    assert "Look up a record" in text


def test_without_folds_nothing_is_fitted_again(titanic, people):
    text = "".join(read(titanic.to_html(None, people, cv=None)).text)
    assert "The most unusual records" in text
    assert "How good is it?" not in text


def test_hostile_labels_stay_text():
    page = hostile_model().to_html(None, hostile_rows(), cv=None, source=HOSTILE[0])
    reader = read(page)
    assert reader.tags.count("script") == 2
    text = "".join(reader.text)
    assert "<script>alert(1)</script>" in text
    assert "{{ 7*7 }}" in text or "49" not in text
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert "x" * 1100 not in page
    assert len(page) < 1_000_000
    json.loads(_data(page))


def test_a_hundred_leaves_stay_below_a_megabyte():
    frame = random_tree(rows=20_000, sizes=[5, 4, 4, 4, 3, 3, 3, 3, 2, 2, 2, 2], leaves=100).frame
    model = GreedyTree().fit(frame)
    page = model.to_html(None, frame, cv=None)
    assert model.n_leaves_ > 80
    assert len(page.encode()) < 1_000_000


def test_a_column_of_many_values_offers_what_the_model_tells_apart():
    rng = np.random.default_rng(0)
    rows = [{"code": f"c{int(x)}", "y": "a" if x < 300 else "b"} for x in rng.integers(0, 600, 20_000)]
    model = GreedyTree(max_leaves=3).fit(rows)
    data = json.loads(_data(model.to_html()))
    choices = data["features"][0]["choices"]
    assert len(choices) <= 3
    assert sum(int(re.search(r"one of (\d+) values", text).group(1)) for _, text in choices) == 600


@pytest.mark.parametrize("kind", [GreedyTree, Histogram])
def test_the_page_knows_every_leaf_and_the_whole_structure(kind, people):
    model = kind().fit(people)
    data = json.loads(_data(model.to_html(None, people, cv=None)))
    assert [leaf["log"] for leaf in data["leaves"]] == pytest.approx(model.density_.log_densities.tolist(), abs=1e-6)
    assert [len(f["choices"]) for f in data["features"]] == [4, 2, 2]
    assert len(data["special"]) == len(model.leaves_)


def test_a_list_has_a_page_too():
    page = html.render(rules_report())
    assert "a record belongs to the first rule that applies to it" in page
    assert json.loads(_data(page))["structure"]["rules"][1] == [[2, 1, 2]]


def test_a_leaf_of_a_list_is_named_with_the_rules_above_it():
    report = rules_report()
    assert [str(leaf) for leaf in report.leaves] == [
        "class is crew and sex is male",
        "fare is 10 to 50 and none of the rules above",
        "sex is female and fare is 50 to 100 and none of the rules above",
        "none of the rules above",
    ]
    page = html.render(report)
    assert '<td>3</td><td class="words">none of the rules above</td>' in page
    assert json.loads(_data(page))["leaves"][1]["conditions"] == ["fare is 10 to 50", "none of the rules above"]
    assert path_of(report.structure, 1) == ("fare is 10 to 50", "none of the rules above")


def test_an_empty_leaf_holds_no_record(people):
    model = Histogram().fit(people)
    for shown in (model.to_text(), model.to_svg(), model.to_html(), model.to_mermaid(), model.to_graphviz()):
        assert "no record" in shown
    nobody = model.explain([{"class": "crew", "sex": "male", "age": "child"}])[0]
    assert "no record (0.0902 % expected)" in str(nobody)


def test_the_form_begins_with_the_commonest_record_and_the_columns_that_are_used(people):
    table = people.with_columns(noise=pl.Series(["a", "b", "b"] * 733 + ["a", "b"]))
    model = GreedyTree(max_leaves=4).fit(table)
    features = json.loads(_data(model.to_html(None, table, cv=None)))["features"]
    assert {f["name"]: f["used"] for f in features} == {"class": True, "sex": True, "age": True, "noise": False}
    start = {f["name"]: dict(f["choices"])[f["start"]] for f in features}
    assert start == {"class": "crew", "sex": "male", "age": "adult", "noise": "b"}
    alone = json.loads(_data(html.render(rules_report())))["features"]
    assert [f["start"] for f in alone[:2]] == [3, 1]


def test_records_of_a_tie_come_rarest_within_their_leaf_first_and_the_tie_is_counted(people):
    table = people.with_columns(extra=pl.Series(["x"] * 2200 + ["y"]))
    evidence = gather(GreedyTree(max_leaves=1).fit(table), table, cv=None)
    assert dict(evidence.records[0].values)["extra"] == "y"
    assert evidence.tied == 2201
    assert "2,201 rows tie; these are the rarest within their leaf." in GreedyTree(max_leaves=1).fit(table).to_html(
        None, table, cv=None
    )
    assert gather(GreedyTree().fit(people), people, cv=None).tied == 0


def test_what_a_leaf_holds_is_counted(titanic, people):
    counts = gather(titanic, people, cv=None).weights
    codes, weights, *_ = read_rows(titanic, people, None)
    leaves = titanic.apply(people)
    assert counts.sum(axis=1) == pytest.approx(3 * np.bincount(leaves))
    child = titanic.domain_["age"].code("child")
    place = titanic.domain_.starts[2] + child
    assert counts[:, place] == pytest.approx(np.bincount(leaves, codes[:, 2] == child, 9))
    assert weights.sum() == 2201


def test_unusual_records_come_most_unusual_first_and_once_each(titanic, people):
    records = gather(titanic, people, cv=None).records
    assert len({record.values for record in records}) == len(records)
    unusual = [record.explanation.unusualness for record in records]
    assert unusual == sorted(unusual, reverse=True)
    for record in records:
        row = people.row(record.explanation.row)
        assert record.values == tuple(zip(people.columns, row, strict=True))
        assert record.weight == people.rows().count(row)


def test_the_baselines_are_what_they_say(titanic, people):
    codes = read_rows(titanic, people, None).codes
    scores = gather(titanic, people, cv=4).scores
    assert [score.name for score in scores] == [
        "Greedy density tree", "Full histogram", "Independent columns", "One even leaf",
    ]  # fmt: skip
    assert (scores[3].held_out, scores[3].error) == (pytest.approx(-np.log(16)), 0)
    from sklearn.model_selection import KFold

    each = []
    for train, test in KFold(4, shuffle=True, random_state=0).split(codes):
        logs = np.zeros(len(test))
        for column in range(3):
            counts = np.bincount(codes[train, column], minlength=titanic.domain_.sizes[column]) + 1
            logs += np.log(counts / counts.sum())[codes[test, column]]
        each.append(logs.mean())
    assert scores[2].held_out == pytest.approx(np.mean(each))
    assert scores[2].error == pytest.approx(np.std(each, ddof=1) / 2)


def test_weights_count_as_rows_in_the_evidence(people):
    counted = people.group_by("class", "sex", "age", maintain_order=True).len("n")
    model = GreedyTree().fit(counted.drop("n"), sample_weight=counted["n"])
    evidence = gather(model, counted.drop("n"), counted["n"], cv=None)
    assert evidence.weights.sum() == pytest.approx(3 * people.height)
    assert evidence.records[0].weight == 1


def test_a_wrong_number_of_folds_is_refused(titanic, people):
    with pytest.raises(ParameterError, match="cv must be"):
        titanic.to_html(None, people, cv=1)


def _data(page):
    return re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL).group(1)
