"""A study as tables, figures and a page."""

import csv
import io
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from reproduction import charts, page, running, writing
from reproduction.machine import Machine, commit
from reproduction.running import StudyPlan, command_of, saved_studies, write_page
from reproduction.study import Chart, ModelPicture, Panel, Series, Study, StudyColumn, StudyTable, in_words
from reproduction.writing import Foot
from sparsedensity import GreedyTree, datasets
from sparsedensity.errors import ParameterError, SparseDensityError
from sparsedensity.report.style import LIGHT

HOSTILE = "</script><script>alert('x')</script> | & \"quoted\""
MACHINE = Machine("A processor", 2, "Linux x86_64", "3.11.0", "0.1", "abc with changes", (("numpy", "2.0"),))
FOOT = Foot("python -m reproduction titanic", 12.34, MACHINE, False)


def a_study(name="titanic", text="An apple"):
    numbers = (
        StudyColumn("seconds", "number", 2, paper=True),
        StudyColumn("seconds", "number", 2),
        StudyColumn("proven"),
    )
    first = StudyTable(
        "times", "Times", (StudyColumn("set"), *numbers), ((text, 0.324, 1 / 3, True), ("other", None, 2.5, None))
    )
    second = StudyTable("more", "More", (StudyColumn("share", "share", 0),), ((0.125,),), (f"Why {text}.",))
    series = (
        Series("paper", (1.0, 10.0, 100.0), (2.0, 4.0, 8.0), faint=True),
        Series("ours", (1.0, 10.0, 100.0), (1.0, 2.0, 3.0), True, (0.5, 1.0, 2.0), (1.5, 3.0, 5.0), names=(text,)),
    )
    chart = Chart(
        f"{name}-chart", "A chart", (Panel("", text, "up", series, True, True), Panel("two", "x", "y", series))
    )
    picture = ModelPicture(f"{name}-tree", "A tree", GreedyTree().fit(datasets.load("simulated")), "Words.")
    return Study(name, f"About {text}", "What was done.", (f"{text} came out.",), (first, second), (chart, picture))


def without_figures(*given):
    """A study of words and tables, for tests that are not about drawing: a figure takes most of the time of a study."""
    return replace(a_study(*given), figures=())


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A study with its figures, and its folder."""
    where = tmp_path_factory.mktemp("study")
    return writing.save(a_study(), FOOT, where), where


@pytest.fixture(scope="module")
def folder(written):
    return written[1]


def test_a_study_leaves_its_tables_figures_and_words(folder):
    assert {file.name for file in folder.iterdir()} == {
        "titanic.csv", "titanic-more.csv", "titanic.md", "titanic.json",
        "titanic-chart.svg", "titanic-chart.png", "titanic-tree.svg", "titanic-tree.png",
    }  # fmt: skip
    assert all((folder / f"titanic-{name}.png").read_bytes().startswith(b"\x89PNG") for name in ("chart", "tree"))


def test_a_study_read_again_is_the_same(written):
    study, folder = written
    assert writing.load("titanic", folder) == study


def test_a_study_that_was_not_run_is_none(folder):
    assert writing.load("coco", folder) is None


def test_a_file_that_is_no_study_is_one_sentence(tmp_path):
    (tmp_path / "titanic.json").write_text('{"name": "titanic"}')
    with pytest.raises(SparseDensityError, match=r"titanic\.json is not a study of this version .*Run it again"):
        writing.load("titanic", tmp_path)


def test_numbers_are_in_full_in_the_csv_file(folder):
    rows = list(csv.reader((folder / "titanic.csv").open()))
    assert rows[0] == ["set", "paper: seconds", "seconds", "proven"]
    assert float(rows[1][2]) == 1 / 3
    assert rows[2] == ["other", "", "2.5", ""]


def test_the_paper_stands_beside_us_in_markdown(folder):
    text = (folder / "titanic.md").read_text(encoding="utf-8")
    assert "| set | paper: seconds | seconds | proven |" in text
    assert "| An apple | 0.32 | 0.33 | yes |" in text
    assert "| other | – | 2.50 | – |" in text
    assert "![A chart](titanic-chart.svg)" in text
    assert (
        "`python -m reproduction titanic`: 12.3 s on A processor, 2 cores, Linux x86_64; sparsedensity 0.1, commit abc"
        in text
    )


def test_a_bar_in_a_cell_does_not_break_a_table():
    table = StudyTable("t", "T", (StudyColumn("what"),), (("a | b",),))
    assert list(writing.table_lines(table))[-1] == "| a / b |"


@pytest.mark.parametrize(
    ("value", "column", "words"),
    [
        (None, StudyColumn("x"), "–"),
        (True, StudyColumn("x"), "yes"),
        (2201, StudyColumn("x", "whole"), "2,201"),
        (-4144.583, StudyColumn("x", "number", 2), "−4,144.58"),
        (0.5, StudyColumn("x", "share", 0), "50 %"),
        (float("-inf"), StudyColumn("x", "number"), "−∞"),
        (float("nan"), StudyColumn("x", "number"), "–"),
        (0.0000123, StudyColumn("x", "number", 2, short=True), "1.2e−05"),
        (0.0491, StudyColumn("x", "number", 3, short=True), "0.0491"),
        (0.0, StudyColumn("x", "number", 3, short=True), "0"),
    ],
)
def test_cells_are_read_as_a_person_writes_them(value, column, words):
    assert in_words(value, column) == words


def test_a_row_of_the_wrong_length_is_refused():
    with pytest.raises(ParameterError, match="a row of t must be 2 cells long"):
        StudyTable("t", "T", (StudyColumn("a"), StudyColumn("b")), (("only one",),))


def test_a_chart_is_drawn_the_same_every_time_with_its_texts_as_text():
    chart = a_study().figures[0]
    drawn = charts.svg(chart)
    assert drawn == charts.svg(chart)
    assert ET.fromstring(drawn).tag.endswith("svg")
    for text in ("paper", "ours", "An apple", "up", "two"):
        assert f">{text}</text>" in drawn


def test_on_a_page_a_chart_has_the_colours_of_the_page():
    themed = charts.themed(charts.svg(a_study().figures[0]))
    assert "var(--series0)" in themed
    assert "var(--ink)" in themed
    assert not [light for light, _ in charts.palette().values() if light in themed]


def test_a_chart_by_itself_is_light_or_dark_as_its_reader_prefers():
    drawn = charts.by_itself(a_study().figures[0])
    assert ET.fromstring(drawn).get("aria-label") == "A chart"
    light, dark = drawn.split("@media (prefers-color-scheme:dark)")
    for name, (by_day, by_night) in charts.palette().items():
        assert f"--{name}:{by_day};" in light
        assert f"--{name}:{by_night};" in dark


def test_panels_stand_in_rows_and_may_have_one_scale():
    low, high = (Panel("", "x", "seconds", (Series("one", (1.0, 2.0), (y, 2 * y), True),)) for y in (1.0, 50.0))
    drawn = charts.draw(Chart("c", "C", (low, high, high, low), rows=2, one_scale=True))
    assert [axes.get_ylabel() for axes in drawn.axes] == ["seconds", "", "seconds", ""]
    assert len({axes.get_ylim() for axes in drawn.axes}) == 1
    apart = charts.draw(Chart("c", "C", (low, high)))
    assert [axes.get_ylabel() for axes in apart.axes] == ["seconds", "seconds"]
    assert len({axes.get_ylim() for axes in apart.axes}) == 2


def test_the_colours_of_series_are_their_own():
    lights = [light for light, _ in charts.SERIES]
    assert len(set(lights)) == len(lights)
    assert not set(lights) & set(LIGHT.values()) - {LIGHT["bar"]}


class Reader(HTMLParser):
    """What a browser would load or run."""

    def __init__(self):
        super().__init__()
        self.scripts, self.loaded, self.ids = 0, [], []

    def handle_starttag(self, tag, attrs):
        known = dict(attrs)
        self.scripts += tag == "script"
        self.ids += [known["id"]] if tag in ("h2", "h3", "main") and "id" in known else []
        if tag in ("img", "link", "iframe", "object") or "src" in known:
            self.loaded.append(known.get("src") or known.get("href"))


def read_page(text):
    reader = Reader()
    reader.feed(text)
    return reader


def test_the_page_stands_alone(folder):
    text = page.render([writing.load("titanic", folder)])
    reader = read_page(text)
    assert reader.scripts == 0
    assert reader.loaded == ["data:,"]
    assert len(set(reader.ids)) == len(reader.ids)
    assert "default-src 'none'" in text
    assert "12.3 s on A processor" in text


def test_nothing_in_a_text_is_ever_run(tmp_path):
    study = a_study(text=HOSTILE)
    saved = writing.save(study, FOOT, tmp_path)
    text = page.render([saved])
    assert read_page(text).scripts == 0
    assert "alert('x')</script>" not in text
    assert HOSTILE in next(csv.reader(io.StringIO((tmp_path / "titanic.csv").read_text().split("\n", 1)[1])))


def test_earlier_studies_stay_on_the_page(tmp_path):
    writing.save(without_figures("coco", "Labels"), FOOT, tmp_path)
    writing.save(without_figures("titanic", "People"), FOOT, tmp_path)
    text = write_page(tmp_path).read_text(encoding="utf-8")
    assert [study.name for study in saved_studies(tmp_path)] == ["titanic", "coco"]
    assert text.index("About People") < text.index("About Labels")
    assert "Quick runs are on this page" not in text


def test_a_study_that_cannot_be_read_is_left_off_the_page_and_told(tmp_path, monkeypatch):
    (tmp_path / "coco.json").write_text("{}")
    monkeypatch.setattr(running, "study_of", lambda _: lambda _: without_figures())
    done, left_off = running.reproduce(StudyPlan(("titanic",), tmp_path))
    assert [study.name for study in saved_studies(tmp_path)] == [done.name] == ["titanic"]
    assert left_off.name == "coco"
    assert "coco.json is not a study of this version" in left_off.why


@pytest.mark.parametrize("change", [{"jobs": 2}, {"quick": True}, {"data": Path("tables")}])
def test_parts_are_used_again_only_by_a_run_like_theirs(tmp_path, monkeypatch, change):
    measured = []

    def study(setting):
        setting.part("one", lambda: measured.append(setting.jobs) or {})
        return without_figures()

    monkeypatch.setattr(running, "study_of", lambda _: study)
    plan = StudyPlan(("titanic",), tmp_path)
    for each in (plan, plan, replace(plan, **change), plan):
        list(running.reproduce(each))
    assert len(measured) == 2
    monkeypatch.setattr(running, "source", lambda: "edited")
    list(running.reproduce(plan))
    assert len(measured) == 3


def test_studies_that_share_parts_measure_them_once_even_when_fresh(tmp_path, monkeypatch):
    measured = []

    def study_of(name):
        def study(setting):
            setting.part("grid", lambda: measured.append(name) or {})
            return without_figures(name)

        return study

    monkeypatch.setattr(running, "study_of", study_of)
    plan = StudyPlan(("runtime", "parameters"), tmp_path, fresh=True)
    assert [saved.name for saved in running.reproduce(plan)] == ["runtime", "parameters"]
    assert measured == ["runtime"]
    list(running.reproduce(plan))
    assert measured == ["runtime", "runtime"]


def test_the_foot_names_the_options_but_no_folder(tmp_path):
    plan = StudyPlan(("det",), tmp_path, data=tmp_path, quick=True, jobs=2)
    assert command_of("det", plan) == "python -m reproduction det --quick --jobs 2 --data FOLDER"
    assert command_of("det", StudyPlan(("det",), tmp_path)) == "python -m reproduction det"


def test_a_page_says_which_studies_were_quick(tmp_path):
    writing.save(without_figures(), Foot("x", 1.0, MACHINE, True), tmp_path)
    text = write_page(tmp_path).read_text(encoding="utf-8")
    assert "Quick runs are on this page" in text
    assert text.count("A quick run:") == 1


def test_a_page_of_nothing_is_refused(tmp_path):
    with pytest.raises(SparseDensityError, match=r"There is no study in .* Run one: python -m reproduction titanic"):
        write_page(tmp_path)


def test_the_machine_says_what_it_is_and_is_read_again():
    here = Machine.here()
    assert Machine.of(here.saved()) == here
    assert f"Python {here.python}, numpy " in str(here)
    assert here.cores >= 1
    assert re.fullmatch(r"([0-9a-f]{10}( with changes)?)?", commit())
