"""A second table against a model: shares, standardised differences, the test, the distance."""

from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.spatial.distance import jensenshannon

from sparsedensity import Histogram
from sparsedensity.density.comparison import LeafComparison, homogeneity, jensen_shannon, standardised
from sparsedensity.errors import ColumnsError, DataError, DataWarning
from sparsedensity.report.comparison import compare
from tests.report.models import hostile_model, hostile_rows, rules_report

counts = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), min_size=2, max_size=12)


def arrays(pairs):
    ours, theirs = (np.array(column, float) for column in zip(*pairs, strict=True))
    return ours + (ours.sum() == 0), theirs + (theirs.sum() == 0)


@given(st.lists(st.tuples(st.integers(20, 90), st.integers(20, 90)), min_size=2, max_size=12))
def test_the_statistic_is_pearsons(pairs):
    ours, theirs = arrays(pairs)
    statistic, freedom = homogeneity(ours, theirs)
    expected = stats.chi2_contingency(np.array([ours, theirs]), correction=False)
    if expected.expected_freq.min() >= 5:
        assert (statistic, freedom) == (pytest.approx(expected.statistic), expected.dof)


@given(counts)
def test_small_cells_are_taken_together_and_nothing_is_lost(pairs):
    ours, theirs = arrays(pairs)
    statistic, freedom = homogeneity(ours, theirs)
    assert 0 <= freedom < len(ours)
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
    tests = [
        homogeneity(rng.multinomial(400, shares).astype(float), rng.multinomial(120, shares).astype(float))
        for _ in range(2000)
    ]
    values = np.array([stats.chi2.sf(statistic, freedom) for statistic, freedom in tests])
    assert 0.03 < np.mean(values < 0.05) < 0.07


def test_a_model_does_not_differ_from_its_own_table(titanic, people):
    same = titanic.compare(people)
    assert same.p_value == pytest.approx(1)
    assert same.distance < 0.01
    assert all(abs(d.difference) < 1e-9 for d in same.differences)
    assert same.verdict == "No significant difference (p = 1)."
    assert [d.weight for d in same.differences] == [leaf.weight for leaf in titanic.leaves_]


def test_a_difference_is_found_where_it_is(titanic, people):
    fewer = people.filter((pl.col("class") != "3rd") | (pl.int_range(pl.len()) % 2 == 0))
    compared = titanic.compare(fewer, source="less.csv")
    assert compared.p_value < 1e-6
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
    ElementTree.fromstring(compare(report, LeafComparison.of(shares, fitted, fitted[::-1].copy(), 0.0)).to_svg())
    assert Histogram().fit(people).compare(people.head(1000)).p_value < 0.01
    hostile = hostile_model().compare(hostile_rows()[:100])
    assert "\x1b" not in hostile.to_text() + hostile.to_html()


def test_other_columns_are_refused(titanic, people):
    with pytest.raises(ColumnsError):
        titanic.compare(people.drop("age"))
    with pytest.raises(DataError):
        titanic.compare(people.head(0))
