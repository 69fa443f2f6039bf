"""A second table against a model: shares, standardised differences, the test, the distance."""

from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.spatial.distance import jensenshannon

from sparsedensity import GreedyTree, Histogram
from sparsedensity.density.comparison import (
    PERMUTATIONS,
    LeafComparison,
    homogeneity,
    jensen_shannon,
    same_shares,
    standardised,
)
from sparsedensity.errors import ColumnsError, DataError, DataWarning
from sparsedensity.report.comparison import CHOSEN, FRACTIONAL, NOTHING_INSIDE, against_model
from tests.report.models import hostile_model, hostile_rows, rules_report

counts = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), min_size=2, max_size=12)


def arrays(pairs):
    ours, theirs = (np.array(column, float) for column in zip(*pairs, strict=True))
    return ours + (ours.sum() == 0), theirs + (theirs.sum() == 0)


@given(st.lists(st.tuples(st.integers(20, 90), st.integers(20, 90)), min_size=2, max_size=12))
def test_the_statistic_is_pearsons(pairs):
    ours, theirs = arrays(pairs)
    expected = stats.chi2_contingency(np.array([ours, theirs]), correction=False)
    test = same_shares(ours, theirs)
    assert test[:3] == (pytest.approx(expected.statistic), expected.dof, pytest.approx(expected.pvalue))
    assert test.permutations is None


@given(counts)
def test_the_statistic_counts_leaves_that_hold_a_row_and_is_0_for_equal_shares(pairs):
    ours, theirs = arrays(pairs)
    statistic, freedom = homogeneity(ours, theirs)
    assert freedom == np.count_nonzero(ours + theirs) - 1
    assert statistic >= 0
    assert homogeneity(ours, ours * 2)[0] == pytest.approx(0, abs=1e-9)
    assert homogeneity(theirs, ours)[0] == pytest.approx(statistic)


@given(counts)
def test_the_distance_is_the_jensen_shannon_distance(pairs):
    ours, theirs = arrays(pairs)
    p, q = ours / ours.sum(), theirs / theirs.sum()
    assert jensen_shannon(p, q) == pytest.approx(jensenshannon(p, q, 2), abs=1e-6)
    assert 0 <= jensen_shannon(p, q) <= 1


@given(counts)
def test_differences_have_the_sign_of_the_shares_and_swap_with_the_tables(pairs):
    ours, theirs = arrays(pairs)
    scores = standardised(ours, theirs)
    assert standardised(theirs, ours) == pytest.approx(-scores)
    assert np.all(scores * (theirs / theirs.sum() - ours / ours.sum()) >= 0)


def test_a_table_of_the_same_origin_is_rarely_called_different():
    """At 5 % about one in twenty, with small cells and unequal tables too."""
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(30) * 0.5)
    drawn = [
        (rng.multinomial(400, shares).astype(float), rng.multinomial(120, shares).astype(float)) for _ in range(900)
    ]
    assert 0.03 < np.mean([same_shares(*tables, 199).p_value <= 0.05 for tables in drawn]) < 0.07


def naive_permutations(ours, theirs, times, rng):
    """Divide rows, not counts: every row has a leaf, and the labels of the tables are shuffled."""
    leaves = np.repeat(np.arange(len(ours)), (ours + theirs).astype(int))
    seen, n = homogeneity(ours, theirs)[0], int(ours.sum())
    as_far = 0
    for _ in range(times):
        shuffled = rng.permutation(leaves)
        one, other = (np.bincount(part, minlength=len(ours)).astype(float) for part in (shuffled[:n], shuffled[n:]))
        as_far += homogeneity(one, other)[0] >= seen - 1e-9
    return (1 + as_far) / (1 + times)


@pytest.mark.parametrize("seed", range(4))
def test_drawing_counts_is_shuffling_rows(seed):
    rng = np.random.default_rng(seed)
    ours, theirs = (rng.multinomial(n, rng.dirichlet(np.ones(5))).astype(float) for n in (30, 50))
    p = same_shares(ours, theirs, 4000).p_value
    assert p == pytest.approx(naive_permutations(ours, theirs, 4000, rng), abs=4 * np.sqrt(p * (1 - p) / 2000) + 1e-3)


@given(counts)
def test_which_table_is_first_does_not_matter(pairs):
    ours, theirs = arrays(pairs)
    one, other = same_shares(ours, theirs, 99), same_shares(theirs, ours, 99)
    assert one == (pytest.approx(other.statistic), other.freedom, other.p_value, other.permutations)
    assert 1 / 100 <= one.p_value <= 1


def test_small_leaves_are_tested_by_as_many_divisions_as_asked_for():
    ours, theirs = np.array([3.0, 40.0]), np.array([0.0, 60.0])
    assert same_shares(ours, theirs).permutations == PERMUTATIONS
    assert same_shares(ours, theirs, 99).permutations == 99
    assert same_shares(ours * 100, theirs * 100).permutations is None
    assert same_shares(ours * 100, theirs * 100, 99).p_value == 1 / 100
    assert same_shares(np.array([5.0]), np.array([7.0])).p_value == 1


def test_a_model_does_not_differ_from_its_own_table(titanic, people):
    same = titanic.compare(people)
    assert same.distance < 0.01
    assert all(abs(d.difference) < 1e-9 for d in same.differences)
    assert [d.weight for d in same.differences] == [leaf.weight for leaf in titanic.leaves_]


def test_a_difference_is_found_where_it_is(titanic, people):
    fewer = people.filter((pl.col("class") != "3rd") | (pl.int_range(pl.len()) % 2 == 0))
    compared = titanic.compare(fewer, source="less.csv")
    assert min(compared.differences, key=lambda d: d.difference).text == "class is 3rd and sex is male and age is adult"
    assert sum(d.observed for d in compared.differences) == pytest.approx(1)


def test_rows_outside_the_domain_are_a_difference(titanic, people):
    odd = pl.DataFrame({"class": ["stowaway"] * 30, "sex": ["male"] * 30, "age": ["adult"] * 30})
    with pytest.warns(DataWarning, match=r"30 rows lie outside the domain.*'class' has no value 'stowaway'"):
        compared = titanic.compare(pl.concat([people, odd]))
    outside = compared.differences[-1]
    assert (outside.leaf, outside.expected, outside.weight) == (None, 0, 30)
    assert outside.difference > 3
    assert "outside the domain" in compared.to_text(100)
    assert "outside the domain" in compared.to_svg()


def test_weights_are_counts(titanic, people):
    counted = people.group_by("class", "sex", "age", maintain_order=True).len("n")
    weighted = titanic.compare(counted.drop("n"), counted["n"])
    assert weighted.as_dict()["leaves"] == titanic.compare(people).as_dict()["leaves"]


def test_a_comparison_is_text_picture_and_page(titanic, people, tmp_path):
    compared = titanic.compare(people.head(900), source="<b>first")
    assert str(compared) == compared.to_text()
    assert max(map(len, compared.to_text(80).splitlines())) <= 80
    ElementTree.fromstring(compared.to_svg(tmp_path / "a.svg"))
    page = compared.to_html(tmp_path / "a.html")
    assert (tmp_path / "a.html").read_text(encoding="utf-8") == page
    assert "<b>first" not in page
    assert "Jensen-Shannon" in page
    assert "sd-picture" in compared._repr_html_()


def test_lists_histograms_and_hostile_labels_can_be_compared_too(people):
    report = rules_report()
    fitted, shares = (np.array([getattr(leaf, name) for leaf in report.leaves]) for name in ("weight", "probability"))
    leaves = LeafComparison.of(shares, fitted, fitted[::-1].copy(), 0.0)
    ElementTree.fromstring(against_model(report, leaves, "for no reason.").to_svg())
    assert Histogram().fit(people).compare(people.head(1000)).distance > 0.1
    hostile = hostile_model().compare(hostile_rows()[:100])
    assert "\x1b" not in hostile.to_text() + hostile.to_html()


def test_columns_that_no_leaf_asks_for_are_said_not_to_be_compared(people):
    told = people.with_columns(zoo=pl.Series(["north", "south", "west"] * 734)[: people.height])
    compared = GreedyTree(honest=0.5, max_leaves=2).fit(told).compare(told)
    assert dict(compared.facts)["Not compared"] == "columns that no leaf asks for: class, sex and zoo"
    assert "Not compared: columns that no leaf asks for" in compared.to_text()
    assert compared.verdict.startswith("No significant difference between the shares of the leaves (p = ")
    assert "Not compared" not in dict(GreedyTree().fit(people).compare(people).facts)


def test_other_columns_are_refused(titanic, people):
    with pytest.raises(ColumnsError):
        titanic.compare(people.drop("age"))
    with pytest.raises(DataError):
        titanic.compare(people.head(0))


def test_a_model_whose_leaves_were_chosen_on_its_rows_has_no_p_value(titanic, people):
    compared = titanic.compare(people.head(900))
    assert compared.p_value is None
    assert compared.verdict == f"No p-value: {CHOSEN}"
    assert "(honest=0.5, or --honest 0.5)" in compared.to_text(300)
    assert "Test" not in dict(compared.facts)
    assert compared.as_dict()["p_value"] is compared.as_dict()["statistic"] is None
    assert "chance is a poor explanation" not in compared.to_html()


def test_an_honest_model_tests_the_rows_it_kept_from_its_search(people):
    model = GreedyTree(honest=0.5).fit(people)
    compared = model.compare(people.filter(pl.col("class") != "3rd"))
    assert compared.p_value < 0.001
    assert compared.fitted == 1100 == sum(leaf.weight for leaf in model.leaves_)
    assert compared.test == same_shares(model.density_.weights, compared.leaves.weights)
    assert "The leaves were chosen on other rows" in compared.to_html()


def test_rows_outside_the_domain_are_no_part_of_the_test(people):
    model = GreedyTree(honest=0.5).fit(people)
    odd = pl.DataFrame({"class": ["stowaway"] * 300, "sex": ["male"] * 300, "age": ["adult"] * 300})
    with pytest.warns(DataWarning, match="300 rows lie outside the domain"):
        compared = model.compare(pl.concat([people, odd]))
    assert compared.p_value == model.compare(people).p_value
    assert "outside the domain are left out" in dict(compared.facts)["Test"]
    with pytest.warns(DataWarning, match="300 rows lie outside the domain"):
        assert model.compare(odd).verdict == f"No p-value: {NOTHING_INSIDE}"


def test_weights_that_count_nothing_give_no_p_value(people):
    model = GreedyTree(honest=0.5).fit(people)
    assert model.compare(people, np.full(people.height, 0.5)).verdict == f"No p-value: {FRACTIONAL}"
    fractions = GreedyTree(honest=0.5).fit(people, sample_weight=np.full(people.height, 0.5))
    assert fractions.compare(people).p_value is None
