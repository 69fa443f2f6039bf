"""Kinds of records in a real browser: cards, the heat map, and a look-up that answers like the model."""

from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from sparsedensity import LeafSparseTree
from tests.browser.screens import DESKTOP, PHONE, names_the_best_change
from tests.report.models import animal_model, animals

SIZES = pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])


def wide_table():
    """Fifty columns of long names, most of which say which of six kinds a record is."""
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 6, 1500)
    answers = np.array(["never", "not in the last twelve months", "often", "always"])
    return pl.DataFrame(
        {
            f"question{i}AboutTheHousehold": answers[np.where(rng.random(1500) < 0.2, 0, rng.integers(0, 4, 6)[kind])]
            for i in range(50)
        }
    )


def rare_animals():
    """The same animals, five of them from a zoo of their own."""
    return [{**row, "zoo": "east" if i < 5 else row["zoo"]} for i, row in enumerate(animals())]


@pytest.fixture(scope="module")
def model():
    return animal_model()


@pytest.fixture(scope="module")
def pages(tmp_path_factory, model):
    folder, table = tmp_path_factory.mktemp("pages"), wide_table()
    wide = LeafSparseTree(leaf="profile", max_leaves=12, search="greedy").fit(table)
    assert wide.n_leaves_ > 5
    texts = {
        "animals": model.to_html(None, animals(), cv=2, source="animals"),
        "rare": animal_model(rows=rare_animals()).to_html(None, rare_animals(), cv=None),
        "wide": wide.to_html(None, table, cv=None),
        "compare": model.compare(animals(300), source="the first").to_html(),
    }
    for name, text in texts.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return {name: (folder / f"{name}.html").as_uri() for name in texts}


def boxes(locator):
    """Left, top, right and bottom of every element."""
    return locator.evaluate_all(
        "all => all.map(e => e.getBoundingClientRect()).map(r => [r.left, r.top, r.right, r.bottom])"
    )


@SIZES
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["animals", "wide", "compare"])
def test_a_page_of_kinds_is_not_wider_than_the_screen(visit, name, size, scheme):
    page = visit(name, size, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]


def test_cards_stand_side_by_side_and_one_below_the_other_on_a_phone(visit, model):
    for size, columns in ((DESKTOP, 4), (PHONE, 1)):
        cards = visit("animals", size).locator(".kind")
        assert cards.count() == model.n_leaves_
        assert len({round(left) for left, *_ in boxes(cards)}) == columns


@SIZES
def test_nothing_in_a_card_overlaps_or_leaves_it(visit, size):
    page = visit("wide", size)
    page.locator(".kind details").evaluate_all("all => all.forEach(e => { e.open = true; })")
    for card in page.locator(".kind").all():
        left, _, right, bottom = boxes(card)[0]
        for inside in (".here", ".standouts b", ".conditions li"):
            assert all(left <= a and b <= right and d <= bottom for a, _, b, d in boxes(card.locator(inside)))
        lines = boxes(card.locator(".standouts li"))
        assert all(above[3] <= below[1] for above, below in pairwise(lines))


def test_the_bar_of_a_card_is_the_share_and_its_mark_the_share_of_all_records(visit, model):
    card = visit("animals").locator("#kind-3")
    most = model.leaves_[3].traits[0].highlight
    (left, _, right, _), (_, _, end, _), (mark, *_) = (
        boxes(card.locator(f".standouts {part}"))[0] for part in (".track", "i", "u")
    )
    assert (end - left) / (right - left) == pytest.approx(most.share, abs=0.01)
    assert (mark - left) / (right - left) == pytest.approx(most.overall, abs=0.01)
    assert "birth: live" in card.inner_text()
    assert "over 99 %, overall 54 %" in card.inner_text()


def test_all_columns_of_a_kind_are_shown_on_demand_without_a_script_too(visit):
    page = visit("wide", java_script_enabled=False)
    card = page.locator(".kind").first
    shown = card.locator(".standouts li:visible").count()
    assert shown == 6
    card.locator("summary").click()
    assert card.locator(".standouts li:visible").count() > shown
    assert page.locator(".heat").first.is_visible()


@SIZES
def test_the_heat_map_scrolls_in_its_own_box_and_keeps_the_names_of_its_columns_in_view(visit, size):
    page = visit("wide", size)
    box = page.locator(".scroll:has(.heat)").first
    name = box.locator("tbody th").first
    before = boxes(name)[0]
    box.evaluate("e => { e.scrollLeft = e.scrollWidth; }")
    assert boxes(name)[0][0] == pytest.approx(before[0], abs=1)
    moved = box.evaluate("e => e.scrollLeft")
    assert moved > 0 or box.evaluate("e => e.scrollWidth <= e.clientWidth + 1")
    assert size == DESKTOP or moved > 0
    assert all(box.locator("tbody td").evaluate_all("all => all.map(e => e.textContent.trim().length > 0)"))


@SIZES
def test_no_word_of_the_heat_map_is_cut_off(visit, size):
    cells = visit("wide", size).locator(".heat tbody td, .heat tbody th")
    assert cells.evaluate_all("all => all.filter(e => e.scrollWidth > e.clientWidth + 1).length") == 0


def test_choosing_a_leaf_in_the_picture_shows_what_its_card_says(visit):
    page = visit("animals")
    page.locator('svg[data-row]:visible .sd-spot[data-leaf="0"] text').first.click()
    said = page.locator("#leaf").inner_text()
    assert "Kind 0: legs 0" in said
    assert "96 %, overall 16 %" in said
    assert "95 % interval" in said


def test_the_form_answers_like_the_model_for_every_tenth_record(visit, model):
    page, rows = visit("animals"), animals()[::10]
    logs, unusual, told = model.score_samples(rows), model.unusualness(rows), model.explain(rows)
    for row, log, share, explained in zip(rows, logs, unusual, told, strict=True):
        header, values = ",".join(row), ",".join("" if value is None else str(value) for value in row.values())
        page.locator("#row").fill(f"{header}\n{values}")
        answer = page.locator("#answer").inner_text()
        assert f"Kind {explained.leaf}: {model.leaves_[explained.leaf].name}" in answer
        assert f"Log density {log:.2f}." in answer or f"Log density {log + 0.0001:.2f}." in answer
        needle = page.locator("#answer .meter i").evaluate("e => parseFloat(e.style.left.slice(5))")
        assert needle / 100 == pytest.approx(share, abs=0.005)
        lines = page.locator("#answer li").all_inner_texts()
        assert [line.lower() for line in lines] == [f"{said}.".lower() for said in explained.remarks[: len(lines)]]
        assert len(lines) == len(explained.rare)
        names_the_best_change(answer, explained)


def test_the_form_says_what_is_rare_everywhere(visit):
    page, record = visit("rare"), rare_animals()[0]
    page.locator("#row").fill(",".join(record) + "\n" + ",".join(map(str, record.values())))
    said = ["Rare everywhere: zoo east, 0.6 % of all records."]
    assert page.locator("#answer li").all_inner_texts() == said


def test_the_form_begins_with_the_commonest_record(visit):
    page = visit("animals")
    assert "Among the most common records" in page.locator("#answer").inner_text()
    assert page.locator("#answer li").count() == 0


def test_kinds_can_be_printed(visit):
    page = visit("wide")
    page.emulate_media(media="print")
    assert page.locator(".kind").first.is_visible()
    assert page.locator(".kind details:visible").count() == 0
    assert page.locator(".heat").first.is_visible()
    assert len(page.pdf()) > 10_000
