"""Leaves with profiles on the page: kinds of records, where they differ, and what a look-up needs."""

import json
import re

import numpy as np
import polars as pl
import pytest

from sparsedensity import LeafSparseTree
from sparsedensity.errors import DataWarning
from sparsedensity.report import html, page_data, words
from sparsedensity.report.kinds import LEVELS, heat_map, kinds_of
from tests.report.models import HOSTILE, animal_model, animals, hostile_rows
from tests.report.test_page import _data, read


@pytest.fixture(scope="module")
def model():
    return animal_model()


@pytest.fixture(scope="module")
def page(model):
    return model.to_html(None, animals(), cv=3, source="animals")


def text_of(page):
    return " ".join("".join(read(page).text).split())


@pytest.mark.parametrize(
    "phrase",
    [
        "4 kinds of records", "Where the kinds differ", "49 % of all records", "cover is fur",
        "birth: live over 99 %, overall 54 %", "legs: 4 75 %, overall 46 %",
        "This column is spread alike in every kind, as in the whole table: zoo.",
        "Largest kind, 49 % of all records: cover fur",
        "The kinds differ most in cover, weight and birth", "Look up a record", "The most unusual records",
        "Among records like it,", "How many leaves are enough?", "Independent columns", "Kind of record",
    ],
)  # fmt: skip
def test_the_page_tells_what_the_kinds_of_records_are(page, phrase):
    assert phrase in text_of(page)


def test_an_unusual_record_goes_by_its_identifier_too():
    named = [{"tag": f"T{i:03}", **row} for i, row in enumerate(animals())]
    with pytest.warns(DataWarning, match="'tag' looks like an identifier"):
        model = LeafSparseTree(leaf="profile", max_leaves=4, search="greedy").fit(named)
    said = re.findall(r"Row (\d+), tag T(\d+): rarer than", text_of(model.to_html(None, named, cv=None)))
    assert said
    assert all(int(row) == int(tag) for row, tag in said)


def test_records_of_some_weight_are_not_counted():
    rows, model = animals(), LeafSparseTree(leaf="profile", max_leaves=4, search="greedy")
    weighted = model.fit(rows, sample_weight=np.full(len(rows), 0.75)).to_html(
        None, rows, sample_weight=np.full(len(rows), 0.75), cv=None
    )
    assert re.search(r"Row \d+, weight 0.75: rarer than", text_of(weighted))
    twice = model.fit(rows * 2).to_html(None, rows * 2, cv=None)
    assert re.search(r"Row \d+, 2 such records: rarer than", text_of(twice))


@pytest.mark.parametrize(
    "phrase", ["The largest and the rarest groups", "Within a leaf the model treats all", "Volume"]
)
def test_what_is_true_of_even_leaves_alone_is_not_said_of_kinds(page, phrase):
    assert phrase not in text_of(page)


def test_even_leaves_are_no_kinds(titanic, people):
    assert kinds_of(titanic.report()) == ()
    assert heat_map(titanic.report()) is None
    assert 'class="kind"' not in titanic.to_html(None, people, cv=None)


def test_kinds_come_largest_first_and_every_column_with_a_profile_is_told_once(model):
    kinds = kinds_of(model.report())
    shares = [kind.leaf.share for kind in kinds]
    assert shares == sorted(shares, reverse=True)
    for kind in kinds:
        told = [name for one in kind.standouts for name in one.names]
        assert sorted(told) == sorted(trait.name for trait in kind.leaf.traits)
        assert kind.untold == 0


def test_the_heat_map_shades_by_the_share_of_records_that_differ(model):
    report, domain = model.report(), model.domain_
    heat = heat_map(report)
    assert [leaf.number for leaf in heat.leaves] == [kind.leaf.number for kind in kinds_of(report)]
    covers = np.array([row["cover"] for row in animals()])
    overall = [np.mean(covers == value) for value in domain["cover"].values]
    for leaf, cell in zip(heat.leaves, dict(heat.rows)["cover"], strict=True):
        distance = np.abs(model.density_.profiles.inside[leaf.number, domain.span(0)] - overall).sum() / 2
        assert cell.level == sum(distance > level for level in LEVELS)
        assert cell.detail.endswith(f"{words.about(distance)} of the kind differ")


def test_the_heat_map_says_what_stands_out_or_the_condition_if_that_tells_more(model):
    heat = heat_map(model.report())
    said = {name: [" ".join([cell.value, cell.share]).strip() for cell in cells] for name, cells in heat.rows}
    assert said["cover"] == ["is fur", "feathers 96 %", "scales 96 %", "none 76 %"]
    assert said["birth"] == ["live over 99 %", "is eggs", "eggs 74 %", "is live"]
    assert said["weight"][3] == "as overall"
    assert heat.alike == ("zoo",)


def test_the_page_holds_what_every_record_is_worth(model, page):
    profiles = json.loads(_data(page))["profiles"]
    assert profiles["inside"] == [pytest.approx(shares, rel=1e-4) for shares in model.density_.profiles.inside.tolist()]
    assert profiles["logs"] == pytest.approx(model.density_.log_probabilities.tolist())
    assert profiles["measures"] == pytest.approx(model.domain_.measures.tolist())
    ranking, rows = profiles["ranking"], animals()
    read_off = np.interp(-model.score_samples(rows), -np.array(ranking["logs"]), ranking["denser"])
    assert read_off == pytest.approx(model.unusualness(rows), abs=0.005)
    assert len(ranking["logs"]) < 3 * page_data.RANKS


def test_without_a_table_the_form_begins_with_the_densest_record(model):
    features = json.loads(_data(model.to_html()))["features"]
    start = np.array([[feature["start"] for feature in features]], np.uint8)
    density = model.density_
    drawn = density.draw(2000, np.random.default_rng(0))
    highest = density.log_densities_at(drawn, density.leaf_numbers(drawn)).max()
    assert density.log_densities_at(start, density.leaf_numbers(start))[0] >= highest


def test_of_many_columns_the_form_asks_first_for_those_in_which_the_kinds_differ_most(model, monkeypatch):
    monkeypatch.setattr(page_data, "MOST_FIELDS", 3)
    features = json.loads(_data(model.to_html()))["features"]
    first = [name for name, _ in heat_map(model.report()).rows[:3]]
    assert sorted(feature["name"] for feature in features if feature["first"]) == sorted(first)


def test_a_look_up_that_would_be_too_large_is_left_out_in_one_sentence(model, page, monkeypatch):
    sentence = "Records cannot be looked up on this page: what that takes would make it too large."
    assert sentence not in page
    monkeypatch.setattr(page_data, "MOST_SHARES", 10)
    small = model.to_html()
    assert sentence in small
    assert json.loads(_data(small))["profiles"] is None


def test_many_kinds_of_many_columns_stay_below_a_megabyte():
    rng = np.random.default_rng(0)
    hidden = rng.integers(0, 40, 4000)
    frame = pl.DataFrame(
        {f"column {i}": (rng.integers(0, 6, 40)[hidden] + (rng.random(4000) < 0.1)) for i in range(60)}
    )
    model = LeafSparseTree(leaf="profile", max_leaves=40, search="greedy", kinds="nominal").fit(frame)
    assert model.n_leaves_ > 25
    page = model.to_html(None, frame, cv=None)
    assert len(page.encode()) < 1_000_000
    assert page.count('class="kind"') == model.n_leaves_
    assert "Show the other" in page


def test_one_kind_is_a_page_too():
    text = text_of(animal_model(max_leaves=1).to_html(None, animals(), cv=None))
    assert "1 kind of records" in text
    assert "Every other column follows all records." in text
    assert "Where the kinds differ" not in text


def test_hostile_labels_stay_text_in_kinds():
    model = LeafSparseTree(leaf="profile", prior="paper", search="greedy").fit(hostile_rows())
    page = model.to_html(None, hostile_rows(), cv=None, source=HOSTILE[0])
    reader = read(page)
    assert model.n_leaves_ > 1
    assert reader.tags.count("script") == 2
    assert "<script>alert(2)</script>" in "".join(reader.text)
    assert not re.search("[\x1b\u202e]", page)


def test_a_report_without_numbers_of_a_table_has_kinds(model):
    assert text_of(html.render(model.report())).count("of all records") >= 4
