"""The page in a real browser: it opens from disk, asks the network for nothing, folds, answers, obeys the keyboard."""

import datetime

import polars as pl
import pytest

from reproduction.datasets.random_trees import random_tree
from sparsedensity import GreedyTree, Histogram
from sparsedensity.report import html, words
from tests.browser.screens import DESKTOP, PHONE, names_the_best_change, rgb
from tests.report.models import hostile_model, hostile_rows, rules_report

NONE = "No internet service at this address"
SERVICES = [
    {
        "Protection of the customer's devices while abroad": value if i % 9 else NONE,
        "Backup": NONE if i % 9 == 0 else ("Yes", "No")[i % 7 < 2],
        "noise": str(i % 3),
    }
    for i in range(700)
    for value in [("Yes", "No", "Sometimes")[i % 5 % 3]]
]


def services():
    """A model of long names and values that are the same for most of their length."""
    return GreedyTree(max_leaves=4).fit(SERVICES)


@pytest.fixture(scope="module")
def pages(tmp_path_factory, titanic, people):
    folder = tmp_path_factory.mktemp("pages")
    large = random_tree(rows=20_000, sizes=[5, 4, 4, 3, 3, 3, 2, 2], leaves=100).frame
    texts = {
        "titanic": titanic.to_html(None, people, cv=3, source="titanic"),
        "large": GreedyTree().fit(large).to_html(None, large, cv=None),
        "histogram": Histogram().fit(people).to_html(None, people, cv=None),
        "rules": html.render(rules_report()),
        "services": services().to_html(None, SERVICES, cv=2),
        "compare": titanic.compare(people.head(900), source="the first").to_html(),
        "hostile": hostile_model().to_html(None, hostile_rows(), cv=None, source="<script>alert(3)</script>"),
    }
    for name, text in texts.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return {name: (folder / f"{name}.html").as_uri() for name in texts}


def shown(page):
    """The picture that is to be seen."""
    return page.locator("svg[data-row]:visible")


def rows(page):
    return shown(page).locator(".sd-spot:visible .sd-row:visible").count()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("name", ["titanic", "large", "histogram", "rules", "compare", "hostile"])
def test_a_page_opens_from_disk_without_a_request_or_an_error_and_is_not_wider_than_the_screen(
    visit, name, size, scheme
):
    page = visit(name, size, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    assert shown(page).count() == 1
    paper, ink = page.evaluate(
        "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
    )
    assert (sum(rgb(paper)) > sum(rgb(ink))) == (scheme == "light")


def test_a_label_is_never_run(visit):
    page = visit("hostile")
    assert page.locator("script").count() == 2
    assert page.get_by_text("<script>alert(1)</script>").count() > 0


def test_folding_a_branch_puts_one_row_in_the_place_of_its_leaves(visit):
    page = visit("titanic")
    height = shown(page).bounding_box()["height"]
    assert rows(page) == 9
    branch = shown(page).locator(".sd-spot[aria-expanded]").nth(2)
    assert branch.get_attribute("aria-expanded") == "true"
    branch.locator("text").first.click()
    assert rows(page) == 7
    assert branch.get_attribute("aria-expanded") == "false"
    assert shown(page).bounding_box()["height"] < height
    assert "+3" in branch.text_content()
    page.get_by_role("button", name="Fold all", exact=True).click()
    assert rows(page) == 2
    page.get_by_role("button", name="Unfold all").click()
    assert rows(page) == 9
    assert shown(page).bounding_box()["height"] == pytest.approx(height)


@pytest.mark.parametrize("name", ["titanic", "compare"])
def test_no_bar_is_longer_than_its_axis_whatever_is_folded(visit, name):
    page = visit(name)
    longest = "all => Math.max(...all.map(e => Number(e.getAttribute('width'))))"
    bars = shown(page).locator(".sd-row:visible rect.sd-c0")
    axis = bars.evaluate_all(longest)
    page.get_by_role("button", name="Fold all", exact=True).click()
    assert bars.evaluate_all(longest) == pytest.approx(axis, rel=0.01)
    assert bars.count() < 9
    page.get_by_role("button", name="Unfold all").click()
    assert bars.evaluate_all(longest) == pytest.approx(axis, rel=0.01)


def test_rows_stand_one_below_the_other_after_folding(visit):
    page = visit("large")
    places = shown(page).locator(".sd-row:visible").evaluate_all("all => all.map(e => e.getBoundingClientRect().top)")
    assert len(places) == len({round(place) for place in places})
    assert len(places) <= 40
    page.get_by_role("button", name="Unfold all").click()
    assert rows(page) > 80


def test_hovering_a_leaf_shows_the_way_to_it(visit):
    page = visit("titanic")
    leaf = shown(page).locator('.sd-spot[data-leaf="5"]')
    leaf.locator("text").first.hover()
    assert shown(page).locator(".sd-spot.sd-on").count() == 4
    assert "95 % interval" in leaf.locator("title").text_content()
    page.mouse.move(1, 1)
    assert shown(page).locator(".sd-spot.sd-on").count() == 0


def test_choosing_a_leaf_tells_what_it_holds(visit):
    page = visit("titanic")
    assert page.locator("#leaf").is_hidden()
    shown(page).locator('.sd-spot[data-leaf="6"] text').first.click()
    text = page.locator("#leaf").inner_text()
    assert "Leaf 6: class is 1st or crew and age is child" in text
    assert "0.273 % of all records (0.361 % expected)" in text
    assert "83.3 %" in text


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("name", ["titanic", "large"])
def test_the_card_of_a_leaf_opens_in_view_and_leaves_the_leaf_in_view(visit, name, size):
    page = visit(name, size)
    for leaf in (shown(page).locator(".sd-spot[data-leaf]:visible").nth(n) for n in (0, -1)):
        leaf.locator("text").first.click()
        card, row = page.locator("#leaf").bounding_box(), leaf.locator("text").first.bounding_box()
        assert card["y"] >= 0
        assert card["y"] + card["height"] <= size[1] + 1
        assert 0 <= row["y"] <= size[1] - row["height"]
        assert row["y"] + row["height"] <= card["y"] + 1 or row["y"] >= card["y"] + card["height"]
    page.get_by_role("button", name="Close").click()
    assert page.locator("#leaf").is_hidden()


@pytest.mark.parametrize("name", ["titanic", "services", "rules"])
def test_no_table_is_wider_than_a_phone(visit, name):
    page = visit(name, PHONE)
    widths = page.locator(".scroll:has(table)").evaluate_all("all => all.map(e => [e.scrollWidth, e.clientWidth])")
    assert widths
    assert all(inside <= outside for inside, outside in widths)


def test_is_and_is_not_look_different_on_a_phone(visit):
    page = visit("services", PHONE)
    labels = [
        " ".join(spot.locator(":scope > text").all_text_contents()) for spot in shown(page).locator(".sd-spot").all()
    ]
    assert any(" is not " in label for label in labels)
    assert len(set(labels)) == len(labels)


def test_the_keyboard_does_all_that_the_mouse_does(visit):
    page = visit("titanic")
    focused = "document.activeElement.getAttribute('aria-label')"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the picture"
    shown(page).locator('.sd-spot[tabindex="0"]').focus()
    assert page.evaluate(focused).startswith("all records")
    page.keyboard.press("ArrowDown")
    assert page.evaluate(focused).startswith("age is adult")
    page.keyboard.press("ArrowLeft")
    assert rows(page) == 4
    page.keyboard.press("ArrowRight")
    assert rows(page) == 9
    page.keyboard.press("End")
    assert page.evaluate(focused).startswith("class is 3rd")
    page.keyboard.press("Enter")
    assert "Leaf 8" in page.locator("#leaf").inner_text()
    assert shown(page).locator('.sd-spot[aria-selected="true"]').count() == 1
    assert shown(page).locator('.sd-spot[tabindex="0"]').count() == 1


@pytest.mark.parametrize("name", ["titanic", "histogram"])
def test_the_form_answers_like_the_model_for_every_record(visit, name, people, titanic):
    model = titanic if name == "titanic" else Histogram().fit(people)
    page = visit(name)
    fields = page.locator("#form select")
    for row in people.unique(maintain_order=True).rows(named=True):
        for i, value in enumerate(row.values()):
            fields.nth(i).select_option(label=value)
        (explained,) = model.explain([row])
        answer = page.locator("#answer").inner_text()
        assert f"Leaf {explained.leaf}:" in answer
        assert words.rarity(explained.unusualness)[1:] in answer
        names_the_best_change(answer, explained)


def test_the_form_asks_for_used_columns_first_and_begins_with_the_commonest_record(visit):
    page = visit("services")
    assert page.locator("#form label:visible select").count() == 2
    assert page.locator("#form summary").inner_text() == "1 more column, which the model does not look at"
    assert "Among the most common records" in page.locator("#answer").inner_text()
    page.locator("#form summary").click()
    assert page.locator("#form label:visible select").count() == 3


def test_a_row_can_be_pasted_with_or_without_its_header(visit):
    page = visit("titanic")
    values = "Array.from(document.querySelectorAll('#form select')).map(e => e.selectedOptions[0].textContent)"
    row, said = page.locator("#row"), page.locator("#pasted")
    row.fill("3rd,female,child")
    assert page.evaluate(values) == ["3rd", "female", "child"]
    assert "Leaf 8:" in page.locator("#answer").inner_text()
    row.fill('age;"class";name;sex\nadult;"crew";"Smith; John";MALE\n')
    assert page.evaluate(values) == ["crew", "male", "adult"]
    row.fill("2nd\tmale\tgrown-up")
    outside = "Outside the domain: age has no value grown-up. The model gives such a record density 0."
    assert page.locator("#answer").inner_text() == outside
    page.locator("#form select").first.select_option("1st")
    assert "Leaf" in page.locator("#answer").inner_text()
    row.fill("1st,male")
    assert said.inner_text().startswith("The row needs 3 values")
    row.fill("class,sex\n1st,female")
    assert said.inner_text() == "age is not in the row and stays as it was."
    row.fill("")
    assert said.is_hidden()


def test_a_pasted_number_goes_into_its_field(visit):
    page = visit("rules")
    page.locator("#row").fill("2nd;female;15,5")
    assert page.locator("#form input").input_value() == "15.5"
    page.locator("#row").fill("2nd;female;dear")
    assert "Outside the domain: fare must be a number, not dear." in page.locator("#answer").inner_text()


def test_a_pasted_date_finds_its_period(browser, tmp_path):
    days = [datetime.date(2023, 1, 1) + datetime.timedelta(i) for i in range(730)]
    frame = pl.DataFrame(
        {"day": days, "kind": ["new" if day.year == 2024 and day.month > 6 else "old" for day in days]}
    )
    GreedyTree().fit(frame).to_html(tmp_path / "page.html")
    page = browser.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    chosen = "document.querySelector('#form select').selectedOptions[0].textContent"
    for text, period in (("2024-07-01", "2024 Q3"), ("2024-06-30 23:59:59", "2024 Q2"), ("2023 Q1", "2023 Q1")):
        page.locator("#row").fill(f"{text},old")
        assert page.evaluate(chosen) == period
    page.locator("#row").fill("2025-01-01,old")
    assert "Outside the domain: day has no value 2025-01-01." in page.locator("#answer").inner_text()
    page.close()


@pytest.mark.parametrize("mark", ["data-jp-theme-light='true'", "data-jp-theme-light='false'", "class='vscode-dark'"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_picture_in_a_notebook_is_as_light_as_the_notebook(browser, titanic, mark, scheme):
    page = browser.new_page(color_scheme=scheme)
    page.set_content(f"<body {mark}>{titanic._repr_html_()}</body>")
    paper = page.evaluate("getComputedStyle(document.querySelector('.sd-paper')).fill")
    assert (sum(rgb(paper)) > 384) == ("true" in mark)
    page.close()


def test_the_form_of_a_list_takes_numbers_and_says_what_is_outside(visit):
    page = visit("rules")
    number = page.locator("#form input")
    page.locator("#form select").nth(0).select_option(label="1st")
    page.locator("#form select").nth(1).select_option(label="female")
    number.fill("15")
    assert "Leaf 1: fare is 10 to 50 and none of the rules above" in page.locator("#answer").inner_text()
    number.fill("100")
    assert "sex is female and fare is 50 to 100 and none of the rules above" in page.locator("#answer").inner_text()
    number.fill("101")
    assert "Outside the domain: fare must be a number from 0 to 100" in page.locator("#answer").inner_text()


def test_everything_can_be_printed(visit):
    page = visit("titanic")
    page.emulate_media(media="print")
    assert page.locator(".wide svg").is_visible()
    assert page.locator("#form").is_hidden()
    assert page.get_by_role("button").count() == 0
    assert len(page.pdf()) > 10_000


def test_the_page_says_the_same_without_a_script(visit):
    page = visit("titanic", java_script_enabled=False)
    assert rows(page) == 9
    assert page.locator(".scripted:visible").count() == 0
    assert page.get_by_text("The most unusual records").is_visible()
