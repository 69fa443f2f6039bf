"""Models whose leaves have profiles, in text and pictures: what stands out in each kind of record."""

import itertools
import json
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsedensity import LeafSparseTree, datasets
from sparsedensity.cli.data import model_as_json, model_as_text
from sparsedensity.domain import Domain, Feature
from sparsedensity.report import graphviz, latex, mermaid, plot, svg, text
from sparsedensity.report.layout import Drawing
from sparsedensity.report.picture import picture_of
from sparsedensity.report.shapes import Box, Stroke, Text
from sparsedensity.report.style import NARROW, Style, text_width
from sparsedensity.report.traits import standouts_of
from sparsedensity.structures import Tree
from tests.report.models import HOSTILE, kinds_report, profile_report
from tests.strategies import data_in, domains, trees


@st.composite
def kinds(draw):
    """The report of a small tree with profiles."""
    domain = draw(domains())
    rows, weights = zip(*draw(data_in(domain)), strict=True)
    return profile_report(draw(trees(domain)), rows, weights, pseudocount=0.5)


def hostile_kinds():
    """Kinds whose columns and values try to break out of wherever they are shown."""
    domain = Domain((Feature.nominal("[b]*<i>", HOSTILE[:9]), Feature.nominal('"\\$x_1 %s', HOSTILE[:9])))
    rows = [(i % 9, 0 if i % 9 < 5 else i % 9) for i in range(400)]
    return profile_report(Tree.leaf(domain).split(0, 0, [{0, 1, 2}, {3, 4}, {5, 6, 7, 8}]), rows)


def runs_in(feature, codes):
    """Every run of neighbours among the allowed values of an ordered feature, and missing."""
    known = [code for code in codes if code != feature.missing]
    runs = [known[a:b] for a, b in itertools.combinations(range(len(known) + 1), 2)]
    return [run for run in runs if run[-1] - run[0] == len(run) - 1] + [[c] for c in codes if c == feature.missing]


@given(kinds())
def test_what_stands_out_is_the_value_or_run_most_in_excess(report):
    domain, profiles = report.structure.domain, report.profiles
    for leaf in report.leaves:
        for trait in leaf.traits:
            span, feature = domain.span(trait.feature), domain[trait.feature]
            excess = profiles.inside[leaf.number, span] - profiles.background[leaf.number, span]
            allowed = sorted(value.code for value in trait.values)
            choices = runs_in(feature, allowed) if feature.ordered else [[code] for code in allowed]
            codes = list(trait.highlight.codes)
            assert codes in choices
            assert excess[codes].sum() == pytest.approx(max(excess[choice].sum() for choice in choices))
            assert trait.highlight.share == pytest.approx(profiles.inside[leaf.number, span][codes].sum())
            assert trait.highlight.overall == pytest.approx(profiles.leaf.background[span][codes].sum())


@given(kinds())
def test_every_column_with_a_profile_is_among_what_stands_out_once(report):
    for leaf in report.leaves:
        names = [name for one in standouts_of(leaf.traits) for name in one.names]
        assert sorted(names) == sorted(trait.name for trait in leaf.traits)


@given(kinds(), st.sampled_from([60, 80, 120]))
def test_the_text_keeps_its_width_and_tells_every_kind(report, width):
    lines = text.render(report, width=width).splitlines()
    assert max(map(len, lines)) <= width
    assert {line.split(" ")[0] for line in lines if re.match(r"\d+ +\S", line)} == {
        str(leaf.number) for leaf in report.leaves
    }


def test_the_table_of_kinds_has_no_density():
    shown = text.render(kinds_report(), width=120)
    assert "expected" in shown
    assert "density" not in shown
    assert "volume" not in shown


def test_of_many_kinds_the_largest_are_told():
    domain = Domain((Feature.nominal("x", tuple(f"v{i}" for i in range(30))), Feature.nominal("y", "ab")))
    tree = Tree.leaf(domain).split(0, 0, [{i} for i in range(30)])
    shown = text.render(profile_report(tree, [(i, i % 2) for i in range(30) for _ in range(i + 1)]), width=80)
    assert "And 10 smaller leaves." in shown
    assert "29  v29" not in shown.split("Kinds of records")[0]
    assert "\n29  x v29" in shown or "\n29  v29" in shown
    assert "\n9   " not in shown


def test_a_kind_like_the_whole_table_says_so():
    domain = Domain((Feature.nominal("x", "ab"), Feature.nominal("y", "ab")))
    tree = Tree.leaf(domain).split(0, 0, [{0}, {1}])
    rows = [(x, y) for x in (0, 1) for y in (0, 1)] * 20
    assert text.render(profile_report(tree, rows)).count("like the whole table in all other columns") == 2


def test_hostile_labels_are_shown_as_text():
    report = hostile_kinds()
    assert text.render(report, width=80).replace("\n", "").replace("\u200d", "").isprintable()
    assert max(map(len, text.render(report, width=80).splitlines())) <= 80
    root = ElementTree.fromstring(svg.render(report))
    assert not [tag for tag in root.iter() if tag.tag.endswith(("script", "}i"))]
    for line in mermaid.render(report).replace("<br/>", "").splitlines()[1:]:
        assert line.count('"') in (0, 2)
        assert "<" not in line
    assert '"' not in re.sub(r'"(?:[^"\\]|\\.)*"', "", graphviz.render(report))
    source = latex.render(report)
    assert r"\\[" not in source
    assert r"\\*" not in source


@given(kinds())
def test_bars_end_at_their_shares_and_stay_on_the_paper(report):
    drawing = Drawing(picture_of(report))
    assert ElementTree.fromstring(svg.render(report)) is not None
    for group in drawing.groups:
        shapes = [shape for shape in group.row if isinstance(shape, Box) and shape.column is None]
        shown = drawing.picture.spots[group.spot].standouts[:3] if group.row else ()
        for track, bar, one in zip(shapes[::2], shapes[1::2], shown, strict=True):
            assert bar.width / track.width == pytest.approx(one.highlight.share)
            assert track.x + track.width <= drawing.width
        for shape in group.row:
            if isinstance(shape, Text):
                assert abs(shape.y) <= drawing.row / 2
                assert shape.x + (text_width(shape.text, shape.size) if shape.anchor == "start" else 0) <= drawing.width


@given(kinds(), st.booleans())
def test_rows_of_kinds_do_not_meet(report, foldable):
    drawing = Drawing(picture_of(report), Style(foldable=foldable, indented=True))
    ends = sorted(
        (group.y - drawing.row / 2, group.y + drawing.row / 2)
        for group in drawing.groups
        if drawing.picture.is_row(group.spot)
    )
    assert all(after[0] >= before[1] - 1e-9 for before, after in itertools.pairwise(ends))
    assert ends[-1][1] == pytest.approx(drawing.bottom)


def test_a_long_name_leaves_room_for_the_bars():
    domain = Domain((Feature.nominal("x" * 60, "ab"), Feature.nominal("y", "cd")))
    report = profile_report(Tree.leaf(domain).split(0, 1, [{0}, {1}]), [(i, i) for i in (0, 1) for _ in range(50)])
    bars = [line.split()[-1] for line in text.render(report, width=100).splitlines() if "overall 50 %" in line]
    assert [len(bar) for bar in bars] == [text.LONGEST] * 2


def test_a_deep_tree_of_kinds_spends_no_room_on_branches():
    domain = Domain(tuple(Feature.nominal(f"x{i}", "ab") for i in range(9)))
    tree = Tree.leaf(domain)
    for feature in range(8):
        tree = tree.split(2 * feature, feature, [{0}, {1}])
    rows = np.random.default_rng(1).integers(0, 2, (600, 9))
    rows[:, 8] = rows[:, 0]
    drawing = Drawing(picture_of(profile_report(tree, rows)))
    assert drawing.deep
    leaves, branches = tree.n_leaves, len(drawing.groups) - tree.n_leaves
    assert drawing.bottom - drawing.top == pytest.approx(leaves * drawing.row + branches * drawing.style.row)


def test_a_page_that_folds_its_rows_gets_names_only_and_a_phone_neither():
    picture = picture_of(kinds_report())
    folded = svg.render_picture(picture, Style(foldable=True))
    assert "odor almond" in re.sub("<title>.*?</title>", "", folded, flags=re.DOTALL)
    assert "ring type" not in re.sub("<title>.*?</title>", "", folded, flags=re.DOTALL)
    phone = svg.render_picture(picture.narrow(), NARROW)
    assert "kind of record" not in phone


def test_a_tooltip_tells_the_name_and_what_stands_out():
    titles = re.findall("<title>(.*?)</title>", svg.render(kinds_report()), flags=re.DOTALL)
    told = next(title for title in titles if "leaf 0" in title).split("\n")
    assert told[:2] == ["odor is almond", "leaf 0: odor almond"]
    assert "ring type pendant: 79 % (overall 29 %)" in told


def test_the_legend_tells_what_bars_and_marks_mean():
    drawing = Drawing(picture_of(kinds_report()))
    assert [shape.text for shape in drawing.legend if isinstance(shape, Text)] == [
        "share in this kind",
        "share of all records",
    ]
    assert sum(isinstance(shape, Stroke) for shape in drawing.legend) == 1


def test_matplotlib_draws_the_names():
    texts = [each.get_text() for each in plot.render(kinds_report()).texts]
    assert {"odor almond", "odor none, not woods", "cap colour (+1)"} <= set(texts)


def test_names_and_traits_are_in_the_plain_data_and_the_last_sentence_keeps_the_width():
    tree = LeafSparseTree(leaf="profile", search="greedy").fit(datasets.load("titanic"))
    leaves = json.loads(json.dumps(model_as_json(tree)))["leaves"]
    assert [leaf["name"] for leaf in leaves] == [leaf.name for leaf in tree.leaves_]
    for told, leaf in zip(leaves, tree.leaves_, strict=True):
        assert [trait["feature"] for trait in told["traits"]] == [trait.name for trait in leaf.traits]
        for trait in told["traits"]:
            assert sum(value["share"] for value in trait["values"]) == pytest.approx(1)
    assert max(map(len, model_as_text(tree.report(), 60).splitlines())) <= 60


def test_evidence_is_per_record_whatever_the_weights():
    domain = Domain((Feature.nominal("a", "xy"), Feature.nominal("b", "xyz")))
    tree, rows = Tree.leaf(domain).split(0, 0, [{0}, {1}]), [(0, 0), (1, 2)]
    light = profile_report(tree, rows, [0.25, 0.75], pseudocount=1e-3, probability=0.9)
    held = light.profiles
    traits = [trait for leaf in light.leaves for trait in leaf.traits]
    assert len(traits) == 2
    for leaf, trait in zip(light.leaves, traits, strict=True):
        assert trait.evidence == pytest.approx(held.evidence[leaf.number, 1] / leaf.weight)


def test_a_single_leaf_is_like_the_whole_table():
    domain = Domain((Feature.nominal("a", "xy"), Feature.nominal("b", "xyz")))
    shown = text.render(profile_report(Tree.leaf(domain), [(0, 0), (1, 2)]), width=80)
    assert shown.endswith("0   every record (100 %)\n    like the whole table in all columns")
