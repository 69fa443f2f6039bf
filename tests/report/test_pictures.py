"""Pictures: SVG, matplotlib, Mermaid and Graphviz say what the report says, whatever the labels."""

import itertools
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reproduction.datasets.random_trees import random_tree
from sparsedensity import GreedyTree, Histogram, datasets
from sparsedensity.domain import Domain, Feature
from sparsedensity.posterior import BranchSparse, LeafSparse
from sparsedensity.report import graphviz, mermaid, path_svg, plot, svg
from sparsedensity.report.axes import Axes
from sparsedensity.report.layout import Drawing
from sparsedensity.report.made import signed
from sparsedensity.report.path import PathPoint, SparsityPath
from sparsedensity.report.picture import picture_of
from sparsedensity.report.shapes import Curve, Stroke, Text
from sparsedensity.report.style import BOLD, Style, condition_lines, shortened, text_width, wrapped
from sparsedensity.structures import Tree
from tests.draw_list import rules_on
from tests.report.models import hostile_model, report_of, rules_report, tree_report
from tests.strategies import domains, rule_lists, trees

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def titanic():
    return GreedyTree().fit(datasets.load("titanic"))


@st.composite
def reports(draw):
    """The report of a small tree or list with any weights."""
    domain = draw(domains())
    if draw(st.booleans()):
        structure, posterior = draw(trees(domain)), draw(st.sampled_from([LeafSparse(), BranchSparse()]))
    else:
        structure, posterior = draw(rule_lists(domain)), rules_on(domain)
    weights = draw(st.lists(st.integers(0, 50), min_size=structure.n_leaves, max_size=structure.n_leaves))
    return report_of(structure, np.array(weights, float) + (sum(weights) == 0), posterior)


@given(reports())
def test_every_branch_holds_what_its_children_hold(report):
    picture = picture_of(report)
    assert [spot.leaf for spot in picture.spots if spot.leaf is not None] == list(range(len(report.leaves)))
    for i, spot in enumerate(picture.spots):
        if picture.children[i]:
            assert spot.share == pytest.approx(sum(picture.spots[c].share for c in picture.children[i]))
    assert picture.spots[0].share == pytest.approx(sum(leaf.share for leaf in report.leaves)) == 1


@given(reports(), st.booleans())
def test_marks_stay_on_their_axes_and_rows_do_not_meet(report, foldable):
    drawing = Drawing(picture_of(report), Style(foldable=foldable))
    for spot in drawing.picture.spots:
        for cell in spot.cells if spot.leaf is not None else ():
            assert all(-1e-9 <= at <= 1 + 1e-9 for at in (cell.at, cell.high) if at is not None)
    rows = sorted(group.y for group in drawing.groups if drawing.picture.is_row(group.spot))
    assert all(b - a >= drawing.row - 1e-9 for a, b in itertools.pairwise(rows))
    assert all(drawing.top < y < drawing.height for y in rows)


@given(reports())
def test_an_svg_is_well_formed_and_names_every_leaf(report):
    root = ElementTree.fromstring(svg.render(report))
    spots = [g for g in root.iter(f"{SVG}g") if g.get("class") == "sd-spot"]
    assert len(spots) == len(picture_of(report).spots)
    assert len(list(root.iter(f"{SVG}circle"))) >= sum(leaf.probability > 0 for leaf in report.leaves)


@given(reports(), st.integers(1, 6))
def test_a_pruned_picture_has_few_rows_and_loses_nothing(report, most):
    whole, part = picture_of(report), picture_of(report, most)
    rows = [i for i in range(len(part.spots)) if part.is_row(i)]
    widest = max((len(children) for children in whole.children), default=0)
    assert len(rows) <= max(most, widest)
    assert sum(part.spots[i].share for i in rows) == pytest.approx(whole.spots[0].share)
    assert all(-1e-9 <= cell.at <= 1 + 1e-9 for i in rows for cell in part.spots[i].cells if cell.at is not None)
    if len(report.leaves) <= most:
        assert part == whole


def test_the_width_of_a_branch_is_its_share_and_its_colour_its_density(titanic):
    drawing = Drawing(picture_of(titanic.report()))
    curves = [shape for group in drawing.groups for shape in group.branch if isinstance(shape, Curve)]
    assert max(curves, key=lambda curve: curve.width) is curves[0]
    by_leaf = {drawing.picture.spots[g.spot].leaf: g for g in drawing.groups}
    dense, rare = by_leaf[5].branch[0], by_leaf[6].branch[0]
    assert (dense.colour, rare.colour) == ("shade6", "shade0")
    assert dense.width / by_leaf[4].branch[0].width == pytest.approx(862 / 462)


def test_the_interval_of_the_density_is_that_of_the_probability_over_the_volume(titanic):
    leaf = titanic.leaves_[6]
    cell = next(spot for spot in picture_of(titanic.report()).spots if spot.leaf == 6).cells[1]
    low, high = (end / leaf.volume for end in leaf.interval)
    assert cell.title == f"95 % interval {low:.3g} to {high:.3g}"
    assert cell.low < cell.at < cell.high


def test_one_leaf_is_a_picture_too():
    one = GreedyTree(max_leaves=1).fit(datasets.load("titanic"))
    assert "everything" in one.to_svg()
    assert one.plot().texts


def test_a_deep_tree_is_drawn_line_by_line_and_stays_narrow():
    table = {f"x{i}": [1] * 500 + [0] * 20 for i in range(30)}
    rows = [dict(zip(table, values, strict=True)) for values in zip(*table.values(), strict=True)]
    tree = Tree.leaf(GreedyTree().fit(rows).domain_)
    for feature in range(30):
        tree = tree.split(2 * feature, feature, [{0}, {1}])
    drawing = Drawing(picture_of(tree_report(tree)))
    assert drawing.deep
    assert drawing.width < 1300
    assert drawing.height == pytest.approx(drawing.row * 61, rel=0.1)


def test_the_label_of_a_row_takes_the_room_up_to_the_numbers():
    domain = Domain((Feature.continuous("loss", (0.5, 2095.25, 29450.75)), *(Feature.nominal(n, "ab") for n in "xyz")))
    tree = Tree.leaf(domain).split(0, 0, [{0}, {1}])
    for node, feature in ((1, 1), (3, 2), (5, 3)):
        tree = tree.split(node, feature, [{0}, {1}])
    drawing = Drawing(picture_of(tree_report(tree)), Style(widest_label=80.0, narrowest_label=60.0))
    assert not drawing.deep
    texts = [shape.text for group in drawing.groups for shape in group.branch if isinstance(shape, Text)]
    (row,) = (spot.text for spot in drawing.picture.spots if spot.depth == 1 and spot.leaf is not None)
    assert row.startswith("loss is 2095 to ")
    assert row in texts


@pytest.mark.parametrize("kind", [GreedyTree, Histogram])
def test_a_hundred_leaves_fit_a_page(kind):
    frame = random_tree(rows=20_000, sizes=[4, 4, 3, 3, 3, 2, 2], leaves=100).frame
    model = kind().fit(frame)
    assert len(model.to_svg()) < 400_000


def test_hostile_labels_are_shown_as_text():
    model = hostile_model()
    picture = model.to_svg()
    root = ElementTree.fromstring(picture)
    assert not list(root.iter(f"{SVG}script"))
    assert "\x1b" not in picture
    assert max(len(text.text or "") for text in root.iter(f"{SVG}text")) < 100
    assert "&lt;script&gt;" in picture
    drawing = Drawing(picture_of(model.report()))
    assert all(
        shape.x + text_width(shape.text, shape.size) <= drawing.width
        for group in drawing.groups
        for shape in group.branch
        if isinstance(shape, Text)
    )


def test_hostile_labels_do_not_end_a_mermaid_or_graphviz_label():
    model = hostile_model()
    for line in model.to_mermaid().splitlines()[1:]:
        assert line.count('"') in (0, 2)
        assert "<" not in line
        assert "#" not in re.sub(r"#\d+;|fill:#\w+|color:#fff", "", line)
    strings = re.sub(r'"(?:[^"\\]|\\.)*"', "", model.to_graphviz())
    assert '"' not in strings
    assert strings.count("->") == sum(spot.parent is not None for spot in picture_of(model.report()).spots)


def test_every_branch_of_a_model_is_in_the_source_for_other_programs(titanic):
    for source, arrow in ((titanic.to_mermaid(), "-->"), (titanic.to_graphviz(), " -> ")):
        assert source.count(arrow) == 13
        assert "class is 1st or crew" in source
        assert "0.000901" in source
    assert mermaid.render(rules_report()).count("-->") == 4
    assert graphviz.render(rules_report()).startswith("digraph")


def test_matplotlib_draws_the_same_texts(titanic):
    ax = titanic.plot()
    drawing = Drawing(picture_of(titanic.report()))
    shapes = [*drawing.frame, *drawing.legend, *(s for g in drawing.groups for s in (*g.branch, *g.row))]
    assert [text.get_text() for text in ax.texts] == [s.text for s in shapes if isinstance(s, Text)]
    assert len(ax.lines) == sum(isinstance(shape, Stroke) for shape in shapes)
    assert plot.render(rules_report(), ax) is ax


def test_a_notebook_shows_the_picture_once_the_model_is_fitted(titanic):
    assert "sd-picture" in titanic._repr_html_()
    assert "sd-picture" in titanic._repr_mimebundle_()["text/html"]
    assert "sd-picture" not in GreedyTree()._repr_html_()


def test_a_notebook_and_not_the_system_decides_on_light_or_dark(titanic):
    shown = titanic._repr_html_()
    light, dark = shown.index(".sd-notebook .sd-picture{--sd-paper:#ffffff"), shown.index("body.vscode-dark")
    assert light < dark < shown.index("--sd-paper:#161b21")


@given(st.text("ab ", min_size=1, max_size=60), st.booleans(), st.floats(60, 200), st.integers(2, 4))
def test_what_a_condition_denies_is_never_cut(subject, denies, room, lines):
    subject = subject.strip() or "a"
    text = f"{subject} is {'not ' * denies}one of very many values that nobody can read here"
    found = condition_lines(text, subject, room, 12, lines)
    assert len(found) <= lines
    assert (" is not " in " " + " ".join(found)) == denies
    assert all(text_width(line, 12) <= room for line in found)


def test_a_picture_is_written_to_a_file(titanic, tmp_path):
    assert signed(titanic.to_svg(tmp_path / "a.svg"), titanic.random_state) == (tmp_path / "a.svg").read_text(
        encoding="utf-8"
    )


@given(st.text(max_size=60), st.floats(10, 400))
def test_wrapped_text_fits_its_room_and_loses_only_what_it_says(text, room):
    lines = wrapped(text, room, 12)
    assert len(lines) <= 2
    assert all(text_width(line, 12) <= max(room, text_width("…", 12)) for line in lines)
    assert shortened(text, 1e9, 12) == text
    if "…" not in "".join(lines):
        assert " ".join(lines) == text


@pytest.mark.parametrize("size", range(1, 9))
def test_the_name_of_a_choice_does_not_cover_the_axis(size):
    points = (PathPoint(n, 0.0, -2.0, -2.0 if n == size else -3.0, 0.0) for n in range(1, 9))
    drawn = path_svg.render(SparsityPath(tuple(points)))
    classes, x, text = re.search(r'<text class="([^"]*)" x="([^"]*)"[^>]*>(smallest [^<]*)<', drawn).groups()
    wide = text_width(text, 11) / BOLD
    begin = float(x) - wide * ("sd-e" in classes)
    assert Axes.left < begin < Axes.width - wide
